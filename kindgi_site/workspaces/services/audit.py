"""The audit record: writing it with every write, and sealing it afterwards in batches.

Entries are plain inserts, so writers share no lock. Sealing and verifying stand in `manage.py
seal_audit` and `verify_audit`.
"""

import hashlib
from collections.abc import Iterable, Iterator
from datetime import timedelta

from django.db import connection, transaction

from kindgi_site import clock, exact_json
from kindgi_site.callers import Caller
from kindgi_site.workspaces.models import AuditEntry, AuditSeal

BATCH = 1000
# A transaction that began earlier may still commit an entry with a smaller id; sealing waits for such.
SETTLED = timedelta(seconds=60)


def record_write(caller: Caller, action: str, target_kind: str, target_id: object, fields: Iterable[str] = ()) -> None:
    """Keep that `caller` did `action`. Call inside the write's own transaction.

    `fields` are names; no value of a field may be given to this function.
    """
    entry_for(caller, action, target_kind, target_id, fields).save(force_insert=True)


def record_writes(entries: list[AuditEntry]) -> None:
    """Several entries of one write, in one statement."""
    AuditEntry.objects.bulk_create(entries)


def entry_for(
    caller: Caller, action: str, target_kind: str, target_id: object, fields: Iterable[str] = ()
) -> AuditEntry:
    return AuditEntry(
        workspace_id=caller.workspace_id,
        by_kind=caller.kind,
        by_id=caller.id,
        via=caller.via,
        key_id=caller.key_id,
        action=action,
        target_kind=target_kind,
        target_id=str(target_id)[:300],
        fields=" ".join(fields),
        request_id=caller.request_id,
    )


def seal_pending(batch: int = BATCH) -> int:
    """Seal what has settled, oldest first, in batches; returns how many entries were sealed."""
    sealed = 0
    while size := _seal_batch(batch):
        sealed += size
    return sealed


@transaction.atomic
def _seal_batch(size: int) -> int:
    """One batch; two sealers take turns."""
    _wait_for_other_sealers()
    last = newest_seal()
    settled = AuditEntry.objects.filter(seal__isnull=True, at__lt=clock.now() - SETTLED)
    entries = list(settled.order_by("id")[:size])
    if not entries:
        return 0
    previous = last.digest if last else ""
    seal = AuditSeal.objects.create(entries=len(entries), previous=previous, digest=digest_of(previous, entries))
    AuditEntry.objects.filter(id__in=[entry.id for entry in entries]).update(seal=seal)
    return len(entries)


def _wait_for_other_sealers() -> None:
    """SQLite has one writer at a time anyway. Writers of entries do not touch the table of seals, so none waits here.

    Holding the newest seal's row would not do: who waited for it would go on from a seal that is the newest no more.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f'LOCK TABLE "{AuditSeal._meta.db_table}" IN EXCLUSIVE MODE')  # noqa: SLF001 - documented


def digest_of(previous: str, entries: Iterable[AuditEntry]) -> str:
    """The digest of a batch in order of id, chained to the digest before it."""
    digest = hashlib.sha256(previous.encode())
    for entry in entries:
        digest.update(_text_of(entry).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _text_of(entry: AuditEntry) -> str:
    parts = (
        str(entry.id),
        str(entry.workspace_id),
        clock.wire_time(entry.at),
        entry.by_kind,
        entry.by_id,
        entry.via,
        str(entry.key_id or ""),
        entry.action,
        entry.target_kind,
        entry.target_id,
        entry.fields,
        entry.request_id,
    )
    return exact_json.dumps(parts) + "\n"


def newest_seal() -> AuditSeal | None:
    return AuditSeal.objects.order_by("-number").first()


def holds_seal(number: int, digest: str) -> bool:
    """Whether the chain still has a seal: when it is whole, nothing up to there was changed or taken away."""
    return AuditSeal.objects.filter(number=number, digest=digest).exists()


def broken_seals() -> Iterator[AuditSeal]:
    """The seals whose batch is no longer what was sealed, oldest first; reads one batch at a time."""
    previous = ""
    for seal in AuditSeal.objects.order_by("number").iterator(chunk_size=200):
        entries = list(AuditEntry.objects.filter(seal=seal).order_by("id"))
        intact = len(entries) == seal.entries and seal.digest == digest_of(previous, entries)
        if not intact or seal.previous != previous:
            yield seal
        previous = seal.digest
