"""`manage.py serve`: the real server, over a real socket."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection

PROJECT = Path(__file__).resolve().parent.parent.parent
START_SECONDS = 60


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Where a server answers, on an empty database."""
    port = _free_port()
    process = _serving(port, tmp_path_factory.mktemp("served"))
    yield port
    process.terminate()  # a killed one would leave its workers behind
    process.communicate(timeout=20)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _serving(port: int, folder: Path, *words: str, database: str = "") -> subprocess.Popen[str]:
    process = _start(port, folder, *words, database=database)
    deadline = time.monotonic() + START_SECONDS
    while not _answers(port):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "the server does not answer"
    return process


def _start(port: int, folder: Path, *words: str, database: str = "") -> subprocess.Popen[str]:
    environment = os.environ | {"DATABASE_URL": database or f"sqlite:///{folder / 'served.sqlite3'}"}
    environment["DJANGO_SETTINGS_MODULE"] = "kindgi_site.settings"
    command = [sys.executable, "manage.py", "serve", "--port", str(port), "--workers", "1", "--threads", "2", *words]
    return subprocess.Popen(  # noqa: S603 - our own command
        command, cwd=PROJECT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("localhost", port, timeout=5)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()


def test_a_connection_is_kept_for_the_next_request(port: int):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)

    connection.request("GET", "/health")
    first = connection.getresponse().read()
    socket_of_the_first = connection.sock
    connection.request("GET", "/health")
    second = connection.getresponse().read()

    assert first == second == b'{"ok":true}'
    assert connection.sock is socket_of_the_first is not None
    connection.close()


def test_a_request_under_way_is_answered_after_sigterm(tmp_path: Path):
    port = _free_port()
    server = _serving(port, tmp_path)

    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        client.sendall(
            b"POST /v1/corrections HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
        )
        told_to_go_on = client.recv(1000)  # now the site reads the body
        client.sendall(b"1\r\n{\r\n")
        server.send_signal(signal.SIGTERM)
        client.sendall(b"1\r\n}\r\n0\r\n\r\n")
        answer = http.client.HTTPResponse(client)
        answer.begin()
        body = answer.read()

    assert told_to_go_on.startswith(b"HTTP/1.1 100 ")
    assert answer.status == http.HTTPStatus.UNAUTHORIZED
    assert b'"auth-missing"' in body
    server.communicate(timeout=20)
    assert server.returncode == 0


@pytest.mark.skipif(connection.vendor != "postgresql", reason="needs PostgreSQL")
@pytest.mark.django_db(transaction=True)
def test_only_workers_keep_connections_to_the_database(tmp_path: Path):
    named = connection.settings_dict
    place = f"{named['HOST']}:{named['PORT'] or 5432}/{named['NAME']}"
    port = _free_port()
    server = _serving(port, tmp_path, database=f"postgresql://{named['USER']}:{named['PASSWORD']}@{place}")

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE %s",
            ["SELECT%django_migrations%"],
        )
        held = cursor.fetchone()
    server.terminate()
    server.communicate(timeout=20)

    assert (held, server.returncode) == ((0,), 0)


def test_a_host_may_be_named(tmp_path: Path):
    port = _free_port()
    server = _serving(port, tmp_path, "--host", "localhost")

    server.terminate()
    server.communicate(timeout=20)
    assert server.returncode == 0


def test_a_database_without_tables_is_told_at_the_start(tmp_path: Path):
    server = _serving(_free_port(), tmp_path)

    server.terminate()
    _output, told = server.communicate(timeout=20)
    assert "migrations. Run manage.py migrate.\n" in told


def test_a_second_server_on_the_same_port_is_refused(port: int, tmp_path: Path):
    second = _start(port, tmp_path)

    _output, problem = second.communicate(timeout=START_SECONDS)

    assert second.returncode == 1
    assert problem == f"CommandError: Cannot listen at 127.0.0.1:{port}: Address already in use.\n"
