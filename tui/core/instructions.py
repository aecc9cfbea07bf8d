"""What every request says of how to work: the instructions and the tools."""

from __future__ import annotations

from collections.abc import Sequence

from tui.core.patch_notes import FUNCTION_MEMBERS, TOOL_WORDS, PatchFormat, PatchTool, patch_notes

PATHS_LIMIT_CHARS = 24_000
AGENTS_LIMIT_CHARS = 32_000

_ROLE = """\
You are the pair programmer in duetto, a terminal editor. The user watches your edits land in the \
open buffers while you write them, and may stop you at any character and redirect you.

How to work
- Make small, targeted edits: change only the lines that the task needs.{whole}
- Say in one or two sentences what you are about to do, then do it. No long plans, no summaries \
of what the user has just watched.
- The files quoted in a request are the editor's buffers as they stand now, unsaved changes and \
your own pending hunks included. Trust them over your memory. Read what you need with read_file, \
list and search before you edit it.
- Your hunks are placed at once and reviewed by the user later: "placed, pending review" is \
success. Do not send a kept hunk again. What was rejected stays rejected unless the user asks.
- If a hunk could not be placed, look at the text as it is now and send only that hunk again.
- You cannot run commands; the user runs the tests and tells you.
"""
_NOT_WHOLE = " Never rewrite a whole file to change a part of it."

APPLY_PATCH_GRAMMAR = r"""start: begin_patch hunk+ end_patch
begin_patch: "*** Begin Patch" LF
end_patch: "*** End Patch" LF?

hunk: add_hunk | delete_hunk | update_hunk
add_hunk: "*** Add File: " filename LF add_line+
delete_hunk: "*** Delete File: " filename LF
update_hunk: "*** Update File: " filename LF change_move? change?

filename: /(.+)/
add_line: "+" /(.*)/ LF -> line

change_move: "*** Move to: " filename LF
change: (change_context | change_line)+ eof_line?
change_context: ("@@" | "@@ " /(.+)/) LF
change_line: ("+" | "-" | " ") /(.*)/ LF
eof_line: "*** End of File" LF

%import common.LF
"""


def instructions(
    paths: Sequence[str],
    agents_md: str,
    patch_tool: PatchTool,
    patch_format: PatchFormat = "auto",
) -> str:
    """The instructions of a conversation: how to work, the files, the project's own rules."""
    role = _ROLE.replace("{whole}", "" if patch_format == "whole_file" else _NOT_WHOLE)
    parts = [role, patch_notes(patch_tool, patch_format), _path_list(paths)]
    if agents_md.strip():
        text = agents_md.strip()
        if len(text) > AGENTS_LIMIT_CHARS:
            text = text[:AGENTS_LIMIT_CHARS] + "\n(cut here; read_file AGENTS.md for the rest)"
        parts.append(f"The project's own instructions (AGENTS.md)\n{text}\n")
    return "\n".join(parts)


def _path_list(paths: Sequence[str]) -> str:
    """The workspace's files, as many as fit."""
    if not paths:
        return "The workspace has no files yet.\n"
    shown: list[str] = []
    size = 0
    for path in paths:
        size += len(path) + 1
        if size > PATHS_LIMIT_CHARS:
            break
        shown.append(path)
    rest = len(paths) - len(shown)
    more = f"\n(and {rest} more: use the list tool)" if rest else ""
    return f"Files in the workspace ({len(paths)})\n" + "\n".join(shown) + more + "\n"


def _function(
    name: str, description: str, required: list[str], **members: str
) -> dict[str, object]:
    """A function tool; a member's description starts with its JSON type and a colon."""
    properties = {}
    for member, text in members.items():
        kind, _, words = text.partition(": ")
        properties[member] = {"type": kind, "description": words}
    return {
        "type": "function",
        "name": name,
        "description": description,
        "strict": False,
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        },
    }


def _reading_tools() -> list[dict[str, object]]:
    return [
        _function(
            "read_file",
            "Read a text file of the workspace, or lines of it. Open files are read as they "
            "stand in the editor.",
            ["path"],
            path="string: relative to the workspace",
            start="integer: first line, 1-based",
            end="integer: last line, 1-based, included",
        ),
        _function(
            "list",
            "List the workspace's files (ignored ones left out).",
            [],
            pattern="string: glob such as src/**/*.py, or a folder",
        ),
        _function(
            "search",
            "Search the workspace's files line by line.",
            ["pattern"],
            pattern="string: what to find; plain text unless regex is true",
            path="string: only files under this folder or matching this glob",
            regex="boolean: the pattern is a Python regular expression",
        ),
    ]


def tools(patch_tool: PatchTool, patch_format: PatchFormat = "auto") -> list[dict[str, object]]:
    """The tools that a model may call."""
    offered = _reading_tools()
    if patch_tool == "custom":
        words = f"Edit files. The input is {TOOL_WORDS[patch_format]} itself, not JSON."
        offered.append(
            {
                "type": "custom",
                "name": "apply_patch",
                "description": words,
                "format": _notation(patch_format),
            }
        )
    elif patch_tool == "function":
        member = FUNCTION_MEMBERS[patch_format]
        offered.append(_function("apply_patch", "Edit files.", ["input"], input=member))
    return offered


def _notation(patch_format: PatchFormat) -> dict[str, object]:
    """What a freeform tool's input may look like; the rules of the others are in words only."""
    if patch_format in ("auto", "apply_patch"):
        return {"type": "grammar", "syntax": "lark", "definition": APPLY_PATCH_GRAMMAR}
    return {"type": "text"}
