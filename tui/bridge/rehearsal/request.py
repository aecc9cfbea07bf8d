"""What a request says: the prompt, the files as they stand, the tools, the calls' outputs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from msgspec import Struct, field

from tui.bridge.rehearsal.patches import Notation, asked_notation, patched_paths
from tui.core.attachments import ATTACHED
from tui.core.files import FileBlock, amount, file_blocks
from tui.core.images import ImageSize, data_of, size_of_image

PatchChannel = Literal["custom", "function", "text"]

_BLOCK = re.compile(r'^<file(?: [a-z_]+="(?:[^"\\]|\\.)*")+>\n.*?\n</file>$', re.M | re.S)
_ATTACHED = re.compile(rf"^{ATTACHED}@(.+)$", re.M)
_BLOCK_END = re.compile(r"\n</file>$", re.M)
_FAILURE = re.compile(
    r"^FAILED |^FAIL: |^E  +\S|\b[1-9]\d* (?:failed|errors?)\b|\bAssertionError\b"
    r"|^Traceback \(most recent|\b(?:it|that|tests?) (?:still )?fails\b"
    r"|\btests? (?:still )?fail(?:ed)?\b|` failed \(exit |` ran into its deadline",
    re.MULTILINE,
)
_FAILURE_HAS = ("fail", "FAIL", "rror", "E  ", "Traceback", "deadline")
"""One of these at least; to look for them takes a hundredth of the time."""
_CALLS = {"function_call", "custom_tool_call"}
_SPOKEN = {*_CALLS, "reasoning"}
_OUTPUTS = {"function_call_output", "custom_tool_call_output"}
_MOST_QUOTED = 2**19
"""Of a message with the files that it quotes, at either end."""
_MOST_READ = 25_000
"""Characters at each end of a message."""


class ToolAnswer(Struct, frozen=True):
    """The output of a call that the model made."""

    name: str
    output: str


class ParsedRequest(Struct):
    """A request, read."""

    channel: PatchChannel = "text"
    """How the request lets a model edit."""
    notation: Notation = "apply_patch"
    """What the request asks patches to be written in."""
    patch_argument: str = "input"
    """Name of the string that holds the patch, if apply_patch is a function."""
    can_read: bool = False
    """A read_file function is declared."""
    shell: str = ""
    """Name of the function that runs commands."""
    shell_takes_words: bool = False
    """It wants a command's words, not its line."""
    ran: str | None = None
    """What the newest command of this turn gave; None: none ran."""
    declared: dict[str, str] = field(default_factory=dict)
    """Name of each tool -> its type, ``function`` or ``custom``."""
    said: list[str] = field(default_factory=list)
    """What the user's messages say, oldest first, quoted files left out.

    Some are not from the user's hand: a client tells in them what changed meanwhile.
    """
    answered: list[str] = field(default_factory=list)
    """Those of them that the model answered at once: the prompts of the turns before."""
    images: list[str] = field(default_factory=list)
    """What the images are that came since the model spoke last."""
    files: dict[str, str] = field(default_factory=dict)
    """Path -> its newest text in the request."""
    stale: set[str] = field(default_factory=set)
    """Paths of `files` that a patch of the model names after they were quoted."""
    unreadable: dict[str, str] = field(default_factory=dict)
    """Path -> what read_file answered in this turn instead of the file."""
    answers: list[ToolAnswer] = field(default_factory=list)
    """Outputs that nothing follows: this request goes on with the turn."""
    patched: set[str] = field(default_factory=set)
    """Paths that the model's patches named so far."""
    failed: bool = False
    """Failing tests were shown since the last patch."""
    listed: frozenset[str] = frozenset()
    """Lines of the instructions, where the workspace's paths are listed."""
    _answered_count: int = 0
    """Of `said`, when the model last spoke."""
    _calls: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def prompt(self) -> str:
        """The newest thing that the user said."""
        return self.said[-1] if self.said else ""

    def hear(self, text: str) -> None:
        """A user's message."""
        if _EDITED.match(text):
            self.stale |= {found[1] for found in _EDITED_PLACE.finditer(text[:_MOST_READ])}
        self._take_files(text)
        spoken = _ends_of(_without_blocks(text).strip())
        if spoken:
            self.said.append(spoken)
            self.failed = self.failed or shows_failure(spoken)
        self.unreadable.clear()
        self.answers.clear()
        self.ran = None

    def speak(self) -> None:
        """The model begins or goes on to answer."""
        self.images.clear()
        if len(self.said) > self._answered_count:
            self.answered.append(self.said[-1])
            self._answered_count = len(self.said)
        self.answers.clear()

    def recall(self, text: str) -> None:
        """The model's own patch or prose: the files that it patched are no longer as quoted."""
        paths = patched_paths(text)
        if paths:
            self.patched |= paths
            self.failed = False
            self.stale |= paths

    def call(self, item: Mapping[str, Any]) -> None:
        """A call that the model made."""
        name, argument = str(item.get("name", "")), item.get("arguments", item.get("input"))
        text = argument if isinstance(argument, str) else ""
        self._calls[str(item.get("call_id", ""))] = (name, text)
        if name == "apply_patch" or "*** Begin Patch" in text:
            self.recall(text.replace("\\n", "\n") if item["type"] == "function_call" else text)

    def answer(self, item: Mapping[str, Any]) -> None:
        """A call's output."""
        name, argument = self._calls.get(str(item.get("call_id", "")), ("", ""))
        output = text_of(item.get("output"))
        if not self._take_files(output) and name == "read_file":
            self.unreadable[_member(argument, "path")] = output
        told = _ends_of(output)
        self.failed = self.failed or (name not in ("read_file", "") and shows_failure(told))
        self.answers.append(ToolAnswer(name, output))
        if name and name == self.shell:
            self.ran = told

    def _take_difference(self, block: FileBlock) -> None:
        """A file is as it was quoted last but for these lines; where that does not fit, ask."""
        known = self.files.get(block.path)
        text = None if known is None else patched(known, block.text)
        if text is None:
            self.stale.add(block.path)
        else:
            self.files[block.path] = text
            self.stale.discard(block.path)

    def _take_files(self, text: str) -> bool:
        found = False
        for block in file_blocks(text):
            found = True
            marks = block.attributes
            if block.is_difference:
                self._take_difference(block)
                continue
            whole = marks.get("from", "1") == "1" and marks.get("to") == marks.get("lines")
            if whole:
                self.files[block.path] = block.text
                self.stale.discard(block.path)
                self.unreadable.pop(block.path, None)
        return found


