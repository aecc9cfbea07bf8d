"""What a small model is told of a request, and what it is to do: read files, edit them, or talk."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct, field

from tui.bridge.endpoints.base import Asked
from tui.bridge.local.grammar import SEARCH
from tui.bridge.rehearsal.request import ParsedRequest, parse_request

MOST_READ = 4
"""Files that are read for one answer."""
_CHARS_PER_TOKEN = 3
_KEPT_TOKENS = 1500
"""For what is said beside the files, and for the answer."""
_SAID_CHARS = 2000
_NAMES = re.compile(r"[\w./-]*\w\.\w{1,8}\b")
TALK = "You are a pair programmer. Answer in a few short sentences."
EDIT = (
    "You edit files. Answer with the name of a file, then <<<<<<< SEARCH, the lines to change as "
    "they are, =======, the same lines as they should be, >>>>>>> REPLACE."
)


class LocalPlan(Struct, frozen=True):
    """What is to be done for a request."""

    kind: Literal["read", "edit", "talk"]
    paths: tuple[str, ...] = ()
    """The files to read."""
    files: dict[str, list[str]] = field(default_factory=dict)
    """Those that may be edited, by path their lines."""
    shown: dict[str, int] = field(default_factory=dict)
    """How many first lines of each the model sees, and may change."""
    messages: list[dict[str, str]] = field(default_factory=list)
    """What the model is told of an edit."""


def plan_of(asked: Asked, window: int) -> LocalPlan:
    """What to do. A prompt in a mode that changes files gets an edit of those that are known."""
    parsed = parse_request(asked.request, asked.items)
    if not _may_edit(parsed, asked.request):
        return LocalPlan("talk")
    named = list(dict.fromkeys(_named(parsed)))
    wanted = [*named, *(path for path in parsed.files if path in parsed.stale)]
    missing = [
        path
        for path in dict.fromkeys(wanted)
        if (path not in parsed.files or path in parsed.stale) and path not in parsed.unreadable
    ]
    if missing and parsed.can_read:
        return LocalPlan("read", tuple(missing[:MOST_READ]))
    order = [*named, *(path for path in parsed.files if path not in named)]
    known = [path for path in order if path in parsed.files and path not in parsed.stale]
    files = {path: _lines(parsed.files[path]) for path in known}
    shown = _fitting(files, window)
    if not shown:
        return LocalPlan("talk")
    # in the order in which they came: what was read for the last prompt is not read again
    seen = {path: files[path][: shown[path]] for path in parsed.files if path in shown}
    files = {path: files[path] for path in shown}
    return LocalPlan("edit", files=files, shown=shown, messages=edit_messages(seen, parsed.said))


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _may_edit(parsed: ParsedRequest, request: Any) -> bool:
    """Whether the request takes edits: by its tool, or in the answer's text."""
    words = str(request.get("instructions") or "")
    return "apply_patch" in parsed.declared or SEARCH in words or "*** Begin Patch" in words


def _named(parsed: ParsedRequest) -> Iterable[str]:
    """The files that the newest prompt names, whole or by their last part."""
    paths = {*parsed.listed, *parsed.files}
    for name in _NAMES.findall(parsed.prompt):
        if name in paths:
            yield name
        else:
            ending = [path for path in paths if path.endswith(f"/{name}")]
            yield from ending[:1] if len(ending) == 1 else ()


def _fitting(files: dict[str, list[str]], window: int) -> dict[str, int]:
    """How many lines there is room for; the last file that is begun may lack its end."""
    room = max(window - _KEPT_TOKENS, window // 2) * _CHARS_PER_TOKEN
    shown: dict[str, int] = {}
    for path, lines in files.items():
        if room < len(path) + 100:
            break
        taken = 0
        for line in lines:
            room -= len(line) + 1
            if room < 0:
                break
            taken += 1
        if taken:
            shown[path] = taken
    return shown


def edit_messages(files: dict[str, list[str]], said: list[str]) -> list[dict[str, str]]:
    """What the model is told of an edit: by path the lines it sees, and the last prompts."""
    shown = "\n\n".join("\n".join([path, "```", *lines, "```"]) for path, lines in files.items())
    prompt = "\n\n".join(said[-3:])[-_SAID_CHARS:]
    return [
        {"role": "system", "content": EDIT},
        {"role": "user", "content": f"{shown}\n\n{prompt}"},
    ]
