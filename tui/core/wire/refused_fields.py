"""Fields of a request that a server says it does not take: found in its words, and left out.

A refusal that names such a field says that nothing was done: the same request may be sent again
without it, and without it from then on. What a request means nothing without is never left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tui.core.text.patterns import pattern

STATUSES = frozenset({400, 404, 422, 500, 501})
"""Of refusals that may be about a field; servers written in a hurry fail with 500."""
MOST_TRIES = 6
"""One request is sent so often at most: who refuses more fields than that means something else."""
_MOST_MODELS = 256
_MOST_FIELDS = 32
_MOST_CHARS = 8_000
"""Of the words of a refusal; a field is named at their beginning."""
_ANY = "*"
_ESSENTIAL = frozenset({
    "model", "input", "messages", "tools", "system", "instructions", "prompt", "stream",
    "type", "role", "content", "text", "name", "call_id", "arguments", "output", "function",
    "parameters", "input_schema", "description", "id", "tool_calls", "tool_call_id", "tool_use_id",
    "encrypted_content", "image_url", "url", "source", "data", "format", "response_format",
    "max_tokens", "max_completion_tokens", "tool_choice", "previous_response_id", "generate",
    "stream_id",
})  # fmt: skip
"""Without these a request means nothing, or something else."""
_UNKNOWN = pattern(
    r"un(?:supported|known|recogni[sz]ed|expected)"
    r"|not (?:\w+ )?(?:supported|permitted|allowed|accepted|available|recogni[sz]ed|known|expected)"
    r"|not an? (?:valid|known|recogni[sz]ed) (?:param|field|arg|key|option|propert)"
    r"|no longer (?:supported|accepted)|extra_forbidden"
    r"|(?:does|do|did|is)(?:n[o']t| not|n't) (?:support|know|allow|accept|permit|recogni[sz]e|take)"
    r"|(?:extra|additional) (?:\w+ )?(?:inputs?|fields?|propert|param|arg|key)|were unexpected"
    r"|invalid (?:param|arg|field|key|name)|no such (?:param|arg|field|key|name)"
    r"|cannot find field|deprecated|mandatory|cannot be (?:used|set|specified|disabled)",
    re.I,
)
"""How a server says that it does not take something."""
_VALUE = pattern(
    r"unsupported[ _]value|invalid (?:value|type)|supported values|(?:must|should) be"
    r"|expected (?:a|one)|is required|missing|valid (?:values|options)|invalid schema",
    re.I,
)
"""It takes the field, but not what it says; or it lacks one."""
_UNKNOWN_NAME = pattern(
    r"un(?:known|recogni[sz]ed|expected)(?: \w+)? (?:field|param|arg|key|name|propert)", re.I
)
"""Then what is said behind it, as the names that are known, is no complaint of a value."""
_WORD = pattern(r"[A-Za-z_]\w*(?:\[\w*\]|\.\w+)*")
_PART = pattern(r"\w+")
_CUE = pattern(
    r"(?:[\"'`\[{(]|(?:param(?:eter)?s?|arg(?:ument)?s?|fields?|propert(?:y|ies)|keys?|names?"
    r"|options?|supplied|body)\b\W{0,4})$",
    re.I,
)
"""What stands before the name of a field; a plain word needs that to be one."""
_CUE_CHARS = 24
_BEHIND = pattern(
    r"[\"'`]?\s*(?::|=|\bpara|is (?:not (?:supported|known|recogni)|unsupp|unknown|mandatory))"
)
_CAMEL = pattern(r"[a-z][A-Z]")
_AND = pattern(r"[\s\"'`,;\[\]{}()]*(?:\band\b)?[\s\"'`,;\[\]{}()]*")
"""What parts the names of a list."""

Field = str
"""The path of a field, with dots; ``*`` stands for each element of a list."""


def fields_refused(
    words: str, param: str, body: Mapping[str, Any], *, values: bool = False
) -> tuple[Field, ...]:
    """The fields of ``body`` that a refusal names as not taken; empty: it says something else.

    Args:
        words: the refusal's code and sentence.
        param: the field that it is about, where the server says so; or empty.
        body: what was sent.
        values: a refused value counts, too: the server may choose one by itself.
    """
    words = words[:_MOST_CHARS]
    of_value = bool(_VALUE.search(words)) and not _UNKNOWN_NAME.search(words)
    if (of_value and not values) or not (of_value or _UNKNOWN.search(words)):
        return ()
    if (named := _resolved(param, body)) and not _is_essential(named):
        return (named,)
    found: list[Field] = []
    end = 0
    for match in _WORD.finditer(words):
        if found and not _AND.fullmatch(words, end, match.start()):
            break
        if not _is_name(match, words, in_list=bool(found)):
            continue
        if (named := _resolved(match[0], body)) and not _is_essential(named):
            found.append(named)
            end = match.end()
    return tuple(dict.fromkeys(found))


def without(body: Mapping[str, Any], fields: Sequence[Field]) -> dict[str, Any]:
    """The body without these fields; what holds them is copied, and goes if nothing is left."""
    told = dict(body)
    for field in fields:
        rest = _removed(told, field.split("."))
        told = rest if isinstance(rest, dict) else {}
    return told


class RefusedFields:
    """What was learnt of the models of one endpoint."""

    def __init__(self) -> None:
        self._by_model: dict[str, tuple[Field, ...]] = {}

    def of(self, model: str) -> tuple[Field, ...]:
        """The fields that are not sent to it."""
        return self._by_model.get(model, ())

    def learn(self, model: str, fields: Sequence[Field]) -> bool:
        """Keep them in mind; False: there is nothing new, so asking again would be no use."""
        known = self._by_model.pop(model, ())
        fresh = [field for field in fields if field not in known]
        self._by_model[model] = (*known, *fresh)[:_MOST_FIELDS]
        while len(self._by_model) > _MOST_MODELS:
            del self._by_model[next(iter(self._by_model))]
        return bool(fresh) and len(known) < _MOST_FIELDS


def _is_name(match: re.Match[str], words: str, *, in_list: bool) -> bool:
    """Whether a word of a sentence is meant as a name: many fields are called by plain words."""
    word = match[0]
    if in_list or any(mark in word for mark in "_.[") or _CAMEL.search(word):
        return True
    near = max(0, match.start() - _CUE_CHARS)
    return bool(_CUE.search(words, near, match.start()) or _BEHIND.match(words, match.end()))


def _resolved(said: str, body: Mapping[str, Any]) -> Field:
    """The field of ``body`` that a server means by a path; empty if it has no such field.

    Parts that the body does not have (``body``, the names of types) are passed over.
    """
    parts = [part for part in _PART.findall(said) if not part.isdigit()]
    for start in range(len(parts)):
        if found := _found(parts[start:], body):
            return ".".join(found)
    return ""


def _found(parts: Sequence[str], value: object) -> tuple[str, ...]:
    """The path of the last part, with those before it that are there."""
    if not parts:
        return ()
    if isinstance(value, list):
        for one in value:
            if inner := _found(parts, one):
                return (_ANY, *inner)
        return ()
    if not isinstance(value, Mapping):
        return ()
    key = _key(parts[0], value)
    if not key:
        return _found(parts[1:], value)
    if len(parts) == 1:
        return (key,)
    inner = _found(parts[1:], value[key])
    return (key, *inner) if inner else ()


def _key(part: str, table: Mapping[str, Any]) -> str:
    """The key that is meant; some servers write ``promptCacheKey``."""
    if part in table:
        return part
    plain = part.replace("_", "").lower()
    return next((key for key in table if key.replace("_", "").lower() == plain), "")


def _is_essential(field: Field) -> bool:
    # "text" of a request is how it is said; within a message it is what is said
    return field != "text" and field.rpartition(".")[2] in _ESSENTIAL


def _removed(value: Any, path: Sequence[str]) -> Any:
    first, rest = path[0], path[1:]
    if first == _ANY:
        return [_removed(one, rest) for one in value] if isinstance(value, list) else value
    if not isinstance(value, Mapping) or first not in value:
        return value
    told = {key: one for key, one in value.items() if key != first}
    if rest:
        inner = _removed(value[first], rest)
        if inner not in ({}, []):
            told = {**value, first: inner}
    return told
