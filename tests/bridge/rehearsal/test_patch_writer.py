from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.strict_patch import apply_patch
from tui.bridge.rehearsal.notations import write_patch
from tui.bridge.rehearsal.patch_writer import Change, FilePlan, plan_file
from tui.bridge.rehearsal.script import Region

REGION = Region("a.py", "the value", {"original": "x = 1\n", "better": "x = 1\ny = 2\n"})


def test_context_is_three_lines_on_each_side() -> None:
    text = "".join(f"line {n}\n" for n in range(9)) + "x = 1\n" + "last\n"
    plan = plan_file("a.py", text, [(REGION, "better")])
    assert write_patch([plan]) == (
        "*** Begin Patch\n*** Update File: a.py\n@@\n line 7\n line 8\n x = 1\n+y = 2\n last\n"
        "*** End Patch\n"
    )


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


def test_a_new_file_is_added() -> None:
    region = Region("new.py", "the module", {"original": "", "made": "a\n\nb\n"})
    patch = write_patch([plan_file("new.py", None, [(region, "made")])])
    assert patch == "*** Begin Patch\n*** Add File: new.py\n+a\n+\n+b\n*** End Patch\n"


def test_carriage_returns_do_not_hide_a_region() -> None:
    plan = plan_file("a.py", "top\r\nx = 1\r\n", [(REGION, "better")])
    assert "\r" not in write_patch([plan])
    assert plan.lost == []


@given(
    st.lists(st.sampled_from(["a", "b", "", "  c"]), max_size=30),
    st.lists(st.tuples(st.integers(0, 29), st.integers(0, 3), st.integers(0, 3)), max_size=4),
)
def test_any_changes_arrive_as_planned(
    lines: list[str], wanted: list[tuple[int, int, int]]
) -> None:
    # Unique lines, as in the exercises: repeated ones may have no unique context at all.
    old = [f"{line} {number}" for number, line in enumerate(lines)]
    changes, done = [], 0
    for first, removed, added in sorted(wanted):
        if done <= first <= len(old) and first + removed <= len(old) and removed + added:
            changes.append(Change(first, removed, tuple(f"+{first}.{n}" for n in range(added))))
            done = first + removed + 1
    new, at = [], 0
    for change in changes:
        new += [*old[at : change.first], *change.added]
        at = change.first + change.removed
    new += old[at:]
    text = "".join(line + "\n" for line in old)
    patch = write_patch([FilePlan("a", text, changes)])
    if not changes:
        assert patch == ""
    else:
        assert apply_patch({"a": text}, patch) == {"a": "".join(line + "\n" for line in new)}
