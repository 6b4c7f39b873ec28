"""Days as people choose them in a form: each begins at midnight in the site's time zone."""

from datetime import date, datetime, time, timedelta

from django.core.validators import MaxValueValidator, MinValueValidator
from django.utils import timezone

ONE = timedelta(days=1)
# Both ends leave room for the time zones, and for the day after the last.
BOUNDS = [MinValueValidator(date.min + ONE), MaxValueValidator(date.max - ONE)]


def start_of(day: date) -> datetime:
    """The moment a day begins, of one within BOUNDS or of the day after it."""
    return timezone.make_aware(datetime.combine(day, time.min))
