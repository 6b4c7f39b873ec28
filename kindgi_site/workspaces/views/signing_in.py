"""Signing in, and the first password of who was invited: Django's own views, answering as this site's forms do."""

from typing import Any

from django.contrib.auth import views
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.urls import reverse_lazy

from kindgi_site.workspaces.models import Person
from kindgi_site.workspaces.services.members import WELCOME_TOKENS


class _Form:
    """A form that is shown again answers 422."""

    def form_invalid(self, form: BaseForm) -> HttpResponse:
        context: dict[str, Any] = self.get_context_data(form=form)  # type: ignore[attr-defined]
        answer: HttpResponse = self.render_to_response(context, status=422)  # type: ignore[attr-defined]
        return answer


class SignInView(_Form, views.LoginView):
    redirect_authenticated_user = True


class WelcomeView(_Form, views.PasswordResetConfirmView):
    template_name = "registration/set_password.html"
    success_url = reverse_lazy("login")
    token_generator = WELCOME_TOKENS


def guessed_name(_request: HttpRequest, credentials: dict[str, Any] | None) -> str:
    """What guesses are counted by: of a name longer than anybody's, which the form takes too, as much as is kept."""
    longest = Person._meta.get_field("username").max_length  # noqa: SLF001 - documented
    return str((credentials or {}).get("username") or "")[:longest]


def guessing_address(request: HttpRequest) -> str:
    """Where guesses come from: the other end of the connection. A Unix socket has none, and counts as one place."""
    return str(request.META.get("REMOTE_ADDR") or "0.0.0.0")  # noqa: S104 - nothing listens there
