"""Where a correction starts out: every row of contract 8.1, first match wins."""

import pytest

from corrections.drafts import CorrectedItem, CorrectionDraft
from corrections.rules.sorting import Start, sort
from corrections.vocabulary import SortedTo, Status, Verdict

RIGHT, WRONG = Verdict.RIGHT, Verdict.WRONG
RIGHT_ITEM, WRONG_ITEM = CorrectedItem("a", RIGHT), CorrectedItem("b", WRONG)

A1 = Start(Status.OPEN)
A2 = Start(Status.WITH_OWNER, SortedTo.OWNER)
A3 = Start(Status.OPEN, SortedTo.IMPROVE)
A4 = Start(Status.FIXED, recorded_right=True)

SAID = [
    ({"decisions": WRONG}, A2),
    ({"decisions": WRONG, "answer": RIGHT}, A2),
    ({"decisions": WRONG, "answer": WRONG}, A2),
    ({"decisions": WRONG, "items": (WRONG_ITEM,)}, A2),
    ({"decisions": WRONG, "answer": RIGHT, "items": (RIGHT_ITEM,)}, A2),
    ({"answer": WRONG}, A3),
    ({"answer": WRONG, "decisions": RIGHT}, A3),
    ({"answer": WRONG, "items": (RIGHT_ITEM,)}, A3),
    ({"items": (WRONG_ITEM,)}, A3),
    ({"items": (RIGHT_ITEM, WRONG_ITEM)}, A3),
    ({"items": (WRONG_ITEM,), "decisions": RIGHT, "answer": RIGHT}, A3),
    ({"decisions": RIGHT}, A4),
    ({"answer": RIGHT}, A4),
    ({"items": (RIGHT_ITEM,)}, A4),
    ({"decisions": RIGHT, "answer": RIGHT, "items": (RIGHT_ITEM,)}, A4),
]


@pytest.mark.parametrize(("said", "start"), SAID)
def test_a_correction_starts_where_what_it_says_puts_it(said, start):
    assert sort(CorrectionDraft(**said)) == start


@pytest.mark.parametrize(("said", "_start"), SAID)
def test_an_end_users_correction_is_open_and_unsorted_whatever_it_says(said, _start):
    assert sort(CorrectionDraft(**said, participant_id="end-user")) == A1


@pytest.mark.parametrize("unheard", [{"why": "wrong"}, {"corrector_group_id": "group"}])
def test_words_and_group_do_not_sort(unheard):
    assert sort(CorrectionDraft(answer=RIGHT, **unheard)) == A4
