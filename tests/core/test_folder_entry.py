from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui.core.folder_entry import GitState, GitStates, summed


def test_a_folder_has_the_strongest_state_below_it() -> None:
    states = summed({"a/b/x.py": "?", "a/y.py": "M", "c.py": "A", "d/e.py": "U", "d/f.py": "D"})
    assert states.folders == {"": "U", "a": "M", "a/b": "?", "d": "U"}
    assert states.of("a/y.py") == "M"
    assert states.of("a") == "M"
    assert states.of("a/z.py") is None


def test_an_untracked_folder_stands_for_all_that_it_holds() -> None:
    states = summed({"new": "?", "old/x.py": "M"})
    assert states.of("new/deep/x.py") == "?"
    assert states.of("new") == "?"
    assert states.of("newer/x.py") is None
    assert states.of("old/y.py") is None


def test_nothing_said_is_nothing_shown() -> None:
    assert GitStates().of("a/b/c.py") is None


paths = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join)
letters: st.SearchStrategy[GitState] = st.sampled_from(("U", "D", "M", "A", "?"))


@given(st.dictionaries(paths, letters, max_size=8))
def test_every_folder_above_a_state_has_one(files: dict[str, GitState]) -> None:
    states = summed(files)
    order = "?AMDU"
    for path, state in files.items():
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            assert order.index(states.folders[folder]) >= order.index(state)
    assert set(states.folders) == {
        "/".join(path.split("/")[:count]) for path in files for count in range(path.count("/") + 1)
    }
