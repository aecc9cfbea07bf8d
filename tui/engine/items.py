"""Items as a server finishes them: the text in them, whatever shape it comes in."""

from __future__ import annotations

import json
import re

from tui.core.history import Item

PATCH_TOOL = "apply_patch"
SHELLS = frozenset(
    {
        "bash",
        "container.exec",
        "exec",
        "exec_command",
        "local_shell",
        "run_command",
        "run_shell_command",
        "shell",
        "shell_command",
        "terminal",
        "unified_exec",
    }
)
"""Function tools of other clients that models call to apply a patch, though we offer none."""

_LINE_END = re.compile("[\r\n]")


def message_text(item: Item) -> str:
    """The text of a message item."""
    content = item.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    found = [part.get("text") or part.get("refusal") for part in parts if isinstance(part, dict)]
    return "".join(text for text in found if isinstance(text, str))


def call_text(item: Item) -> str:
    """The whole input of a call: patch, arguments or diff."""
    operation = item.get("operation")
    if isinstance(operation, dict):
        return str(operation.get("diff") or "")
    text = item.get("input") or item.get("arguments") or ""
    # some servers give the arguments as the object itself
    return text if isinstance(text, str) else json.dumps(text)


def with_text(item: Item, text: str) -> Item:
    """A call whose end nobody said, with the input as it came."""
    operation = item.get("operation")
    if isinstance(operation, dict):
        return {**item, "operation": {**operation, "diff": text}, "status": "completed"}
    member = "input" if item.get("type") == "custom_tool_call" else "arguments"
    return {**item, member: text, "status": "completed"}


def message_item(text: str) -> Item:
    """A message whose end nobody said."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content}


def is_shell(item: Item) -> bool:
    """True for a function call of a shell."""
    return item.get("type") == "function_call" and str(item.get("name")).lower() in SHELLS


def names_patch(text: str) -> bool:
    """True if a shell's arguments, as far as they came, apply a patch."""
    return "*** Begin Patch" in text


def hosted_header(item: Item) -> str:
    """The envelope that a built-in apply_patch call leaves out."""
    operation = item.get("operation")
    values = operation if isinstance(operation, dict) else {}
    verbs = {"create_file": "Add", "delete_file": "Delete"}
    verb = verbs.get(str(values.get("type")), "Update")
    path = _LINE_END.sub("\ufffd", str(values.get("path") or ""))
    return f"*** Begin Patch\n*** {verb} File: {path}\n"


def closed_json(text: str) -> str:
    """A prefix of a JSON object whose last string is open, closed; empty if it cannot be."""
    for ending in ('"}', "}"):
        try:
            json.loads(text + ending)
        except (ValueError, RecursionError):
            continue
        return text + ending
    return ""


def characters_in(value: object) -> int:
    """Characters of all texts in an item."""
    if isinstance(value, str):
        return len(value)
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(map(characters_in, parts))
