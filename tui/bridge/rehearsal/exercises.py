"""The practice workspace's files, and which exercises there are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable

from tui.bridge.rehearsal import RECORD
from tui.bridge.rehearsal.script import load_scripts

SUFFIX = ".txt"
"""Of the files as they are shipped: they are data, not code of ours."""


def workspace_files() -> dict[str, bytes]:
    """Relative path -> content of a fresh practice workspace, the record included."""
    root = resources.files("tui.bridge.rehearsal").joinpath("workspace")
    files = dict(_walk(root, ""))
    files[RECORD] = json.dumps(_record(files), indent=1).encode() + b"\n"
    return files


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(SUFFIX):
            yield prefix + entry.name.removesuffix(SUFFIX), entry.read_bytes()


def _record(files: dict[str, bytes]) -> dict[str, object]:
    exercises = [
        {
            "name": script.name,
            "test": script.test,
            "files": {path: fingerprint(files.get(path)) for path in script.paths},
        }
        for script in load_scripts()
    ]
    return {"schema": 1, "exercises": exercises}


def fingerprint(content: bytes | None) -> str:
    """Of a file's content; empty for a file that is not there."""
    return "" if content is None else hashlib.sha256(content).hexdigest()
