from django.apps import AppConfig
from django.core import checks
from django.utils.translation import gettext_lazy as _


class TestsetsConfig(AppConfig):
    name = "testsets"
    verbose_name = _("Test sets")

    def ready(self) -> None:
        # Tables are there only once the apps are loaded.
        from corrections.services.erasure import EFFECTS, TEXT_EFFECTS  # noqa: PLC0415
        from testsets.checks import judge_can_be_asked  # noqa: PLC0415
        from testsets.services.erasing import erase_in_test_sets, erase_texts_in_test_sets  # noqa: PLC0415

        if erase_in_test_sets not in EFFECTS:
            EFFECTS.append(erase_in_test_sets)
            TEXT_EFFECTS.append(erase_texts_in_test_sets)
        checks.register(judge_can_be_asked)
