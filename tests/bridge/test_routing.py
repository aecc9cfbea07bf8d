"""Which endpoint a model's name means."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from tui.bridge.endpoints.base import EndpointSpec, ModelFacts, Refused
from tui.bridge.rehearsal.endpoint import Rehearsal, rehearsal_route
from tui.bridge.routing import Candidate, Endpoints, SharedRoute
from tui.bridge.targets import target

NOWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture
async def endpoints() -> AsyncIterator[Endpoints]:
    made = Endpoints()
    yield made
    await made.close()


def declare(endpoints: Endpoints, name: str, url: str = NOWHERE, **fields: Any) -> None:
    models = {model: ModelFacts() for model in fields.pop("models", ())}
    spec = EndpointSpec("openai-chat", url, models=models, **fields)
    endpoints.targets[name] = target(name, spec, f"key-of-{name}-0123456789")


def route(endpoints: Endpoints) -> SharedRoute:
    return SharedRoute(endpoints, rehearsal_route(Rehearsal()))


async def first(endpoints: Endpoints, model: str, **fields: Any) -> Candidate:
    candidates = await route(endpoints).candidates({"model": model, **fields}, [])
    return candidates[0]


async def test_a_bare_name_means_the_endpoint_that_alone_knows_it(endpoints: Endpoints) -> None:
    declare(endpoints, "a", models=["small", "both"])
    declare(endpoints, "b", models=["large", "both"])
    assert (await first(endpoints, "large")).name == "b"
    assert (await first(endpoints, "small@100")).tokens_s == 100
    with pytest.raises(Refused, match="say a/both or b/both") as raised:
        await first(endpoints, "both")
    assert raised.value.code == "model_ambiguous"


async def test_one_endpoint_alone_is_asked_for_everything(endpoints: Endpoints) -> None:
    declare(endpoints, "a")
    candidate = await first(endpoints, "org/anything")
    assert (candidate.name, candidate.asked.model) == ("a", "org/anything")


async def test_servers_are_asked_which_of_them_has_a_model(endpoints: Endpoints) -> None:
    async def models(_request: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "llama-here"}]})

    app = web.Application()
    app.router.add_get("/v1/models", models)
    server = TestServer(app)
    await server.start_server()
    try:
        declare(endpoints, "local", str(server.make_url("/v1")))
        declare(endpoints, "down")
        assert (await first(endpoints, "llama-here")).name == "local"
        with pytest.raises(Refused, match=r"did you mean local/llama-here\?") as raised:
            await first(endpoints, "lama-here")
        refused = raised.value
        assert (refused.status, refused.code, refused.param) == (400, "model_not_found", "model")
    finally:
        await server.close()


async def test_a_request_without_a_model_is_one_sentence(endpoints: Endpoints) -> None:
    declare(endpoints, "a")
    for request in ({}, {"model": ""}, {"model": 7}):
        with pytest.raises(Refused, match="names no model"):
            await route(endpoints).candidates(request, [])


async def test_a_kind_that_nobody_knows_is_words(endpoints: Endpoints) -> None:
    spec = EndpointSpec("openai-chatt", NOWHERE)
    endpoints.targets["a"] = target("a", spec, "")
    with pytest.raises(Refused, match=r"did you mean 'openai-chat'\?"):
        await first(endpoints, "a/m")
    with pytest.raises(Refused, match="no endpoint 'gone'"):
        await endpoints.candidates("gone", {"model": "m"}, [])
