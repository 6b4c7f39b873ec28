"""Grading a case over its repetitions (contract 17.4; decisions 1, 7, 9, 16 and 19)."""

import time
from dataclasses import replace

import pytest

from corrections.vocabulary import Verdict
from kindgi_site.exact_json import JsonText, dumps, parse
from testsets.rules.cases import Case, GroupWeights, narrowed, read_case
from testsets.rules.grading import AnswerVerdict, Outcome, Question, Submission, grade_case, question_for
from testsets.rules.metrics import Score

RIGHT, WRONG, UNGRADED = Outcome
STOPPED = Submission(stopped=True)
FAILED = Submission()


def case_of(more: str = "", *, kind: str = "agent", output: str = '"Monday"', tools: list[str] | None = None) -> Case:
    """A stored case's text, with some parts of its own, read as grading reads it."""
    items = "" if '"items":' in more.partition('"expect":')[0] else ', "items": []'
    more = f", {more}" if more else ""
    subject = f'{{"kind": "{kind}", "id": "support", "version": "1.0.0"}}'
    text = f'{{"caseId": "c1", "subject": {subject}, "input": null, "output": {output}{items}{more}}}'
    return read_case(parse(text), tools)


def gave(output: str = '"Tuesday"', calls: str | None = None, **more: object) -> Submission:
    return Submission(output=parse(output), calls=None if calls is None else parse(calls), **more)


def graded(case: Case, *submissions: Submission, k: int = 10) -> dict:
    return parse(dumps(grade_case(case, submissions, k=k).wire()))


def decisions(said: str) -> str:
    return f'"expect": {{"decisions": {said}}}'


BOOK = '{"verdict": "wrong", "shouldCall": [{"tool": "book", "args": {"seat": 1}}], "mustNotCall": ["refund"]}'
FIND = '{"role": "agent", "content": {"toolCalls": [{"id": "c1", "toolId": "find"}]}}'
FOUND = '{"role": "tool", "toolCall": {"invocationId": "c1", "toolId": "find"}}'

DECISIONS = [
    (BOOK, None, '[{"toolId": "book", "arguments": {"seat": 1.0}}]', RIGHT, "called as asked"),
    (BOOK, None, "[]", WRONG, "none made, and that is known"),
    (BOOK, None, None, UNGRADED, "calls unknown: not measurable, never a pass"),
    (BOOK, None, '[{"toolId": "book", "arguments": {"seat": 1}}, {"toolId": "refund"}]', WRONG, "and what must not be"),
    (
        BOOK,
        None,
        '[{"toolId": "book", "arguments": {"seat": 1}}, {"toolId": "refund", "error": "Denied."}]',
        WRONG,
        "a forbidden call that failed was made all the same",
    ),
    (
        BOOK,
        None,
        '[{"toolId": "book", "arguments": {"seat": 1}, "error": "Full."}]',
        RIGHT,
        "a wanted one that failed, too",
    ),
    ('{"verdict": "wrong", "mustNotCall": ["refund"]}', None, "[]", RIGHT, "no call expected and none made"),
    ('{"verdict": "wrong", "mustNotCall": ["refund"]}', None, '[{"toolId": "find"}]', RIGHT, "another one made"),
    ('{"verdict": "wrong", "mustNotCall": ["refund"]}', None, None, UNGRADED, "nobody knows whether it was called"),
    ('{"verdict": "right"}', [], "[]", RIGHT, "the corrected run called nothing, nor did this"),
    ('{"verdict": "right"}', [], '[{"toolId": "find"}]', WRONG, "no call expected and one made"),
    ('{"verdict": "right"}', ["find"], "[]", WRONG, "one expected and none made"),
    ('{"verdict": "right"}', ["find", "find"], '[{"toolId": "find", "arguments": {"q": 2}}]', RIGHT, "names, as a set"),
    ('{"verdict": "right"}', None, '[{"toolId": "find"}]', UNGRADED, "the corrected run's calls are unknown"),
    ('{"verdict": "right"}', ["find"], None, UNGRADED, "this run's calls are unknown"),
]


@pytest.mark.parametrize(("said", "tools", "calls", "outcome", "reason"), DECISIONS)
def test_decisions(said, tools, calls, outcome, reason):
    found = grade_case(case_of(decisions(said), tools=tools), [gave(calls=calls)], k=10)

    assert found.parts.decisions.outcome == outcome, reason
    assert found.outcome == outcome
    assert found.settles == (None if outcome == UNGRADED else outcome)
    assert bool(found.parts.decisions.failures) == (outcome == WRONG)


