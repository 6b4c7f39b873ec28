"""Settings from the environment: read by type, and loud about a wrong value."""

import os
import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.core.exceptions import ImproperlyConfigured
from environs import Env, EnvError, FileAwareEnv

T = TypeVar("T")

DATABASES = ("sqlite://", "postgres://", "postgresql://")

MOST = 2**31 - 1  # what PostgreSQL takes as a time in milliseconds

HOST = r"\*|\.?[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]"
ORIGIN = r"https?://(\*\.)?([a-z0-9.-]+|\[[0-9a-f:.]+\])(:[0-9]+)?"

# Most editors end a file with a line end, which is not of the value.
_env: Env = FileAwareEnv(file_suffix="_FILE", eager=True, strip_whitespace=True)


def _read(name: str, kind: str, reader: Callable[[], T]) -> T:
    try:
        return reader()
    except (EnvError, ValueError, OSError) as problem:
        file = os.environ.get(f"{name}_FILE")
        if file and not os.access(file, os.R_OK):
            raise ImproperlyConfigured(
                f"{name}_FILE in the environment names no file that can be read. See .env.example."
            ) from problem
        # The value itself may be a secret, so only the name and what was wanted are told.
        raise ImproperlyConfigured(f"{name} in the environment is not {kind}. See .env.example.") from problem


def env_str(name: str, default: str) -> str:
    return _read(name, "text", lambda: _env.str(name, default))


def env_bool(name: str, *, default: bool) -> bool:
    return _read(name, "a yes or no (true, false, 1, 0)", lambda: _env.bool(name, default))


def env_int(name: str, default: int, *, minimum: int = 0, maximum: int = MOST) -> int:
    value = _read(name, "a whole number", lambda: _env.int(name, default))
    if value < minimum:
        raise ImproperlyConfigured(f"{name} in the environment must be at least {minimum}. See .env.example.")
    if value > maximum:
        raise ImproperlyConfigured(f"{name} in the environment must be at most {maximum}. See .env.example.")
    return value


def env_list(name: str, default: list[str], *, minimum: int = 0) -> list[str]:
    parts = _read(name, "a comma-separated list", lambda: [str(part).strip() for part in _env.list(name, default)])
    values = [part for part in parts if part]
    if len(values) < minimum:
        raise ImproperlyConfigured(f"{name} in the environment must name at least one. See .env.example.")
    return values


def env_hosts(name: str, default: list[str]) -> list[str]:
    """Names to answer to, as Django compares them: without a scheme and a port."""
    values = env_list(name, default, minimum=1)
    _all_like(HOST, values, f"{name} in the environment is not a list of names such as a.example.org.")
    return values


def env_origins(name: str) -> list[str]:
    """Origins as browsers send them: one with a path, even of a slash, would never be met."""
    values = env_list(name, [])
    _all_like(ORIGIN, values, f"{name} in the environment is not a list of origins such as https://a.example.org.")
    return values


def _all_like(pattern: str, values: list[str], refusal: str) -> None:
    if not all(re.fullmatch(pattern, value) for value in values):
        raise ImproperlyConfigured(f"{refusal} See .env.example.")


def env_choice(name: str, default: str, choices: tuple[str, ...]) -> str:
    value = env_str(name, default).upper()
    if value not in choices:
        raise ImproperlyConfigured(f"{name} in the environment is not one of {', '.join(choices)}. See .env.example.")
    return value


def env_time_zone(name: str, default: str) -> str:
    value = env_str(name, default)
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError) as problem:
        raise ImproperlyConfigured(
            f"{name} in the environment is not a time zone, e.g. Europe/Berlin. See .env.example."
        ) from problem
    return value


def env_database(name: str, default: str) -> dict[str, Any]:
    """Django's database settings for a URL, e.g. `postgresql://user@host/name` or `sqlite:///file`."""
    kind = "a sqlite:/// or postgresql:// address"
    if not env_str(name, default).startswith(DATABASES):
        raise ImproperlyConfigured(f"{name} in the environment is not {kind}. See .env.example.")
    database = dict(_read(name, kind, lambda: _env.dj_db_url(name, default)))
    if not database["NAME"] and "service" not in database.get("OPTIONS", {}):
        raise ImproperlyConfigured(f"{name} in the environment names no database. See .env.example.")
    if database["ENGINE"] == "django.db.backends.sqlite3":
        _make_folder_of(name, Path(database["NAME"]))
    return database


def _make_folder_of(name: str, file: Path) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise ImproperlyConfigured(
            f"{name} in the environment names a file in a folder that cannot be made. See .env.example."
        ) from problem


def env_secret(name: str, *, kept_in: Path | None) -> str:
    """A secret that must be set; where `kept_in` is given it is made once and kept in that file instead."""
    value = env_str(name, "")
    if value.strip():
        return value
    if kept_in is None:
        raise ImproperlyConfigured(f"{name} must be set in the environment (or {name}_FILE). See .env.example.")
    if not kept_in.exists():
        kept_in.parent.mkdir(parents=True, exist_ok=True)
        kept_in.touch(mode=0o600)
        kept_in.write_text(secrets.token_urlsafe(48))
    return kept_in.read_text().strip()
