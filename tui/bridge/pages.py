"""What the bridge answers to who asks for no response: the models, and what there is where."""

from __future__ import annotations

import http
from typing import Any

from websockets.http11 import Request, Response

from tui.bridge.admission import refused, respond
from tui.bridge.endpoints.base import ModelFacts
from tui.bridge.rehearsal.casting import DEEP, FAST
from tui.bridge.routes import Endpoints
from tui.bridge.told_endpoints import RESPONSES, place_at

_MOST_SAID_BACK = 256
_ELSEWHERE = {
    "chat/completions": "The Chat Completions API is not served here",
    "messages": "The Messages API is not served here",
}
_THERE_IS = (
    "POST a request to {base}responses, or open a WebSocket there; "
    "GET {base}models lists the models."
)


class Pages:
    """The lists of models."""

    def __init__(self, endpoints: Endpoints) -> None:
        self._endpoints = endpoints

    async def models(self, endpoint: str | None, model: str) -> Response:
        """The models of an endpoint, or of all, as far as these list them in time; or one."""
        from tui.bridge.providers.catalogue import Catalogue, listed, near

        catalogue = Catalogue(self._endpoints)
        if endpoint is None:
            own = [listed(name, "duetto", ModelFacts(images=False)) for name in (FAST, DEEP)]
            entries = own + await catalogue.listing()
        else:
            facts = sorted((await catalogue.models(endpoint)).items())
            entries = [listed(name, endpoint, known) for name, known in facts]
        if not model:
            return respond(http.HTTPStatus.OK, {"object": "list", "data": entries})
        found = _meant(model, entries, bare=endpoint is None)
        if len(found) == 1:
            return respond(http.HTTPStatus.OK, {**found[0], "id": model})
        shown = model[:_MOST_SAID_BACK]
        names = [str(entry["id"]) for entry in found]
        words = f"There is no model {shown!r} here{near(shown, [e['id'] for e in entries]) or '.'}"
        if names:
            words = f"Several endpoints have a model {shown!r}: say {' or '.join(names)}."
        return refused(http.HTTPStatus.NOT_FOUND, words, code="model_not_found", param="model")


def _meant(model: str, entries: list[dict[str, Any]], *, bare: bool) -> list[dict[str, Any]]:
    """The entries of that name; ``bare``: without ``ENDPOINT/``, if none has it as a whole."""
    found = [entry for entry in entries if entry["id"] == model]
    if not found and bare:
        found = [entry for entry in entries if entry["id"].partition("/")[2] == model]
    return found


def nothing_at(path: str) -> Response:
    """A 404 that says what there is instead."""
    path = path.partition("?")[0]
    place = place_at(path)
    wanted = place.wanted if place is not None else ""
    base = path.removesuffix(wanted) if wanted in _ELSEWHERE else "/v1/"
    words = _ELSEWHERE.get(wanted, f"There is no {path[:_MOST_SAID_BACK]} here")
    if wanted.startswith(f"{RESPONSES}/"):
        words = (
            "Responses are not fetched, cancelled or deleted by their ids here: continue one by "
            "previous_response_id, and stop one by closing its connection"
        )
    return refused(http.HTTPStatus.NOT_FOUND, f"{words}: {_THERE_IS.format(base=base)}")


def not_so(request: Request, *methods: str) -> Response:
    """What answers a method that a path does not have; OPTIONS is told those that it has."""
    allowed = {"Allow": ", ".join((*methods, "OPTIONS"))}
    if request.method == "OPTIONS":
        return respond(http.HTTPStatus.OK, {}, allowed)
    words = f"{request.method[:32]} is not possible here: {_THERE_IS.format(base='/v1/')}"
    answer = refused(http.HTTPStatus.METHOD_NOT_ALLOWED, words, code="method_not_allowed")
    answer.headers.update(allowed)
    return answer
