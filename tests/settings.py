"""The site's settings, for the tests: a database of their own, a fast hasher, static files as they lie."""

import os
import tempfile
from pathlib import Path

# A database of this process alone, so that two runs never meet; on SQLite a file, as several connections need one.
_name = f"test_kindgi_{os.getpid()}"
_file = Path(tempfile.gettempdir()) / f"{_name}.sqlite3"
os.environ["DATABASE_URL"] = os.environ.get("TEST_DATABASE_URL") or f"sqlite:///{_file}"
os.environ["SECRET_KEY"] = "for tests only: it seals nothing that anybody keeps, and is known to everybody"
os.environ["DEBUG"] = os.environ["KINDGI_DEMO"] = "false"

from kindgi_site.settings import *  # noqa: E402, F403 - the environment comes first
from kindgi_site.settings import DATABASES, STORAGES  # noqa: E402

_on_sqlite = DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3"
DATABASES["default"]["TEST"] = {"NAME": str(_file) if _on_sqlite else _name}

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = STORAGES | {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
WHITENOISE_AUTOREFRESH = WHITENOISE_USE_FINDERS = True  # nothing was collected
