"""The audit record: one entry for each write, without content; sealed so that tampering shows."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from io import StringIO
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection

from corrections.drafts import CorrectionDraft, ExpectedCall, GroupChange, GroupDraft, RuleChange
from corrections.marks import Party
from corrections.models import Run
from corrections.services.agents import set_owner
from corrections.services.correcting_rules import change_rule, stop_rule
from corrections.services.erasure import erase_conversation, erase_participant, erase_run
from corrections.services.groups import change_group, create_group, retire_group
from corrections.services.queue import dismiss_item, reopen_item
from corrections.services.recording import record_correction
from corrections.services.status import (
    link_correction,
    remove_correction,
    set_status,
    sort_correction,
    unlink_correction,
)
from corrections.vocabulary import LinkKind, ScopeKind, SortedTo, Status, Verdict
from kindgi_site import clock
from kindgi_site.callers import Caller, ReviewerRole, Role
from kindgi_site.errors import DomainError
from kindgi_site.exact_json import JsonText
from kindgi_site.workspaces.models import AuditEntry, AuditSeal
from kindgi_site.workspaces.services.audit import digest_of, record_write, seal_pending
from kindgi_site.workspaces.services.keys import KeyDraft, mint_key, revoke_key_by_id
from kindgi_site.workspaces.services.projects import create_project
from kindgi_site.workspaces.services.reviewers import register_reviewer, unregister_reviewer
from tests.at_once import at_once
from tests.factories import CorrectorGroupFactory, ProjectFactory, RunFactory, WorkspaceFactory, caller_of, person_with
from tests.life import LINKED, correction_in
from tests.queueing import finish_run, run_draft, write_rule

WORD = "w-said"


class Cast:
    """An administrator and what there is to write on, made before the write is watched."""

    def __init__(self, project: Any) -> None:
        self.project = project
        self.person = person_with(project, Role.ADMIN, is_admin=True)
        self.by: Caller = caller_of(self.person)
        self.run = RunFactory(project=project)

    def correction(self, status: Status = Status.OPEN, **more: Any) -> str:
        return str(correction_in(self.project, status, SortedTo.IMPROVE, **more).id)

    def item(self) -> str:
        write_rule(self.by, self.project)
        return str(finish_run(self.by, self.project).run_id)

    def dismissed(self) -> str:
        run_id = self.item()
        dismiss_item(caller=self.by, project=self.project, run_id=run_id)
        return run_id

    def group(self) -> str:
        return str(CorrectorGroupFactory(workspace=self.project.workspace).id)

    def rule(self) -> Any:
        return write_rule(self.by, self.project).rule_id


def record(cast: Cast, _made: Any) -> Any:
    draft = CorrectionDraft(
        decisions=Verdict.WRONG, should_call=(ExpectedCall(WORD),), answer=Verdict.WRONG, should_say=WORD, why=WORD
    )
    return record_correction(caller=cast.by, run_id=cast.run.run_id, draft=draft).id


def ingest(cast: Cast, _made: Any) -> Any:
    return finish_run(cast.by, cast.project, input=JsonText(f'"{WORD}"'), participant_id=WORD).run_id


def made_group(cast: Cast, _made: Any) -> Any:
    draft = GroupDraft(name=WORD, weight=1, scope_kind=ScopeKind.TENANT, description=WORD)
    return create_group(caller=cast.by, draft=draft).id


def minted(cast: Cast, _made: Any) -> Any:
    return mint_key(caller=cast.by, draft=KeyDraft(label=WORD))[0].id


def nothing(_cast: Cast) -> None:
    return None


# What is done, as the record names it: what there must be first, the write, and the fields it names.
# Each write returns the id of its target.
WRITES: dict[str, tuple[Callable[[Cast], Any], Callable[[Cast, Any], Any], str]] = {
    "runs.put": (nothing, ingest, ""),
    "corrections.create": (nothing, record, "decisions should_call answer should_say why"),
    "corrections.status": (
        Cast.correction,
        lambda cast, key: set_status(caller=cast.by, correction_id=key, status=Status.WONT_FIX, note=WORD).id,
        "status note_text note_by_kind note_by_id note_at",
    ),
    "corrections.sort": (
        Cast.correction,
        lambda cast, key: sort_correction(caller=cast.by, correction_id=key, to=SortedTo.OWNER, reason=WORD).id,
        "status sorted_to sorted_by_kind sorted_by_id sorted_reason sorted_at",
    ),
    "corrections.link": (
        Cast.correction,
        lambda cast, key: link_correction(caller=cast.by, correction_id=key, kind=LinkKind.IMPROVE_RUN, target=WORD).id,
        "status link_kind link_target",
    ),
    "corrections.unlink": (
        lambda cast: cast.correction(**LINKED),
        lambda cast, key: unlink_correction(caller=cast.by, correction_id=key).id,
        "link_kind link_target",
    ),
    "corrections.unregister": (
        Cast.correction,
        lambda cast, key: remove_correction(caller=cast.by, correction_id=key).id,
        "status unregistered_at",
    ),
    "corrector-groups.create": (nothing, made_group, ""),
    "corrector-groups.update": (
        Cast.group,
        lambda cast, key: change_group(caller=cast.by, group_id=key, change=GroupChange(description=WORD)).id,
        "description",
    ),
    "corrector-groups.unregister": (Cast.group, lambda cast, key: retire_group(caller=cast.by, group_id=key).id, ""),
    "agents.set-owner": (
        nothing,
        lambda cast, _made: (
            set_owner(caller=cast.by, project_id=cast.project.id, agent_id="support", owner=Party("user", WORD))
            and "support"
        ),
        "owner",
    ),
    "erasures.run": (nothing, lambda cast, _made: erase_run(caller=cast.by, run_id=cast.run.run_id)[0].id, None),
    "erasures.participant": (
        nothing,
        lambda cast, _made: erase_participant(caller=cast.by, participant_id=WORD).id,
        None,
    ),
    "erasures.conversation": (
        nothing,
        lambda cast, _made: erase_conversation(caller=cast.by, conversation_id=uuid4()).id,
        None,
    ),
    "correcting-rules.create": (nothing, lambda cast, _made: write_rule(cast.by, cast.project, WORD).rule_id, None),
    "correcting-rules.update": (
        Cast.rule,
        lambda cast, key: (
            change_rule(caller=cast.by, project=cast.project, rule_id=str(key), change=RuleChange(name=WORD)).rule_id
        ),
        "name",
    ),
    "correcting-rules.unregister": (
        Cast.rule,
        lambda cast, key: stop_rule(caller=cast.by, project=cast.project, rule_id=str(key)) and key,
        None,
    ),
    "correcting-queue.dismiss": (
        Cast.item,
        lambda cast, key: dismiss_item(caller=cast.by, project=cast.project, run_id=key, reason=WORD).run_id,
        "state reason",
    ),
    "correcting-queue.reopen": (
        Cast.dismissed,
        lambda cast, key: reopen_item(caller=cast.by, project=cast.project, run_id=key).run_id,
        "state",
    ),
    "projects.create": (
        nothing,
        lambda cast, _made: create_project(caller=cast.by, name=WORD, slug=WORD, description=WORD).id,
        "name slug",
    ),
    "tokens.mint": (nothing, minted, "principal role"),
    "tokens.revoke": (
        lambda cast: str(minted(cast, None)),
        lambda cast, key: revoke_key_by_id(caller=cast.by, key_id=key).id,
        "revokedAt",
    ),
    "reviewers.register": (
        nothing,
        lambda cast, _made: (
            register_reviewer(caller=cast.by, person_id=cast.person.id, role=ReviewerRole.SENIOR, display_name=WORD).id
        ),
        "role displayName",
    ),
    "reviewers.unregister": (
        lambda cast: str(register_reviewer(caller=cast.by, person_id=cast.person.id, role=ReviewerRole.SENIOR).id),
        lambda cast, key: unregister_reviewer(caller=cast.by, reviewer_id=key).id,
        "deactivatedAt",
    ),
}


@pytest.mark.parametrize("action", WRITES)
def test_each_write_leaves_exactly_one_entry_and_no_content(project, action):
    arrange, write, fields = WRITES[action]
    cast = Cast(project)
    before = arrange(cast)
    AuditEntry.objects.all().delete()

    target = write(cast, before)

    entry = AuditEntry.objects.values().get()
    assert (entry["action"], entry["target_id"]) == (action, str(target))
    assert (entry["by_kind"], entry["by_id"], entry["via"]) == ("user", cast.by.id, "page")
    assert entry["workspace_id"] == project.workspace_id
    assert fields is None or entry["fields"] == fields
    assert not [value for value in entry.values() if WORD in str(value)]
    assert entry["seal_id"] is None


def test_what_changes_nothing_or_is_refused_leaves_no_entry(project):
    cast = Cast(project)
    removed, same, run = cast.correction(Status.REMOVED), cast.correction(), cast.run
    AuditEntry.objects.all().delete()
    Run.objects.filter(id=run.id).update(status="running")

    for refused in (
        lambda: set_status(caller=cast.by, correction_id=removed, status=Status.OPEN),
        lambda: record(cast, None),
        lambda: create_project(caller=cast.by, name="x", slug="default"),
    ):
        with pytest.raises(DomainError):
            refused()
    set_status(caller=cast.by, correction_id=same, status=Status.OPEN)
    unlink_correction(caller=cast.by, correction_id=same)

    assert not AuditEntry.objects.exists()


def test_a_key_and_a_request_are_named(api_client, api_key, project, run, caller):
    api_client.post("/v1/corrections", {"runId": str(run.run_id), "answer": "right"}, x_request_id="request-1")

    entry = AuditEntry.objects.get()
    assert (entry.via, entry.request_id, entry.by_id) == ("key", "request-1", caller.id)
    assert entry.key_id is not None
    assert api_key not in str(vars(entry))


def test_the_same_run_handed_in_again_is_no_write(caller, project):
    draft = run_draft(project)
    finish_run(caller, project, run_id=draft.run_id)
    finish_run(caller, project, run_id=draft.run_id)

    assert AuditEntry.objects.count() == 1


# Sealing and verifying.


@pytest.fixture
def written(caller) -> list[AuditEntry]:
    """Five settled entries."""
    for number in range(5):
        record_write(caller, "tests.write", "thing", number, ["field"])
    AuditEntry.objects.update(at=clock.now() - timedelta(hours=1))
    return list(AuditEntry.objects.order_by("id"))


def verify(*said: str) -> str:
    """What the command says; its refusal is added as it is raised."""
    told = StringIO()
    try:
        call_command("verify_audit", *said, stdout=told)
    except CommandError as refusal:
        return f"{told.getvalue()}{refusal}"
    return told.getvalue()


def test_sealing_chains_batches_and_leaves_what_has_not_settled(caller, written):
    record_write(caller, "tests.write", "thing", "new")
    told = StringIO()
    assert seal_pending(batch=2) == 5
    call_command("seal_audit", stdout=told)

    seals = list(AuditSeal.objects.order_by("number"))
    assert told.getvalue() == "Sealed 0 entries.\n"
    assert [seal.entries for seal in seals] == [2, 2, 1]
    assert [seal.previous for seal in seals] == ["", seals[0].digest, seals[1].digest]
    sealed = [list(AuditEntry.objects.filter(seal=seal).order_by("id")) for seal in seals]
    assert [entry for batch in sealed for entry in batch] == written
    oldest = AuditEntry.objects.get(seal=None).at
    assert verify() == (
        f"3 seals, 0 broken; 1 entries unsealed, the oldest of {oldest:%Y-%m-%d %H:%M:%S} UTC.\n"
        f"Newest seal: {seals[2].number}:{seals[2].digest}\n"
    )


def test_an_empty_record_is_whole(db):
    assert verify() == "0 seals, 0 broken; 0 entries unsealed.\nNewest seal: none\n"


CHANGES = {
    "workspace_id": lambda: WorkspaceFactory().id,
    "at": lambda: clock.now() - timedelta(minutes=61),
    "by_kind": lambda: "service",
    "by_id": lambda: "somebody",
    "via": lambda: "key",
    "key_id": uuid4,
    "action": lambda: "tests.other",
    "target_kind": lambda: "other",
    "target_id": lambda: "9",
    "fields": lambda: "other",
    "request_id": lambda: "other",
    "id": uuid4,
    "seal_id": lambda: None,
}


@pytest.mark.django_db(transaction=True)
def test_sealing_on_and_on_outlives_a_database_that_is_away(written, monkeypatch):
    told, complained = StringIO(), StringIO()
    pauses = []

    def away(*_statement):
        raise OperationalError("the server closed the connection")

    def paused(seconds):
        pauses.append(seconds)
        outage.close()
        if len(pauses) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", paused)
    with ExitStack() as outage:
        outage.enter_context(connection.execute_wrapper(away))
        with pytest.raises(KeyboardInterrupt):
            call_command("seal_audit", "--every=5", stdout=told, stderr=complained)

    assert pauses == [5, 5]
    assert complained.getvalue() == "Not sealed this time: the server closed the connection\n"
    assert told.getvalue() == "Sealed 5 entries.\n"


@pytest.mark.parametrize("seconds", ["0", "-5", "x", "86401"])
def test_sealing_on_and_on_refuses_a_pause_that_is_none(db, seconds):
    with pytest.raises(CommandError, match=f"'{seconds}' is not a number of seconds from 1 to 86400"):
        call_command("seal_audit", f"--every={seconds}")


def test_every_column_is_sealed():
    assert set(CHANGES) == {field.attname for field in AuditEntry._meta.concrete_fields}


@pytest.mark.parametrize("column", CHANGES)
def test_a_changed_row_is_found(written, column):
    seal_pending(batch=2)
    AuditEntry.objects.filter(id=written[2].id).update(**{column: CHANGES[column]()})

    second = AuditSeal.objects.order_by("number")[1]
    assert verify().endswith(f"Changed or missing entries under seal {second.number}.")


def test_a_removed_row_is_found(written):
    seal_pending(batch=2)
    written[0].delete()

    first = AuditSeal.objects.order_by("number")[0]
    assert verify().startswith("3 seals, 1 broken; 0 entries unsealed.")
    assert verify().endswith(f"under seal {first.number}.")


def test_a_row_slipped_in_under_a_seal_is_found(caller, written):
    seal_pending()
    record_write(caller, "tests.write", "thing", "slipped in")
    AuditEntry.objects.filter(seal=None).update(seal=AuditSeal.objects.get())

    assert "1 broken" in verify()


def test_a_seal_made_anew_over_changed_rows_does_not_fit_the_next(written):
    seal_pending(batch=2)
    AuditEntry.objects.filter(id=written[0].id).update(by_id="somebody")
    first, second, _third = AuditSeal.objects.order_by("number")
    rows = AuditEntry.objects.filter(seal=first).order_by("id")
    AuditSeal.objects.filter(number=first.number).update(digest=digest_of("", rows))

    assert verify().endswith(f"under seal {second.number}.")


def test_a_whole_batch_taken_out_of_the_middle_is_found(written):
    seal_pending(batch=2)
    _first, second, third = AuditSeal.objects.order_by("number")
    second.sealed.all().delete()
    second.delete()

    assert verify().endswith(f"under seal {third.number}.")


def newest() -> str:
    """The newest seal, as the command prints it for whoever keeps it elsewhere."""
    return verify().splitlines()[1].removeprefix("Newest seal: ")


def test_the_newest_seals_taken_away_with_their_entries_are_missed_by_who_kept_one(written):
    seal_pending(batch=2)
    kept = newest()
    assert verify("--expect", kept) == verify()

    third = AuditSeal.objects.order_by("number")[2]
    third.sealed.all().delete()
    third.delete()

    assert verify().startswith("2 seals, 0 broken; 0 entries unsealed.")
    number, digest = kept.split(":")
    assert verify("--expect", kept).endswith(f"\nThe record no longer holds seal {number} with the hash {digest}.")


def test_the_whole_record_taken_away_is_missed_too(written):
    seal_pending(batch=2)
    kept = newest()
    AuditEntry.objects.all().delete()
    AuditSeal.objects.all().delete()

    assert verify() == "0 seals, 0 broken; 0 entries unsealed.\nNewest seal: none\n"
    assert "The record no longer holds seal" in verify("--expect", kept)


def test_a_record_written_anew_from_the_first_seal_on_is_another(written):
    seal_pending(batch=2)
    kept = newest()
    AuditEntry.objects.filter(id=written[0].id).update(by_id="somebody")
    previous = ""
    for seal in AuditSeal.objects.order_by("number"):
        digest = digest_of(previous, AuditEntry.objects.filter(seal=seal).order_by("id"))
        AuditSeal.objects.filter(number=seal.number).update(previous=previous, digest=digest)
        previous = digest

    assert "3 seals, 0 broken" in verify()
    assert "The record no longer holds seal" in verify("--expect", kept)


def test_a_seal_that_was_kept_is_held_by_a_record_that_went_on(caller, written):
    seal_pending(batch=2)
    kept = newest()
    record_write(caller, "tests.write", "thing", "later")
    AuditEntry.objects.filter(seal=None).update(at=clock.now() - timedelta(hours=1))
    seal_pending()

    assert verify("--expect", kept, "--expect", newest()) == verify()
    assert newest() != kept


def test_every_seal_that_is_missed_is_named_beside_what_is_broken(written):
    seal_pending(batch=2)
    written[0].delete()
    first = AuditSeal.objects.order_by("number")[0]
    nobodys = "9" * 30 + ":" + "0" * 64

    said = verify("--expect", nobodys, "--expect", f"{first.number}:{'1' * 64}")

    assert f"Changed or missing entries under seal {first.number}." in said
    assert f"no longer holds seal {'9' * 30} with" in said
    assert f"no longer holds seal {first.number} with the hash {'1' * 64}." in said


@pytest.mark.parametrize("text", ["", "3", "three:" + "0" * 64, "3:abc", "3:" + "g" * 64, "-3:" + "0" * 64])
def test_what_names_no_seal_is_told_before_anything_is_read(written, text):
    said = verify(f"--expect={text}")

    assert "a seal as it was printed, NUMBER:HASH" in said
    assert "seals," not in said


@pytest.mark.django_db(transaction=True)
def test_sealers_at_the_same_moment_make_one_chain():
    caller = caller_of(person_with(ProjectFactory()))
    for round_ in range(3):
        for number in range(20):
            record_write(caller, "tests.write", "thing", f"{round_}-{number}")
        AuditEntry.objects.filter(seal=None).update(at=clock.now() - timedelta(hours=1))

        sealed = at_once([lambda: seal_pending(batch=3)] * 4)

        assert sum(sealed) == 20
    assert "0 broken; 0 entries unsealed.\n" in verify()
