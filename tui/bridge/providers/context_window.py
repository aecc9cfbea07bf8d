"""Whether a request fits the window that its model really has; asked before it is sent.

A server that cuts a prompt without a word (Ollama) is not sent one that it would cut. Of others
only what surely is too long is refused here: they count exactly, and say it themselves.

Tokens are estimated: what is likely of words and code in English, and what hardly any tokenizer
goes beyond. Letters that are not ASCII are told by what they take in UTF-8: half a token for two
bytes (Cyrillic, Greek, Arabic), a whole one for three (Hindi, Chinese).
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from tui.bridge.endpoints.base import Asked, Broken, ModelFacts, Refused
from tui.bridge.providers.discovery import (
    LOCAL_FORMS,
    OLLAMA_LEAST_WINDOW,
    Discovery,
    ollama_advice,
    ollama_trained_window,
)
from tui.bridge.time_slices import aside
from tui.core.wire.address import is_loopback

CHARS_PER_TOKEN = 4
DENSEST = 3
"""Hardly anything has so many times the tokens that are likely."""
IMAGE_TOKENS = 85
"""The least that an image costs anywhere."""
_SLICE_CHARS = 65_536
"""So much is looked at in one go (a few ms), others have their turn behind it."""
_BEYOND_ASCII = bytes(range(128, 256))
_DENSE = re.compile(
    r"[A-Z]?[a-z]{1,7}|[A-Z]{1,3}|[0-9]{1,2}|\n[ \t]*|[ \t]{2,}|[!-/:-@\[-`{-~]{1,2}"
)
"""What is about a token of its own in code, numbers, hexadecimal digits and words."""
_UNCOUNTED = frozenset({"type", "id", "role", "status", "call_id", "encrypted_content", "phase"})


class Texts(NamedTuple):
    """What of a request costs tokens: sealed things and names of fields do not."""

    said: list[str]
    images: int

    @property
    def likely(self) -> int:
        """Tokens of words and code in English: four characters each."""
        plain = beyond = 0
        for text in self.said:
            ascii_chars, more = _sizes(text)
            plain, beyond = plain + ascii_chars, beyond + more
        return plain // CHARS_PER_TOKEN + beyond // 2 + self.images * IMAGE_TOKENS

    async def most(self) -> int:
        """Tokens, in whatever it is written: numbers, keys, dense code. No less than `likely`."""
        tokens = 0
        for text in self.said:
            for at in range(0, len(text), _SLICE_CHARS):
                piece = text[at : at + _SLICE_CHARS]
                tokens += len(_DENSE.findall(piece)) + _sizes(piece)[1] // 2
                if len(piece) == _SLICE_CHARS:
                    await asyncio.sleep(0)
        return max(tokens + self.images * IMAGE_TOKENS, self.likely)


def texts_of(asked: Asked) -> Texts:
    """The instructions, the conversation and the tools of a request."""
    said: list[str] = []
    images = 0
    waiting: list[Any] = [asked.request.get("instructions"), list(asked.items)]
    while waiting:  # no recursion: a request may be nested as deep as its reader let it
        part = waiting.pop()
        if isinstance(part, str):
            said.append(part)
        elif isinstance(part, Mapping):
            if part.get("type") in ("input_image", "image_url", "input_file"):
                images += 1
            else:
                waiting += [value for name, value in part.items() if name not in _UNCOUNTED]
        elif isinstance(part, list | tuple):
            waiting += part
    if tools := asked.request.get("tools"):
        said.append(msgspec.json.encode(tools).decode())
    return Texts(said, images)


def _sizes(text: str) -> tuple[int, int]:
    """ASCII characters, and the bytes that the others have beyond one for each of them.

    Never character by character: that would hold up everybody else.
    """
    if text.isascii():
        return len(text), 0
    data = text.encode("utf-8", "surrogatepass")
    return len(data.translate(None, _BEYOND_ASCII)), len(data) - len(text)


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
    return replace(asked, facts=facts, request=request)


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
    return OLLAMA_LEAST_WINDOW


async def _cut(model: str, needed: int, window: int, discovery: Discovery) -> str:
    """That Ollama would cut it, and what to do."""
    try:
        trained = await ollama_trained_window(discovery.questions, model)
    except (Refused, Broken):
        trained = None
    return (
        f"This request has about {needed:,} tokens, but Ollama gives {model} a window of "
        f"{window:,} (num_ctx) and would silently cut off its beginning: "
        f"{ollama_advice(window, needed, trained)}."
    )


def _too_long(model: str, needed: int, window: int) -> str:
    return (
        f"This request has about {needed:,} tokens, but {model} has a context window of "
        f"{window:,}: begin a new conversation, or choose a model with a larger one."
    )
