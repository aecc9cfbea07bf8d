from __future__ import annotations

from tests.support.strict_patch import apply_patch
from tui.bridge.rehearsal.patches import plan_file, write_patch
from tui.bridge.rehearsal.scripts import FileRegion

REGION = FileRegion("a.py", "the value", {"original": "x = 1\n", "better": "x = 1\ny = 2\n"})


def test_a_state_that_holds_the_original_is_told_from_it() -> None:
    plan = plan_file("a.py", "x = 1\ny = 2\n", [(REGION, "better")])
    assert plan.changes == []
    assert plan.found == {"better"}
    assert write_patch([plan]) == ""
    back = plan_file("a.py", "x = 1\ny = 2\n", [(REGION, "original")])
    assert apply_patch({"a.py": "x = 1\ny = 2\n"}, write_patch([back])) == {"a.py": "x = 1\n"}


def test_a_text_that_is_gone_or_there_twice_is_lost() -> None:
    assert plan_file("a.py", "x = 3\n", [(REGION, "better")]).lost == [REGION]
    assert plan_file("a.py", "x = 1\nx = 1\n", [(REGION, "better")]).lost == [REGION]
