"""Where everything is."""

from django.contrib import admin
from django.contrib.auth import views as auth_views
from django.urls import include, path
from django.views.generic import RedirectView

from kindgi_site.api.pipeline import UnknownRouteView
from kindgi_site.api.urls import health
from kindgi_site.workspaces.views.signing_in import SignInView, WelcomeView

_home = RedirectView.as_view(pattern_name="corrections:run_list")

urlpatterns = [
    path("", _home, name="home"),
    path("", include("corrections.urls")),
    path("", include("testsets.urls")),
    path("", include("kindgi_site.workspaces.urls")),
    path("welcome/<uidb64>/<token>/", WelcomeView.as_view(), name="welcome"),
    path("login/", SignInView.as_view(), name="login"),
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
