from __future__ import annotations

from tui.core.files import summed


def test_an_untracked_folder_stands_for_all_that_it_holds() -> None:
    states = summed({"new": "?", "old/x.py": "M"})
    assert states.of("new/deep/x.py") == "?"
    assert states.of("new") == "?"
    assert states.of("newer/x.py") is None
    assert states.of("old/y.py") is None
