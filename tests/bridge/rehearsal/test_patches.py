"""The rehearsal model speaks every format on every channel, as it is asked; all of it lands."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from tests.support.rehearsed import fresh_files, user
from tests.support.strict_patch import apply_patch
from tests.support.tables import each
from tui.bridge.rehearsal.answers import (
    AnswerPart,
    AnswerStyle,
    CallPart,
    TextPart,
    after_patch,
    answer,
)
from tui.bridge.rehearsal.patches import (
    FilePlan,
    WrittenChange,
    plan_file,
    write_patch,
)
from tui.bridge.rehearsal.scripts import FileRegion, Script, load_scripts
from tui.core.document.workspace import Workspace
from tui.core.edit_stream import Channel
from tui.core.files import FileRead, file_block
from tui.core.instructions import PatchFormat, PatchTool, instruction_parts, tools
from tui.core.patches.landing import Landing

TOOLS: tuple[PatchTool, ...] = get_args(PatchTool)


def played(script: Script, tool: PatchTool, form: PatchFormat) -> list[AnswerPart]:
    """The answer to an exercise, as our own request asks for it."""
    files = fresh_files()
    request: dict[str, Any] = {
        "instructions": "\n".join(
            instruction_parts(
                sorted(files), {"AGENTS.md": "Use tabs in unified diffs."}, tool, form
            ).values()
        ),
        "tools": tools(tool, form),
    }
    quoted = "\n".join(file_block(p, files[p], state="open") for p in script.paths if p in files)
    return answer(request, [user(quoted), user(script.prompt)], AnswerStyle(deep=True))


def landing_of(
    files: dict[str, str], text: str, channel: Channel, form: PatchFormat, size: int
) -> Landing:
    def read(path: str) -> FileRead:
        return FileRead(files[path].encode() if path in files else None)

    landing = Landing(Workspace(read), turn=1, call_id="c", channel=channel, fmt=form)
    for at in range(0, len(text), size):
        landing.feed(text[at : at + size])
        landing.tail()
    landing.finish(cut=False)
    return landing


@pytest.mark.slow
@each("size", [7])
@each("tool", TOOLS)
@each("form", get_args(PatchFormat))
@each("script", load_scripts())
def test_every_exercise_lands_in_every_format_on_every_channel(
    script: Script, form: PatchFormat, tool: PatchTool, size: int
) -> None:
    parts = played(script, tool, form)
    if tool == "text":
        text = "".join(part.text for part in parts if isinstance(part, TextPart))
    else:
        (call,) = [part for part in parts if isinstance(part, CallPart)]
        assert call.custom == (tool == "custom")
        text = call.text
    landing = landing_of(fresh_files(), text, tool, form if form != "auto" else "auto", size)
    assert landing.placed_all, landing.report()
    for region, state in zip(script.regions, script.versions["solution"].states, strict=True):
        now = landing.workspace.buffers[region.path].text()
        assert region.states[state].strip("\n") in now
    assert after_patch([landing.report()]).startswith("Done.")
    if tool == "text":
        said = "".join(landing.prose)
        assert "<<<<<<<" not in said
        assert "@@" not in said


def test_a_whole_file_with_a_fence_in_it_has_a_longer_one_around() -> None:
    plan = FilePlan("a.md", "x\n````\ny\n````\n", [WrittenChange(0, 1, ("z",))])
    assert write_patch([plan], "whole_file").splitlines()[:2] == ["a.md", "`" * 5]


REGION = FileRegion("a.py", "the value", {"original": "x = 1\n", "better": "x = 1\ny = 2\n"})


def test_a_state_that_holds_the_original_is_told_from_it() -> None:
    plan = plan_file("a.py", "x = 1\ny = 2\n", [(REGION, "better")])
    assert plan.changes == []
    assert plan.found == {"better"}
    assert write_patch([plan]) == ""
    back = plan_file("a.py", "x = 1\ny = 2\n", [(REGION, "original")])
    assert apply_patch({"a.py": "x = 1\ny = 2\n"}, write_patch([back])) == {"a.py": "x = 1\n"}
