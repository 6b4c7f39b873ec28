"""The pages of a workspace's administrators."""

from django.urls import path

from kindgi_site.workspaces.views import keys, people

app_name = "workspaces"

urlpatterns = [
    path("people/", people.people_list, name="people_list"),
    path("people/new/", people.person_invite, name="person_invite"),
    path("people/<uuid:person_id>/", people.person_change, name="person_change"),
    path("people/<uuid:person_id>/welcome/", people.person_welcome, name="person_welcome"),
    path("people/<uuid:person_id>/remove/", people.person_remove, name="person_remove"),
    path("people/services/", people.service_list, name="service_list"),
    path("people/services/new/", people.service_create, name="service_create"),
    path("people/services/<uuid:service_id>/", people.service_change, name="service_change"),
    path("people/keys/", keys.key_list, name="key_list"),
    path("people/keys/new/", keys.key_mint, name="key_mint"),
    path("people/keys/<uuid:key_id>/revoke/", keys.key_revoke, name="key_revoke"),
]
