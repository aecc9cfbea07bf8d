"""What holds for every dialect where models change: thoughts, efforts, what a cache gave."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.endpoint_kinds import Stand, of_each_kind
from tests.support.endpoint_servers import MODEL, Say, Script, Tokens
from tests.support.rehearsed import user
from tests.support.tables import each
from tui.bridge.endpoints.encrypted_content import seal
from tui.core.meter import Meter
from tui.core.wire.efforts import EFFORTS
from tui.core.wire.events import usage_of

pytestmark = pytest.mark.usefixtures("plain_words")

SECRET = "a thought of another model"
BLOCKS = {"blocks": [{"type": "thinking", "thinking": SECRET, "signature": "s"}]}
BACK = {"back": "reasoning_content", "text": SECRET}


def thought(**fields: Any) -> dict[str, Any]:
    return {"type": "reasoning", "id": "rs_1", "summary": [], **fields}


@each(
    "kind_of, model, payload",
    [
        ("anthropic", "another-model", BLOCKS),
        ("openai-chat", "another-model", BACK),
        ("anthropic", MODEL, BLOCKS),
        ("openai-chat", MODEL, BACK),
    ],
)
@of_each_kind
async def test_no_model_is_sent_what_another_one_thought(
    there: Stand, kind_of: str, model: str, payload: dict[str, Any]
) -> None:
    sealed = seal(kind_of, model, payload)
    told = [{"type": "summary_text", "text": SECRET}]
    strange = thought(encrypted_content=sealed, summary=told)
    answer = [{"type": "output_text", "text": "yes"}]
    said = [user("hi"), strange, {"type": "message", "role": "assistant", "content": answer}]
    await there.answered(Script([Say("so")]), said=[*said, user("and now")])
    sent = json.dumps(there.server.requests[-1].body)
    own = (kind_of, model) == (there.kind, MODEL)
    assert (SECRET in sent) is (own and there.kind == "anthropic")
    assert sealed not in sent
    assert there.server.heard[-1].told[-2:] == [("assistant", "yes"), ("user", "and now")]


KNOWN = ("low", "high", "xhigh")
NEAREST = dict(zip(EFFORTS, ("low", "low", "low", "low", "high", "xhigh", "xhigh"), strict=True))


@each("effort", list(EFFORTS))
@of_each_kind
async def test_each_level_becomes_one_that_the_model_has(there: Stand, effort: str) -> None:
    if there.kind == "plain-words":
        return  # a plug-in does as it likes
    there.knows(efforts=KNOWN, max_output_tokens=64_000)
    await there.answered(Script([Say("a")]), reasoning={"effort": effort})
    nearest = NEAREST[effort]
    if there.kind == "anthropic" and effort == "medium":
        nearest = "high"  # as its maker advises, the stronger one of two
    assert there.server.heard[-1].effort == nearest


@each("effort, known", [("high", ()), ("none", ())])
@of_each_kind
async def test_a_level_that_cannot_be_said_is_named(
    there: Stand, effort: str, known: tuple[str, ...]
) -> None:
    if there.kind == "plain-words":
        return
    there.knows(efforts=known, max_output_tokens=64_000)
    (*_, last) = await there.answered(Script([Say("a")]), reasoning={"effort": effort})
    left_out = last["response"]["metadata"].get("duetto_left_out", "")
    if there.kind == "anthropic":  # it is given a number of tokens to think in, or none
        assert ("thinking" in there.server.requests[-1].body) is (effort == "high")
        assert left_out == ""
    else:
        assert left_out == "reasoning.effort"
    assert there.server.heard[-1].effort == ""


@each("tokens", [Tokens(100, 7, 90), Tokens(100, 7, 0)])
@of_each_kind
async def test_the_share_from_the_cache_is_the_providers(there: Stand, tokens: Tokens) -> None:
    (*_, last) = await there.answered(Script([Say("a")], tokens=tokens))
    usage = usage_of(last["response"])
    assert usage is not None
    assert (usage.input_tokens, usage.cached_tokens) == (100, tokens.cached)
    meter = Meter()
    meter.start(0.0)
    meter.usage(1.0, usage)
    assert meter.view(1.0).cached == tokens.cached / 100
