"""Numbers as people read them."""

from django.utils.translation import gettext as _

from corrections.rules.weights import plain
from kindgi_site.exact_json import Number

MINUS = "\u2212"


def share_words(value: float | None) -> str:
    """A share in per cent; a dash where nothing could be measured."""
    return "–" if value is None else f"{value * 100:.1f}".removesuffix(".0") + "\N{NO-BREAK SPACE}%"


def points_words(delta: float | None) -> str:
    """A difference of shares, with its sign."""
    if delta is None:
        return "–"
    if abs(delta) < 0.0005:
        return _("no difference")
    sign = "+" if delta > 0 else MINUS
    return f"{sign}{abs(delta) * 100:.1f}".removesuffix(".0") + " " + _("points")


def counted(count: int, most: int) -> str:
    """A number of things that were counted no further than one above the most."""
    return _("%(count)s+") % {"count": f"{most:,}"} if count > most else f"{count:,}"


def weight_words(weight: float) -> str:
    return f"{plain(round(weight, 2)):g}"


def number(value: object) -> float | None:
    """A stored number, or None for null."""
    if value is None:
        return None
    return float(value.text) if isinstance(value, Number) else float(str(value))


def whole(value: object) -> int:
    return int(number(value) or 0)
