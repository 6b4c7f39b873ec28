"""`manage.py grade` as tests call it: a set, a file of outputs, and what came of it."""

import json
from xml.etree import ElementTree as ET

import pytest
from django.core.management import CommandError

from tests.loop import RIGHT_CALL, WRONG_CALL, output

SET = "support.corrections"
RIGHT, WRONG = [RIGHT_CALL], [WRONG_CALL]


class Grading:
    """A frozen set of some corrected runs, and `grade` with a file of outputs for it."""

    def __init__(self, loop, manage, folder, where):
        self.loop, self.manage, self.where = loop, manage, where
        self.file, self.report = folder / "outputs.jsonl", folder / "report.xml"
        self.cases = []

    def freeze(self, count):
        self.cases = [self.loop.correct() for _one in range(count)]
        self.loop.freeze()

    def write(self, *lines):
        self.file.write_text("".join(f"{line}\n" for line in lines))

    def __call__(self, version, *calls, name=SET, more=()):
        """Grade a version in which each case, in order, made these calls; (exit status, lines printed)."""
        if calls:
            self.write(*(json.dumps(output(case, made)) for case, made in zip(self.cases, calls, strict=False)))
        return self.said(name, "--agent", "support", "--version", version, *more)

    def feed(self, run, *calls, more=()):
        """The same for a test run that waits."""
        if calls:
            self.write(*(json.dumps(output(case, made)) for case, made in zip(self.cases, calls, strict=False)))
        return self.said("--run", run, *more)

    def said(self, *words):
        try:
            self.manage("grade", "--outputs", self.file, "--junit", self.report, *self.where, *words)
            status = 0
        except SystemExit as end:
            status = end.code
        return status, self.manage.last.out.splitlines()

    def reported(self):
        return ET.fromstring(self.report.read_bytes())  # noqa: S314 - our own

    def refused(self, *calls, **more):
        with pytest.raises(CommandError) as problem:
            self("1.1.0", *calls, **more)
        return str(problem.value)
