"""How a model is told to write its edits: a few lines for each format and channel."""

from __future__ import annotations

from typing import Literal

PatchTool = Literal["custom", "function", "text"]
PatchFormat = Literal["auto", "apply_patch", "search_replace", "unified_diff", "whole_file"]

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
