"""What narrows the lists of a workspace's administrators; all of it stands in the address."""

from collections.abc import Sequence
from typing import Any, ClassVar

import django_filters
from django import forms
from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from kindgi_site.keyset import Order, page_at
from kindgi_site.pages import address_query

PAGE_SIZE = 50
MOST_SEARCHED = 200  # characters; each word is a condition, and a database takes so many


class NameFilter(django_filters.FilterSet):
    """A list that is searched by name: every word of it stands in one of `columns`."""

    columns: ClassVar[Sequence[str]] = ("name",)
    name = django_filters.CharFilter(label=_("Name"), method="called", max_length=MOST_SEARCHED)

    def __init__(self, data: QueryDict, queryset: QuerySet[Any]) -> None:
        super().__init__(data, queryset)
        self.asked = data
        self.filters["name"].extra["widget"] = forms.TextInput(
            attrs={"type": "search", "autocomplete": "off", "spellcheck": "false"}
        )

    @property
    def query(self) -> str:
        return address_query(self.asked, self.filters)

    @property
    def is_searched(self) -> bool:
        return bool(self.asked.get("name"))

    def page_context(self, order: Order) -> dict[str, Any]:
        """What a template shows of the page that the address asks for."""
        page = page_at(self.asked, self.qs, PAGE_SIZE, order)
        return {
            "filter": self,
            "rows": page.rows,
            "previous": page.previous,
            "next": page.next,
            "is_first_page": not (self.asked.get("before") or self.asked.get("after")),
        }

    def called(self, rows: QuerySet[Any], _name: str, words: str) -> QuerySet[Any]:
        for word in words.split():
            found = Q()
            for column in self.columns:
                found |= Q(**{f"{column}__icontains": word})
            rows = rows.filter(found)
        return rows


class MemberFilter(NameFilter):
    columns = ("person__username", "person__first_name", "person__last_name")


class KeyFilter(NameFilter):
    """By its label, or by whom it acts for."""

    name = django_filters.CharFilter(label=_("Key, or whom it acts for"), method="called", max_length=MOST_SEARCHED)
    columns = ("label", "service__name", "person__username", "person__first_name", "person__last_name")
