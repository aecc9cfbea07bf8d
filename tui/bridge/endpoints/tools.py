"""A request's tools for providers that know functions only, and what comes back of them.

A freeform (custom) tool becomes a function with one string property and comes back as a custom
call; names that a provider refuses are mapped and mapped back; hosted tools (a search, a browser in
the provider's own house) are left out, for there is nobody who would run them.

The text of a freeform tool, read out of the JSON arguments of the function that stands for it. It
is read while it comes, cut at any character: what the model has written so far is with the client
at once. Models also err: the text may come bare, or in another property than ``input``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from tui.bridge.endpoints.base import MOST_READ_CHARS, Refused, Unusable
from tui.core.wire import json_writing
from tui.core.wire.events import OUTPUTS
from tui.core.wire.json_reading import mended

INPUT = "input"
"""The one property of a function that stands for a freeform tool."""
_SPACE = " \t\r\n"
_PLAIN = re.compile(r'[^"\\]+')
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "\\": "\\", "/": "/"}
_FEW_CHARS = 1000
_HEX = frozenset("0123456789abcdefABCDEF")
_HEAD = re.compile(r'[ \t\r\n]*\{[ \t\r\n]*"input"[ \t\r\n]*:[ \t\r\n]*"')
_UNSURE = re.compile(
    r"[ \t\r\n]*(?:\{[ \t\r\n]*"
    r'(?:"(?:i(?:n(?:p(?:u(?:t(?:"[ \t\r\n]*(?::[ \t\r\n]*)?)?)?)?)?)?)?)?)?\Z'
)
"""What may still become such a head."""
_MOST_HEAD_CHARS = 4096
MOST_AT_ONCE_CHARS = 2**20
"""Of a text in one event, which is read in some milliseconds."""
MOST_KEPT_CHARS = 2**20
"""Of arguments that are in no place where they can be told at once."""


class StringReader:
    """The text of one JSON string behind its opening quote; lenient where models err."""

    def __init__(self) -> None:
        self.over = False
        """Its closing quote has come."""
        self._escape = ""
        """What of an escape has come."""
        self._half = ""
        """The first half of a character, which waits for the other one."""

    def feed(self, text: str) -> tuple[str, str]:
        """Take more of it; returns what it says, and what is behind its end."""
        said: list[str] = []
        at = self._most_of(text, said) if len(text) > _FEW_CHARS else 0
        while at < len(text) and not self.over:
            if self._escape:
                self._take(text[at], said)
                at += 1
            elif (run := _PLAIN.match(text, at)) is not None:
                self._say(run[0], said)
                at = run.end()
            else:
                self._escape = "\\" if text[at] == "\\" else ""
                self.over = not self._escape
                at += 1
        return "".join(said) + (self.end() if self.over else ""), text[at:]

    def _most_of(self, text: str, said: list[str]) -> int:
        """Say what of a long text can be read at once; returns how much of it that is."""
        if self._escape:
            return 0
        bare = text.replace("\\\\", "__").replace('\\"', "__")
        end = bare.find('"')
        if end < 0:
            # an escape may go on in what follows
            end = bare.find("\\", len(bare) - len("\\u0000"))
            end = len(text) if end < 0 else end
        try:
            words = json.loads(f'"{text[:end]}"', strict=False)
        except ValueError:
            return 0  # it has escapes that JSON has not
        self._say(words, said)
        return end

    def end(self) -> str:
        """What is left where it was cut off: half a character, no half of an escape."""
        left, self._half, self._escape = mended(self._half), "", ""
        return left

    def _take(self, char: str, said: list[str]) -> None:
        """One more character of an escape."""
        if len(self._escape) == 1 and char != "u":
            # an escape that JSON has not: the model meant a backslash
            self._say(_ESCAPES.get(char, "\\" + char), said)
            self._escape = ""
        elif len(self._escape) > 1 and char not in _HEX:
            self._say(self._escape, said)
            self._escape = "\\" if char == "\\" else ""
            self.over = char == '"'
            if not self._escape and not self.over:
                self._say(char, said)
        else:
            self._escape += char
            if len(self._escape) == len("\\u0000"):
                char, self._escape = chr(int(self._escape[2:], 16)), ""
                self._say(char, said)

    def _say(self, text: str, said: list[str]) -> None:
        """Say this behind the half of a character that waits; one at its end waits, too."""
        if self._half or not text.isascii():
            text, self._half = self._half + text, ""
            if "\ud800" <= text[-1:] <= "\udbff":
                text, self._half = text[:-1], text[-1]
            text = mended(text)
        said.append(text)


class InputReader:
    """The arguments of one call of a function that stands for a freeform tool."""

    def __init__(self) -> None:
        self.sound = True
        """It was what was asked for, or something that can be taken for it; known at the end."""
        self._held = ""
        """What came before it was clear what it is."""
        self._pieces: list[str] = []
        """Arguments that can be read at the end only."""
        self._judged = 0
        """Pieces that were no whole value."""
        self._kept_chars = 0
        self._mode = "head"
        self._string = StringReader()

    @property
    def closed(self) -> bool:
        """The text has come to its end."""
        return self._mode == "over" or (self._mode == "other" and self._is_whole())

    def feed(self, text: str) -> str:
        """Take more of the arguments; returns what of the tool's text they bring.

        Raises Broken: it is far too much at once.
        """
        if len(text) > MOST_AT_ONCE_CHARS:
            most = f"{MOST_AT_ONCE_CHARS >> 20} MB"
            raise Unusable(f"The model wrote more than {most} of a tool's text at once.")
        if self._mode == "string":
            return self._in_string(text)
        if self._mode == "bare":
            return text
        if self._mode == "other":
            self._keep(text)
            return ""
        return self._head(text) if self._mode == "head" else ""

    def end(self) -> str:
        """The arguments are over; returns what of the text was held back."""
        mode, self._mode = self._mode, "over"
        if mode == "string":
            self.sound = False
            return self._string.end()
        if mode == "other":
            return self._other("".join(self._pieces))
        if mode == "head" and self._held.strip(_SPACE):
            return self._other(self._held)
        return ""

    def _head(self, text: str) -> str:
        self._held += text
        found = _HEAD.match(self._held)
        if found is not None:
            held, self._held, self._mode = self._held, "", "string"
            return self._in_string(held[found.end() :])
        if len(self._held) <= _MOST_HEAD_CHARS and _UNSURE.match(self._held):
            return ""
        held, self._held = self._held, ""
        start = held.lstrip(_SPACE)
        if start.startswith("{") and start[1:].lstrip(_SPACE)[:1] in ('"', "}"):
            self._mode = "other"
            self._keep(held)
            return ""
        if start.startswith('"'):
            self._mode = "string"
            return self._in_string(start[1:])
        self._mode = "bare"
        return held

    def _keep(self, text: str) -> None:
        """Hold arguments that can be read at the end only, as far as anybody would mean them."""
        self._kept_chars += len(text)
        if self._kept_chars <= MOST_KEPT_CHARS:
            self._pieces.append(text)
        else:
            self._mode, self._pieces, self.sound = "over", [], False

    def _is_whole(self) -> bool:
        if self._judged == len(self._pieces) or self._kept_chars > MOST_READ_CHARS:
            return False
        try:
            json.loads("".join(self._pieces), strict=False)
        except (ValueError, RecursionError):
            self._judged = len(self._pieces)
            return False
        return True

    def _in_string(self, text: str) -> str:
        said, _ = self._string.feed(text)
        if self._string.over:
            self._mode = "over"
        return said

    def _other(self, text: str) -> str:
        """Arguments of another form: ``input`` is not their first key, or it is no string."""
        try:
            value = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            # an object that is none: a text that begins like one, or a part of an object
            self.sound = not text.lstrip(_SPACE).startswith('{"')
            return mended(text)
        return mended(_text_in(value, text))


def _text_in(value: Any, written: str) -> str:
    """The text that arguments hold, whatever their form; else they themselves are the text."""
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        return written
    texts = [text for text in value.values() if isinstance(text, str)]
    chosen = value.get(INPUT, texts[0] if len(texts) == 1 else None)
    if chosen is None:
        return "" if not value or INPUT in value else written
    return chosen if isinstance(chosen, str) else json.dumps(chosen, ensure_ascii=False)


Schema = dict[str, Any]
_ALL, _ANY = "allOf", ("anyOf", "oneOf")
_NO_TOP = (_ALL, *_ANY, "not", "enum", "const", "if", "then", "else")
DISPENSABLE = frozenset(
    (
        "$schema", "$id", "$comment", "additionalProperties", "unevaluatedProperties", "const",
        "contentEncoding", "contentMediaType", "default", "dependentRequired", "deprecated",
        "examples", "exclusiveMaximum", "exclusiveMinimum", "format", "maxItems", "maxLength",
        "maxProperties", "maximum", "minItems", "minLength", "minProperties", "minimum",
        "multipleOf", "not", "pattern", "patternProperties", "propertyNames", "readOnly",
        "title", "uniqueItems", "writeOnly",
    )
)  # fmt: skip
"""Keywords without which a schema says less, and nothing wrong."""
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
"""Keywords under which the keys are names, not keywords."""
_DATA = ("enum", "const", "default", "examples", "example")


def flat(schema: Mapping[str, Any]) -> Schema:
    """The schema of an object with properties; alternatives at the top are merged into one."""
    told = {key: value for key, value in schema.items() if key not in _NO_TOP}
    properties: Schema = {}
    needed: dict[str, None] = {}
    for part, always in _parts(schema):
        given, wanted = part.get("properties"), part.get("required")
        if isinstance(given, dict):
            properties = {**given, **properties}
        if always and isinstance(wanted, list):
            needed |= {name: None for name in wanted if isinstance(name, str)}
    told |= {"type": "object", "properties": properties}
    told.pop("required", None)
    if needed:
        told["required"] = list(needed)
    return told


def without(schema: Any, keywords: Set[str]) -> Any:
    """The schema without these keywords, wherever they are; names of properties are none."""
    if isinstance(schema, list):
        return [without(one, keywords) for one in schema]
    if not isinstance(schema, dict):
        return schema
    told: Schema = {}
    for key, value in schema.items():
        if key in keywords:
            continue
        if key in _DATA:
            told[key] = value
        elif key in _NAMED and isinstance(value, dict):
            told[key] = {name: without(one, keywords) for name, one in value.items()}
        else:
            told[key] = without(value, keywords)
    return told


def _parts(schema: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """The schema and those that it is put together from, with whether they always hold."""
    yield schema, True
    for key in (_ALL, *_ANY):
        listed = schema.get(key)
        for one in listed if isinstance(listed, list) else []:
            if isinstance(one, Mapping):
                yield one, key == _ALL


ANY_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Names of functions that all providers take."""
ANY_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
"""Call ids that (nearly) all providers take."""
_BARE_SPACE = "functions"
"""The namespace whose tools are called by their own names."""
_FENCED = re.compile(r"```\w*\s(.*?)\s*```", re.DOTALL)
_NUMBER = re.compile(r":\d+$")
_SEPARATOR = re.compile(r"[.:/]")
_REFUSED_CHARS = re.compile(r"[^A-Za-z0-9_-]")


