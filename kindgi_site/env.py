"""Settings from the environment: read by type, and loud about a wrong value."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.core.exceptions import ImproperlyConfigured
from environs import Env, EnvError, FileAwareEnv

T = TypeVar("T")

DATABASES = ("sqlite://", "postgres://", "postgresql://")

_env: Env = FileAwareEnv(file_suffix="_FILE", eager=True)


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


def env_int(name: str, default: int, *, minimum: int = 0) -> int:
    value = _read(name, "a whole number", lambda: _env.int(name, default))
    if value < minimum:
        raise ImproperlyConfigured(f"{name} in the environment must be at least {minimum}. See .env.example.")
    return value


def env_list(name: str, default: list[str], *, minimum: int = 0) -> list[str]:
    parts = _read(name, "a comma-separated list", lambda: [str(part).strip() for part in _env.list(name, default)])
    values = [part for part in parts if part]
    if len(values) < minimum:
        raise ImproperlyConfigured(f"{name} in the environment must name at least one. See .env.example.")
    return values


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
    return dict(_read(name, kind, lambda: _env.dj_db_url(name, default)))


def env_secret(name: str, *, kept_in: Path | None) -> str:
    """A secret that must be set; where `kept_in` is given it is made once and kept in that file instead."""
    value = env_str(name, "")
    if value:
        return value
    if kept_in is None:
        raise ImproperlyConfigured(f"{name} must be set in the environment (or {name}_FILE). See .env.example.")
    if not kept_in.exists():
        kept_in.parent.mkdir(parents=True, exist_ok=True)
        kept_in.touch(mode=0o600)
        kept_in.write_text(secrets.token_urlsafe(48))
    return kept_in.read_text().strip()