def patched(text: str, difference: str) -> str | None:
    """A text with its lines changed as quoted; None if the quoted lines are not in it."""
    new, shift = text.split("\n"), 0
    for head, said in zip(*[iter(_CHUNK.split(difference)[1:])] * 2, strict=True):
        first = int(head) - 1 + shift
        lines = said.split("\n")
        old = [line[1:] for line in lines if line.startswith("-")]
        added = [line[1:] for line in lines if line.startswith("+")]
        if new[first : first + len(old)] != old:
            return None
        new[first : first + len(old)] = added
        shift += len(added) - len(old)
    return "\n".join(new)


_CHUNK = re.compile(r"^@@ -(\d{1,9}),\d{1,9} \+\d{1,9},\d{1,9} @@\n", re.M)
_EDITED = re.compile(
    r"^(?:The user edited meanwhile|The formatter changed|Another program changed)", re.M
)
_EDITED_PLACE = re.compile(r"^(\S[^\n]{0,1000}) at lines? \d", re.M)
_READ_CHARS = 500_000
"""Of the instructions; ours are shorter."""


def parse_request(request: Mapping[str, Any], items: Iterable[Mapping[str, Any]]) -> ParsedRequest:
    """Read a request and the whole chain of items that it stands for."""
    instructions = str(request.get("instructions") or "")[:_READ_CHARS]
    parsed = ParsedRequest(listed=frozenset(instructions.splitlines()))
    _read_tools(parsed, request.get("tools"))
    tools = _listed(request.get("tools"))
    tools = [tool for tool in tools if "apply_patch" in str(tool)]
    parsed.notation = asked_notation(instructions, *map(str, tools))
    for item in items:
        kind = item.get("type", "message")
        if kind in _SPOKEN or (kind == "message" and item.get("role") == "assistant"):
            parsed.speak()
        if kind == "message" and item.get("role") == "assistant":
            parsed.recall(text_of(item.get("content")))
        elif kind == "message" and item.get("role") == "user":
            parsed.hear(text_of(item.get("content")))
            if words := image_words(item):
                parsed.images.append(words)
        elif kind == "additional_tools":
            _read_tools(parsed, item.get("tools"))
        elif kind in _CALLS:
            parsed.call(item)
        elif kind in _OUTPUTS:
            parsed.answer(item)
    return parsed


