from __future__ import annotations

import json

from tui.core.instructions import PATHS_LIMIT_CHARS, instructions, tools


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
