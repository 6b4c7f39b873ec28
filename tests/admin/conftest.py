import pytest
from django.test import Client

from kindgi_site.workspaces.models import Person
from tests.factories import PersonFactory


@pytest.fixture
def operator(db: None) -> Person:
    """A superuser, who is a member of no workspace."""
    return PersonFactory(username="operator", is_staff=True, is_superuser=True)


@pytest.fixture
def admin_client(operator: Person, client: Client) -> Client:
    client.force_login(operator)
    return client
