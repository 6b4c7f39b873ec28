"""A judge that asks a model behind an OpenAI-compatible endpoint; set TEST_JUDGE to use it, none is by default."""

import json
from collections.abc import Iterator
from time import monotonic
from typing import Any

import httpx
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.template.loader import get_template
from django.utils.safestring import mark_safe

from corrections.vocabulary import Verdict
from kindgi_site import exact_json
from testsets.patience import asked_patiently
from testsets.rules.grading import AnswerVerdict, Question

MAX_REASON = 4000
# Of a longer one the end is read: models think first.
LONGEST_ANSWER = 50_000
PROMPT = "testsets/judge_prompt.txt"


class JudgeError(Exception):
    """The model gave no verdict that can be read."""


def ask_model(question: Question, case_input: Any) -> AnswerVerdict:
    """Ask the model at JUDGE_URL; what it answers is a verdict with a reason.

    Retries on connection failures, 429 and 5xx, with pauses that grow or are as long as the endpoint says, and never
    for longer than JUDGE_BUDGET_SECONDS in all. Raises httpx.HTTPError or JudgeError when there is none in the end.
    """
    if not settings.JUDGE_URL or not settings.JUDGE_MODEL:
        raise ImproperlyConfigured("TEST_JUDGE asks a model, so JUDGE_URL and JUDGE_MODEL must be set.")
    request = {
        "model": settings.JUDGE_MODEL,
        "temperature": 0,
        "messages": [{"role": "user", "content": prompt_for(question, case_input)}],
    }
    headers = {"Authorization": f"Bearer {settings.JUDGE_API_KEY}"} if settings.JUDGE_API_KEY else {}
    with httpx.Client(headers=headers) as client:
        return verdict_in(_answer(client, request))


def prompt_for(question: Question, case_input: Any) -> str:
    """The prompt as plain text: nothing in it is escaped as markup.

    All that anybody said stands in one JSON object on one line, so that no text in it can look like a part of
    the prompt: inside a JSON string there is no line end and no quotation mark.
    """
    said = {
        "request": case_input,
        "earlierAnswer": question.recorded,
        "earlierVerdict": question.verdict.value,
        "shouldHaveSaid": question.should_say,
        "why": question.why,
        "newAnswer": question.new,
    }
    material = exact_json.dumps({name: value for name, value in said.items() if value is not None})
    return get_template(PROMPT).render({"material": mark_safe(material)})  # noqa: S308 - a prompt is no page


def verdict_in(text: str) -> AnswerVerdict:
    """The verdict in a model's answer: of its JSON object that has one, whatever stands around it.

    Two that differ are none: one may be the material's.
    """
    said = [value for value in _objects_in(text[-LONGEST_ANSWER:]) if "verdict" in value]
    try:
        (verdict,) = {Verdict(value["verdict"]) for value in said}
    except (ValueError, TypeError):
        raise JudgeError("The model's answer holds no verdict.") from None
    reason = said[-1].get("reason")
    return AnswerVerdict(verdict, str(reason)[:MAX_REASON] if reason else None)


def _objects_in(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text that are in no other."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    while start != -1:
        try:
            value, end = decoder.raw_decode(text, start)
            yield value
        except RecursionError:
            return
        except ValueError:
            end = start + 1
        start = text.find("{", end)


def _answer(client: httpx.Client, request: dict[str, Any]) -> str:
    def ask(seconds_left: float) -> httpx.Response:
        return _posted(client, f"{settings.JUDGE_URL.rstrip('/')}/chat/completions", request, seconds_left)

    response = asked_patiently(
        ask, is_busy=_is_busy, retries=settings.JUDGE_RETRIES, seconds=settings.JUDGE_BUDGET_SECONDS
    )
    try:
        return str(response.raise_for_status().json()["choices"][0]["message"]["content"])
    except (ValueError, KeyError, IndexError, TypeError):
        raise JudgeError("The endpoint's answer is not one of a chat completion.") from None


def _posted(client: httpx.Client, url: str, request: dict[str, Any], seconds_left: float) -> httpx.Response:
    """A timeout is of one wait for more, and some endpoints send white space for as long as a model thinks."""
    deadline = monotonic() + seconds_left
    timeout = min(settings.JUDGE_TIMEOUT_SECONDS, seconds_left)
    with client.stream("POST", url, json=request, timeout=timeout) as response:
        parts = []
        for part in response.iter_raw():
            parts.append(part)
            if monotonic() > deadline:
                raise httpx.ReadTimeout("The answer did not end in time.", request=response.request)
    return httpx.Response(
        response.status_code, headers=response.headers, content=b"".join(parts), request=response.request
    )


def _is_busy(response: httpx.Response) -> bool:
    return response.status_code == httpx.codes.TOO_MANY_REQUESTS or response.is_server_error
