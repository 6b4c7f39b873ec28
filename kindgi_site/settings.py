"""All settings. Code does not differ between deployments; values do, and come from the environment."""

from datetime import timedelta
from pathlib import Path

from csp.constants import NONE, SELF
from django.utils.translation import gettext_lazy as _

from kindgi_site.env import (
    env_bool,
    env_choice,
    env_database,
    env_hosts,
    env_int,
    env_list,
    env_origins,
    env_secret,
    env_str,
    env_time_zone,
)

BASE_DIR = Path(__file__).resolve().parent.parent

# A demo keeps its own secret in an untracked file, so that `make demo` needs no configuration.
DEMO = env_bool("KINDGI_DEMO", default=False)
DEBUG = env_bool("DEBUG", default=False)
SECRET_KEY = env_secret("SECRET_KEY", kept_in=BASE_DIR / "var" / "secret_key" if DEBUG or DEMO else None)
# The first seals cursors, all open them: put a new key in front to rotate.
CURSOR_KEYS = env_list("CURSOR_KEYS", []) or [SECRET_KEY]
ALLOWED_HOSTS = env_hosts("ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS = env_origins("CSRF_TRUSTED_ORIGINS")

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "django_filters",
    "rest_framework",
    "drf_spectacular",
    "csp",
    "axes",
    "kindgi_site.workspaces",
    "corrections",
    "testsets",
]

MIDDLEWARE = [
    "kindgi_site.middleware.RequestIdMiddleware",
    "kindgi_site.middleware.WireHeadersMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "kindgi_site.middleware.PackedPagesMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "kindgi_site.middleware.BodyLimitMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "kindgi_site.middleware.SignedInMiddleware",
    "kindgi_site.middleware.DomainErrorMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "kindgi_site.urls"
WSGI_APPLICATION = "kindgi_site.wsgi.application"
APPEND_SLASH = False  # a redirect would turn a POST into a GET; the contract has its own rule

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# A statement that takes longer than this is stopped, and a reader is told that the database is busy.
STATEMENT_TIMEOUT_MS = env_int("STATEMENT_TIMEOUT_MS", 15_000)
POOL_SIZE = env_int("DATABASE_POOL_SIZE", 8, minimum=1)

DATABASES = {"default": env_database("DATABASE_URL", f"sqlite:///{BASE_DIR / 'var' / 'kindgi.sqlite3'}")}
_database = DATABASES["default"]
if _database["ENGINE"] == "django.db.backends.sqlite3":
    _database["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-32000; "
        # What an erasure clears must not stay behind in free pages.
        "PRAGMA secure_delete=ON;",
    }
else:
    _database["CONN_HEALTH_CHECKS"] = True
    # What its address asks for, such as sslmode, stays.
    _asked = _database.get("OPTIONS", {})
    _database["OPTIONS"] = {
        **_asked,
        "pool": {"min_size": 1, "max_size": POOL_SIZE, "timeout": 10},
        "options": f"-c statement_timeout={STATEMENT_TIMEOUT_MS} -c lock_timeout={STATEMENT_TIMEOUT_MS} -c jit=off "
        + _asked.get("options", ""),
    }

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "workspaces.Person"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
# Whoever guesses at a name's password from one address waits; the person themselves, elsewhere, does not.
AXES_FAILURE_LIMIT = env_int("SIGN_IN_FAILURES", 10, minimum=1)
AXES_COOLOFF_TIME = timedelta(minutes=env_int("SIGN_IN_WAIT_MINUTES", 15, minimum=1, maximum=365 * 24 * 60))
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_CALLABLE = "kindgi_site.error_views.too_many_guesses"
AXES_USERNAME_CALLABLE = "kindgi_site.workspaces.views.signing_in.guessed_name"
AXES_CLIENT_IP_CALLABLE = "kindgi_site.workspaces.views.signing_in.guessing_address"
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # else "in 15 minutes" would not be true for who tries again
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address"]  # somebody's password, typed into the wrong field
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "corrections:run_list"
LOGOUT_REDIRECT_URL = "login"

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English"))]
TIME_ZONE = env_time_zone("TIME_ZONE", "UTC")
USE_I18N = True
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "var" / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

# What a browser may load: this site's own files and nothing else, no inline script or style.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}
# HTTPS is the deployment's to switch on: behind a proxy that ends TLS and sets X-Forwarded-Proto.
HTTPS = env_bool("HTTPS", default=False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = env_int("HSTS_SECONDS", 0)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "kindgi_site.error_views.csrf_failure"

# The contract's limit on a request's body (section 1, stage 2); Django's own comes second.
MAX_BODY_BYTES = env_int("MAX_BODY_BYTES", 10 * 1024 * 1024, minimum=1)
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_BYTES
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000  # a run of 400 calls is marked in one form

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["kindgi_site.api.rendering.WireRenderer"],
    "DEFAULT_PARSER_CLASSES": [],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "kindgi_site.api.rendering.AlwaysJson",
    "DEFAULT_SCHEMA_CLASS": "kindgi_site.api.schema.WireSchema",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Kindgi corrections",
    "DESCRIPTION": "Hand finished runs in, record what was right or wrong about them, take test sets out.",
    "VERSION": "0.1.0",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/v1",
    "COMPONENT_SPLIT_REQUEST": False,
    "COMPONENT_SPLIT_PATCH": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "POSTPROCESSING_HOOKS": ["kindgi_site.api.schema.finish_document"],
}

# A Python callable that says whether a new answer is right where nobody did, e.g. testsets.judges.ask_model.
TEST_JUDGE = env_str("TEST_JUDGE", "")
# What testsets.judges.ask_model asks: an endpoint that speaks like OpenAI's, up to and without /chat/completions.
JUDGE_URL = env_str("JUDGE_URL", "")
JUDGE_MODEL = env_str("JUDGE_MODEL", "")
JUDGE_API_KEY = env_str("JUDGE_API_KEY", "")
JUDGE_TIMEOUT_SECONDS = env_int("JUDGE_TIMEOUT_SECONDS", 30, minimum=1)
JUDGE_RETRIES = env_int("JUDGE_RETRIES", 2)
JUDGE_AT_ONCE = env_int("JUDGE_AT_ONCE", 4, minimum=1)
# For all answers of one request together; below the minute after which clients and proxies usually hang up.
JUDGE_BUDGET_SECONDS = env_int("JUDGE_BUDGET_SECONDS", 50, minimum=1)

LOG_LEVEL = env_choice("LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {
        "out": {"class": "logging.StreamHandler", "stream": "ext://sys.stdout", "formatter": "line"},
        "nowhere": {"class": "logging.NullHandler"},
    },
    "root": {"handlers": ["out"], "level": LOG_LEVEL},
    "loggers": {
        "django.request": {"level": "ERROR"},
        # Whoever knocks with another name would fill the log with tracebacks.
        "django.security.DisallowedHost": {"handlers": ["nowhere"], "propagate": False},
        "axes": {"level": "WARNING"},  # else it tells of every step of a sign-in that failed
        "httpx": {"level": "WARNING"},  # else it tells of every request, on the standard output of `manage.py grade`
    },
}
