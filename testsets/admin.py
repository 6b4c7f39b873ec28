"""Test sets in the admin site: to look at."""

from django.contrib import admin

from kindgi_site.look_only import EvidenceAdmin, show_the_rest
from testsets.models import TestCase, TestSet, TestSetVersion


@admin.register(TestSet)
class TestSetAdmin(EvidenceAdmin):
    list_display = ("name", "workspace", "project", "created_at")
    list_filter = ("workspace",)
    list_select_related = ("workspace", "project")
    search_fields = ("name",)


@admin.register(TestSetVersion)
class TestSetVersionAdmin(EvidenceAdmin):
    list_display = ("test_set", "version", "kind", "created_at", "unregistered_at")
    list_filter = ("kind",)
    list_select_related = ("test_set",)


@admin.register(TestCase)
class TestCaseAdmin(EvidenceAdmin):
    list_display = ("case_id", "version", "position", "expert", "erased_at")
    list_filter = ("expert",)
    list_select_related = ("version__test_set",)
    search_fields = ("run_id", "case_id")


show_the_rest("testsets")
