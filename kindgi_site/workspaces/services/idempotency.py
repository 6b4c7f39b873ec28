"""Stored idempotent answers, when what they hold must go: erased (decision 10), or kept for long enough (section 6)."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import BinaryField, F, Func, IntegerField, Q, Value
from django.db.models.lookups import GreaterThan

from kindgi_site import clock
from kindgi_site.workspaces.models import IdempotencyRecord

_NAMES_AT_ONCE = 50
FORGOTTEN_AT_ONCE = 500
# The hold of a request that works for longer than its hold is still the proof that no retry took its place.
_LINGERS = timedelta(hours=1)


class PlaceOf(Func):
    """Where bytes stand in a column of bytes, from 1; 0 where they do not."""

    function = "INSTR"
    output_field = IntegerField()

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        swapped = self.copy()
        swapped.set_source_expressions(self.get_source_expressions()[::-1])
        return swapped.as_sql(compiler, connection, function="POSITION", arg_joiner=" IN ", **extra)


def withhold_answers(workspace_id: UUID, names: Sequence[str]) -> int:
    """Empty the stored answers of a workspace that name any of the ids; a retry is told they are withheld."""
    answers = IdempotencyRecord.objects.filter(workspace=workspace_id, body__isnull=False)
    starts = range(0, len(names), _NAMES_AT_ONCE)
    slices = (names[start : start + _NAMES_AT_ONCE] for start in starts)
    return sum(answers.filter(_holding_any(some)).update(body=None, withheld=True) for some in slices)


@transaction.atomic
def forget_expired() -> int:
    """Delete what expired an hour ago or earlier, a slice at a time, oldest first; returns how many there were."""
    expired = IdempotencyRecord.objects.filter(expires_at__lt=clock.now() - _LINGERS).order_by("expires_at")
    held = expired.select_for_update(skip_locked=True).values_list("scope", flat=True)
    scopes = list(held[:FORGOTTEN_AT_ONCE])
    IdempotencyRecord.objects.filter(scope__in=scopes).delete()
    return len(scopes)


def _holding_any(names: Sequence[str]) -> Q:
    condition = Q(pk__in=[])
    for name in names:
        needle = Value(name.encode(), output_field=BinaryField())
        condition |= Q(GreaterThan(PlaceOf(F("body"), needle), 0))
    return condition
