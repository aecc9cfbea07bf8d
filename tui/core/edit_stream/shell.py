"""apply_patch called through a shell tool: the patch in the strings of its JSON arguments.

Models that were trained with a command of that name write ``{"command": ["apply_patch",
"*** Begin Patch..."]}`` or a heredoc in ``["bash", "-lc", "..."]`` or ``{"cmd": "..."}``
(EDITS.md section 1, channel e). What the paths are relative to (``workdir``) may stand behind
the patch and the command may go on behind it, so nothing is said before the arguments are
whole: a patch that starts in the wrong folder would edit another file.
"""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec.structs import replace

from tui.core.edit_stream.events import Cut, Ev, Failure, FileOp, MoveTo, Prose
from tui.core.edit_stream.parser import ProsePatches
from tui.core.wire.json_reading import mended

_COMMANDS = ("command", "cmd", "script", "commands", "input")
_FOLDERS = ("workdir", "cwd", "working_directory", "dir")
_SHELL = re.compile(
    r"(?:.*[/\\])?(?:ba|z|da|k)?sh(?:\.exe)?|(?:.*[/\\])?(?:powershell|pwsh)(?:\.exe)?"
)
_DIRECT = re.compile(
    r"(?P<lead>\s*(?:cd\s+[^&;|\n]+&&\s*)?)(?:apply_patch|applypatch)\s+"
    r"(?P<quote>[\"'])(?P<text>\s*\*\*\* Begin Patch.*)(?P=quote)\s*",
    re.DOTALL,
)
_BEGIN = "*** Begin Patch"
_FORM = (
    "the argument's form is wrong: call the apply_patch tool, or let the command be nothing but "
    "apply_patch with the patch"
)


class ShellPatches:
    """Reads a shell tool's arguments; that there is no patch in them is a failure."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._over = False

    def feed(self, delta: str) -> list[Ev]:
        """Read the next piece of the arguments."""
        if not self._over:
            self._parts.append(delta)
        return []

    def tail(self) -> list[Ev]:
        """Nothing is painted before the arguments are whole."""
        return []

    def finish(self, cut: bool) -> list[Ev]:
        """The arguments are complete, or ``cut`` at this character."""
        if self._over:
            return []
        self._over = True
        text = "".join(self._parts)
        self._parts.clear()
        if cut:
            return [Cut()]
        if _BEGIN not in text:
            return [Failure(1, "no Begin Patch: the command does not call apply_patch")]
        try:
            arguments = json.loads(text)
        except (ValueError, RecursionError):
            return [Failure(1, "the argument is broken JSON")]
        return _events(arguments)


def _events(arguments: Any) -> list[Ev]:
    """The patch of whole arguments, relative to the folder that they name."""
    script = _script(arguments)
    if script is None:
        return [Failure(1, _FORM)]
    parser = ProsePatches()
    events = [*parser.feed(script), *parser.finish(cut=False)]
    if any(isinstance(event, Prose) and event.text.strip() for event in events):
        failures = [event for event in events if isinstance(event, Failure)]
        return [*failures[:1]] or [Failure(1, _FORM)]
    return [_moved(event, _folder(arguments)) for event in events if not isinstance(event, Prose)]


def _script(arguments: Any) -> str | None:
    """The text in which the patch stands; None if the command does something else with it."""
    value = arguments
    if isinstance(arguments, dict):
        value = next((arguments[name] for name in _COMMANDS if arguments.get(name)), None)
    if isinstance(value, list):
        words = [word if isinstance(word, str) else "" for word in value]
        if len(words) == 2 and words[0] in ("apply_patch", "applypatch"):
            return mended(words[1])
        if len(words) == 3 and _SHELL.fullmatch(words[0]) and words[1].startswith("-"):
            value = words[2]
        elif len(words) == 1:
            value = words[0]
    return _unwrapped(mended(value)) if isinstance(value, str) else None


def _unwrapped(script: str) -> str:
    """A patch that is quoted as one word of the command becomes the heredoc that it could be."""
    match = _DIRECT.fullmatch(script)
    if match is None:
        return script
    text = match["text"]
    if match["quote"] == "'":
        text = text.replace("'\\''", "'")
    else:
        text = re.sub(r"\\([\"$`\\])", r"\1", text)
    return (
        f"{match['lead'].strip()} apply_patch <<'DUETTO_END'\n{text.strip()}\nDUETTO_END\n".lstrip()
    )


def _folder(arguments: Any) -> str:
    if not isinstance(arguments, dict):
        return ""
    found = next((arguments[name] for name in _FOLDERS if arguments.get(name)), "")
    folder = found if isinstance(found, str) else ""
    return "" if folder in (".", "./") else mended(folder).rstrip("/") or folder


def _moved(event: Ev, folder: str) -> Ev:
    """The event with its path below the folder."""
    if not folder or not isinstance(event, FileOp | MoveTo) or event.path.startswith(("/", "~")):
        return event
    return replace(event, path=f"{folder.rstrip('/')}/{event.path}")