class Function(Struct, frozen=True):
    """A tool as a provider is offered it."""

    name: str
    description: str
    parameters: dict[str, Any]
    """A JSON schema."""
    strict: bool | None = None


class ToolChoice(Struct, frozen=True):
    """Which tools the model may or must call."""

    mode: Literal["auto", "none", "required"] = "auto"
    names: tuple[str, ...] = ()
    """Only these, as the provider knows them; empty: any."""


class SentCall(Struct, frozen=True):
    """A call of the conversation, as a provider is told of it."""

    call_id: str
    name: str
    arguments: str
    """A JSON object."""


class ToolCall:
    """One call that a model makes: what its item is, and the text of its deltas."""

    def __init__(self, item: dict[str, Any]) -> None:
        self.item = item
        """For `ResponseWriter.item_added`."""
        self.sound = True
        """Its arguments were JSON; known at the end."""
        self._input = InputReader() if item["type"] == "custom_tool_call" else None
        self._pieces: list[str] = []
        self._begun: bool | None = None
        """They begin like an object. If not, they are told at the end; None: nothing came yet."""
        self._judged = 0
        """Pieces that were no whole object."""

    def feed(self, arguments: str) -> str:
        """Take more of its arguments; returns what of the item's text they bring.

        Raises Broken: it is far too much of a text at once.
        """
        if self._input is not None:
            return self._input.feed(arguments)
        self._pieces.append(arguments)
        if self._begun is None and (first := arguments.lstrip()[:1]):
            self._begun = first == "{"
        return arguments if self._begun else ""

    @property
    def complete(self) -> bool:
        """What came of the arguments is one JSON object: more cannot come."""
        if self._input is not None:
            return self._input.closed
        if self._judged == len(self._pieces) or not self._pieces[-1].rstrip().endswith("}"):
            return False
        whole = _is_object("".join(self._pieces))
        self._judged = 0 if whole else len(self._pieces)
        return whole

    def end(self) -> str:
        """The arguments are over; returns what of the text was held back."""
        if self._input is not None:
            rest = self._input.end()
            self.sound = self._input.sound
            return rest
        arguments = "".join(self._pieces)
        self._pieces = []
        if self._begun:
            self.sound = _is_object(arguments)
            return ""
        meant = _meant(arguments)
        self.sound = bool(meant)
        return meant or arguments