@pytest.mark.parametrize(
    ("output", "calls", "outcome", "reason"),
    [
        (f'{{"appended": [{FIND}, {FOUND}]}}', None, RIGHT, "an agent's output carries its calls"),
        (f'{{"appended": [{FIND}]}}', None, WRONG, "decided, but never answered: messages without a tool's say none"),
        ('{"appended": []}', None, WRONG, "a list of messages without a tool's says that none was called"),
        ('{"content": "Monday"}', None, UNGRADED, "no messages at all say nothing of calls"),
        (f'{{"appended": [{FIND}, {FOUND}]}}', "[]", WRONG, "the calls handed in win over the output's"),
        ('{"appended": []}', '[{"toolId": "find"}]', RIGHT, "the calls handed in win over the output's"),
    ],
)
def test_where_an_agents_calls_come_from(output, calls, outcome, reason):
    case = case_of(decisions('{"verdict": "right"}'), tools=["find"])

    assert graded(case, gave(output, calls))["outcome"] == outcome, reason


def test_a_flows_calls_are_known_only_when_they_are_handed_in():
    case = case_of(decisions('{"verdict": "right"}'), kind="flow", tools=["find"])
    output = f'{{"appended": [{FIND}, {FOUND}]}}'

    assert graded(case, gave(output))["outcome"] == UNGRADED
    assert graded(case, gave(output, '[{"toolId": "find"}]'))["outcome"] == RIGHT


def test_why_decisions_are_wrong_on_the_wire():
    calls = '[{"toolId": "book", "arguments": {"seat": 1e400}}, {"toolId": "refund"}]'

    found = grade_case(case_of(decisions(BOOK)), [gave(calls=calls)], k=10).wire()

    assert found == {
        "outcome": "wrong",
        "decisions": {
            "outcome": "wrong",
            "failures": [
                {
                    "kind": "different",
                    "tool": "book",
                    "paths": [{"path": "/seat", "wanted": JsonText("1"), "got": JsonText("1e400")}],
                },
                {"kind": "forbidden", "tool": "refund"},
            ],
        },
    }


ASKED = (
    '"corrections": [{"correctionId": "k2", "expert": true, "calls": [{"tool": "book", "args": {}}], "notCalled": []},'
    ' {"correctionId": "k1", "calls": [{"tool": "book", "args": {}}], "notCalled": ["refund"]}]'
)


@pytest.mark.parametrize(
    ("calls", "weights", "failures", "reason"),
    [
        ('[{"toolId": "book"}]', "as-recorded", [], "each correction is graded by itself: one call does for both"),
        ('[{"toolId": "refund"}]', "as-recorded", ["missing book", "forbidden refund"], "asked twice, it fails once"),
        ('[{"toolId": "book"}, {"toolId": "refund"}]', "as-recorded", ["forbidden refund"], "one of two is enough"),
        ('[{"toolId": "book"}, {"toolId": "refund"}]', "experts-only", [], "only the expert's is looked at"),
    ],
)
def test_the_decisions_of_several_corrections(calls, weights, failures, reason):
    found = grade_case(narrowed(case_of(ASKED), weights), [gave(calls=calls)], k=10)

    assert [f"{failure.kind} {failure.tool}" for failure in found.parts.decisions.failures] == failures, reason
    assert found.outcome == (WRONG if failures else RIGHT)
    assert found.settles is None, "only a frozen case stands for one correction"


def test_expect_goes_before_corrections_and_items():
    items = '"items": [{"key": "a", "rank": 0, "yes": 1, "no": 0, "yesWeight": 1, "totalWeight": 1, "reasons": []}]'
    case = case_of(f'{items}, {ASKED}, {decisions("""{"verdict": "right"}""")}', tools=[])

    assert graded(case, gave(calls="[]")) == {"outcome": "right", "decisions": {"outcome": "right"}}


def answer(verdict: str) -> str:
    return f'"expect": {{"answer": {{"verdict": "{verdict}", "shouldSay": "Friday", "why": "Late."}}}}'


YES = AnswerVerdict(Verdict.RIGHT, "Same day.")
NO = AnswerVerdict(Verdict.WRONG)

