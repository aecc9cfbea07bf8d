"""Which endpoint a model's name means."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from tui.bridge.endpoints.base import EndpointSpec, ModelFacts, Refused
from tui.bridge.rehearsal.casting import Rehearsal
from tui.bridge.rehearsal.endpoint import RehearsalRoute
from tui.bridge.routes import AnyEndpoint, Endpoints, Leg, OneEndpoint
from tui.bridge.told_endpoints import target

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


def route(endpoints: Endpoints) -> AnyEndpoint:
    return AnyEndpoint(endpoints, RehearsalRoute(Rehearsal()))


async def first(endpoints: Endpoints, model: str, **fields: Any) -> Leg:
    legs = await route(endpoints).legs({"model": model, **fields}, [])
    return legs[0]


async def test_an_endpoint_and_its_model_are_named_with_a_slash(endpoints: Endpoints) -> None:
    declare(endpoints, "groq")
    declare(endpoints, "router")
    leg = await first(endpoints, "router/meta/llama-3.3-70b@50")
    assert (leg.name, leg.asked.model, leg.tokens_s) == ("router", "meta/llama-3.3-70b", 50)
    assert leg.asked.request["model"] == "meta/llama-3.3-70b"
    assert "key-of-router" not in leg.mask.text("it was key-of-router-0123456789")


async def test_a_bare_name_means_the_endpoint_that_alone_knows_it(endpoints: Endpoints) -> None:
    declare(endpoints, "a", models=["small", "both"])
    declare(endpoints, "b", models=["large", "both"])
    assert (await first(endpoints, "large")).name == "b"
    assert (await first(endpoints, "small@100")).tokens_s == 100
    with pytest.raises(Refused, match="say a/both or b/both") as raised:
        await first(endpoints, "both")
    assert raised.value.code == "model_ambiguous"


async def test_a_declared_name_may_begin_like_an_endpoints(endpoints: Endpoints) -> None:
    declare(endpoints, "openai", models=["gpt-5"])
    declare(endpoints, "groq", models=["openai/gpt-oss-120b", "openai/gpt-5"])
    for name, place in (
        ("openai/gpt-oss-120b", ("groq", "openai/gpt-oss-120b")),
        ("openai/gpt-oss-120b@50", ("groq", "openai/gpt-oss-120b")),
        ("groq/openai/gpt-oss-120b", ("groq", "openai/gpt-oss-120b")),
        ("openai/gpt-5", ("openai", "gpt-5")),
        ("openai/gpt-5@50", ("openai", "gpt-5")),
        ("openai/other", ("openai", "other")),
    ):
        leg = await first(endpoints, name)
        assert (leg.name, leg.asked.model) == place, name


async def test_one_endpoint_alone_is_asked_for_everything(endpoints: Endpoints) -> None:
    declare(endpoints, "a")
    leg = await first(endpoints, "org/anything")
    assert (leg.name, leg.asked.model) == ("a", "org/anything")


async def test_the_rehearsal_is_there_beside_all(endpoints: Endpoints) -> None:
    assert (await first(endpoints, "anything")).name == ""
    declare(endpoints, "a")
    assert (await first(endpoints, "rehearsal-fast@200")).name == ""
    assert (await first(endpoints, "other")).name == "a"


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
            await route(endpoints).legs(request, [])


async def test_a_date_behind_a_name_is_no_rate(endpoints: Endpoints) -> None:
    declare(endpoints, "a", models=["m@500"])
    for name in ("a/claude@20240620", "a/m@500", "a/m@0", "a/m@latest", "a/@5"):
        leg = await first(endpoints, name)
        assert (leg.asked.model, leg.tokens_s) == (name.removeprefix("a/"), math.inf)


async def test_a_kind_that_nobody_knows_is_words(endpoints: Endpoints) -> None:
    spec = EndpointSpec("openai-chatt", NOWHERE)
    endpoints.targets["a"] = target("a", spec, "")
    with pytest.raises(Refused, match=r"did you mean 'openai-chat'\?"):
        await first(endpoints, "a/m")
    with pytest.raises(Refused, match="no endpoint 'gone'"):
        await OneEndpoint(endpoints, "gone").legs({"model": "m"}, [])


async def test_a_fallback_of_an_unknown_kind_leaves_the_first_choice(endpoints: Endpoints) -> None:
    spec = EndpointSpec("openai-chat", NOWHERE, models={"m": ModelFacts(fallbacks=("b/m",))})
    endpoints.targets["a"] = target("a", spec, "")
    endpoints.targets["b"] = target("b", EndpointSpec("none", NOWHERE), "")
    legs = await route(endpoints).legs({"model": "a/m@30"}, [])
    assert [leg.name for leg in legs] == ["a", "b"]
    assert [leg.tokens_s for leg in legs] == [30, 30]
    assert legs[1].refusal is not None


async def test_an_endpoint_that_is_told_again_is_the_same_one(endpoints: Endpoints) -> None:
    declare(endpoints, "a")
    made = await endpoints.endpoint("a")
    declare(endpoints, "a")
    assert await endpoints.endpoint("a") is made
    declare(endpoints, "a", url="http://127.0.0.1:10/v1")
    assert await endpoints.endpoint("a") is not made


async def test_requests_that_come_at_once_have_one_endpoint(endpoints: Endpoints) -> None:
    declare(endpoints, "one")
    declare(endpoints, "two")
    names = ["one", "two"] * 4
    made = await asyncio.gather(*map(endpoints.endpoint, names))
    assert len(set(map(id, made))) == 2
    assert [await endpoints.endpoint(name) for name in names] == made
