"""Whether a request fits the window that its model really has; asked before it is sent.

A server that cuts a prompt without a word (Ollama) is not sent one that it would cut. Of others
only what surely is too long is refused here: they count exactly, and say it themselves.
"""

from __future__ import annotations

import dataclasses
import os

import msgspec

from tui.bridge.aside import aside
from tui.bridge.endpoints.base import Asked, Broken, ModelFacts, Refused
from tui.bridge.providers import ollama
from tui.bridge.providers.discovery import LOCAL_FORMS, Discovery
from tui.bridge.providers.estimates import DENSEST, Texts, texts_of
from tui.core.wire.address import is_loopback

SURELY = 2.0
"""Tokenizers and languages differ: what is likely may be off by this much."""
UNASKED = 1500
"""A request that is no longer fits every window there is: nobody is asked."""
CODE = "context_length_exceeded"


async def prepared(asked: Asked, discovery: Discovery | None) -> Asked:
    """The request with what is known of its model; `Refused` if it does not fit.

    Where quota is reserved by what may be answered, a small number is asked for.
    """
    facts = asked.facts.over(discovery.target.facts(asked.model)) if discovery else asked.facts
    texts, needed = await aside(asked, lambda: _measured(asked))
    if discovery is not None and needed > UNASKED:
        await discovery.recognise()
    if discovery is not None and discovery.form in LOCAL_FORMS and needed > UNASKED:
        facts = await _local(asked.model, texts, facts, discovery)
    elif facts.context_window is not None and needed > facts.context_window * SURELY:
        raise Refused(
            400, CODE, _too_long(asked.model, needed, facts.context_window), param="input"
        )
    request = asked.request
    if facts.ask_output_tokens is not None and request.get("max_output_tokens") is None:
        least = min(facts.ask_output_tokens, facts.max_output_tokens or facts.ask_output_tokens)
        request = {**request, "max_output_tokens": least}
    return dataclasses.replace(asked, facts=facts, request=request)


def _measured(asked: Asked) -> tuple[Texts, int]:
    texts = texts_of(asked)
    return texts, texts.likely


async def _local(model: str, texts: Texts, facts: ModelFacts, discovery: Discovery) -> ModelFacts:
    """The facts with the window that a local server gives the model now."""
    cuts = discovery.form == "ollama"
    needed = texts.likely
    given = await discovery.loaded(model, load=cuts)
    window = given.context_window
    if cuts:
        needed = await _at_most(texts, window or facts.context_window or _assumed(discovery))
    if window is not None and _over(needed, window, cuts=cuts):
        # perhaps it was started anew with more since
        given = await discovery.loaded(model, load=cuts, anew=True)
        window = given.context_window
    if window is None:
        window = facts.context_window or (_assumed(discovery) if cuts else None)
    if window is not None and _over(needed, window, cuts=cuts):
        words = _too_long(model, needed, window)
        if cuts:
            words = await _cut(model, needed, window, discovery)
        raise Refused(400, CODE, words, param="input")
    if window is None:
        return given.over(facts)
    return msgspec.structs.replace(given.over(facts), context_window=window)


async def _at_most(texts: Texts, window: int) -> int:
    """What the request takes if it is written densely, where that may be the question."""
    likely = texts.likely
    if _over(likely, window, cuts=True) or not _over(likely * DENSEST, window, cuts=True):
        return likely
    return await texts.most()


def _over(needed: int, window: int, *, cuts: bool) -> bool:
    """Whether it does not fit; where it would be cut, some room for an answer has to be left."""
    return needed > window - window // 16 if cuts else needed > window * SURELY


def _assumed(discovery: Discovery) -> int:
    """Ollama's window where it does not say: what its variable here says, or its least default."""
    said = os.environ.get("OLLAMA_CONTEXT_LENGTH", "")
    if said.isascii() and said.isdigit() and int(said) and is_loopback(discovery.questions.host):
        return int(said)
    return ollama.LEAST_DEFAULT


async def _cut(model: str, needed: int, window: int, discovery: Discovery) -> str:
    """That Ollama would cut it, and what to do."""
    try:
        trained = await ollama.trained_window(discovery.questions, model)
    except (Refused, Broken):
        trained = None
    return (
        f"This request has about {needed:,} tokens, but Ollama gives {model} a window of "
        f"{window:,} (num_ctx) and would cut its beginning off without a word: "
        f"{ollama.to_do(window, needed, trained)}."
    )


def _too_long(model: str, needed: int, window: int) -> str:
    return (
        f"This request has about {needed:,} tokens, but {model} has a context window of "
        f"{window:,}: begin a new conversation, or choose a model with a larger one."
    )
