"""A judge that could never be asked stops the start, as one that fails later leaves answers ungraded, silently."""

import pytest
from django.core.checks import run_checks

ASKS_A_MODEL = "testsets.judges.ask_model"


def problems() -> list[str]:
    return [found.id for found in run_checks() if found.id.startswith("testsets.")]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({"TEST_JUDGE": ""}, []),
        ({"TEST_JUDGE": "builtins.print"}, []),
        ({"TEST_JUDGE": "testsets.judges.nobody"}, ["testsets.E001"]),
        ({"TEST_JUDGE": "nowhere.at_all"}, ["testsets.E001"]),
        ({"TEST_JUDGE": "testsets.rules.sampling.__doc__"}, ["testsets.E001"]),
        ({"TEST_JUDGE": ASKS_A_MODEL, "JUDGE_URL": "", "JUDGE_MODEL": "m"}, ["testsets.E002"]),
        ({"TEST_JUDGE": ASKS_A_MODEL, "JUDGE_URL": "https://judge.example/v1", "JUDGE_MODEL": ""}, ["testsets.E002"]),
        ({"TEST_JUDGE": ASKS_A_MODEL, "JUDGE_URL": "judge.example/v1", "JUDGE_MODEL": "m"}, ["testsets.E003"]),
        ({"TEST_JUDGE": ASKS_A_MODEL, "JUDGE_URL": "https://judge.example/v1", "JUDGE_MODEL": "m"}, []),
    ],
)
def test_what_a_judge_needs_is_asked_at_the_start(settings, said, found):
    for name, value in said.items():
        setattr(settings, name, value)

    assert problems() == found
