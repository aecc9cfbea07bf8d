"""Builds requests as a client sends them and plays rehearsed answers, without sockets or sleep."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.strict_patch import apply_patch
from tui.bridge.rehearsal.answers import (
    AnswerPart,
    AnswerStyle,
    CallPart,
    ReasoningPart,
    TextPart,
    answer,
)
from tui.bridge.rehearsal.scripts import workspace_files
from tui.core.files import file_block

CUSTOM = {"type": "custom", "name": "apply_patch", "description": "patch"}
FUNCTION = {
    "type": "function",
    "name": "apply_patch",
    "parameters": {"type": "object", "properties": {"input": {"type": "string"}}},
}
READ = {
    "type": "function",
    "name": "read_file",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
}
PLACED = "placed, pending review"


def user(text: str) -> dict[str, Any]:
    """A user's message."""
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def fresh_files() -> dict[str, str]:
    """The practice workspace as it comes."""
    return {path: content.decode() for path, content in workspace_files().items()}


def write_files(root: Path, files: Mapping[str, str]) -> None:
    """Put the files on disk."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")


def run_tests(root: Path, *args: str, by: str = "unittest") -> subprocess.CompletedProcess[str]:
    """Run the workspace's own tests in a process of their own."""
    # Our own development plug-ins have no business in the workspace, and cost a second.
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-B", "-m", by, *args]
    return subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, timeout=60
    )


@dataclass
class Conversation:
    """A client that keeps the whole history and applies every patch at once."""

    style: AnswerStyle = field(default_factory=AnswerStyle)
    files: dict[str, str] = field(default_factory=fresh_files)
    tools: Sequence[Mapping[str, Any]] = (CUSTOM, READ)
    shown: tuple[str, ...] = ()
    """Files that each message quotes; the rest has to be read."""
    items: list[dict[str, Any]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    """All prose of the last turn."""
    thought: list[str] = field(default_factory=list)
    patches: list[str] = field(default_factory=list)
    """All patches of the last turn."""
    read: list[str] = field(default_factory=list)

    def ask(self, prompt: str) -> str:
        """One turn with all its rounds; returns the prose."""
        self.said, self.thought, self.patches, self.read = [], [], [], []
        quoted = [file_block(p, self.files[p], state="open") for p in self.shown if p in self.files]
        if quoted:
            self.items.append(user("\n".join(quoted)))
        self.items.append(user(prompt))
        for _ in range(5):
            if not self._round():
                return "\n".join(self.said)
        raise AssertionError("the turn does not end")

    def _round(self) -> bool:
        request = {"tools": list(self.tools)}
        called = False
        for number, part in enumerate(answer(request, self.items, self.style)):
            called = self._take(part, f"call_{len(self.items)}_{number}") or called
        outputs = [item for item in self.items if item.get("pending")]
        for item in outputs:
            self.items.append(self._output(item))
            del item["pending"]
        return called

    def _take(self, part: AnswerPart, call_id: str) -> bool:
        if isinstance(part, ReasoningPart):
            self.thought.append(part.text)
            self.items.append({"type": "reasoning", "summary": []})
        elif isinstance(part, TextPart):
            self.said.append(part.text)
            content = [{"type": "output_text", "text": part.text}]
            self.items.append({"type": "message", "role": "assistant", "content": content})
        else:
            key = "input" if part.custom else "arguments"
            item = {**part.item(), "call_id": call_id, key: part.text, "pending": True}
            self.items.append(item)
        return isinstance(part, CallPart)

    def _output(self, item: Mapping[str, Any]) -> dict[str, Any]:
        output = self._patch(item) if item["name"] == "apply_patch" else self._read(item)
        return {"type": f"{item['type']}_output", "call_id": item["call_id"], "output": output}

    def _patch(self, item: Mapping[str, Any]) -> str:
        custom = item["type"] == "custom_tool_call"
        patch = item["input"] if custom else json.loads(item["arguments"])["input"]
        self.patches.append(patch)
        self.files = apply_patch(self.files, patch)
        return PLACED

    def _read(self, item: Mapping[str, Any]) -> str:
        path = json.loads(item["arguments"])["path"]
        self.read.append(path)
        if path not in self.files:
            return f"there is no file {path}; use list or search to find it"
        return file_block(path, self.files[path])
