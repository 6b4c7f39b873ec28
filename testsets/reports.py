"""What a grading looks like to a person at a terminal and to a CI job."""

import re
from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from testsets.rules.standing import Compared, Standing, reasons, share_right

SHOWN_REASONS = 3
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def table(cases: Sequence[Compared], *, against: str | None, erased: int = 0) -> list[str]:
    """Lines for a terminal: how many cases stand how, then why each wrong one is.

    `erased` cases are in no result any more.
    """
    counts = Counter(case.standing for case in cases)
    lines = [f"Against version {against}." if against else "There is no earlier test run of another version."]
    lines += [f"{standing.value:>16}  {counts[standing]}" for standing in Standing if counts[standing]]
    lines += [f"{'erased':>16}  {erased}"] if erased else []
    share = share_right(cases)
    lines.append(f"{'share right':>16}  {'nothing could be measured' if share is None else f'{share:.1%}'}")
    for case in cases:
        if case.standing.is_wrong:
            lines += ["", f"{case.standing.value}: {case.case_id}"]
            lines += [f"  {_printable(reason)}" for reason in reasons(case.result)[:SHOWN_REASONS]]
    return lines


def junit(cases: Sequence[Compared], *, name: str) -> bytes:
    """JUnit XML: a wrong case is a failure, one without an output an error, one that cannot be measured is skipped."""
    suite = ET.Element(
        "testsuite",
        name=name,
        tests=str(len(cases)),
        failures=str(sum(case.standing.is_wrong and case.standing != Standing.ERROR for case in cases)),
        errors=str(sum(case.standing == Standing.ERROR for case in cases)),
        skipped=str(sum(not (case.standing.is_wrong or case.standing.is_right) for case in cases)),
    )
    for case in cases:
        element = ET.SubElement(suite, "testcase", classname=name, name=case.case_id)
        _tell(element, case)
    report: bytes = ET.tostring(suite, encoding="utf-8", xml_declaration=True)
    return report


def _tell(element: ET.Element, case: Compared) -> None:
    why = _storable("\n".join(reasons(case.result)))
    if case.standing == Standing.ERROR:
        ET.SubElement(element, "error", message=case.standing.value).text = why
    elif case.standing.is_wrong:
        ET.SubElement(element, "failure", message=case.standing.value).text = why
    elif not case.standing.is_right:
        ET.SubElement(element, "skipped", message=case.standing.value)


def _printable(text: str) -> str:
    """One line that does nothing to a terminal."""
    return "".join(character if character.isprintable() else " " for character in text)


def _storable(text: str) -> str:
    """XML 1.0 has no control characters but tab and line ends; content may hold any."""
    return _NOT_IN_XML.sub("\ufffd", text)