class _Tool(Struct, frozen=True):
    sent: str
    name: str
    namespace: str
    custom: bool


class _Offer(Struct):
    """The tools of a request, while they are read."""

    functions: dict[str, Function] = field(default_factory=dict)
    tools: dict[str, _Tool] = field(default_factory=dict)
    """By their names as the provider knows them."""
    left_out: dict[str, None] = field(default_factory=dict)


class Toolbox:
    """The tools of one request."""

    def __init__(
        self,
        request: Mapping[str, Any],
        items: Sequence[Mapping[str, Any]],
        *,
        call_ids: re.Pattern[str] = ANY_ID,
    ) -> None:
        """``items``: the whole conversation; ``call_ids``: what call ids the provider takes."""
        offer = _Offer()
        for tool, namespace in _tools_of(request, items):
            _offer(offer, tool, namespace)
        self.functions: Sequence[Function] = list(offer.functions.values())
        self.left_out: Sequence[str] = tuple(offer.left_out)
        """The types of hosted tools that nobody here can run."""
        self._tools = offer.tools
        self._by_name = {one.name: one.sent for one in reversed(offer.tools.values())}
        """The first of a name is chosen by it."""
        self._sent = {(tool.namespace, tool.name): tool.sent for tool in offer.tools.values()}
        self._call_ids = call_ids
        self._known_ids = {str(item["call_id"]) for item in items if item.get("call_id")}

    def offered(self, choice: ToolChoice) -> Sequence[Function]:
        """The functions to send: those that may be called."""
        if not choice.names:
            return self.functions
        names = frozenset(choice.names)
        return [function for function in self.functions if function.name in names]

    def choice(self, wanted: object) -> ToolChoice:
        """A request's ``tool_choice``. Raises Refused: it names a tool that is not there."""
        if wanted in ("none", "required"):
            return ToolChoice("none" if wanted == "none" else "required")
        if not isinstance(wanted, dict):
            return ToolChoice()
        if wanted.get("type") == "allowed_tools":
            listed = wanted.get("tools")
            tools = listed if isinstance(listed, list) else []
            names = [self._chosen(tool) for tool in tools if _is_ours(tool)]
            mode: Literal["auto", "required", "none"]
            mode = "required" if wanted.get("mode") == "required" else "auto"
            return ToolChoice(mode if names else "none", tuple(names))
        return ToolChoice("required", (self._chosen(wanted),))

    def call(self, name: str, call_id: str = "") -> ToolCall:
        """A call that the model begins, by the name that it knows.

        An id that the conversation has had before is left out: some servers count anew each time.
        """
        sent = name.strip()
        tool = next((self._tools[one] for one in _readings(sent) if one in self._tools), None)
        item: dict[str, Any] = {"type": "function_call", "name": sent}
        if tool is not None:
            item = {"type": "custom_tool_call" if tool.custom else "function_call"}
            item["name"] = tool.name
            if tool.namespace not in ("", _BARE_SPACE):
                item["namespace"] = tool.namespace
        if call_id and call_id not in self._known_ids:
            self._known_ids.add(call_id)
            item["call_id"] = call_id
        return ToolCall(item)

    def sent_call(self, item: Mapping[str, Any]) -> SentCall | None:
        """A call of the conversation; None: the item is none."""
        told = _told_call(item)
        if told is None:
            return None
        name, arguments = told
        space = str(item.get("namespace") or "")
        known = self._sent.get((space, name)) or self._sent.get((_BARE_SPACE, name))
        return SentCall(self.sent_id(item), known or _sent_name(space, name), arguments)

    def sent_id(self, item: Mapping[str, Any]) -> str:
        """The id of a call or of its output, as the provider takes it: always the same one."""
        call_id = str(item.get("call_id") or item.get("id") or "")
        if self._call_ids.fullmatch(call_id):
            return call_id
        digest = hashlib.sha256(call_id.encode("utf-8", "replace")).hexdigest()
        named = f"call_{digest[:24]}"
        return named if self._call_ids.fullmatch(named) else digest[:9]

    def outputs_in(self, items: Iterable[Mapping[str, Any]]) -> dict[str, deque[Mapping[str, Any]]]:
        """The outputs of calls by the calls' ids as they are sent: some clients use one twice."""
        found: dict[str, deque[Mapping[str, Any]]] = {}
        for item in items:
            if str(item.get("type")) in OUTPUTS:
                found.setdefault(self.sent_id(item), deque()).append(item)
        return found

    def _chosen(self, tool: Mapping[str, Any]) -> str:
        kind, nested = tool.get("type"), tool.get("function")
        name = tool.get("name") or (nested.get("name") if isinstance(nested, dict) else None)
        if not _is_ours(tool) or not isinstance(name, str):
            words = f"This model has no tool of the type {kind!r}: leave it out of tool_choice."
            raise Refused(400, "unsupported_tool", words, param="tool_choice")
        if name not in self._by_name:
            words = f"tool_choice names {name!r}, which is not among the tools."
            raise Refused(400, "invalid_value", words, param="tool_choice")
        return self._by_name[name]


