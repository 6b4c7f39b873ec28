"""A correction as the check it becomes, in plain sentences."""

from collections import Counter
from collections.abc import Sequence

from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from corrections.drafts import CorrectionDraft, ExpectedCall
from corrections.presenters.text import cut, plain, value_words
from corrections.vocabulary import Verdict
from kindgi_site.markdown import markdown_words

LONGEST_VALUE = 60
LONGEST_SAY = 120


def sentences(draft: CorrectionDraft, called: Sequence[str] | None) -> list[SafeString]:
    """What a run must do to pass, one sentence a part. `called` are the tools this run called, None when unknown."""
    said = [_decisions(draft, called), _answer(draft), _items(draft)]
    return [sentence for sentence in said if sentence]


def _decisions(draft: CorrectionDraft, called: Sequence[str] | None) -> SafeString | None:
    if draft.decisions == Verdict.RIGHT:
        return _same_tools(called)
    wanted = [_wanted(call, count) for call, count in _counted(draft.should_call)]
    never = [_tool(tool) for tool in dict.fromkeys(draft.must_not_call)]
    if wanted and never:
        return format_html(
            _("A run passes when it calls {wanted}, and never {never}."), wanted=_joined(wanted), never=_either(never)
        )
    if wanted:
        return format_html(_("A run passes when it calls {wanted}."), wanted=_joined(wanted))
    if never:
        return format_html(_("A run passes when it never calls {never}."), never=_either(never))
    return None


def _same_tools(called: Sequence[str] | None) -> SafeString:
    if called is None:
        return escape(_("Decisions are right; which tools this run called is not recorded, so no run can be checked."))
    if not called:
        return escape(_("A run passes when it calls no tool, as this one did."))
    tools = [_tool(tool) for tool in dict.fromkeys(called)]
    return format_html(_("A run passes when it calls {tools} and nothing else, as this one did."), tools=_joined(tools))


def _counted(calls: Sequence[ExpectedCall]) -> list[tuple[ExpectedCall, int]]:
    """Equal entries together: two of them need two calls."""
    keys = [(call.tool, call.args_canonical) for call in calls]
    firsts = dict(zip(reversed(keys), reversed(calls), strict=True))
    counts = Counter(keys)
    return [(firsts[key], counts[key]) for key in dict.fromkeys(keys)]


def _wanted(call: ExpectedCall, count: int) -> SafeString:
    tool = _tool(call.tool)
    if count > 1:
        tool = format_html(ngettext("{tool} {count} time", "{tool} {count} times", count), tool=tool, count=count)
    if not call.args:
        return tool
    pairs = [
        format_html("<bdi>{}</bdi> = {}", cut(plain(name), LONGEST_VALUE), _value(value))
        for name, value in call.args.items()
    ]
    return format_html(_("{tool} with {arguments}"), tool=tool, arguments=_joined(pairs))


def _value(value: object) -> SafeString:
    words = cut(value_words(value), LONGEST_VALUE)
    return format_html('<q class="{}">{}</q>', "short" if len(words) <= 24 else "long", words)


def _answer(draft: CorrectionDraft) -> SafeString | None:
    if draft.answer == Verdict.RIGHT:
        return escape(_("Its answer may stay as it is."))
    if draft.answer == Verdict.WRONG and (draft.should_say or "").strip():
        words = markdown_words(plain(draft.should_say or ""), most=4 * LONGEST_SAY)
        said = cut(" ".join(words.split()), LONGEST_SAY)
        return format_html(_("Its answer should say “{said}”"), said=format_html("<bdi>{}</bdi>", said))
    if draft.answer == Verdict.WRONG:
        return escape(_("Its answer must be another one."))
    return None


def _items(draft: CorrectionDraft) -> SafeString | None:
    right = sum(item.verdict == Verdict.RIGHT for item in draft.items)
    wrong = len(draft.items) - right
    said = []
    if right:
        said.append(format_html(ngettext("{count} belongs", "{count} belong", right), count=right))
    if wrong:
        said.append(format_html(ngettext("{count} does not belong", "{count} do not belong", wrong), count=wrong))
    return format_html(_("Of its list, {said}."), said=_joined(said)) if said else None


def _tool(name: str) -> SafeString:
    return format_html('<code class="tool">{}</code>', plain(name))


def _joined(parts: list[SafeString]) -> SafeString:
    """`a`, `a and b`, `a, b and c`."""
    return _listed(parts, _("{most} and {last}"))


def _either(parts: list[SafeString]) -> SafeString:
    return _listed(parts, _("{most} or {last}"))


def _listed(parts: list[SafeString], words: str) -> SafeString:
    if len(parts) == 1:
        return parts[0]
    most = format_html_join(", ", "{}", ((part,) for part in parts[:-1]))
    return format_html(words, most=most, last=parts[-1])
