"""How members of an agent's live set stand, in a word."""

from django.utils.translation import gettext as _

from corrections.models import Correction
from corrections.presenters.corrections import status_name
from testsets.models import HandCase


def member_state(member: Correction | HandCase) -> str:
    if isinstance(member, HandCase):
        return _("says nothing yet, not frozen") if member.is_incomplete else _("added by hand")
    return status_name(member.status)
