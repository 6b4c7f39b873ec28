"""A grading as a table for a terminal and as JUnit XML."""

from xml.etree import ElementTree as ET

from testsets.reports import junit, table
from testsets.rules.standing import Compared, Standing


def case(standing, name="c1", **result):
    return Compared(name, standing, result)


EVERY = [case(standing, standing.value) for standing in Standing if standing != Standing.ERASED]


def test_every_standing_has_a_line_and_each_wrong_case_its_reasons():
    lines = table(EVERY, against="1.0.0", erased=2)

    assert lines == [
        "Against version 1.0.0.",
        "       regressed  1",
        "           fixed  1",
        "     still wrong  1",
        "      new, wrong  1",
        "      new, right  1",
        "           right  1",
        "  not measurable  1",
        "           error  1",
        "          erased  2",
        "     share right  42.9%",
        "",
        "regressed: regressed",
        "",
        "still wrong: still wrong",
        "",
        "new, wrong: new, wrong",
        "",
        "error: error",
    ]


def test_nothing_at_all():
    assert table([], against=None) == [
        "There is no earlier test run of another version.",
        "     share right  nothing could be measured",
    ]


def test_three_reasons_are_enough_for_a_terminal():
    failures = [{"kind": "missing", "tool": f"tool-{number}"} for number in range(5)]
    lines = table([case(Standing.REGRESSED, decisions={"failures": failures})], against=None)

    assert lines[-3:] == [f"  tool-{number} was not called" for number in range(3)]


def told(cases, name="set@1.0.0"):
    return ET.fromstring(junit(cases, name=name))  # noqa: S314 - our own


def test_junit_counts_every_case_once():
    suite = told(EVERY)

    assert suite.attrib == {"name": "set@1.0.0", "tests": "8", "failures": "3", "errors": "1", "skipped": "1"}
    assert {element.get("name"): [part.tag for part in element] for element in suite} == {
        "regressed": ["failure"],
        "fixed": [],
        "still wrong": ["failure"],
        "new, wrong": ["failure"],
        "new, right": [],
        "right": [],
        "not measurable": ["skipped"],
        "error": ["error"],
    }


def test_junit_is_xml_whatever_is_in_it():
    odd = "".join(map(chr, [*range(0x20), 0x7F, 0xD800, 0xDFFF, 0xFFFE, 0xFFFF, 0x10FFFF])) + "]]><a>&"
    text = told([case(Standing.ERROR, error=odd)], name='a"<&>')[0][0].text

    assert text.startswith("error: " + "\ufffd" * 9 + "\t\n" + "\ufffd" * 2)
    assert text.endswith("\x7f" + "\ufffd" * 4 + "\U0010ffff]]><a>&")