ANSWERS = [
    ("right", '"Monday"', {}, {"outcome": "right"}, "the recorded answer again, which was right"),
    ("wrong", '"Monday"', {}, {"outcome": "wrong"}, "the recorded answer again, which was wrong"),
    ("wrong", '"Monday"', {"answer": YES, "judged": YES}, {"outcome": "wrong"}, "equality goes before anybody's word"),
    ("right", '"Tuesday"', {}, {"outcome": "ungraded"}, "another answer, and nobody to say"),
    ("right", '"monday"', {}, {"outcome": "ungraded"}, "equal is equal, letter for letter"),
    (
        "wrong",
        '"Tuesday"',
        {"answer": YES, "judged": NO},
        {"outcome": "right", "by": "submitted", "reason": "Same day."},
        "the submitted verdict goes before the judge's",
    ),
    ("right", '"Tuesday"', {"judged": NO}, {"outcome": "wrong", "by": "judge"}, "the judge's goes before none"),
    (
        "right",
        '{"appended": [{"role": "agent", "content": "Monday"}]}',
        {},
        {"outcome": "right"},
        "the last thing said is the answer, wherever it stands",
    ),
    ("right", '{"appended": []}', {}, {"outcome": "ungraded"}, "no answer at all equals none"),
    ("right", "null", {"answer": NO}, {"outcome": "wrong", "by": "submitted"}, "no output: the submitted verdict"),
]


@pytest.mark.parametrize(("verdict", "output", "more", "part", "reason"), ANSWERS)
def test_answers(verdict, output, more, part, reason):
    assert graded(case_of(answer(verdict)), gave(output, **more)) == {"outcome": part["outcome"], "answer": part}, (
        reason
    )


def test_two_answers_that_are_not_there_are_not_equal():
    case = case_of(answer("right"), output='{"appended": []}')

    assert graded(case, gave('{"appended": []}'))["outcome"] == UNGRADED
    assert graded(case_of(answer("right"), output="null"), gave("null"))["outcome"] == UNGRADED


@pytest.mark.parametrize(
    ("case", "submission", "reason"),
    [
        (case_of(), gave(), "the case asks nothing of the answer"),
        (case_of(decisions(BOOK)), gave(), "the case asks of the decisions only"),
        (case_of(answer("right")), gave('"Monday"'), "equality has decided"),
        (case_of(answer("right")), gave(answer=YES), "a verdict was submitted"),
        (case_of(answer("right")), gave('{"appended": []}'), "there is no answer to judge"),
        (case_of(answer("right")), STOPPED, "there is no output"),
    ],
)
def test_a_judge_is_not_asked(case, submission, reason):
    assert question_for(case, submission) is None, reason


def test_what_a_judge_is_asked():
    question = Question("Monday", "Tuesday", Verdict.WRONG, "Friday", "Late.")

    assert question_for(case_of(answer("wrong")), gave()) == question
    assert question_for(case_of(answer("wrong"), output="null"), gave()) == replace(question, recorded=None)


def item(key: str, yes_weight: float, total_weight: float, more: str = "") -> str:
    weights = f'"yes": 0, "no": 0, "yesWeight": {yes_weight}, "totalWeight": {total_weight}, "reasons": []'
    return f'{{"key": "{key}", {weights}{more}}}'


def summed(*items: str) -> str:
    return f'"items": [{", ".join(items)}]'


def expected(*items: str) -> str:
    return f'"expect": {{"items": [{", ".join(items)}]}}'


