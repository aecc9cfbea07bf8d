"""What a server of the Responses API is asked."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.rehearsed import user
from tui.bridge.endpoints.base import Asked, ModelFacts, Refused
from tui.bridge.endpoints.carried import seal
from tui.bridge.endpoints.openai_responses.asking import items_for, nearest_effort, settings

THOUGHT: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": []}

ANSWER = {"type": "message", "role": "assistant", "content": []}


def asked(facts: ModelFacts | None = None, **request: Any) -> Asked:
    return Asked("m", {"model": "m", "input": [], **request}, [], facts or ModelFacts())


def test_nothing_is_stored_and_the_envelope_stays_here() -> None:
    told = settings(
        asked(
            store=True, background=True, client_metadata={"a": "b"}, previous_response_id="x",
            stream=True, generate=True, temperature=0, service_tier="priority", text={"a": 1},
        )
    )  # fmt: skip
    assert told == {
        "model": "m", "store": False, "temperature": 0, "service_tier": "priority",
        "text": {"a": 1},
    }  # fmt: skip


def test_thoughts_are_asked_for_sealed_where_thinking_is_spoken_of() -> None:
    sealed = "reasoning.encrypted_content"
    assert settings(asked(reasoning={"effort": "low"}))["include"] == [sealed]
    assert settings(asked(reasoning={}, include=["x"]))["include"] == ["x", sealed]
    assert settings(asked(reasoning={}, include=[sealed]))["include"] == [sealed]
    assert "include" not in settings(asked())


@pytest.mark.parametrize(
    ("effort", "known", "told"),
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


def test_only_thoughts_that_can_be_understood_go_back() -> None:
    own = {**THOUGHT, "encrypted_content": "gAAAAA"}
    plain = {**THOUGHT, "content": [{"type": "reasoning_text", "text": "hm"}]}
    others = {**plain, "encrypted_content": seal("anthropic", "claude", {"a": 1})}
    items = [user("hi"), THOUGHT, own, plain, others, ANSWER]
    assert items_for(asked(), items) == [user("hi"), own, plain, ANSWER]


CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}


@pytest.mark.parametrize("behind", [ANSWER, CALL, {"role": "assistant", "content": "x"}])
def test_thoughts_go_back_with_what_they_led_to(behind: dict[str, Any]) -> None:
    own = {**THOUGHT, "encrypted_content": "gAAAAA"}
    kept = [user("hi"), own, own, behind]
    output = {"type": "function_call_output", "call_id": "c", "output": "1"}
    for after in (
        [],
        [user("more")],
        [own],
        [own, user("more")],
        [{"role": "user"}],
        [own, output],
    ):
        items = [*kept, *after]
        rest = [item for item in after if item is not own]
        assert items_for(asked(), items) == [*kept, *rest]


@pytest.mark.parametrize("where", ["content", "output"])
def test_pictures_are_refused_in_words(where: str) -> None:
    picture = {"type": "input_image", "image_url": "data:image/png;base64,AA=="}
    item = {"type": "message" if where == "content" else "function_call_output", where: [picture]}
    with pytest.raises(Refused, match="m takes text only") as refused:
        items_for(asked(ModelFacts(images=False)), [item])
    assert (refused.value.status, refused.value.elsewhere) == (400, False)
    assert items_for(asked(ModelFacts(images=True)), [item]) == [item]
    assert items_for(asked(), [item, {"type": "function_call_output", "output": "x"}])
