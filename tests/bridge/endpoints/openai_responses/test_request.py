"""What a server of the Responses API is asked."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.tables import each
from tui.bridge.endpoints.base import Asked, ModelFacts, Refused
from tui.bridge.endpoints.openai_responses.request import items_for, settings
from tui.core.wire.efforts import nearest_effort


def asked(facts: ModelFacts | None = None, **request: Any) -> Asked:
    return Asked("m", {"model": "m", "input": [], **request}, [], facts or ModelFacts())


def test_thoughts_are_asked_for_sealed_where_thinking_is_spoken_of() -> None:
    sealed = "reasoning.encrypted_content"
    assert settings(asked(reasoning={"effort": "low"}))["include"] == [sealed]
    assert settings(asked(reasoning={}, include=["x"]))["include"] == ["x", sealed]
    assert settings(asked(reasoning={}, include=[sealed]))["include"] == [sealed]
    assert "include" not in settings(asked())


@each(
    "effort, known, told",
    [
        ("xhigh", ("low", "medium", "high"), "high"),
        ("medium", ("low", "high"), "low"),
        ("low", ("high", "xhigh"), "high"),
        ("minimal", ("low", "medium"), "low"),
        ("high", ("low", "medium", "high"), "high"),
        ("max", ("none", "xhigh"), "xhigh"),
        ("ultra", ("low",), "ultra"),
        ("high", ("default",), "default"),
    ],
)
def test_the_nearest_effort(effort: str, known: tuple[str, ...], told: str) -> None:
    assert nearest_effort(effort, known) == told
    facts = ModelFacts(efforts=known)
    assert settings(asked(facts, reasoning={"effort": effort}))["reasoning"] == {"effort": told}


def test_a_model_without_efforts_is_told_none() -> None:
    told = settings(asked(ModelFacts(efforts=()), reasoning={"effort": "low", "summary": "auto"}))
    assert told["reasoning"] == {"summary": "auto"}
    assert settings(asked(reasoning={"effort": "low"}))["reasoning"] == {"effort": "low"}


@each("where", ["content", "output"])
def test_pictures_are_refused_in_words(where: str) -> None:
    picture = {"type": "input_image", "image_url": "data:image/png;base64,AA=="}
    item = {"type": "message" if where == "content" else "function_call_output", where: [picture]}
    with pytest.raises(Refused, match="m takes text only") as refused:
        items_for(asked(ModelFacts(images=False)), [item])
    assert (refused.value.status, refused.value.elsewhere) == (400, False)
    assert items_for(asked(ModelFacts(images=True)), [item]) == [item]
    assert items_for(asked(), [item, {"type": "function_call_output", "output": "x"}])
