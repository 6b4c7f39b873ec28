"""/v1 of API keys (contract, section 19)."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from kindgi_site.api import examples
from kindgi_site.api.bodies import Id, ListOf, Moment, Shape, Text, WireBody
from kindgi_site.api.pipeline import SecretResponse, V1View
from kindgi_site.api.schema import PAGING, refusals
from kindgi_site.api.shapes import Always, ShownId, ShownTime, WireShape, page_of
from kindgi_site.workspaces.queries.keys import key_readable_by, keys_readable_by
from kindgi_site.workspaces.services.keys import KeyDraft, mint_key, revoke_key_by_id


class PrincipalBody(Shape):
    kind = serializers.ChoiceField(["user", "service-account"])
    id = Text(non_blank=True, max_length=100)


class MintTokenBody(WireBody):
    example = {"label": "Nightly grading", "projectId": examples.PROJECT}

    vars()["for"] = PrincipalBody(required=False)  # a word of Python's
    role = serializers.ChoiceField(["admin", "member"], required=False)
    capabilities = ListOf(child=Text(non_blank=True, max_length=100), required=False, max_length=50)
    label = Text(required=False, max_length=200)  # type: ignore[assignment]
    expiresAt = Moment(required=False)
    projectId = Id(required=False)


class PrincipalShape(WireShape):
    kind = serializers.ChoiceField(["user", "service-account"])
    id = ShownId()


class TokenShape(WireShape):
    tokenId = ShownId(source="id")
    principal = PrincipalShape(required=False)
    role = serializers.ChoiceField(["admin", "member"])
    capabilities = serializers.ListField(child=serializers.CharField())
    label = serializers.CharField(required=False)  # type: ignore[assignment]
    projectId = ShownId(source="project_id", required=False)
    createdBy = serializers.CharField(source="created_by", required=False)
    createdAt = ShownTime(source="created_at")
    expiresAt = ShownTime(source="expires_at", required=False)
    revokedAt = ShownTime(source="revoked_at", required=False)
    lastUsedAt = ShownTime(source="last_used_at", required=False)


class MintedTokenShape(TokenShape):
    token = serializers.CharField(source="text", required=False)


class RevokedTokenShape(WireShape):
    tokenId = ShownId()
    revoked = Always()


class TokensView(V1View):
    project_in_body = True

    @extend_schema(
        operation_id="tokens.list",
        summary="List API keys, newest first",
        parameters=[
            *PAGING,
            OpenApiParameter("principal", str, description="`user:<id>` or `service_account:<id>`."),
        ],
        responses={200: page_of(TokenShape), **refusals(400, 401, 403)},
    )
    def get(self, request: Request) -> Response:
        keys = keys_readable_by(self.caller, principal=request.query_params.get("principal", ""))
        return Response(self.paging.newest_first(keys, TokenShape.wire))

    @extend_schema(
        operation_id="tokens.mint",
        summary="Mint an API key",
        request=MintTokenBody,
        responses={201: MintedTokenShape, **refusals(400, 401, 403, 404, 409, 413, 503)},
    )
    def post(self, request: Request) -> Response:
        """The answer is the only time the key itself is shown."""
        said: dict[str, Any] = MintTokenBody.read(self.document, optional=True)
        principal = said.get("for")
        draft = KeyDraft(
            principal=(principal["kind"], principal["id"]) if principal else None,
            role=said.get("role", "member"),
            capabilities=tuple(said.get("capabilities", ())),
            label=said.get("label", ""),
            expires_at=said.get("expiresAt"),
            project_id=said.get("projectId"),
        )
        key, text = mint_key(caller=self.caller, draft=draft)
        return SecretResponse(TokenShape.wire(key) | {"token": text}, status=201)


class TokenView(V1View):
    @extend_schema(
        operation_id="tokens.get",
        summary="Fetch an API key's record",
        responses={200: TokenShape, **refusals(401, 403, 404)},
    )
    def get(self, request: Request, token_id: str) -> Response:
        return Response(TokenShape.wire(key_readable_by(self.caller, token_id)))


class RevokeTokenView(V1View):
    @extend_schema(
        operation_id="tokens.revoke",
        summary="Revoke an API key",
        request=None,
        responses={200: RevokedTokenShape, **refusals(401, 403, 404, 409, 503)},
    )
    def post(self, request: Request, token_id: str) -> Response:
        key = revoke_key_by_id(caller=self.caller, key_id=token_id)
        return Response({"tokenId": str(key.id), "revoked": True})
