"""Times as people say them."""

from datetime import datetime, timedelta

from django import template
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from kindgi_site.clock import wire_time

register = template.Library()


@register.simple_tag
def when(moment: datetime | None) -> SafeString | str:
    """How long ago, with the full time on hover and in the markup."""
    if moment is None:
        return ""
    local = timezone.localtime(moment)
    full = f"{date_format(local, 'j F Y, H:i:s')} {local:%Z}"
    return format_html('<time datetime="{}" title="{}">{}</time>', wire_time(moment), full, _ago(moment))


@register.simple_tag
def clock_time(moment: datetime) -> SafeString:
    """The time of day, to the second."""
    local = timezone.localtime(moment)
    full = f"{date_format(local, 'j F Y, H:i:s')} {local:%Z}"
    return format_html('<time datetime="{}" title="{}">{}</time>', wire_time(moment), full, f"{local:%H:%M:%S}")


def _ago(moment: datetime) -> str:
    past = timezone.now() - moment
    if past < timedelta(minutes=1):
        return _("just now")
    if past < timedelta(hours=1):
        minutes = int(past.total_seconds() // 60)
        return ngettext("%(count)d minute ago", "%(count)d minutes ago", minutes) % {"count": minutes}
    if past < timedelta(days=1):
        hours = int(past.total_seconds() // 3600)
        return ngettext("%(count)d hour ago", "%(count)d hours ago", hours) % {"count": hours}
    if past < timedelta(days=7):
        return ngettext("%(count)d day ago", "%(count)d days ago", past.days) % {"count": past.days}
    local = timezone.localtime(moment)
    return date_format(local, "j M" if local.year == timezone.localtime().year else "j M Y")