def _readings(name: str) -> Iterator[str]:
    """What a model may mean by a name, the likeliest first.

    Models write their own markup, numbers and the names of spaces around it:
    ``read<|channel|>commentary``, ``functions.read:0``, ``default_api:read``, ``space.read``.
    """
    yield name
    plain = name.partition("<|")[0].strip()
    for one in (plain, _NUMBER.sub("", plain)):
        yield one
        yield one.removeprefix("functions.")
        yield _SEPARATOR.sub("__", one)
        yield _SEPARATOR.split(one)[-1]


def _is_ours(tool: object) -> bool:
    return isinstance(tool, dict) and tool.get("type") in ("function", "custom")


def _tools_of(
    request: Mapping[str, Any], items: Iterable[Mapping[str, Any]]
) -> Iterator[tuple[Mapping[str, Any], str]]:
    """All tools with their namespaces: the request's, and those that came as input items."""
    lists = [request.get("tools")]
    lists += [item.get("tools") for item in items if item.get("type") == "additional_tools"]
    for listed in lists:
        for tool in _dicts(listed):
            if tool.get("type") == "namespace":
                for inner in _dicts(tool.get("tools")):
                    yield inner, str(tool.get("name") or "")
            else:
                yield tool, ""


def _offer(offer: _Offer, tool: Mapping[str, Any], namespace: str) -> None:
    """Take one tool in; a later one of the same name takes the earlier one's place."""
    kind = str(tool.get("type") or "")
    nested = tool.get("function")
    told = nested if isinstance(nested, dict) else tool  # as Chat Completions nests it
    name = told.get("name")
    if kind not in ("function", "custom") or not isinstance(name, str) or not name:
        offer.left_out[kind or "?"] = None
        return
    sent = _sent_name(namespace, name)
    before = offer.tools.get(sent)
    if before is not None and (before.name, before.namespace) != (name, namespace):
        sent = _hashed(sent, f"{namespace}\0{name}")
    offer.tools[sent] = _Tool(sent, name, namespace, kind == "custom")
    offer.functions.pop(sent, None)  # the later one comes last
    offer.functions[sent] = _custom(sent, told) if kind == "custom" else _function(sent, told)


