"""A process that takes one request to `POST /v1/corrections`, does its work, and never comes to commit it.

Run with an API key, a key of idempotency and a body; it says `working` and then waits to be killed.
"""

import os
import sys

import django


def main(key: str, idempotency_key: str, body: str) -> None:
    django.setup()
    from django.conf import settings  # noqa: PLC0415 - only once Django is set up
    from django.test import Client  # noqa: PLC0415

    settings.ROOT_URLCONF = "tests.api.slow_worker_urls"
    settings.ALLOWED_HOSTS = ["*"]
    headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": idempotency_key}
    answer = Client().generic("POST", "/v1/corrections", body, content_type="application/json", headers=headers)
    sys.stdout.write(f"answered {answer.status_code} {answer.content!r}\n")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kindgi_site.settings")
    main(*sys.argv[1:])
