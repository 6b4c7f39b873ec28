"""Signing in and out, and the frame around every page."""

from datetime import timedelta
from urllib.parse import quote

import pytest
from axes.models import AccessAttempt
from django.db import OperationalError
from django.test import Client, RequestFactory
from django.utils.functional import SimpleLazyObject

from corrections.models import Run
from kindgi_site import clock
from kindgi_site.error_views import server_failed
from kindgi_site.workspaces.models import Person
from tests.factories import PersonFactory
from tests.pages.conftest import HTMX, text_of

PASSWORD = "between-two-mugs"


@pytest.fixture
def known(reviewer: Person) -> Person:
    reviewer.set_password(PASSWORD)
    reviewer.save()
    return reviewer


def test_pages_are_private(client: Client, run: Run):
    for path in ("/runs/", f"/runs/{run.run_id}/", f"/runs/{run.run_id}/raw/input/"):
        response = client.get(path)
        assert (response.status_code, response["Location"]) == (302, f"/login/?next={path}")


def test_signing_in_leads_where_one_wanted_to_go(client: Client, known: Person, run: Run):
    wanted = f"/runs/{run.run_id}/"
    page = client.get(f"/login/?next={wanted}").content.decode()
    response = client.post("/login/", {"username": known.username, "password": PASSWORD, "next": wanted})

    assert f'name="next" value="{wanted}"' in " ".join(page.split())
    assert (response.status_code, response["Location"]) == (302, wanted)


def test_signing_in_leads_to_the_runs(client: Client, known: Person):
    response = client.post("/login/", {"username": known.username, "password": PASSWORD})

    assert (response.status_code, response["Location"]) == (302, "/runs/")


def test_nobody_is_sent_to_another_site(client: Client, known: Person):
    wanted = {"username": known.username, "password": PASSWORD, "next": "https://evil.example/"}

    assert client.post("/login/", wanted)["Location"] == "/runs/"


def test_a_wrong_password_is_told_and_the_name_kept(client: Client, known: Person):
    html = client.post("/login/", {"username": "<ana>", "password": "wrong"}).content.decode()

    assert "This name and password do not belong together." in text_of(html)
    assert 'value="&lt;ana&gt;"' in html


def test_signing_out_is_a_post(reviewer_client: Client, run: Run):
    assert reviewer_client.get("/logout/").status_code == 405
    assert reviewer_client.post("/logout/")["Location"] == "/login/"
    assert reviewer_client.get("/runs/").status_code == 302


def test_a_member_of_nothing_is_told_what_to_do(client: Client, db: None):
    client.force_login(PersonFactory())

    response = client.get("/runs/")

    assert response.status_code == 403
    assert "Ask an administrator to add you." in text_of(response.content.decode())


def test_unknown_addresses_are_a_page_or_a_fragment(reviewer_client: Client):
    page = reviewer_client.get("/nowhere/")
    fragment = reviewer_client.get("/nowhere/", headers=HTMX)

    assert (page.status_code, fragment.status_code) == (404, 404)
    assert "There is nothing at this address." in text_of(page.content.decode())
    assert page["X-Request-Id"] in page.content.decode()
    assert "<html" in page.content.decode()
    assert "<html" not in fragment.content.decode()


def test_nothing_inline_and_nothing_from_elsewhere(reviewer_client: Client, run: Run):
    for path in ("/runs/", f"/runs/{run.run_id}/", "/nowhere/"):
        response = reviewer_client.get(path)
        html = response.content.decode()
        assert "script-src 'self'" in response["Content-Security-Policy"]
        assert "unsafe" not in response["Content-Security-Policy"]
        assert " style=" not in html
        assert "<style" not in html
        assert "onclick" not in html
        assert html.count("<script") == html.count('<script src="/static/')
        assert "http://" not in html.replace("http://www.w3.org", "")


def test_an_unknown_address_leads_on_to_the_pages(reviewer_client: Client):
    known = reviewer_client.get("/nowhere/").content.decode()
    stranger = Client().get("/nowhere/").content.decode()

    assert "<title>Not here · Kindgi</title>" in known
    assert ('href="/test-sets/"' in known, "Sign out" in known) == (True, True)
    assert ('href="/test-sets/"' in stranger, "Sign out" in stranger) == (False, False)


def test_a_member_of_nothing_can_sign_out(client: Client, db: None):
    client.force_login(PersonFactory())

    assert "Sign out" in client.get("/runs/").content.decode()


def test_an_address_of_a_form_says_that_it_shows_nothing(reviewer_client: Client, run: Run):
    path = f"/runs/{run.run_id}/corrections/"
    page = reviewer_client.get(path)
    fragment = reviewer_client.get(path, headers=HTMX)

    assert (page.status_code, page["Allow"], fragment.status_code) == (405, "POST", 405)
    assert "it only takes what a form sends" in text_of(page.content.decode())
    assert "<html" in page.content.decode()
    assert "<html" not in fragment.content.decode()


