from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WorkspacesConfig(AppConfig):
    name = "kindgi_site.workspaces"
    label = "workspaces"
    verbose_name = _("Workspaces")
