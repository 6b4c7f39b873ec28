from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class TestsetsConfig(AppConfig):
    name = "testsets"
    verbose_name = _("Test sets")
