"""Corrections as an owner reads them: who said what, how it stands, and what happened since."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from corrections.models import Correction, CorrectionEvent, RunCopy
from corrections.presenters.answers import answer_words, words_html
from corrections.presenters.comparisons import Comparison, comparisons
from corrections.presenters.history import maker_name, state_words
from corrections.presenters.sentences import sentences
from corrections.presenters.text import cut, first_words, plain, shortened_id
from corrections.queries.said import said_of
from corrections.rules.calls import Call, calls_made, listed
from corrections.rules.outputs import answer_of
from corrections.vocabulary import LinkKind, Status, SubjectKind, Verdict
from kindgi_site.markdown import markdown_html, markdown_words

LONGEST_LINE = 160
LONGEST_EXCERPT = 280  # of an answer, in a list
SIGNS = {
    Status.OPEN: "○",
    Status.BEING_FIXED: "◐",
    Status.WITH_OWNER: "●",
    Status.FIXED: "✓",
    Status.WONT_FIX: "–",
    Status.REMOVED: "×",
}


@dataclass(frozen=True, slots=True)
class LinkShown:
    """`address` is '' where the target is an id of another system."""

    words: str
    target: str
    address: str


@dataclass(frozen=True, slots=True)
class CorrectionShown:
    """One correction. `words` came in, `said` is the answer that was wrong, `refusal` why a step was not taken."""

    correction: Correction
    who: str
    is_mine: bool
    status_words: str
    status_sign: str
    sorted_words: str
    words: str
    sentences: list[SafeString]
    comparisons: list[Comparison]
    said: str
    should_say: str
    why: str
    note: str
    link: LinkShown | None
    url: str
    run_url: str
    short_id: str
    refusal: str = ""
    is_chosen: bool = False

    @property
    def said_in_short(self) -> str:
        return _in_short(self.said)

    @property
    def should_say_in_short(self) -> str:
        return _in_short(self.should_say)

    @property
    def said_html(self) -> SafeString:
        return words_html(self.said, reverse("corrections:run_raw", args=[self.correction.run_id, "output"]))

    @property
    def should_say_html(self) -> SafeString:
        return markdown_html(self.should_say)


@dataclass(frozen=True, slots=True)
class StepShown:
    """One step of its life, in words."""

    at: datetime
    who: str
    words: str
    note: str
    cause: str


def shown(
    correction: Correction, names: Mapping[str, str], *, caller_id: str, refusal: str = "", is_chosen: bool = False
) -> CorrectionShown:
    """The correction comes from `queries/correction_pages.py`, which joins what is shown of its copy."""
    draft = said_of(correction)
    raw_url = reverse("corrections:run_raw", args=[correction.run_id, "calls"])
    return CorrectionShown(
        correction=correction,
        who=maker_name(correction, names),
        is_mine=correction.made_by_id == caller_id,
        status_words=state_words(correction),
        status_sign=SIGNS[Status(correction.status)],
        sorted_words=_sorted_words(correction),
        words=cut(first_words(correction.input_head or ""), LONGEST_LINE),  # type: ignore[attr-defined]
        sentences=sentences(draft, correction.copy.called_tool_names),
        comparisons=comparisons(draft, calls_of(correction.copy), raw_url),
        said=_answer_given(correction),
        should_say=plain(correction.should_say),
        why=plain(correction.why),
        note=plain(correction.note_text),
        link=_link(correction),
        url=reverse("corrections:correction_detail", args=[correction.id]),
        run_url=reverse("corrections:run_detail", args=[correction.run_id]),
        short_id=shortened_id(str(correction.id)),
        refusal=refusal,
        is_chosen=is_chosen,
    )


def _in_short(words: str) -> str:
    return cut(markdown_words(words, most=2 * LONGEST_EXCERPT), LONGEST_EXCERPT)


def _answer_given(correction: Correction) -> str:
    """The words of the answer, where they were found wrong."""
    if correction.answer != Verdict.WRONG or correction.copy.output is None:
        return ""
    answer = answer_of(correction.subject_kind, correction.copy.output.value)
    return answer_words(answer.value) if answer else ""


def calls_of(copy: RunCopy) -> list[Call] | None:
    """The calls of a stored copy, with the failures that its context leaves out."""
    if copy.subject_kind == SubjectKind.FLOW:
        return None if copy.calls is None else list(listed(copy.calls.value))
    output = copy.output.value if copy.output else None
    return calls_made(copy.subject_kind, output, None, copy.calls.value if copy.calls else None)


def steps_shown(events: Iterable[CorrectionEvent], names: Mapping[str, str]) -> Iterator[StepShown]:
    for event in events:
        yield StepShown(
            at=event.at,
            who=names.get(event.by_id) or (_("A program") if event.by_kind else _("The server")),
            words=_step_words(event),
            note=plain(event.note),
            cause=plain(event.cause),
        )


def _step_words(event: CorrectionEvent) -> str:
    actions = {
        "status": _("set the status"),
        "sort": _("sorted it"),
        "link": _("linked what fixes it"),
        "unlink": _("took the link away"),
        "unregister": _("took it back"),
        "superseded": _("corrected again"),
        "fixed": _("found it fixed"),
        "reopened": _("found it wrong again"),
    }
    words = actions.get(event.action, event.action)
    if event.from_status == event.to_status:
        return words
    change = {"before": status_name(event.from_status), "after": status_name(event.to_status), "words": words}
    return _("%(words)s: %(before)s → %(after)s") % change


def status_name(status: str) -> str:
    names = {
        "open": _("open"),
        "being-fixed": _("being fixed"),
        "with-owner": _("with the owner"),
        "fixed": _("fixed"),
        "wont-fix": _("won’t fix"),
        "removed": _("removed"),
    }
    return names.get(status, status)


def _sorted_words(correction: Correction) -> str:
    words = {"improve": _("Improve"), "developer": _("Developer"), "owner": _("Owner")}
    return words.get(correction.sorted_to, "")


def _link(correction: Correction) -> LinkShown | None:
    if not correction.link_kind:
        return None
    words = {
        LinkKind.PULL_REQUEST: _("Pull request"),
        LinkKind.SUGGESTED_CHANGE: _("Suggested change"),
        LinkKind.IMPROVE_RUN: _("Improve run"),
    }[LinkKind(correction.link_kind)]
    target = plain(correction.link_target)
    is_address = correction.link_target.startswith(("https://", "http://"))  # nothing else is ever followed
    return LinkShown(words, target, correction.link_target if is_address else "")
