"""Times on pages: how long ago, with the full time on hover and in the markup."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.template import Context, Template
from django.utils import timezone


def shown(tag: str, moment: datetime | None) -> str:
    return Template(f"{{% load shown %}}{{% {tag} moment %}}").render(Context({"moment": moment}))


@pytest.mark.parametrize(
    ("past", "words"),
    [
        (timedelta(seconds=30), "just now"),
        (timedelta(minutes=1, seconds=30), "1 minute ago"),
        (timedelta(minutes=59, seconds=30), "59 minutes ago"),
        (timedelta(hours=1, minutes=30), "1 hour ago"),
        (timedelta(hours=23, minutes=30), "23 hours ago"),
        (timedelta(days=1, hours=12), "1 day ago"),
        (timedelta(days=6, hours=12), "6 days ago"),
    ],
)
def test_what_is_a_week_old_at_most_is_told_by_how_long_ago(past, words):
    assert f">{words}</time>" in shown("when", timezone.now() - past)


def test_what_is_older_is_told_by_its_day_and_by_its_year_unless_that_is_this_one():
    long_ago = datetime(2020, 1, 2, 3, 4, 5, 678_000, UTC)
    last_week = timezone.localtime() - timedelta(days=8)
    year = "" if last_week.year == timezone.localtime().year else f" {last_week.year}"

    assert shown("when", long_ago) == (
        '<time datetime="2020-01-02T03:04:05.678Z" title="2 January 2020, 03:04:05 UTC">2 Jan 2020</time>'
    )
    assert f">{last_week.day} {last_week:%b}{year}</time>" in shown("when", last_week)


def test_a_time_of_day_is_that_of_the_reader():
    with timezone.override(ZoneInfo("Europe/Berlin")):
        told = shown("clock_time", datetime(2026, 7, 1, 12, 2, 31, tzinfo=UTC))

    assert told == '<time datetime="2026-07-01T12:02:31.000Z" title="1 July 2026, 14:02:31 CEST">14:02:31</time>'


def test_no_time_is_no_words():
    assert shown("when", None) == ""
