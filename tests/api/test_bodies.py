"""Contract, section 4: JSON as it must be, and fields that take exactly their type."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import pytest

from corrections.models import Run
from kindgi_site.api.bodies import (
    AnyJson,
    AnyObject,
    Decimal,
    Flag,
    Id,
    ListOf,
    Moment,
    Shape,
    Text,
    Version,
    Whole,
    WireBody,
    Word,
)
from kindgi_site.api.documents import document_of_text
from kindgi_site.errors import Code, InvalidError
from tests.wire import WireClient

Refusal = Callable[..., dict[str, Any]]
SOME_ID = "00000000-0000-4000-8000-00000000000a"

# ---- JSON, over HTTP ----


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"   ",
        b"\xef\xbb\xbf",
        b"nonsense",
        b"{",
        b'{"runId": "x",}',
        b"{'runId': 'x'}",
        b'{"runId": "x"} {}',
        b'{"runId": "x"}garbage',
        b'{"runId": NaN}',
        b'{"runId": Infinity}',
        b'{"runId": -Infinity}',
        b'{"runId": 01}',
        b'{"runId": "a\nb"}',
        b'{"runId": "\xff"}',
        b'{"runId": "\xed\xa0\x80"}',
        b"\xff\xfe{\x00}\x00",
        b"[]",
        b'["runId"]',
        b'"runId"',
        b"7",
        b"true",
        b"null",
        b"[" * 129,
        b"[" * 128 + b"]" * 128,
    ],
)
def test_what_is_no_json_object_is_refused(body: bytes, api_client: WireClient, refusal: Refusal) -> None:
    response = api_client.post("/v1/corrections", body)

    assert response.status_code == 400
    assert response.json() == refusal(response, "bad-input")


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", b" \t\r\n", b"\xef\xbb\xbf\n "])
def test_a_byte_order_mark_and_white_space_are_passed_over(
    before: bytes, api_client: WireClient, run_path: str, run_body: dict[str, Any]
) -> None:
    assert api_client.put(run_path, before + json.dumps(run_body).encode() + b"\n").status_code == 201


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "application/x-www-form-urlencoded", ""])
def test_the_content_type_is_not_looked_at(
    content_type: str, api_client: WireClient, run_path: str, run_body: dict[str, Any]
) -> None:
    assert api_client.put(run_path, run_body, content_type=content_type).status_code == 201


def test_of_repeated_keys_the_last_wins(api_client: WireClient, run_path: str, run_body: dict[str, Any]) -> None:
    body = json.dumps(run_body)[:-1] + ', "status": "suspended"}'

    assert api_client.put(run_path, body).json()["status"] == "suspended"


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "\udc00x", "\udc00\ud800"])
@pytest.mark.parametrize("field", ["participantId", "parentRunId"])
def test_a_text_that_no_column_can_hold_is_refused(
    text: str, field: str, api_client: WireClient, run_path: str, run_body: dict[str, Any], refusal: Refusal
) -> None:
    response = api_client.put(run_path, run_body | {field: text})

    assert response.status_code == 400
    assert response.json() == refusal(response, "bad-input", {"field": field})
    assert not Run.objects.exists()


def test_content_may_hold_them(api_client: WireClient, run_path: str, run_body: dict[str, Any]) -> None:
    sent = b'{"a":"\\u0000","b":"\\ud800","c":1.0,"d":12345678901234567890}'
    body = json.dumps(run_body).encode().replace(json.dumps(run_body["input"]).encode(), sent)

    assert api_client.put(run_path, body).status_code == 201
    assert sent in api_client.get(f"{run_path}?include=input").content


# ---- depth, over HTTP ----


def nest(levels: int, inner: bytes = b"") -> bytes:
    """An object with arrays in it: `levels` containers, one in the other."""
    return b'{"a":' + b"[" * (levels - 1) + inner + b"]" * (levels - 1) + b"}"


@pytest.mark.parametrize("body", [nest(128), nest(128, b'"[[[["'), b"[" + nest(127) + b"," + nest(127) + b"]"])
def test_128_levels_pass(body: bytes, api_client: WireClient) -> None:
    response = api_client.post("/v1/nowhere", body)

    assert response.status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        nest(129),
        b"\xef\xbb\xbf \n" + nest(129),
        b"[" * 129 + b"]" * 129,
        b'{"a":' * 129 + b"0" + b"}" * 129,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' + nest(128) + b',"a":1}',
    ],
)
@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/v1/corrections"), ("GET", "/v1/runs"), ("POST", "/v1/nowhere")]
)
def test_129_levels_are_refused(method: str, path: str, body: bytes, api_client: WireClient, refusal: Refusal) -> None:
    response = api_client.request(method, path, body)

    assert response.status_code == 400
    assert response.json() == refusal(response, "bad-input", {"maxDepth": 128})


def test_a_deep_text_that_does_not_parse_is_the_routes_to_refuse(api_client: WireClient) -> None:
    assert api_client.post("/v1/nowhere", nest(129)[:-1]).status_code == 404


# ---- a whole body ----


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


class InnerShape(Shape):
    key = Text(non_blank=True)
    size = Whole(required=False, min_value=0)


class ProbeBody(WireBody):
    text = Text(required=False, max_length=5)
    nonBlank = Text(required=False, non_blank=True)
    filled = Text(required=False, min_length=1)
    whole = Whole(required=False, min_value=0)
    number = Decimal(required=False)
    flag = Flag(required=False)
    colour = Word(Colour, required=False)
    id = Id(required=False)
    at = Moment(required=False)
    version = Version(required=False)
    anything = AnyJson(required=False)
    thing = AnyObject(required=False)
    inner = InnerShape(required=False)
    list = ListOf(child=InnerShape(), required=False, min_length=1, max_length=2)


class NeedyBody(WireBody):
    first = AnyJson()
    second = Text()


def read(body: type[WireBody], sent: object) -> dict[str, Any]:
    return body.read(document_of_text(sent if isinstance(sent, str) else json.dumps(sent)))


def refused(body: type[WireBody], sent: object) -> tuple[Code, dict[str, Any]]:
    with pytest.raises(InvalidError) as caught:
        read(body, sent)
    return caught.value.code, caught.value.details


def test_unknown_fields_are_named_in_the_order_sent() -> None:
    sent = {"zebra": 1, "text": 7, "Text": 1, "apple": 1, "": 1}

    assert refused(ProbeBody, sent) == (Code.UNKNOWN_FIELD, {"fields": ["zebra", "Text", "apple", ""]})


def test_unknown_fields_come_before_the_rules_of_known_ones() -> None:
    assert refused(NeedyBody, {"second": 7, "third": 1}) == (Code.UNKNOWN_FIELD, {"fields": ["third"]})


def test_unknown_fields_further_in_are_bad_input() -> None:
    assert refused(ProbeBody, {"inner": {"key": "k", "other": 1}}) == (Code.BAD_INPUT, {"field": "inner.other"})
    assert refused(ProbeBody, {"list": [{"other": 1}]}) == (Code.BAD_INPUT, {"field": "list.other"})


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"\\ud800": 1}', "unknown-field"),
        (b'{"\\u0000": 1}', "unknown-field"),
        (b'{"runId": "x", "items": [{"\\ud800": 1}]}', "bad-input"),
        (b'{"runId": "x", "shouldCall": [{"\\u0000": 1}]}', "bad-input"),
    ],
)
def test_a_name_that_cannot_be_sent_back_is_refused_all_the_same(
    body: bytes, code: str, api_client: WireClient
) -> None:
    response = api_client.post("/v1/corrections", body)

    assert (response.status_code, response.json()["error"]["code"]) == (400, code)


def test_the_first_problem_in_the_order_of_the_fields_is_told() -> None:
    assert refused(ProbeBody, {"flag": 1, "whole": True}) == (Code.BAD_INPUT, {"field": "whole"})
    assert refused(NeedyBody, {}) == (Code.BAD_INPUT, {"field": "first"})
    assert refused(NeedyBody, {"first": None}) == (Code.BAD_INPUT, {"field": "second"})
    assert read(NeedyBody, {"first": None, "second": ""}) == {"first": None, "second": ""}


def test_only_fields_that_were_sent_are_read() -> None:
    assert read(ProbeBody, {}) == {}
    assert read(ProbeBody, {"flag": False}) == {"flag": False}


def test_an_optional_body_may_be_empty() -> None:
    assert ProbeBody.read(document_of_text(" \n"), optional=True) == {}
    with pytest.raises(InvalidError):
        ProbeBody.read(document_of_text(" \n"))
    with pytest.raises(InvalidError):
        ProbeBody.read(document_of_text("null"), optional=True)


@pytest.mark.parametrize("field", sorted(set(ProbeBody().fields) - {"anything"}))
def test_null_is_not_the_same_as_absent(field: str) -> None:
    assert refused(ProbeBody, {field: None}) == (Code.BAD_INPUT, {"field": field})


# ---- fields ----

ACCEPTED: list[tuple[str, str, Any]] = [
    ("text", '""', ""),
    ("text", '" a "', " a "),
    ("text", '"\\u00e9\\ud83d\\ude00"', "\u00e9\U0001f600"),
    ("text", '"' + "\U0001f600" * 5 + '"', "\U0001f600" * 5),
    ("nonBlank", '" a "', " a "),
    ("filled", '" "', " "),
    ("whole", "0", 0),
    ("whole", "-0", 0),
    ("whole", "2.0", 2),
    ("whole", "2e0", 2),
    ("whole", "20e-1", 2),
    ("whole", "1E2", 100),
    ("number", "-1.5", -1.5),
    ("number", "1", 1.0),
    ("number", "1e3", 1000.0),
    ("number", "1e-400", 0.0),
    ("flag", "true", True),
    ("flag", "false", False),
    ("colour", '"red"', Colour.RED),
    ("id", f'"{SOME_ID}"', UUID(SOME_ID)),
    ("id", f'"{SOME_ID.upper()}"', UUID(SOME_ID)),
    ("version", '"1.2.0"', "1.2.0"),
    ("version", '"0.0.0"', "0.0.0"),
    ("version", '"10.20.30-rc.1"', "10.20.30-rc.1"),
    ("anything", "null", None),
    ("anything", '["x", false]', ["x", False]),
    ("thing", "{}", {}),
    ("inner", '{"key": "k", "size": 1.0}', {"key": "k", "size": 1}),
    ("list", '[{"key": "k"}]', [{"key": "k"}]),
]
NOT_TEXT = ["1", "true", "[]", "{}"]
REFUSED: list[tuple[str, str]] = [
    *(("text", sent) for sent in [*NOT_TEXT, '"123456"', '"a\\u0000"', '"\\ud800"']),
    *(("nonBlank", sent) for sent in [*NOT_TEXT, '""', '" "', '"\\t\\n"', '"\\u3000\\u00a0"']),
    *(("filled", sent) for sent in [*NOT_TEXT, '""']),
    *(("whole", sent) for sent in ["true", "false", '"2"', "2.5", "-1", "-1.0", "1e400", "1e19", "[]", "1e-1", "[2]"]),
    *(("number", sent) for sent in ["true", '"1"', "1e400", "-1e400", "[]", "{}"]),
    *(("flag", sent) for sent in ["1", "0", '"true"', '"on"', '""', "[]"]),
    *(("colour", sent) for sent in ['"Red"', '"blue"', '""', '" red"', "1", "true", "[]", '["red"]']),
    *(("id", sent) for sent in [f'"{SOME_ID.replace("-", "")}"', f'"{{{SOME_ID}}}"', f'"{SOME_ID}\\n"', '""', "7"]),
    *(("id", sent) for sent in [f'"urn:uuid:{SOME_ID}"', f'" {SOME_ID}"', f'["{SOME_ID}"]']),
    *(("version", sent) for sent in ['"1.2"', '"1.2.0.0"', '"01.2.0"', '"1.02.0"', '"v1.2.0"', '"1.2.0\\n"', '""']),
    *(("version", sent) for sent in ["1.2", "[]", '"1.2.-1"', '"\u0661.2.0"', '"1.2.' + "9" * 100 + '"']),
    *(("thing", sent) for sent in ["[]", '""', "0", "true"]),
    *(("inner", sent) for sent in ["[]", '"key"', "{}", '{"key": ""}', '{"key": "k", "size": null}']),
    *(("list", sent) for sent in ["[]", "{}", '"list"', "[null]", "[[]]", "[1, 2, 3]", '[{"key": "k"}, {"key": ""}]']),
]  # fmt: skip


@pytest.mark.parametrize(("field", "sent", "value"), ACCEPTED)
def test_a_field_takes_its_type(field: str, sent: str, value: Any) -> None:
    said = read(ProbeBody, f'{{"{field}": {sent}}}')

    assert said == {field: value}
    assert type(said[field]) is type(value)


@pytest.mark.parametrize(("field", "sent"), REFUSED)
def test_a_field_takes_nothing_else(field: str, sent: str) -> None:
    code, details = refused(ProbeBody, f'{{"{field}": {sent}}}')

    assert code == Code.BAD_INPUT
    assert details["field"].split(".")[0] == field


def test_a_lists_length_is_checked_before_its_entries() -> None:
    with pytest.raises(InvalidError, match="too many entries"):
        read(ProbeBody, {"list": [None, None, None]})


# ---- times (4.4) ----


@pytest.mark.parametrize(
    ("sent", "moment"),
    [
        ("2026-03-01T09:30:00Z", datetime(2026, 3, 1, 9, 30, tzinfo=UTC)),
        ("2026-03-01 09:30:00Z", datetime(2026, 3, 1, 9, 30, tzinfo=UTC)),
        ("2026-03-01T09:30:00.1Z", datetime(2026, 3, 1, 9, 30, 0, 100_000, tzinfo=UTC)),
        ("2026-03-01T09:30:00.123456789Z", datetime(2026, 3, 1, 9, 30, 0, 123_000, tzinfo=UTC)),
        ("2026-03-01T09:30:00.9999Z", datetime(2026, 3, 1, 9, 30, 0, 999_000, tzinfo=UTC)),
        ("2026-03-01T09:30:00+02", datetime(2026, 3, 1, 7, 30, tzinfo=UTC)),
        ("2026-03-01T09:30:00-05:30", datetime(2026, 3, 1, 15, 0, tzinfo=UTC)),
        ("2026-03-01T09:30:00+15:59:59", datetime(2026, 2, 28, 17, 30, 1, tzinfo=UTC)),
        ("2028-02-29T23:59:59Z", datetime(2028, 2, 29, 23, 59, 59, tzinfo=UTC)),
        ("1000-01-01T00:00:00Z", datetime(1000, 1, 1, tzinfo=UTC)),
    ],
)
def test_times_with_a_zone_are_taken(sent: str, moment: datetime) -> None:
    assert read(ProbeBody, {"at": sent}) == {"at": moment}


@pytest.mark.parametrize(
    "sent",
    [
        "2026-03-01",
        "2026-03-01T09:30:00",
        "2026-03-01T09:30Z",
        "2026-03-01t09:30:00z",
        "2026-03-01T09:30:00.Z",
        "2026-03-01T09:30:00.1234567890Z",
        "2026-03-01T09:30:00,5Z",
        "2026-02-29T09:30:00Z",
        "2026-13-01T09:30:00Z",
        "2026-00-01T09:30:00Z",
        "2026-03-01T24:00:00Z",
        "2026-03-01T09:60:00Z",
        "2026-03-01T09:30:60Z",
        "2026-03-01T09:30:00+16:00",
        "2026-03-01T09:30:00+02:60",
        "2026-03-01T09:30:00+0200",
        "2026-03-01T09:30:00 Z",
        "0999-12-31T23:59:59Z",
        "9999-12-31T23:59:59-15:00",
        "12026-03-01T09:30:00Z",
        " 2026-03-01T09:30:00Z",
        "2026-03-01T09:30:00Z\n",
        "\u0662026-03-01T09:30:00Z",
        "",
        1_772_357_400,
        True,
    ],
)
def test_other_times_are_refused(sent: object) -> None:
    assert refused(ProbeBody, {"at": sent}) == (Code.BAD_INPUT, {"field": "at"})
