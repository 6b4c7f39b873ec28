"""Where everything is."""

from django.contrib import admin
from django.contrib.auth import views as auth_views
from django.urls import include, path, reverse_lazy
from django.views.generic import RedirectView

from kindgi_site.api.pipeline import UnknownRouteView
from kindgi_site.api.urls import health
from kindgi_site.workspaces.services.members import WELCOME_TOKENS

_home = RedirectView.as_view(pattern_name="corrections:run_list")
_login = auth_views.LoginView.as_view(redirect_authenticated_user=True)
_welcome = auth_views.PasswordResetConfirmView.as_view(
    template_name="registration/set_password.html", success_url=reverse_lazy("login"), token_generator=WELCOME_TOKENS
)

urlpatterns = [
    path("", _home, name="home"),
    path("", include("corrections.urls")),
    path("", include("testsets.urls")),
    path("", include("kindgi_site.workspaces.urls")),
    path("welcome/<uidb64>/<token>/", _welcome, name="welcome"),
    path("login/", _login, name="login"),
    path("logout/", auth_views.LogoutView.as_view(), name="logout"),
    path("admin/", admin.site.urls),
    path("health", health),
    path("v1", UnknownRouteView.as_view()),
    path("v1/", include("kindgi_site.api.urls")),
]

handler400 = "kindgi_site.error_views.bad_request"
handler403 = "kindgi_site.error_views.permission_denied"
handler404 = "kindgi_site.error_views.page_not_found"
handler500 = "kindgi_site.error_views.server_failed"
