"""What every request says of how to work: the instructions and the tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

PatchTool = Literal["custom", "function", "text"]
ShellTool = Literal["auto", "function", "shell", "local_shell", "bash", "none"]
PatchFormat = Literal["auto", "apply_patch", "search_replace", "unified_diff", "whole_file"]

STOPPED_BY_ACCIDENT = "Your last answer was cut off by accident."
"""How a model is asked to go on begins."""

_APPLY_PATCH = """\
The patch format
*** Begin Patch
*** Update File: path/of/file.py
@@ def name_of_the_enclosing_function
 three lines of context, exactly as they are in the file
-a line to remove
+a line to add
 three lines of context
*** End Patch
- Other operations: `*** Add File: path` followed by `+` lines, `*** Delete File: path`, and \
`*** Move to: new/path` right below an Update line.
- Every line of a section starts with a space, `-` or `+`. Context and removed lines must equal \
the file character for character, indentation included.
- Give about 3 lines of context above and below, fewer at the file's ends; where they do not make \
the place unique, add an `@@` line with the enclosing class or function.
- One section for each place, in the order of the file. Paths are relative to the workspace.
"""

_SEARCH_REPLACE = """\
The format of an edit: SEARCH/REPLACE blocks, each below the name of its file
path/of/file.py
<<<<<<< SEARCH
lines to find, exactly as they are in the file
=======
lines to put there instead
>>>>>>> REPLACE
- The name stands on a line of its own, relative to the workspace. Blocks for several files follow \
each other.
- The SEARCH lines must equal whole lines of the file character for character, indentation \
included, and occur there exactly once: take as many lines as that needs, and no more.
- One block for each place, in the order of the file. To insert, repeat the lines around in \
REPLACE; to remove, leave REPLACE empty.
- A new file: an empty SEARCH. Files cannot be deleted or renamed this way; say so if that is \
needed.
"""

_UNIFIED_DIFF = """\
The format of an edit: a unified diff
--- a/path/of/file.py
+++ b/path/of/file.py
@@ -12,5 +12,6 @@
 three lines of context, exactly as they are in the file
-a line to remove
+a line to add
 three lines of context
- Context and removed lines must equal the file character for character, indentation included; \
every line starts with a space, `-` or `+`. Line numbers and counts may be estimated.
- Give 3 lines of context above and below: the place must be unique without the numbers.
- `--- /dev/null` makes a file, `+++ /dev/null` deletes one; `rename from` and `rename to` below \
`diff --git a/old b/new` rename one. Paths are relative to the workspace.
"""

_WHOLE_FILE = """\
The format of an edit: the file's name, then all of its new text in a fence
path/of/file.py
```
the whole file, from its first line to its last
```
- The name stands on a line of its own right above the fence, relative to the workspace.
- Always the whole file: nothing left out, no "rest of the code" comments. Lines that you leave \
out are gone.
- If the text holds a fence itself, use a longer one around it. Files cannot be deleted or renamed \
this way; say so if that is needed.
"""

_RULES: dict[PatchFormat, str] = {
    "auto": _APPLY_PATCH,
    "apply_patch": _APPLY_PATCH,
    "search_replace": _SEARCH_REPLACE,
    "unified_diff": _UNIFIED_DIFF,
    "whole_file": _WHOLE_FILE,
}
TOOL_WORDS: dict[PatchFormat, str] = {
    "auto": "the patch",
    "apply_patch": "the patch",
    "search_replace": "the SEARCH/REPLACE blocks",
    "unified_diff": "the unified diff",
    "whole_file": "the files' names and whole texts",
}
"""What the input of the tool is."""
FUNCTION_MEMBERS: dict[PatchFormat, str] = {
    "auto": "string: the whole patch",
    "apply_patch": "string: the whole patch",
    "search_replace": "string: all SEARCH/REPLACE blocks, each below its file's name",
    "unified_diff": "string: the whole unified diff",
    "whole_file": "string: each file's name, and its whole text in a fence",
}
"""The function tool's only argument: its JSON type, a colon, and what it is."""
_IN_PROSE: dict[PatchFormat, str] = {
    "auto": "the patch in your answer, on lines of its own, from `*** Begin Patch` to "
    "`*** End Patch`",
    "apply_patch": "the patch in your answer, on lines of its own, from `*** Begin Patch` to "
    "`*** End Patch`",
    "search_replace": "SEARCH/REPLACE blocks in your answer, on lines of their own",
    "unified_diff": "a unified diff in your answer, in a ```diff fence",
    "whole_file": "the whole file in your answer, in a fence below its name",
}


def patch_notes(patch_tool: PatchTool, patch_format: PatchFormat) -> str:
    """The channel and the format of an edit."""
    words = TOOL_WORDS[patch_format]
    if patch_tool == "custom":
        channel = f"Edit files only with the apply_patch tool; its input is {words} itself."
    elif patch_tool == "function":
        verb = "goes" if words == "the patch" or words.endswith("diff") else "go"
        channel = f"Edit files only with the apply_patch tool; {words} {verb} in `input`."
    else:
        channel = f"Edit files by writing {_IN_PROSE[patch_format]}."
    return f"{channel}\n\n{_RULES[patch_format]}"


