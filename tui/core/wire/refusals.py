"""What servers say when they say no, in words for the user.

Fields of a request that a server says it does not take: found in its words, and left out. A
refusal that names such a field says that nothing was done: the same request may be sent again
without it, and without it from then on. What a request means nothing without is never left out.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from tui.core.text.patterns import pattern
from tui.core.wire.address import Address, redirect_shown, secrets_in, shown
from tui.core.wire.events import ErrorEvent, Event, Failed, Incomplete, SteerNews
from tui.core.wire.masking import Mask
from tui.core.wire.rate_limits import retry_after_s
from tui.errors import EndpointError, KeyRefused

NO_WEBSOCKET = frozenset({400, 404, 405, 426, 501})
"""What a server answers to an upgrade that it does not know: HTTP+SSE may work there."""
BLOCKED = "request_blocked"
"""The bridge says so of HTTP 403 without an error of an API: who says it stands on the way."""
UNREACHED = "endpoint_unreachable"
"""The bridge's relay says so of an endpoint that never answered: a wrong address, most likely."""
UNUSABLE = "endpoint_answer_unusable"
"""The bridge says so of an endpoint that sent what is not taken, such as an answer without end: the
same request would end the same way."""
HOPELESS_CLOSES = frozenset({1002, 1003, 1007, 1008, 1009})
"""Close codes after which the same request would end the same way (1009: it is too big)."""
KEY_CLOSES = frozenset({4401, 4403})
"""Close codes that say what HTTP 401 and 403 say: the last digits are those."""
PASSING = frozenset({408, 409, 425, 429})
"""HTTP statuses below 500 of what may pass by itself."""
_TITLE = pattern(r"<title\b[^>]{0,200}>(.{1,1000}?)</title", re.IGNORECASE | re.DOTALL)
_LETTER = pattern(r"[^\W\d_]")
_OF_KEY = pattern(
    r"\bkeys?\b|[_-]key\b|apikey|credential|authenti|unauthor|bearer"
    r"|(?:invalid|expired|missing|wrong|bad) (?:access )?token",
    re.IGNORECASE,
)
_CLOSES = {
    1000: "the server closed the connection",
    1001: "the server is going away",
    1008: "the server refuses to go on",
    1009: "the request was too big for the server",
    1011: "the server had an internal error",
    1012: "the server restarts",
    1013: "the server is overloaded",
}


def refusal(
    address: Address, status: int, body: bytes, headers: Mapping[str, str]
) -> EndpointError:
    """The error for an upgrade that was answered with ``status``, other than HTTP 101.

    Its fields say what may help (PROTOCOL sections 1 and 4).
    """
    location, wait_s = headers.get("Location"), retry_after_s(headers)
    where = shown(address.url)
    words = said = _excerpt(body, address)
    saying = f', saying "{said}"' if said else ""
    said = f' It says: "{said}"' if said else ""
    without_words = secrets_in(address) and not body.strip()  # so LiteLLM refuses a key
    if status == HTTPStatus.FORBIDDEN and not _is_object(body) and not without_words:
        return EndpointError(blocked(where, words), http_may_work=True)
    if status == HTTPStatus.FORBIDDEN and not is_of_key(body[:4000].decode("utf-8", "replace")):
        return EndpointError(f"{where} refused the request (HTTP 403).{said}", http_may_work=True)
    if status in (401, 403):
        words = f"wants a key (HTTP {status}), and none was sent: name its variable"
        if secrets_in(address):
            words = f"refused the key (HTTP {status}): check it, or name another"
        return KeyRefused(f"{where} {words} with --key-env.{said}")
    if location and 300 <= status < 400:
        goal = without_secrets(redirect_shown(address.url, location), address)
        return EndpointError(
            f"{where} redirects to {goal} (HTTP {status}), which is not followed: "
            "name the final address.",
            http_may_work=True,
        )
    if status in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED):
        advice = "there is no WebSocket here; the path usually ends in /v1/responses"
    elif status == HTTPStatus.UPGRADE_REQUIRED:
        advice = "it wants another protocol than this WebSocket"
    elif status == HTTPStatus.TOO_MANY_REQUESTS or status >= 500:
        advice = "try again in a moment" if wait_s is None else f"try again in {wait_s:.0f} s"
    else:
        advice = "it is not a Responses WebSocket endpoint, or it wants something else"
    error = EndpointError(
        f"{where} answered HTTP {status}: {advice}.{said}",
        transient=status in PASSING or (status >= 500 and status != HTTPStatus.NOT_IMPLEMENTED),
        # who says when to come back is asked then; any other 5xx may be all it knows of upgrades
        http_may_work=status in NO_WEBSOCKET
        or (status not in PASSING and (status < 500 or wait_s is None)),
        retry_after_s=wait_s,
    )
    error.cause = f"{where} answered HTTP {status}{saying}"
    return error


