"""Ollama's context windows: what it really gives a model, which is often less than the model has.

Its OpenAI surface takes no ``num_ctx`` and cuts a prompt that is too long without a word. The
window of a request there is the Modelfile's ``num_ctx``; else what the server was started with
(``OLLAMA_CONTEXT_LENGTH``), or what it chooses by the machine's memory: only a model that is
loaded says which. (docs.ollama.com/context-length, /api/ps, /api/show.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tui.bridge.endpoints.base import Broken, ModelFacts, Refused
from tui.bridge.providers.asking import Questions
from tui.bridge.providers.listing import entries, tokens

LEAST_DEFAULT = 4096
"""What it gives where nobody says more and the machine has little memory."""
LOADING_S = 120.0
"""A model is loaded within that time, or nothing is known of its window."""
_NUM_CTX = re.compile(r"^\s*(?:PARAMETER\s+)?num_ctx\s+\"?(\d+)", re.M)


@dataclass(frozen=True, slots=True)
class Shown:
    """What ``/api/show`` says of a model."""

    num_ctx: int | None = None
    """Of its Modelfile."""
    trained: int | None = None
    """The most that the model can take."""
    images: bool | None = None
    efforts: tuple[str, ...] | None = None


async def facts(questions: Questions, model: str, *, load: bool) -> ModelFacts:
    """The window that a request gets now; ``load``: have the model loaded where only that tells.

    Raises Refused, Broken: there is no such model, or the server does not answer.
    """
    shown = await _shown(questions, model)
    window = shown.num_ctx or await _running(questions, model)
    if window is None and load:
        window = await _once_loaded(questions, model)
    if window is not None and shown.trained is not None:
        window = min(window, shown.trained)
    return ModelFacts(context_window=window, images=shown.images, efforts=shown.efforts)


def same_model(one: str, other: str) -> bool:
    """Whether two names mean the same model: ``:latest`` is what a name without a tag means."""
    return one.removesuffix(":latest") == other.removesuffix(":latest")


def to_do(window: int, needed: int, trained: int | None) -> str:
    """What to do about a window that is too small."""
    more = _rounded(needed * 2)
    more = min(more, trained) if trained else more
    if trained and trained <= window:
        return "that is all the model has: use one with a larger window"
    return (
        f"start it with OLLAMA_CONTEXT_LENGTH={more}, or give the model PARAMETER num_ctx {more} "
        "in its Modelfile"
    )


def shown_in(body: object) -> Shown:
    """What an answer of ``/api/show`` says."""
    if not isinstance(body, Mapping):
        return Shown()
    found = _NUM_CTX.search(str(body.get("parameters") or ""))
    info = body.get("model_info")
    info = info if isinstance(info, Mapping) else {}
    # "qwen3.context_length": the key begins with the architecture's name
    key = f"{info.get('general.architecture')}.context_length"
    lengths = [tokens(info.get(key)), *_lengths(info)]
    abilities = body.get("capabilities")
    known = list(map(str, abilities)) if isinstance(abilities, list) and abilities else None
    return Shown(
        tokens(found[1]) if found else None,
        next((length for length in lengths if length), None),
        None if known is None else "vision" in known,
        None if known is None or "thinking" in known else (),
    )


async def trained_window(questions: Questions, model: str) -> int | None:
    """The most that the model can take. None: it does not say."""
    return (await _shown(questions, model)).trained


async def _shown(questions: Questions, model: str) -> Shown:
    body = {"model": model, "name": model}  # the latter until 0.5
    try:
        return shown_in(await questions.post_beside("/api/show", body, 10.0))
    except Refused as error:
        if error.status == 404 and error.code == "no_models":
            return Shown()
        raise


async def _running(questions: Questions, model: str) -> int | None:
    """The window of a model that is loaded."""
    try:
        body = await questions.get_beside("/api/ps")
    except Refused:
        return None
    for entry in entries(body):
        if any(same_model(str(entry.get(key)), model) for key in ("name", "model")):
            return tokens(entry.get("context_length"))
    return None


async def _once_loaded(questions: Questions, model: str) -> int | None:
    """Load it, as the request itself would, and look again."""
    try:
        await questions.post_beside("/api/generate", {"model": model, "stream": False}, LOADING_S)
    except (Refused, Broken):
        return None
    return await _running(questions, model)


def _lengths(info: Mapping[str, Any]) -> Iterable[int | None]:
    return (tokens(value) for key, value in info.items() if key.endswith(".context_length"))


def _rounded(needed: int) -> int:
    """The next power of two."""
    return max(8192, 1 << max(needed - 1, 1).bit_length())