PATHS_LIMIT_CHARS = 24_000
MAP_NAME = "map of the project"
MAP_TITLE = MAP_NAME.capitalize()
"""How the text begins that names what matters of a large one (`core.project_map`)."""
RULES_NAME = "AGENTS.md"
OF_FOLDER, HAVE_CHANGED = "Instructions for what lies in ", "These have changed. "
"""How messages begin that tell instructions behind the first request."""

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
{commands}
"""
_NO_SHELL = "- You cannot run commands; the user runs the tests and tells you."
_SHELL = """\
- Run commands with {shell}: the tests, the linters, git. They run in the workspace and see the \
disk: your pending hunks and unsaved text are not on it, and the answer says which were missing.\
{screen} Edit files with patches, not with commands. Nothing can be typed into a command.
- The user may be asked first, and may decline: go on without that command. What runs for long (a \
server, a watcher) belongs in the background; read it with shell_output."""
_SCREEN = """ \
Tests, builds and linters run with `screen` true: they see them, in a copy of the workspace that \
is gone at their end, with all that they wrote."""
_PLAN = "- Plan mode: read and think, change nothing. No patches; only commands that read will run."
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


def instruction_parts(
    paths: Sequence[str] | None,
    project: Mapping[str, str],
    patch_tool: PatchTool | None,
    patch_format: PatchFormat = "auto",
    shell_tool: ShellTool = "none",
) -> dict[str, str]:
    """The instructions of a conversation: how to work, the files, what the project says.

    Args:
        paths: all files; None: they are not listed.
        project: what it says, by what that is called.
        patch_tool: None: plan mode.
        patch_format: what edits are to look like.
        shell_tool: what commands are run by.

    Returns:
        By what each is of; joined by line ends they are what is sent.
    """
    role = _ROLE.replace("{whole}", "" if patch_format == "whole_file" else _NOT_WHOLE)
    name = {"bash": "bash", "local_shell": "local_shell"}.get(shell_tool, "shell")
    screen = "" if shell_tool == "local_shell" else _SCREEN
    shell = _SHELL.replace("{shell}", name).replace("{screen}", screen)
    shell = _NO_SHELL if shell_tool == "none" else shell
    role = role.replace("{commands}", shell if patch_tool else f"{shell}\n{_PLAN}")
    notes = [patch_notes(patch_tool, patch_format)] if patch_tool else []
    parts: dict[str, str] = {"instructions": "\n".join([role, *notes])}
    parts["listing"] = _NOT_LISTED if paths is None else _path_list(paths)
    return parts | {name: words for name, words in project.items() if words}


_NOT_LISTED = "The workspace's files are not listed here: use the list tool.\n"


def lists_all(paths: Sequence[str]) -> bool:
    """True if the instructions have room for the names of all these files."""
    size = 0
    for path in paths:
        size += len(path) + 1
        if size > PATHS_LIMIT_CHARS:
            return False
    return True


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
    """A function tool; a member's description starts with its JSON type and a colon.

    ``strings`` is an array of them.
    """
    properties: dict[str, dict[str, object]] = {}
    for member, text in members.items():
        kind, _, words = text.partition(": ")
        properties[member] = {"type": kind, "description": words}
        if kind == "strings":
            properties[member] |= {"type": "array", "items": {"type": "string"}}
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


_RECALL = _function(
    "recall",
    "Search all that was said in this session, also what the summary at the beginning stands for; "
    "or read an item of it whole. Use it before you ask the user again.",
    [],
    words="string: what to find; items with the most of these words come first",
    turn="integer: only what was said in this turn",
    item="string: the id of an item, to read the whole of it",
    start="integer: the first character of the item to read, counted from 1",
)


def shell_tool_of(model: str) -> ShellTool:
    """The shell that a model knows, by its name."""
    name = model.lower()
    if "claude" in name:
        return "bash"
    return "shell" if "codex" in name else "function"


_RUNS = "Run a command in the workspace and get its output. Nothing can be typed into it."


def _shell_tools(shell_tool: ShellTool) -> list[dict[str, object]]:
    """The shell in the form that the model knows, and what reads commands of the background."""
    more = {
        "workdir": "string: folder to run it in, relative to the workspace",
        "timeout_ms": "integer: stop it after so long; 120000 if left out",
        "screen": "boolean: run it in a throw-away copy of what the user's screen shows",
        "background": "boolean: do not wait for it; read it with shell_output",
        "tty": "boolean: run it in a terminal of its own",
        "unsandboxed": "boolean: it needs the network or files outside; the user is asked",
        "justification": "string: why, in one short sentence for the user",
    }
    if shell_tool == "local_shell":
        shell: dict[str, object] = {"type": "local_shell"}
    elif shell_tool == "shell":
        shell = _function("shell", _RUNS, ["command"], command="strings: the argv", **more)
    else:
        name = "bash" if shell_tool == "bash" else "shell"
        shell = _function(name, _RUNS, ["command"], command="string: for bash -c", **more)
    read = _function(
        "shell_output",
        "What a command of the background has said since you looked last.",
        ["task"],
        task="integer: its number",
        wait_s="number: wait so long for its end",
        stop="boolean: end it",
    )
    return [shell, read]


def tools(
    patch_tool: PatchTool | None,
    patch_format: PatchFormat = "auto",
    shell_tool: ShellTool = "none",
    *,
    recall: bool = False,
) -> list[dict[str, object]]:
    """The tools that a model may call; no ``patch_tool``: plan mode.

    ``recall``: not all that was said is sent.
    """
    offered = _reading_tools() + [_RECALL] * recall
    if shell_tool != "none":
        offered += _shell_tools(shell_tool)
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