def is_of_key(words: str) -> bool:
    """Whether an API's refusal with HTTP 403 is about the key: its code and words, or none."""
    return not _LETTER.search(words) or bool(_OF_KEY.search(words))


def blocked(where: str, said: str) -> str:
    """That HTTP 403 is not about the key; ``said``: its words, or the title of its page."""
    saying = f', saying "{said}"' if said else ""
    return (
        f"{where} answered HTTP 403{saying}: this is not about the key; a firewall or a proxy on "
        "the way may refuse the request."
    )


def page_title(text: str) -> str:
    """What a web page is about; empty: it does not say."""
    title = _TITLE.search(text)
    return html.unescape(title[1]) if title else ""


def is_hopeless(code: int | None) -> bool:
    """Whether the same request would end the same way: a close that says so, or says HTTP 4xx."""
    status = (code or 0) - 4000
    return code in HOPELESS_CLOSES or (400 <= status < 500 and status not in PASSING)


def close_words(code: int, reason: str) -> str:
    """Why a server closed the socket, by its close frame (which may repeat the key)."""
    words = _CLOSES.get(code, f"the server closed the connection with code {code}")
    said = "".join(char for char in reason if char.isprintable())[:120]
    return f"{words} ({said})" if said else words


UNUSABLE_CODE = 1003
"""RFC 6455: data that this side does not take; it would be refused again."""


def lost_code(received: int | None, sent: int | None) -> int | None:
    """Why a socket was closed, by whoever found fault: the code received, the one sent."""
    if received is not None:
        return received
    return UNUSABLE_CODE if sent in (1002, 1007, 1009) else None


def lost_words(received: tuple[int, str] | None, sent: int | None, address: Address) -> str:
    """Why a socket was closed: code and reason of the server's close frame, our own code."""
    if received is not None:
        # before it is cut: a key cut in two would not be found
        code, reason = received
        return close_words(code, without_secrets(reason, address))
    if sent == 1009:
        return "the server sent a message that is too big"
    if sent in (1002, 1007):
        return "the server broke the WebSocket protocol"
    return "the connection broke"


def without_secrets(text: str, address: Address) -> str:
    """What a server says, should it repeat the key, in whatever form."""
    return Mask(secrets_in(address)).text(text) if text else text


def discreet(event: Event, address: Address) -> Event:
    """An event whose error or reason, if it tells of one, does not repeat the key."""

    def masked(text: str) -> str:
        return without_secrets(text, address)

    changed = msgspec.structs.replace
    if isinstance(event, ErrorEvent):
        code, message, param = map(masked, (event.code, event.message, event.param))
        return changed(event, code=code, message=message, param=param)
    if isinstance(event, Failed):
        error = {"code": masked(event.code), "message": masked(event.message)}
        return changed(event, response={**event.response, "error": error})
    if isinstance(event, Incomplete) and event.reason:
        details = {"reason": masked(event.reason)}
        return changed(event, response={**event.response, "incomplete_details": details})
    if isinstance(event, SteerNews):
        return changed(event, why=masked(event.why))
    return event


def _excerpt(body: bytes, address: Address) -> str:
    """What a refusal says, short, inert and without the key."""
    text = body[:4000].decode("utf-8", "replace")
    try:
        said = json.loads(text)
        said = said.get("error", said) if isinstance(said, dict) else said
        said = said.get("message", text) if isinstance(said, dict) else said
        text = said if isinstance(said, str) else text
    except (ValueError, RecursionError):
        pass
    text = page_title(text) if text.lstrip().startswith("<") else text
    text = without_secrets(text, address)
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())[:160]


def _is_object(body: bytes) -> bool:
    """Whether it is a JSON object, as an API's errors are."""
    try:
        return isinstance(json.loads(body), dict)
    except (ValueError, RecursionError):
        return False


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
