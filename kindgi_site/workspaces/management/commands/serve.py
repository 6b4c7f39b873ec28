"""`manage.py serve`: the production server."""

import multiprocessing
import os
import socket
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.core.servers.basehttp import get_internal_wsgi_application
from django.db import connections
from django.db.backends.postgresql.base import DatabaseWrapper as PostgresWrapper
from granian.constants import HTTPModes, Interfaces
from granian.log import LogLevels
from granian.server import Server

from kindgi_site.workspaces.management.operators import why_not_ready

APPLICATION = "kindgi_site.wsgi:application"
LAST_PORT = 65535
STOP_SECONDS = 30  # how long requests under way may take once SIGTERM came


class Command(BaseCommand):
    help = "Serve the site: several worker processes, connections kept alive, a graceful stop on SIGTERM."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen at (default: 127.0.0.1)")
        parser.add_argument("--port", type=_port, default=8000, help="port to listen at (default: 8000)")
        parser.add_argument("--workers", type=_positive, default=_cores(), help="processes (default: one per core)")
        parser.add_argument("--threads", type=_positive, default=4, help="requests at once per process (default: 4)")
        parser.add_argument("--access-log", action="store_true", help="write a line per request to standard output")

    def handle(self, *, host: str, port: int, workers: int, threads: int, access_log: bool, **_options: object) -> None:
        address = _free_address(host, port)
        if settings.DEBUG:
            self.stderr.write("DEBUG is on: pages of errors show settings and code. Never serve others this way.")
        elif _static_files_are_stale():
            call_command("collectstatic", interactive=False, verbosity=0)
        if lacking := why_not_ready():
            self.stderr.write(lacking)
        _let_go_of_the_database()
        get_internal_wsgi_application()  # what is wrong with the site is said here, once, and not by every worker
        # A fresh process for each worker shares no database connection and no lock with this one.
        multiprocessing.set_start_method("spawn", force=True)
        Server(
            APPLICATION,
            address=address,
            port=port,
            interface=Interfaces.WSGI,
            http=HTTPModes.http1,
            websockets=False,
            workers=workers,
            blocking_threads=threads,
            blocking_threads_idle_timeout=600,  # a thread keeps its database connection
            respawn_failed_workers=True,
            workers_kill_timeout=STOP_SECONDS,
            log_level=LogLevels.warning,
            log_access=access_log,
        ).serve()


def _let_go_of_the_database() -> None:
    """This process asks it nothing more; a pool would keep a connection open for as long as it serves."""
    for connection in connections.all(initialized_only=True):
        connection.close()
        if isinstance(connection, PostgresWrapper):
            connection.close_pool()


def _cores() -> int:
    """The cores this process may use, which in a container are fewer than the machine's."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= LAST_PORT:
        raise ArgumentTypeError(f"{text!r} is not a port (1 to {LAST_PORT})")
    return int(text)


def _free_address(host: str, port: int) -> str:
    """The address that a host's name stands for, which is all that the server listens at.

    CommandError when another server listens there: the workers share the port and would quietly share it with that one.
    """
    try:
        family, kind, protocol, _name, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as problem:
        raise CommandError(f"Cannot listen at {host}:{port}: {problem.strerror or problem}.") from problem
    return str(address[0])


def _static_files_are_stale() -> bool:
    """Whether a static file is newer than the collected ones, or none were collected."""
    collected = Path(settings.STATIC_ROOT) / "staticfiles.json"
    if not collected.exists():
        return True
    since = collected.stat().st_mtime
    files = (storage.path(name) for finder in finders.get_finders() for name, storage in finder.list([]))
    return any(os.stat(file).st_mtime > since for file in files)  # noqa: PTH116 - called hundreds of times