def _function(sent: str, tool: Mapping[str, Any]) -> Function:
    parameters, strict = tool.get("parameters"), tool.get("strict")
    schema = flat(parameters) if isinstance(parameters, dict) else _object({})
    words = str(tool.get("description") or "")
    return Function(sent, words, schema, strict if isinstance(strict, bool) else None)


def _custom(sent: str, tool: Mapping[str, Any]) -> Function:
    """The function that stands for a freeform tool."""
    words = [str(tool.get("description") or "")]
    words.append(f"Give the tool's whole input as the one string `{INPUT}`, nothing else.")
    format_ = tool.get("format")
    if isinstance(format_, dict) and isinstance(format_.get("definition"), str):
        syntax = str(format_.get("syntax") or "lark")
        words.append(f"It has to match this {syntax} grammar:\n{format_['definition']}")
    schema = _object({INPUT: {"type": "string", "description": "The tool's input, as it is."}})
    return Function(sent, "\n\n".join(filter(None, words)), schema)


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if properties:
        schema["required"] = list(properties)
    return schema


def _told_call(item: Mapping[str, Any]) -> tuple[str, str] | None:
    """Name and arguments of a call item, the built-in tools' calls among them."""
    kind, name = item.get("type"), str(item.get("name") or "tool")
    if kind == "custom_tool_call":
        return name, _encoded({INPUT: str(item.get("input") or "")})
    if kind == "function_call":
        arguments = str(item.get("arguments") or "")
        if not arguments.strip():
            return name, "{}"
        # Providers that read their own history refuse what is no object.
        return name, arguments if _is_object(arguments) else _encoded({INPUT: arguments})
    built_in = {"apply_patch_call": "operation", "shell_call": "action"}
    built_in |= {"local_shell_call": "action", "computer_call": "action"}
    member = built_in.get(str(kind))
    if member is None:
        return None
    told = item.get(member)
    return str(kind).removesuffix("_call"), _encoded(told if isinstance(told, dict) else {})


