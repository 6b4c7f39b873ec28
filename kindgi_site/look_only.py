"""Admin pages that show tables and change nothing, also when a table is very long and its texts are very big."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar
from uuid import UUID

from django.apps import apps
from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Field, Model, Q, QuerySet, UUIDField
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from kindgi_site.stored_json import StoredJson

COUNTED_AT_MOST = 10_000
SHOWN_AT_MOST = 100_000


class BoundedPaginator(Paginator):  # type: ignore[type-arg]
    """Counts no further than COUNTED_AT_MOST rows; the pages end there too, and search goes on."""

    @cached_property
    def count(self) -> int:
        rows = self.object_list
        assert isinstance(rows, QuerySet)
        return rows.order_by()[:COUNTED_AT_MOST].count()


class LookOnly:
    """For an admin page or an inline: every field as text, none to write. `hidden_fields` are never shown."""

    model: type[Model]
    hidden_fields: tuple[str, ...] = ()

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        for field in self._fields():
            if isinstance(field, StoredJson):
                setattr(self, f"{field.name}_text", _json_text(field))

    def has_add_permission(self, _request: HttpRequest, _obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, _request: HttpRequest, _obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, _request: HttpRequest, _obj: Model | None = None) -> bool:
        return False

    def get_fields(self, _request: HttpRequest, _obj: Model | None = None) -> list[Any]:
        return [f"{field.name}_text" if isinstance(field, StoredJson) else field.name for field in self._fields()]

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[Any]:
        return self.get_fields(request, obj)

    def _fields(self) -> list["Field[Any, Any]"]:
        fields = self.model._meta.fields  # noqa: SLF001 - documented by Django
        return [field for field in fields if field.name not in self.hidden_fields]


class LongTableAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """A list that reads one page of a table, newest first, however long it is."""

    paginator = BoundedPaginator
    list_per_page = 50
    ordering = ("-pk",)  # keys are made in the order of time
    show_full_result_count = False
    list_select_related: ClassVar[bool | tuple[str, ...]] = True
    show_facets = admin.ShowFacets.NEVER
    sortable_by = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Without its JSON, which only the page of one row reads."""
        fields = self.opts.fields
        return super().get_queryset(request).defer(*(field.name for field in fields if isinstance(field, StoredJson)))


class LookOnlyAdmin(LookOnly, LongTableAdmin):
    pass


class EvidenceAdmin(LookOnlyAdmin):
    """For tables without bound: searched by whole words and ids only, as an index serves nothing else."""

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """By equality; a field of ids is left out when the word is no id."""
        word = search_term.strip()
        found = Q(pk__in=())
        for name in self.get_search_fields(request):
            if not isinstance(_held_in(self.opts.get_field(name)), UUIDField):
                found |= Q((name, word))
            elif _is_uuid(word):
                found |= Q((name, UUID(word)))
        return (queryset.filter(found) if word else queryset), False


def show_the_rest(app_label: str, *, except_for: tuple[type[Model], ...] = ()) -> None:
    """Give a plain page to every table of an app that has none of its own."""
    for model in apps.get_app_config(app_label).get_models():
        if model not in except_for and not admin.site.is_registered(model):
            admin.site.register(model, EvidenceAdmin)


def _json_text(field: "Field[Any, Any]") -> Callable[[Model], SafeString | None]:
    """A column that shows a stored JSON text as it is, the beginning of a very long one."""

    def shown(row: Model) -> SafeString | None:
        stored = getattr(row, field.name)
        if stored is None:
            return None
        text: str = stored.text
        rest = len(text) - SHOWN_AT_MOST
        more = _("… and %(count)d more characters") % {"count": rest} if rest > 0 else ""
        return format_html("<pre>{}{}</pre>", text[:SHOWN_AT_MOST], more)

    shown.short_description = field.verbose_name  # type: ignore[attr-defined]
    return shown


def _held_in(field: Any) -> Any:
    """What a foreign key's column holds, or the field itself."""
    return field.target_field if field.many_to_one else field


def _is_uuid(word: str) -> bool:
    try:
        UUID(word)
    except ValueError:
        return False
    return True
