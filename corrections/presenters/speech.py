"""What came in and the conversation so far, as people speaking."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from corrections.presenters.text import cut, json_words, plain, value_words
from corrections.presenters.trees import BLOB, blob_html, tree_html, value_html
from kindgi_site.markdown import markdown_html

SHOWN_MESSAGES = 8
WORDS_OF_INPUT = ("message", "query", "question", "text", "content", "prompt", "topic", "request")


@dataclass(frozen=True, slots=True)
class Speech:
    """One turn of the conversation. `kind` is `user`, `agent`, `tool`, `instructions` or `other`."""

    kind: str
    name: str
    body: SafeString
    is_input: bool = False
    folded_as: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One agent's turn inside a flow."""

    agent: str
    version: str
    node: str
    more: list[tuple[str, SafeString]]


@dataclass(frozen=True, slots=True)
class Conversation:
    """`earlier` is folded away; `input_fields` are what came in beside its words; `steps` are a flow's."""

    earlier: list[Speech]
    recent: list[Speech]
    input_fields: list[tuple[str, SafeString]]
    steps: list[Step]
    more: list[tuple[str, SafeString]]
    is_truncated: bool = False


def conversation(given: Any, context: Any, raw_url: str) -> Conversation:
    """`given` is the run's parsed input, `context` its parsed context or None."""
    context = context if isinstance(context, dict) else {}
    history = context.get("history")
    spoken = list(_spoken(history if isinstance(history, list) else [], raw_url))
    words, fields = _input_words(given, raw_url)
    if not any(speech.kind == "user" and speech.body == words for speech in spoken):
        spoken.append(Speech("user", _("Came in"), words, is_input=True))
    start = _start_of_recent(spoken)
    return Conversation(
        earlier=spoken[:start],
        recent=spoken[start:],
        input_fields=fields,
        steps=list(_steps(context.get("flow"), raw_url)),
        more=list(_more(context, raw_url)),
        is_truncated=bool(context.get("historyTruncated")),
    )


def _start_of_recent(spoken: list[Speech]) -> int:
    """Where the newest few things that people and agent said begin; instructions are never among them."""
    said = [index for index, speech in enumerate(spoken) if speech.kind in ("user", "agent", "other")]
    after_instructions = max((i + 1 for i, speech in enumerate(spoken) if speech.kind == "instructions"), default=0)
    return max(said[-SHOWN_MESSAGES] if len(said) > SHOWN_MESSAGES else 0, after_instructions)


def _input_words(given: Any, raw_url: str) -> tuple[SafeString, list[tuple[str, SafeString]]]:
    if isinstance(given, str):
        return text_html(given, raw_url), []
    if not isinstance(given, dict):
        return tree_html(given, raw_url), []
    name = next((name for name in WORDS_OF_INPUT if isinstance(given.get(name), str)), None)
    if name is None:
        return tree_html(given, raw_url), []
    rest = [(plain(key), value_html(value, raw_url)) for key, value in given.items() if key != name]
    return text_html(given[name], raw_url), rest


def _spoken(history: list[Any], raw_url: str) -> Iterator[Speech]:
    for index, entry in enumerate(history):
        role = _role(entry)
        if role is None:
            yield Speech("other", _("Message"), tree_html(entry, raw_url))
        elif role == "system":
            body = text_html(_words(entry.get("content")) or json_words(entry), raw_url)
            yield Speech("instructions", _("Instructions"), body)
        elif role == "tool":
            yield _tool_speech(entry, raw_url)
        elif not (_only_calls(entry) and index + 1 < len(history) and _role(history[index + 1]) == "tool"):
            # (What it called is about to be said, with the result.)
            yield _person_speech(role, entry, raw_url)


def _role(entry: Any) -> str | None:
    role = entry.get("role") if isinstance(entry, dict) else None
    return role if isinstance(role, str) else None


def _only_calls(entry: dict[str, Any]) -> bool:
    return not _words(entry.get("content")) and any(_tools_called(entry))


def _person_speech(role: str, entry: dict[str, Any], raw_url: str) -> Speech:
    content = entry.get("content")
    is_agent = role in ("agent", "assistant")
    kind, name = ("agent", _("Agent")) if is_agent else ("user", _("User") if role == "user" else plain(role))
    words = _words(content)
    called = [plain(tool) for tool in _tools_called(entry)]
    if called and not words:
        return Speech("tool", _("Agent called"), format_html('<code class="tool">{}</code>', ", ".join(called)))
    if words is None:
        return Speech(kind, name, tree_html(content, raw_url))
    if is_agent and len(words) <= BLOB:
        return Speech(kind, name, markdown_html(plain(words)))
    return Speech(kind, name, text_html(words, raw_url))


def _tool_speech(entry: dict[str, Any], raw_url: str) -> Speech:
    call = entry.get("toolCall")
    tool = entry.get("name") or (call.get("toolId") if isinstance(call, dict) else None)
    content = entry.get("content")
    words = content if isinstance(content, str) else json_words(content)
    name = plain(tool) if isinstance(tool, str) else _("Tool")
    line = " ".join(plain(words[:200]).split()) or _("empty result")
    if len(words) <= 60:
        return Speech("tool", name, format_html("{}", line))
    return Speech("tool", name, text_html(words, raw_url), folded_as=cut(line, 80))


def _tools_called(entry: dict[str, Any]) -> Iterator[str]:
    """The tools a message says it calls, in either of the two usual spellings."""
    content = entry.get("content")
    listed = content.get("toolCalls") if isinstance(content, dict) else entry.get("tool_calls")
    for call in listed if isinstance(listed, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        name = function.get("name") if isinstance(function, dict) else isinstance(call, dict) and call.get("toolId")
        if isinstance(name, str):
            yield name


def _words(content: Any) -> str | None:
    """The text of a message: itself, or its parts of type text; None when it has none."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        text = content.get("text")
        return text if isinstance(text, str) else None
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        texts = [part for part in parts if isinstance(part, str)]
        return "\n".join(texts) if texts else None
    return "" if content is None else None


def text_html(text: str, raw_url: str) -> SafeString:
    """Text as it was typed, line breaks kept."""
    if len(text) > BLOB:
        return blob_html(text, len(text), raw_url)
    return format_html('<p class="typed">{}</p>', plain(text))


def _steps(flow: Any, raw_url: str) -> Iterator[Step]:
    steps = flow.get("steps") if isinstance(flow, dict) else None
    for step in steps if isinstance(steps, list) else []:
        if isinstance(step, dict):
            agent, version, node = (value_words(step.get(name) or "") for name in ("agentId", "agentVersion", "nodeId"))
            yield Step(agent, version, node, list(_more(step, raw_url)))


def _more(context: dict[str, Any], raw_url: str) -> Iterator[tuple[str, SafeString]]:
    names = {
        "retrieved": _("Documents it had"),
        "recalled": _("What it remembered"),
        "sessionApproval": _("Approval"),
        "toolEnv": _("Tool settings"),
        "replayOf": _("Replay of"),
    }
    for key, name in names.items():
        if context.get(key) not in (None, [], {}):
            yield name, tree_html(context[key], raw_url)
