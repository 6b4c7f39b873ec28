from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class TestsetsConfig(AppConfig):
    name = "testsets"
    verbose_name = _("Test sets")

    def ready(self) -> None:
        from corrections.services.erasure import EFFECTS  # noqa: PLC0415 - tables are there only once apps are loaded
        from testsets.services.erasing import erase_in_test_sets  # noqa: PLC0415

        if erase_in_test_sets not in EFFECTS:
            EFFECTS.append(erase_in_test_sets)