RANKED = ', "rank": 0'
WHOLE = item("output", 1, 1, ', "pointer": ""')
NOTE = item("/note", 1, 1, ', "pointer": "/note"')
ITEMS = [
    (summed(item("a", 2, 3, RANKED)), '["b", "a"]', RIGHT, "the wanted one is among the top"),
    (summed(item("a", 2, 3, RANKED)), '["b", "c", "a"]', WRONG, "the wanted one stands too low"),
    (summed(item("a", 2, 3, RANKED)), "[]", WRONG, "the wanted one is gone"),
    (summed(item("a", 1, 3, RANKED)), '["b", "a"]', WRONG, "the unwanted one is among the top"),
    (summed(item("a", 1, 3, RANKED)), '["b", "c", "a"]', RIGHT, "the unwanted one stands below the top"),
    (summed(item("a", 1, 3, RANKED)), "[]", RIGHT, "the unwanted one is gone, and none was wanted"),
    (summed(item("a", 2, 2, RANKED), item("b", 2, 2, RANKED)), '["x", "b"]', RIGHT, "one wanted one is enough"),
    (summed(item("a", 2, 2, RANKED), item("b", 0, 2, RANKED)), '["a", "b"]', WRONG, "the unwanted one spoils it"),
    (summed(item("a", 1, 2, RANKED)), '["a"]', UNGRADED, "as many for it as against: nothing to measure"),
    (summed(item("a", 0, 0, RANKED)), '["a"]', UNGRADED, "all weights zero: nothing to measure, never a pass"),
    (summed(item("a", 1, 2, RANKED), item("b", 1, 1, RANKED)), '["b"]', RIGHT, "one that leans neither way is free"),
    (summed(item("a", 1, 1)), '["a"]', RIGHT, "a rank left out: its own key says which it is"),
    (summed(WHOLE), '["a"]', None, "the answer as a whole stands in no list"),
    (summed(WHOLE, item("a", 1, 1, RANKED)), '["a"]', RIGHT, "nor is it missed in one"),
    (summed(NOTE), '["a"]', None, "a part that is no list's is not looked for in one"),
    (
        summed(item("old", 1, 1, ', "pointer": "/m/0"')),
        '["a"]',
        WRONG,
        "a rank left out: its pointer says it is a list's",
    ),
    ("", '["a"]', None, "nobody spoke of items"),
    (expected('{"key": "a", "rank": 0, "verdict": "right"}'), '["a"]', RIGHT, "expect says which one is wanted"),
    (expected('{"key": "a", "rank": 0, "verdict": "right"}'), '["b"]', WRONG, "expect says which one is wanted"),
    (expected('{"key": "a", "rank": 0, "verdict": "wrong"}'), '["a"]', WRONG, "expect says which one is not"),
    (expected('{"key": "output", "verdict": "right"}'), '["a"]', UNGRADED, "asked for, but nothing of it is in a list"),
]


@pytest.mark.parametrize(("more", "keys", "outcome", "reason"), ITEMS)
def test_items(more, keys, outcome, reason):
    case = case_of(more, kind="flow", output='{"m": [{"id": "old"}], "note": "n"}')
    output = '{"m": [' + ", ".join(f'{{"id": "{key}"}}' for key in parse(keys)) + "]}"

    found = grade_case(case, [gave(output)], k=2)

    assert (found.parts.items and found.parts.items.outcome) == outcome, reason
    assert found.outcome == (outcome or UNGRADED)


def test_a_place_as_key_holds_for_the_value_that_was_seen_there():
    case = case_of(summed(item("/m/0", 0, 1, ', "pointer": "/m/0", "rank": 0')), kind="flow", output='{"m": ["bad"]}')

    assert graded(case, gave('{"m": ["bad"]}'))["outcome"] == WRONG
    assert graded(case, gave('{"m": ["good"]}'))["outcome"] == RIGHT
    assert graded(case, gave('{"m": ["good", "bad"]}'))["outcome"] == RIGHT, "the same value elsewhere is another item"


def test_experts_only_drops_what_no_expert_expects():
    text = answer("right")

    assert graded(narrowed(case_of(text), GroupWeights.EXPERTS_ONLY), gave('"Monday"')) == {"outcome": "ungraded"}
    assert graded(narrowed(case_of(f'"expert": true, {text}'), GroupWeights.EXPERTS_ONLY), gave('"Monday"')) == {
        "outcome": "right",
        "answer": {"outcome": "right"},
    }


def calls(outcome: Outcome) -> Submission:
    return gave(calls={RIGHT: "[]", WRONG: '[{"toolId": "refund"}]', UNGRADED: None}[outcome])