def image_in(item: Mapping[str, Any]) -> ImageSize | None:
    """Kind and size of an image in a message, by its bytes; None if it is missing or broken."""
    try:
        return size_of_image(data_of(item))
    except ValueError:
        return None


def image_words(item: Mapping[str, Any]) -> str:
    """The same in words; empty: there is none."""
    if (found := image_in(item)) is None:
        return ""
    name = _ATTACHED.search(text_of(item.get("content")))
    shape = f"{found.width}x{found.height}, {amount(len(data_of(item)))}"
    return f"{name[1] if name else 'an image'}: {found.kind.upper()}, {shape}"


def _read_tools(parsed: ParsedRequest, tools: object) -> None:
    for tool in _listed(tools):
        if not isinstance(tool, dict):
            continue
        kind, name = tool.get("type"), tool.get("name")
        if isinstance(name, str) and kind in ("function", "custom"):
            parsed.declared[name] = str(kind)
        if kind == "namespace":
            _read_tools(parsed, tool.get("tools"))
        if name == "apply_patch" and kind == "custom":
            parsed.channel = "custom"
        elif name == "apply_patch" and kind == "function":
            parsed.channel = "function"
            parsed.patch_argument = _only_property(tool)
        elif name == "read_file" and kind == "function":
            parsed.can_read = True
        elif name in ("shell", "bash") and kind == "function":
            parsed.shell, parsed.shell_takes_words = name, _takes_words(tool)


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _ends_of(text: str, most: int = _MOST_READ) -> str:
    """Where what is meant is said; all of many mebibytes would hold up everybody for seconds."""
    if len(text) <= 2 * most:
        return text
    return f"{text[:most]}\n{text[-most:]}"


def _only_property(tool: Mapping[str, Any]) -> str:
    """The name of the string that takes the patch."""
    parameters = tool.get("parameters")
    properties = parameters.get("properties") if isinstance(parameters, dict) else None
    names = list(properties) if isinstance(properties, dict) else []
    known = [name for name in ("input", "patch", "diff") if name in names]
    return str((known or names or ["input"])[0])


def _takes_words(tool: Mapping[str, Any]) -> bool:
    parameters = tool.get("parameters")
    properties = parameters.get("properties") if isinstance(parameters, dict) else None
    command = properties.get("command") if isinstance(properties, dict) else None
    return isinstance(command, dict) and command.get("type") == "array"


def text_of(content: object) -> str:
    """A string, or the text of all its parts; of a very long one its ends."""
    if isinstance(content, str):
        return _ends_of(content, _MOST_QUOTED)
    parts = content if isinstance(content, list) else []
    texts = (str(part["text"]) for part in parts if isinstance(part, dict) and "text" in part)
    return _ends_of("".join(_ends_of(text, _MOST_QUOTED) for text in texts), _MOST_QUOTED)


def shows_failure(text: str) -> bool:
    """Whether a text tells of failing tests."""
    return any(part in text for part in _FAILURE_HAS) and _FAILURE.search(text) is not None


def _without_blocks(text: str) -> str:
    """A text without the files that it quotes."""
    end = 0
    for found in _BLOCK_END.finditer(text):
        end = found.end()
    # behind the last end each beginning would be looked for an end in vain
    return _BLOCK.sub("", text[:end]) + text[end:]


def _member(arguments: str, name: str) -> str:
    try:
        members = json.loads(arguments)
    except ValueError:
        return ""
    return str(members.get(name, "")) if isinstance(members, dict) else ""
