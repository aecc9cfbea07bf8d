from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tui.core.files import FolderEntry, summed
from tui.ui.files.tree_rows import MOST_FOUND, MOST_IN_FOLDER, PathIndex, Tree

ROOT = [
    FolderEntry("build", "folder", ignored=True),
    FolderEntry("pkg", "folder"),
    FolderEntry(".env", ignored=True),
    FolderEntry("a.py"),
]


def tree(root: Sequence[FolderEntry] = ROOT) -> Tree:
    made = Tree()
    assert made.wanted() == [""]
    made.loaded({"": root})
    return made


def shown(made: Tree) -> list[str]:
    return ["  " * row.depth + row.name for row in made.rows]


def test_what_is_ignored_is_shown_on_demand_and_dimmed() -> None:
    made = tree()
    assert shown(made) == ["pkg", "a.py"]
    made.show_all(True)
    assert [(row.name, row.ignored) for row in made.rows] == [
        ("build", True),
        ("pkg", False),
        (".env", True),
        ("a.py", False),
    ]
    made.open("build")
    made.loaded({"build": [FolderEntry("out.o")]})
    assert [row.ignored for row in made.rows if row.name == "out.o"] == [True]


def test_a_folder_that_cannot_be_listed_says_why() -> None:
    made = tree()
    made.open("pkg")
    made.loaded({"pkg": "permission denied"})
    assert shown(made) == ["pkg", "  permission denied", "a.py"]
    assert made.rows[1].kind == "note"
    made.forget(["pkg"])
    assert made.wanted() == ["pkg"]
    made.loaded({"pkg": [FolderEntry("b.py")]})
    assert shown(made) == ["pkg", "  b.py", "a.py"]


def test_files_that_the_disk_misses_have_a_row() -> None:
    made = tree()
    made.take(summed({"gone.py": "D", "pkg/also.py": "D", "lost/x.py": "D"}))
    assert shown(made) == ["pkg", "a.py", "gone.py"]
    made.open("pkg")
    made.loaded({"pkg": []})
    assert shown(made) == ["pkg", "  also.py", "a.py", "gone.py"]
    made.take(summed({}))
    assert shown(made) == ["pkg", "  empty", "a.py"]


def test_a_crowded_folder_shows_a_part_and_says_so() -> None:
    made = tree([FolderEntry(f"f{n:06}.py") for n in range(MOST_IN_FOLDER + 1500)])
    assert len(made.rows) == MOST_IN_FOLDER + 1
    assert made.rows[-1].name == "1,500 more: type letters of the name"
    assert len(list(made.crowded())) == MOST_IN_FOLDER + 1500


names = st.sampled_from("abcd")
actions = st.lists(st.tuples(st.sampled_from(("open", "close", "list")), names, names), max_size=25)


@given(actions)
def test_the_rows_are_those_of_a_tree_built_anew(steps: list[tuple[str, str, str]]) -> None:
    made = Tree()
    made.loaded({"": [FolderEntry(name, "folder") for name in "ab"]})
    for action, first, second in steps:
        path = first if first == second else f"{first}/{second}"
        if action == "open":
            made.open(path)
        elif action == "close":
            made.close(path)
        else:
            made.loaded({first: [FolderEntry(second, "folder"), FolderEntry("x.py")]})
        rows = list(made.rows)
        made.rebuild()
        assert rows == made.rows


def test_the_count_is_bounded() -> None:
    assert len(PathIndex([f"f{n}.py" for n in range(5000)]).find("py")) == MOST_FOUND
    assert PathIndex([]).find("x") == []
