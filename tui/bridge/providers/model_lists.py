"""Lists of models in the forms that servers really give them, read into facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tui.bridge.endpoints.base import ModelFacts

MOST_MODELS = 5000
_MOST_CHARS = 256
_MOST_TOKENS = 1 << 32
_WINDOWS = (
    "loaded_context_length",  # LM Studio: what is in memory now
    "max_model_len",  # vLLM, SGLang
    "context_length",  # OpenRouter, Together, Fireworks, SambaNova, Ollama's list of loaded ones
    "context_window",  # Groq, Cerebras, gateways
    "max_context_length",  # Mistral, LM Studio
    "max_input_tokens",  # Anthropic, LiteLLM
    "inputTokenLimit",  # Gemini
)
_OUTPUTS = (
    "max_completion_tokens",  # Groq, OpenRouter, SambaNova
    "max_output_tokens",  # LiteLLM, gateways
    "outputTokenLimit",  # Gemini
    "max_output_length",
)
_EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")
_NO_CHAT = {"embedding", "embeddings", "image", "audio", "rerank", "moderation", "transcribe"}
Clue = str
"""Which server it is that gave a list: a form of `DiscoveryForm`; empty: none that we know."""


def models_in(body: object) -> dict[str, ModelFacts]:
    """The models that a list names, without those that cannot chat."""
    found: dict[str, ModelFacts] = {}
    for entry in entries(body):
        name = name_of(entry)
        if name and not _chats_not(entry) and len(found) < MOST_MODELS:
            found[name] = facts_of(entry)
    return found


def entries(body: object) -> Iterable[Mapping[str, Any]]:
    """The entries of a list: ``data``, ``models``, or the list itself (Together)."""
    if isinstance(body, Mapping):
        # llama.cpp gives both; the one of OpenAI's form has the windows
        parts = [body.get(key) for key in ("data", "models")]
        body = next((part for part in parts if isinstance(part, list)), [])
    for entry in body if isinstance(body, list) else []:
        if isinstance(entry, Mapping):
            yield entry
        elif isinstance(entry, str):
            yield {"id": entry}


def name_of(entry: Mapping[str, Any]) -> str:
    """What requests call this model; empty: it has no usable name."""
    for key in ("id", "key", "model", "name", "model_name"):
        name = entry.get(key)
        if isinstance(name, str) and name.strip():
            name = name.removeprefix("models/")  # Gemini
            return name if len(name) <= _MOST_CHARS and name.isprintable() else ""
    return ""


def clue_in(body: object) -> Clue:
    """Which server answers like this, where that tells where to ask for more."""
    owners = {str(entry.get("owned_by")) for entry in entries(body)}
    if "llamacpp" in owners:
        return "llamacpp"
    if "organization_owner" in owners:
        return "lmstudio"
    return "ollama" if owners == {"library"} else ""


def facts_of(entry: Mapping[str, Any]) -> ModelFacts:
    """What one entry says of its model."""
    top, meta = _table(entry.get("top_provider")), _table(entry.get("meta"))
    info, limits = _table(entry.get("model_info")), _table(entry.get("limits"))
    # the most exact first: what OpenRouter routes to may take less than the model could
    tables = (top, info, limits, entry)
    window = _loaded(entry) or _first(tables, _WINDOWS) or tokens(meta.get("n_ctx"))
    outputs = (*_OUTPUTS, "max_tokens") if "max_input_tokens" in entry else _OUTPUTS
    return ModelFacts(
        context_window=window or tokens(meta.get("n_ctx_train")),
        max_output_tokens=_first(tables, outputs),
        images=_images(entry),
        efforts=_efforts(entry),
    )


def tokens(value: object) -> int | None:
    """A number of tokens, if it is one."""
    if isinstance(value, str) and value.isdigit() and len(value) < 12:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if 0 < value < _MOST_TOKENS else None


def _first(tables: Iterable[Mapping[str, Any]], keys: Iterable[str]) -> int | None:
    names = tuple(keys)
    found = (tokens(table.get(key)) for table in tables for key in names)
    return next((number for number in found if number), None)


def _loaded(entry: Mapping[str, Any]) -> int | None:
    """LM Studio since 0.4: the instances in memory, each with its own window; the least counts."""
    instances = entry.get("loaded_instances")
    windows = [
        tokens(_table(_table(one).get("config")).get("context_length"))
        for one in (instances if isinstance(instances, list) else [])
    ]
    known = [window for window in windows if window]
    return min(known) if known else None


def _images(entry: Mapping[str, Any]) -> bool | None:
    """Whether it takes images, where its entry says so either way."""
    modalities = _table(entry.get("architecture")).get("input_modalities")
    if not isinstance(modalities, list):
        modalities = entry.get("input_modalities")
    if isinstance(modalities, list) and modalities:
        return "image" in modalities
    abilities = entry.get("capabilities")
    if isinstance(abilities, list) and abilities:  # Ollama, llama.cpp
        return bool({"vision", "multimodal", "image"} & set(map(str, abilities)))
    for value in (
        _table(abilities).get("vision"),  # Mistral, LM Studio
        _table(_table(abilities).get("image_input")).get("supported"),  # Anthropic
        entry.get("supports_image_input"),  # Fireworks
        _table(entry.get("model_info")).get("supports_vision"),  # LiteLLM
    ):
        if isinstance(value, bool):
            return value
    return {"vlm": True, "llm": False}.get(str(entry.get("type")))


def _efforts(entry: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The efforts that it knows, where its entry says so."""
    effort = _table(_table(entry.get("capabilities")).get("effort"))  # Anthropic
    if isinstance(effort.get("supported"), bool):
        levels = (name for name in _EFFORTS if _table(effort.get(name)).get("supported") is True)
        return tuple(levels) if effort["supported"] else ()
    parameters = entry.get("supported_parameters")  # OpenRouter
    if isinstance(parameters, list) and parameters:
        return None if {"reasoning", "reasoning_effort"} & set(map(str, parameters)) else ()
    return None


def _chats_not(entry: Mapping[str, Any]) -> bool:
    abilities = entry.get("capabilities")
    if isinstance(abilities, Mapping) and abilities.get("completion_chat") is False:  # Mistral
        return True
    if isinstance(abilities, list) and abilities and "embedding" in abilities:  # Ollama
        return "completion" not in abilities
    methods = entry.get("supportedGenerationMethods")  # Gemini
    if isinstance(methods, list) and methods:
        return "generateContent" not in methods
    return str(entry.get("type")).lower() in _NO_CHAT or entry.get("lifecycle") == "retired"


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
