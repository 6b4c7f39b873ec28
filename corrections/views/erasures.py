"""Erasing what a run, an end user or a conversation said, and the receipts."""

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from corrections.forms.erasures import ConfirmForm, SelectorForm
from corrections.models import Erasure
from corrections.presenters.erasures import erasure_shown
from corrections.presenters.runs import run_head
from corrections.queries.erasures import PAGE_SIZE, receipt_for, receipts_for, what_stands_of
from corrections.queries.run_pages import evidence_of, names_of
from corrections.services import erasure as erasing
from kindgi_site.callers import Caller
from kindgi_site.keyset import page_at
from kindgi_site.pages import posted, render_page
from kindgi_site.workspaces.permissions import check_workspace_admin
from kindgi_site.workspaces.requests import PageRequest


@require_safe
def erasure_list(request: PageRequest) -> HttpResponse:
    page = page_at(request.GET, receipts_for(request.caller), PAGE_SIZE)
    names = names_of(erasure.requested_by_id for erasure in page.rows)
    context = {
        "rows": [erasure_shown(erasure, names) for erasure in page.rows],
        "newer": page.previous,
        "older": page.next,
    }
    return render_page(
        request, "corrections/erasure_list.html", fragment="corrections/_erasure_table.html", context=context
    )


@require_safe
def erasure_detail(request: PageRequest, erasure_id: UUID) -> HttpResponse:
    receipt = receipt_for(request.caller, erasure_id)
    context = {"row": erasure_shown(receipt, names_of([receipt.requested_by_id]))}
    return render_page(
        request, "corrections/erasure_detail.html", fragment="corrections/_erasure_receipt.html", context=context
    )


@require_http_methods(["GET", "HEAD", "POST"])
def erasure_create(request: PageRequest) -> HttpResponse:
    """Forget an end user or a conversation."""
    check_workspace_admin(request.caller)
    form = SelectorForm(posted(request))
    if form.is_valid():
        return redirect("corrections:erasure_detail", _erased(request.caller, form).id)
    return _confirm(request, "corrections/erasure_form.html", {"form": form})


@require_http_methods(["GET", "HEAD", "POST"])
def run_erase(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Says what will be cleared, and clears it once that is confirmed."""
    check_workspace_admin(request.caller)
    evidence = evidence_of(request.caller, run_id)
    form = ConfirmForm(posted(request))
    if form.is_valid():
        receipt, _at = erasing.erase_run(caller=request.caller, run_id=run_id)
        if receipt is not None:
            return redirect("corrections:erasure_detail", receipt.id)
        messages.info(request, _("The run had been erased before."))
        return redirect("corrections:run_detail", run_id)
    context = {
        "form": form,
        "run_id": run_id,
        "head": run_head(evidence.run, evidence.copy),
        "stands": what_stands_of(request.caller, run_id),
    }
    return _confirm(request, "corrections/run_erase.html", context)


def _erased(caller: Caller, form: SelectorForm) -> Erasure:
    said = form.cleaned_data
    if said["kind"] == erasing.CONVERSATION:
        return erasing.erase_conversation(caller=caller, conversation_id=said["selector"])
    return erasing.erase_participant(caller=caller, participant_id=said["selector"])


def _confirm(request: PageRequest, page: str, context: dict[str, Any]) -> HttpResponse:
    code = HTTPStatus.UNPROCESSABLE_ENTITY if context["form"].is_bound else HTTPStatus.OK
    return render_page(request, page, fragment="corrections/_erasure_form.html", context=context, status=code)
