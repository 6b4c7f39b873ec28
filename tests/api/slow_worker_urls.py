"""The one address of tests/api/slow_worker.py."""

import sys

from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response

from corrections.api.views import CorrectionsView


class SlowCorrectionsView(CorrectionsView):
    """The real work; then, before its transaction ends, whoever waits is told."""

    schema = None

    def post(self, request: Request) -> Response:
        answer = super().post(request)
        sys.stdout.write("working\n")
        sys.stdout.flush()
        sys.stdin.read()  # until it is killed
        return answer


urlpatterns = [path("v1/corrections", SlowCorrectionsView.as_view())]