def test_what_was_sent_signed_out_leads_back_to_the_page_it_was_sent_from(client: Client, known: Person, run: Run):
    page = f"/runs/{run.run_id}/"
    sent = client.post(f"{page}corrections/", {"answer": "right"}, headers={"Referer": f"http://testserver{page}"})
    unknown = client.post(f"{page}corrections/", {"answer": "right"})

    assert (sent.status_code, sent["Location"]) == (302, f"/login/?next={quote(page, safe='')}")
    assert (unknown.status_code, unknown["Location"]) == (302, "/login/?next=%2F")
    assert "what you just sent was not saved" in text_of(client.get(sent["Location"]).content.decode())


def test_only_what_was_sent_is_told_as_lost(client: Client, run: Run):
    went = client.get(f"/runs/{run.run_id}/")

    assert "was not saved" not in client.get(went["Location"]).content.decode()


@pytest.mark.parametrize("seen", ["http://[", "http://[a]b/runs/", "//"])
def test_a_page_that_is_no_address_is_not_led_back_to(client: Client, run: Run, seen: str):
    wanted = f"/runs/{run.run_id}/"

    read = client.get(wanted, headers=HTMX | {"HX-Current-URL": seen})
    sent = client.post(f"{wanted}corrections/", {"answer": "right"}, headers={"Referer": seen})

    assert (read.status_code, read["HX-Redirect"]) == (200, "/login/?next=%2F")
    assert (sent.status_code, sent["Location"]) == (302, "/login/?next=%2F")


def test_a_link_that_opens_nothing_any_more_leads_to_signing_in(client: Client, db: None):
    page = client.get("/welcome/MQ/used/").content.decode()

    assert "This link was used already, or is too old." in text_of(page)
    assert page.count('href="/login/"') == 1


def test_the_page_of_a_failure_asks_the_database_nothing(rf: RequestFactory):
    def fail() -> Person:
        raise OperationalError("the database is away")

    request = rf.get("/runs/")
    request.user = SimpleLazyObject(fail)

    response = server_failed(request)

    assert response.status_code == 500
    assert "Something broke" in text_of(response.content.decode())


def test_a_wrong_password_shows_the_form_again_with_the_name_in_it(client: Client, known: Person):
    response = client.post("/login/", {"username": known.username, "password": "a guess"})

    page = response.content.decode()
    assert response.status_code == 422
    assert "This name and password do not belong together." in text_of(page)
    assert f'value="{known.username}"' in page
    assert "a guess" not in page


@pytest.fixture
def guessed(settings, known: Person) -> Person:
    """Somebody whose password was guessed at as often as one may, from the address of `client`."""
    settings.AXES_FAILURE_LIMIT = 3
    for number in range(3):
        answer = Client().post("/login/", {"username": known.username, "password": f"guess {number}"})
    assert answer.status_code == 429
    return known


@pytest.mark.parametrize("door", ["/login/", "/admin/login/"])
def test_whoever_guesses_waits_even_with_the_right_password(client: Client, guessed: Person, door: str):
    response = client.post(door, {"username": guessed.username, "password": PASSWORD})

    assert (response.status_code, response["Retry-After"]) == (429, "900")
    assert "Too many attempts to sign in with this name. Try again in 15 minutes." in text_of(response.content.decode())
    assert "_auth_user_id" not in client.session


def test_only_that_name_at_that_address_waits(client: Client, guessed: Person):
    other = PersonFactory()
    other.set_password(PASSWORD)
    other.save()
    beside = client.post("/login/", {"username": other.username, "password": PASSWORD})
    elsewhere = Client(REMOTE_ADDR="203.0.113.7").post("/login/", {"username": guessed.username, "password": PASSWORD})

    assert (beside.status_code, elsewhere.status_code) == (302, 302)


def test_whoever_guesses_through_a_socket_without_addresses_waits_too(settings, known: Person):
    settings.AXES_FAILURE_LIMIT = 2
    nowhere = Client(REMOTE_ADDR="")

    guesses = [nowhere.post("/login/", {"username": known.username, "password": "a guess"}) for _guess in range(2)]
    right = nowhere.post("/login/", {"username": known.username, "password": PASSWORD})

    assert [answer.status_code for answer in (*guesses, right)] == [422, 429, 429]


def test_the_wait_ends(client: Client, guessed: Person):
    AccessAttempt.objects.update(attempt_time=clock.now() - timedelta(minutes=15, seconds=1))

    response = client.post("/login/", {"username": guessed.username, "password": PASSWORD})

    assert response.status_code == 302


def test_signing_in_forgets_the_guesses_before_it(settings, client: Client, known: Person):
    settings.AXES_FAILURE_LIMIT = 3
    said = {"username": known.username}
    for _round in range(2):
        for _guess in range(2):
            assert Client().post("/login/", said | {"password": "a guess"}).status_code == 422
        assert client.post("/login/", said | {"password": PASSWORD}).status_code == 302
        client.post("/logout/")


def test_what_was_typed_is_kept_nowhere(caplog: pytest.LogCaptureFixture, guessed: Person):
    attempt = AccessAttempt.objects.get()

    assert "guess" not in " ".join(str(value) for value in vars(attempt).values())
    assert "guess " not in caplog.text
    assert guessed.username not in caplog.text


@pytest.mark.parametrize("door", ["/login/", "/admin/login/"])
def test_of_a_name_that_nobody_can_have_no_more_is_kept_than_of_any(client: Client, db: None, door: str):
    client.post(door, {"username": "a" * 5000, "password": "no"})

    assert AccessAttempt.objects.get().username == "a" * 150
