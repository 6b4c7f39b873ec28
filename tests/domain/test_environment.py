"""The environment the site reads, and the file that tells people about it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent.parent


def test_every_variable_of_the_settings_stands_in_the_example_and_no_other():
    read = set(re.findall(r'\benv_\w+\(\s*"([A-Z_]+)"', (PROJECT / "kindgi_site" / "settings.py").read_text()))
    told = set(re.findall(r"^(?:# )?([A-Z_]+)=", (PROJECT / ".env.example").read_text(), flags=re.MULTILINE))
    of_the_tests = {"TEST_DATABASE_URL", "CHROMIUM", "REQUIRE_POSTGRES", "REQUIRE_BROWSER"}

    assert read
    assert told == read | of_the_tests | {"SECRET_KEY_FILE"}


def start_with(**variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"SECRET_KEY": "for-checks-only", "DATABASE_URL": "sqlite:///:memory:"} | variables
    environment["DJANGO_SETTINGS_MODULE"] = "kindgi_site.settings"
    command = [sys.executable, "manage.py", "check"]
    return subprocess.run(command, cwd=PROJECT, env=environment, text=True, capture_output=True, check=False)  # noqa: S603


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("TIME_ZONE", "Mars/Base", "TIME_ZONE in the environment is not a time zone, e.g. Europe/Berlin."),
        ("LOG_LEVEL", "LOUD", "LOG_LEVEL in the environment is not one of DEBUG, INFO, WARNING, ERROR."),
        (
            "DATABASE_URL",
            "mysql://x/y",
            "DATABASE_URL in the environment is not a sqlite:/// or postgresql:// address.",
        ),
        ("DATABASE_URL", "nonsense", "DATABASE_URL in the environment is not a sqlite:/// or postgresql:// address."),
        ("ALLOWED_HOSTS", "", "ALLOWED_HOSTS in the environment must name at least one."),
        ("ALLOWED_HOSTS", " , ", "ALLOWED_HOSTS in the environment must name at least one."),
        ("SECRET_KEY_FILE", "/nowhere/secret", "SECRET_KEY_FILE in the environment names no file that can be read."),
        ("SECRET_KEY", " ", "SECRET_KEY must be set in the environment (or SECRET_KEY_FILE)."),
        ("SIGN_IN_WAIT_MINUTES", "525601", "SIGN_IN_WAIT_MINUTES in the environment must be at most 525600."),
        ("STATEMENT_TIMEOUT_MS", "2147483648", "STATEMENT_TIMEOUT_MS in the environment must be at most 2147483647."),
        ("DATABASE_URL", "postgresql://127.0.0.1", "DATABASE_URL in the environment names no database."),
        (
            "DATABASE_URL",
            "sqlite:////dev/null/kindgi.sqlite3",
            "DATABASE_URL in the environment names a file in a folder that cannot be made.",
        ),
        *(
            ("ALLOWED_HOSTS", value, "ALLOWED_HOSTS in the environment is not a list of names such as a.example.org.")
            for value in ("https://a.example.org", "127.0.0.1,a.example.org:8000", "::1", "a b")
        ),
        *(
            (
                "CSRF_TRUSTED_ORIGINS",
                value,
                "CSRF_TRUSTED_ORIGINS in the environment is not a list of origins such as https://a.example.org.",
            )
            for value in ("a.example.org", "https://a.example.org/", "https://a.example.org,ftp://b.example.org")
        ),
    ],
)
def test_a_wrong_value_stops_the_start_with_one_sentence(name: str, value: str, sentence: str):
    started = start_with(**{name: value})

    assert started.returncode == 1
    assert started.stderr == f"Not configured: {sentence} See .env.example.\n"


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"TEST_JUDGE": "nonsense"}, "TEST_JUDGE names nothing that can be called: nonsense"),
        (
            {"TEST_JUDGE": "testsets.judges.nobody"},
            "TEST_JUDGE names nothing that can be called: testsets.judges.nobody",
        ),
        (
            {"TEST_JUDGE": "testsets.judges.ask_model"},
            "TEST_JUDGE asks a model, so JUDGE_URL and JUDGE_MODEL must be set.",
        ),
        (
            {"TEST_JUDGE": "testsets.judges.ask_model", "JUDGE_URL": "nonsense", "JUDGE_MODEL": "m"},
            "JUDGE_URL is no http:// or https:// address.",
        ),
    ],
)
def test_a_judge_that_cannot_be_asked_stops_the_start(variables: dict[str, str], sentence: str):
    started = start_with(**variables)

    assert started.returncode == 1
    assert sentence in started.stderr
    assert "Traceback" not in started.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALLOWED_HOSTS", "*"),
        ("ALLOWED_HOSTS", ".example.org, A.example.org,127.0.0.1,[::1]"),
        (
            "CSRF_TRUSTED_ORIGINS",
            "https://a.example.org, http://127.0.0.1:8000,https://*.example.org,http://[::1]:8000",
        ),
        ("CSRF_TRUSTED_ORIGINS", ""),
        ("SIGN_IN_WAIT_MINUTES", "525600"),
        ("STATEMENT_TIMEOUT_MS", "2147483647"),
    ],
)
def test_a_good_value_lets_it_start(name: str, value: str):
    started = start_with(**{name: value})

    assert (started.returncode, started.stderr) == (0, "")


def setting(name: str, **variables: str) -> str:
    """What a setting became, as Python writes it."""
    shown = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", f"from kindgi_site import settings; print(repr(settings.{name}))"],
        cwd=PROJECT,
        env=os.environ | {"SECRET_KEY": "the-secret", "DATABASE_URL": "sqlite:///:memory:"} | variables,
        text=True,
        capture_output=True,
        check=True,
    )
    return shown.stdout


@pytest.mark.parametrize(
    ("variable", "name", "written", "read"),
    [
        ("JUDGE_API_KEY", "JUDGE_API_KEY", "key\n", "'key'\n"),
        ("TIME_ZONE", "TIME_ZONE", "Europe/Berlin\r\n", "'Europe/Berlin'\n"),
        ("HTTPS", "HTTPS", "true\n", "True\n"),
    ],
)
def test_the_line_end_of_a_file_is_not_of_its_value(tmp_path: Path, variable: str, name: str, written: str, read: str):
    file = tmp_path / "value"
    file.write_bytes(written.encode())

    assert setting(name, **{f"{variable}_FILE": str(file)}) == read


def test_what_the_address_of_a_database_asks_for_is_kept():
    address = "postgresql://kindgi@db/kindgi?sslmode=verify-full&options=-c%20search_path%3Dkindgi"

    assert setting("DATABASES['default']['OPTIONS']['sslmode']", DATABASE_URL=address) == "'verify-full'\n"
    options = setting("DATABASES['default']['OPTIONS']['options']", DATABASE_URL=address)
    assert "-c statement_timeout=15000" in options
    assert "-c search_path=kindgi" in options


def test_an_empty_key_seals_no_cursor():
    shown = subprocess.run(
        [sys.executable, "-c", "from kindgi_site import settings; print(settings.CURSOR_KEYS)"],
        cwd=PROJECT,
        env=os.environ | {"SECRET_KEY": "the-secret", "DATABASE_URL": "sqlite:///:memory:", "CURSOR_KEYS": ", ,"},
        text=True,
        capture_output=True,
        check=True,
    )

    assert shown.stdout == "['the-secret']\n"


def test_a_request_for_another_host_leaves_no_trace_in_the_log():
    ask = (
        "import django; django.setup(); from django.test import Client; "
        "print(Client().get('/v1/runs', headers={'host': 'elsewhere.example'}).status_code)"
    )
    asked = subprocess.run(  # noqa: S603 - our own command
        # On a fresh clone no static files were collected, and WhiteNoise says so; that is not what is asked here.
        [sys.executable, "-W", "ignore:No directory at:UserWarning", "-c", ask],
        cwd=PROJECT,
        env=os.environ
        | {
            "SECRET_KEY": "for-checks-only",
            "DATABASE_URL": "sqlite:///:memory:",
            "DJANGO_SETTINGS_MODULE": "kindgi_site.settings",
        },
        text=True,
        capture_output=True,
        check=True,
    )

    assert (asked.stdout, asked.stderr) == ("400\n", "")


def test_a_serving_process_has_every_view_loaded_and_collects_seldom():
    ask = (
        "import gc, sys; import kindgi_site.wsgi; "
        "print('corrections.views.runs' in sys.modules, gc.get_freeze_count() > 10_000, gc.get_threshold())"
    )
    asked = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-W", "ignore:No directory at:UserWarning", "-c", ask],
        cwd=PROJECT,
        env=os.environ | {"SECRET_KEY": "for-checks-only", "DATABASE_URL": "sqlite:///:memory:"},
        text=True,
        capture_output=True,
        check=True,
    )

    assert asked.stdout == "True True (50000, 20, 20)\n"
