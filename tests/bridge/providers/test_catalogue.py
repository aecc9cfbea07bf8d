from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.bridge.providers.conftest import ModelServer
from tests.support.tables import each
from tui.bridge.endpoints.base import EndpointSpec, ModelFacts, Target
from tui.bridge.providers.catalogue import ModelCatalogue, near
from tui.bridge.routing import Endpoints
from tui.core.wire.address import Address

GROQ = {
    "id": "groq/llama-3.3-70b",
    "object": "model",
    "created": 0,
    "owned_by": "groq",
    "context_window": 131072,
}
HOUSE = {
    "id": "house/known",
    "object": "model",
    "created": 0,
    "owned_by": "house",
    "input_modalities": ["text"],
}


@pytest.fixture
async def endpoints(server: ModelServer) -> AsyncIterator[Endpoints]:
    server.answers["/v1/models"] = {"data": [{"id": "llama-3.3-70b", "context_window": 131072}]}
    models = {"known": ModelFacts(images=False)}
    patterns = {"known*": ModelFacts(), "*": ModelFacts()}
    broken = EndpointSpec(
        "openai-chat", f"{server.url}/broken/v1", models=models, known_models=patterns
    )
    made = Endpoints()
    made.targets |= {
        "groq": server.target(),
        "house": Target("house", broken, Address(broken.url)),
        "odd": Target("odd", EndpointSpec("no such kind", "x"), Address("x")),
    }
    yield made
    await made.close()


async def test_all_models_in_one_list_whatever_fails(endpoints: Endpoints) -> None:
    catalogue = ModelCatalogue(endpoints)
    assert catalogue.known() == ["house/known"]
    assert await catalogue.listing() == [GROQ, HOUSE]
    assert catalogue.known() == ["groq/llama-3.3-70b", "house/known"]


KNOWN = ["groq/llama-3.3-70b", "groq/openai/gpt-oss-120b", "anthropic/claude-opus-5", "a/b"]


@each(
    "wrong, meant",
    [
        ("groq/llama-3.3-7b", "; did you mean groq/llama-3.3-70b?"),
        ("llama", "; did you mean groq/llama-3.3-70b?"),
        ("gpt-oss-120", "; did you mean groq/openai/gpt-oss-120b?"),
        ("claude-opus-4", "; did you mean anthropic/claude-opus-5?"),
        ("CLAUDE-OPUS-5", "; did you mean anthropic/claude-opus-5?"),
        ("zzzz", ""),
        ("", ""),
    ],
)
def test_a_name_that_is_not_known_is_answered_with_those_near_it(wrong: str, meant: str) -> None:
    assert near(wrong, KNOWN) == meant


def test_of_many_near_ones_three_are_named() -> None:
    assert near("model-", [f"model-{number}" for number in range(9)]).count("model-") == 3
