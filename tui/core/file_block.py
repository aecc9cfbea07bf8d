"""How a file's text is quoted in a request, so that it can be read back exactly.

::

    <file path="src/cache.py" state="active" cursor="12:5" chars="3456">
    ...exactly 3456 characters...
    </file>

The count makes the quotation unambiguous whatever the text holds. Attribute values are JSON
strings. ``read_file`` answers in the same form, with ``from`` and ``to`` (1-based lines).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_HEADER = re.compile(r'^<file((?: [a-z_]+="(?:[^"\\]|\\.)*")+)>\n', re.MULTILINE)
_ATTRIBUTE = re.compile(r' ([a-z_]+)=("(?:[^"\\]|\\.)*")')

_COUNT = re.compile(r"[0-9]{1,12}")


@dataclass(frozen=True, slots=True)
class FileBlock:
    """A quoted file, or the part of one."""

    path: str
    text: str
    attributes: dict[str, str] = field(default_factory=dict)
    """The rest of the header: ``state``, ``cursor``, ``selection``, ``from``, ``to``."""


def file_block(path: str, text: str, **attributes: str) -> str:
    """Quote a text; ``from_`` becomes the attribute ``from``."""
    header = {"path": path, **{name.rstrip("_"): value for name, value in attributes.items()}}
    header["chars"] = str(len(text))
    written = "".join(
        f" {name}={json.dumps(value, ensure_ascii=False)}" for name, value in header.items()
    )
    return f"<file{written}>\n{text}\n</file>"


def file_blocks(message: str) -> Iterator[FileBlock]:
    """The files quoted in a text, in order; damaged quotations are passed over."""
    at = 0
    while match := _HEADER.search(message, at):
        at = match.end()
        attributes = _attributes(match[1])
        chars, path = attributes.pop("chars", ""), attributes.pop("path", "")
        if not _COUNT.fullmatch(chars) or not path:
            continue
        end = at + int(chars)
        if message.startswith("\n</file>", end):
            yield FileBlock(path, message[at:end], attributes)
            at = end


def _attributes(header: str) -> dict[str, str]:
    """What a header says; nothing if a value in it is no JSON: somebody else wrote it."""
    try:
        return {found[1]: str(json.loads(found[2])) for found in _ATTRIBUTE.finditer(header)}
    except ValueError:
        return {}
