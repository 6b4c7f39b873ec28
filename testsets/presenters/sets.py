"""Test sets and their versions in lists, and what a version was made from."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from corrections.presenters.text import cut, plain, value_words
from corrections.vocabulary import SubjectKind
from testsets.models import TestSetVersion
from testsets.presenters.numbers import whole


@dataclass(frozen=True, slots=True)
class SetRow:
    name: str
    version: str
    kind: str
    source: str
    project: str
    cases: int
    versions: int
    description: str
    at: datetime
    is_retired: bool


@dataclass(frozen=True, slots=True)
class VersionShown:
    """A version. `facts` say what it was made from."""

    version: str
    kind: str
    source: str
    description: str
    at: datetime
    unregistered_at: datetime | None
    truncated: bool
    agent_id: str
    facts: list[tuple[str, str]] = field(default_factory=list)
    cases: int = 0
    runs: int = 0
    set_name: str = ""

    @classmethod
    def of(cls, version: TestSetVersion, *, cases: int = 0, runs: int = 0) -> "VersionShown":
        spec: dict[str, Any] = version.spec.value if version.spec and isinstance(version.spec.value, dict) else {}
        return cls(
            version=version.version,
            kind=kind_words(version.kind),
            source=_source_words(version, spec),
            description=plain(version.description),
            at=version.created_at,
            unregistered_at=version.unregistered_at,
            truncated=bool(spec.get("truncated")),
            agent_id=version.frozen_agent_id,
            facts=_facts(spec.get("query", {})),
            cases=cases,
            runs=runs,
            set_name=version.test_set.name,
        )


def set_row(version: Any) -> SetRow:
    """Of a version with its counts annotated."""
    shown = VersionShown.of(version)
    return SetRow(
        name=version.test_set.name,
        version=version.version,
        kind=shown.kind,
        source=shown.source,
        project=version.test_set.project.name,
        cases=version.case_count,
        versions=version.version_count,
        description=cut(shown.description, 120),
        at=version.created_at,
        is_retired=version.unregistered_at is not None,
    )


def version_row(version: Any) -> VersionShown:
    return VersionShown.of(version, cases=version.case_count, runs=version.run_count)


def kind_words(kind: str) -> str:
    names = {
        "corrections": _("corrections"),
        "accuracy": _("accuracy"),
        "pairwise": _("pairwise"),
        "regression": _("regression"),
        "human-review": _("human review"),
        "benchmark": _("benchmark"),
        "custom": _("custom"),
    }
    return names.get(kind, kind)


def made_from(version: TestSetVersion) -> tuple[str, str]:
    """(agent or flow, its id) that a version was frozen or built from, the id empty where none is known."""
    if version.frozen_agent_id:
        return SubjectKind.AGENT, version.frozen_agent_id
    spec: dict[str, Any] = version.spec.value if version.spec and isinstance(version.spec.value, dict) else {}
    said = spec.get("query")
    query: dict[str, Any] = said if isinstance(said, dict) else {}
    kind = SubjectKind.FLOW if "flowId" in query else SubjectKind.AGENT
    return kind, plain(str(query.get("agentId") or query.get("flowId") or ""))


def _source_words(version: TestSetVersion, spec: dict[str, Any]) -> str:
    if version.frozen_agent_id:
        return _("frozen from the set of %(agent)s") % {"agent": plain(version.frozen_agent_id)}
    query = spec.get("query")
    if spec.get("source") == "corrections" and isinstance(query, dict):
        subject = query.get("agentId") or query.get("flowId") or ""
        return _("built from corrections of %(subject)s") % {"subject": plain(str(subject))}
    return _("published by hand, without cases here")


def _facts(query: Any) -> list[tuple[str, str]]:
    if not isinstance(query, dict):
        return []
    facts = []
    if query.get("agentVersion"):
        facts.append((_("version"), plain(str(query["agentVersion"]))))
    for name, words in (("since", _("corrected from")), ("until", _("corrected before"))):
        if query.get(name):
            facts.append((words, plain(str(query[name]))[:10]))
    if whole(query.get("minCorrections")) > 1:
        facts.append((_("corrections a run has at least"), str(whole(query["minCorrections"]))))
    if query.get("correctorGroupIds") is not None:
        facts.append((_("groups that count"), str(len(query["correctorGroupIds"]))))
    segments = query.get("segments", ())
    return facts + [(value_words(part.get("key", "")), value_words(part.get("value", ""))) for part in segments]
