from __future__ import annotations

import json
from typing import get_args

from tests.support.tables import each
from tui.core.instructions import (
    PATHS_LIMIT_CHARS,
    PatchFormat,
    PatchTool,
    instruction_parts,
    tools,
)

MARKS = {
    "auto": "*** Begin Patch",
    "apply_patch": "*** Begin Patch",
    "search_replace": "<<<<<<< SEARCH",
    "unified_diff": "--- a/path",
    "whole_file": "the whole file, from its first line",
}


def instructions(
    paths: list[str], project: str, tool: PatchTool, form: PatchFormat = "auto"
) -> str:
    return "\n".join(instruction_parts(paths, {"AGENTS.md": project}, tool, form).values())


def test_instructions_name_the_files_and_the_projects_rules() -> None:
    text = instructions(["a.py", "src/b.py"], "Use tabs.", "custom")
    assert "a.py\nsrc/b.py" in text
    assert "Use tabs." in text
    assert "*** Begin Patch" in text
    assert "AGENTS.md" not in instructions(["a.py"], "  ", "custom")


def test_a_long_path_list_is_cut_with_a_sentence() -> None:
    paths = [f"folder/file_{n}.py" for n in range(10_000)]
    text = instructions(paths, "", "custom")
    assert len(text) < PATHS_LIMIT_CHARS + 6_000
    assert "use the list tool" in text


def test_the_patch_tool_has_three_forms() -> None:
    custom = json.loads(json.dumps(tools("custom")))[-1]
    assert custom["type"] == "custom"
    assert custom["format"]["syntax"] == "lark"
    function = json.loads(json.dumps(tools("function")))[-1]
    assert function["type"] == "function"
    assert function["parameters"]["required"] == ["input"]
    assert [tool["name"] for tool in tools("text")] == ["read_file", "list", "search"]
    assert "in your answer" in instructions([], "", "text")


@each("tool", get_args(PatchTool))
@each("form", get_args(PatchFormat))
def test_every_format_is_explained_on_every_channel(form: PatchFormat, tool: PatchTool) -> None:
    text = instructions(["a.py"], "", tool, form)
    for other, mark in MARKS.items():
        assert (mark in text) == (mark == MARKS[form]), other
    assert ("apply_patch tool" in text) == (tool != "text")
    assert ("in your answer" in text) == (tool == "text")
    assert ("Never rewrite a whole file" in text) == (form != "whole_file")


def test_a_tool_of_another_format_has_no_grammar_of_apply_patch() -> None:
    for form in ("search_replace", "unified_diff", "whole_file"):
        offered = json.dumps(tools("custom", form)[-1])
        assert json.loads(offered)["format"] == {"type": "text"}
        assert "Begin Patch" not in offered + json.dumps(tools("function", form)[-1])