def _sent_name(namespace: str, name: str) -> str:
    full = name if namespace in ("", _BARE_SPACE) else f"{namespace}__{name}"
    if ANY_NAME.fullmatch(full):
        return full
    plain = _REFUSED_CHARS.sub("_", full)
    # Two names may differ in nothing but what was replaced or cut off.
    return _hashed(plain, full)


def _hashed(name: str, full: str) -> str:
    return f"{name[:55]}_{hashlib.sha256(full.encode('utf-8', 'replace')).hexdigest()[:8]}"


def _meant(arguments: str) -> str:
    """The object that arguments of another form stand for; empty: none."""
    if len(arguments) > MOST_READ_CHARS:
        return ""
    plain = arguments.strip()
    if plain in ("", "null", "None"):
        return "{}"
    if fenced := _FENCED.fullmatch(plain):
        plain = fenced[1]
    try:
        value = msgspec.json.decode(mended(plain))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return ""
    plain = value if isinstance(value, str) else plain  # encoded twice
    return plain if _is_object(plain) else ""


def _is_object(arguments: str) -> bool:
    """Whether arguments are a JSON object; of very long ones only both ends are looked at."""
    if len(arguments) > MOST_READ_CHARS:
        return arguments.lstrip()[:1] == "{" and arguments.rstrip()[-1:] == "}"
    try:
        return isinstance(msgspec.json.decode(mended(arguments)), dict)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False


def _encoded(value: Mapping[str, Any]) -> str:
    return json_writing.request(dict(value))


def _dicts(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