NO_REFUND = case_of(decisions('{"verdict": "wrong", "mustNotCall": ["refund"]}'))
REPETITIONS = [
    ([calls(RIGHT), calls(RIGHT)], RIGHT, RIGHT, "right each time"),
    ([calls(RIGHT), calls(WRONG)], WRONG, WRONG, "wrong once"),
    ([calls(RIGHT), calls(UNGRADED)], RIGHT, None, "right where it was graded; too little to call it fixed"),
    ([calls(UNGRADED), calls(WRONG)], WRONG, WRONG, "wrong where it was graded"),
    ([calls(UNGRADED)], UNGRADED, None, "never graded"),
    ([calls(RIGHT), FAILED], RIGHT, None, "one repetition gave no output: too little to call it fixed"),
    ([calls(WRONG), FAILED], WRONG, WRONG, "wrong where there was an output"),
    ([calls(RIGHT), STOPPED], RIGHT, None, "one repetition stopped"),
    ([calls(WRONG), STOPPED], WRONG, None, "a case that stopped neither fixes nor reopens"),
    ([FAILED, FAILED], UNGRADED, None, "no output at all"),
    ([], UNGRADED, None, "nothing submitted"),
]


@pytest.mark.parametrize(("submissions", "outcome", "settles", "reason"), REPETITIONS)
def test_repetitions(submissions, outcome, settles, reason):
    found = grade_case(NO_REFUND, submissions, k=10)

    assert (found.outcome, found.settles) == (outcome, settles), reason


BOTH = '"expect": {"decisions": {"verdict": "wrong", "mustNotCall": ["refund"]}, "answer": {"verdict": "right"}}'


@pytest.mark.parametrize(
    ("made", "said", "outcome", "settles", "reason"),
    [
        (RIGHT, '"Monday"', RIGHT, RIGHT, "both right"),
        (WRONG, '"Monday"', WRONG, WRONG, "one wrong"),
        (RIGHT, '"Tuesday"', RIGHT, None, "every graded part is right, but not every part is graded"),
        (WRONG, '"Tuesday"', WRONG, WRONG, "one wrong, one ungraded"),
        (UNGRADED, '"Tuesday"', UNGRADED, None, "none graded"),
    ],
)
def test_a_case_of_two_parts(made, said, outcome, settles, reason):
    found = grade_case(case_of(BOTH), [replace(calls(made), output=parse(said))], k=10)

    assert (found.outcome, found.settles) == (outcome, settles), reason


def test_the_first_repetition_that_was_wrong_is_the_one_told_of():
    two = gave('"Monday"', answer=AnswerVerdict(Verdict.WRONG, "second"))
    three = gave('"Wednesday"', answer=AnswerVerdict(Verdict.WRONG, "third"))
    case = case_of(answer("right"))

    assert graded(case, two, three)["answer"] == {"outcome": "wrong", "by": "submitted", "reason": "third"}


def test_scores_are_of_the_repetitions_that_gave_an_output():
    case = case_of(summed(item("a", 1, 1, RANKED)), kind="flow", output='{"m": [{"id": "a"}, {"id": "b"}]}')

    found = grade_case(case, [FAILED, gave('{"m": [{"id": "b"}]}'), gave('{"m": [{"id": "a"}]}')], k=1)

    assert found.baseline == Score(
        yes_weight=1, total_weight=1, items=3, corrected_items=1, top_yes_weight=1, top_total_weight=1
    )
    assert [(score.items, score.top_total_weight) for score in found.scores] == [(2, 0), (2, 1)]
    assert found.changes.wire() == {
        "kept": [],
        "dropped": [{"key": "a", "rankBefore": 0}],
        "new": [{"key": "output", "pointer": ""}, {"key": "b", "pointer": "/m/0", "rank": 0}],
    }
    assert len(found.repetitions) == 2


def test_a_case_without_any_output_has_no_scores_and_no_changes():
    found = grade_case(case_of(), [FAILED], k=1)

    assert (found.scores, found.changes, found.repetitions, found.wire()) == ((), None, (), {"outcome": "ungraded"})


def test_a_thousand_cases_ten_times_each_take_seconds():
    output = '{"m": [' + ", ".join(f'{{"id": "d{n}", "score": {n}.5}}' for n in range(30)) + "]}"
    items = summed(*[item(f"d{n}", n % 2, 1, f', "rank": {n}, "pointer": "/m/{n}"') for n in range(30)])
    case = case_of(f"{items}, {ASKED}", kind="flow", output=output)
    made = '[{"toolId": "find", "arguments": {"q": "x"}}, {"toolId": "book", "arguments": {"seat": 1}}]'
    submissions = [gave(output, made)] * 10

    started = time.perf_counter()
    for _ in range(100):
        grade_case(case, submissions, k=10)

    # A tenth of the work; slow machines get ten times what it takes on a fast one.
    assert time.perf_counter() - started < 4
