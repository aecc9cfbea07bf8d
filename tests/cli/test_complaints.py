"""What of the settings is not used is told in one note: file, line and reason of each."""

from __future__ import annotations

from tui.cli.open_app import trouble_with


def test_nothing_wrong_nothing_said() -> None:
    assert trouble_with([]) is None


def test_one_note_tells_all_and_names_each_file_once() -> None:
    told = trouble_with(["/c.toml line 12 asks", "/c.toml line 3: keys.x: none", "odd"])
    assert told is not None
    assert told.noted
    assert told.what == "3 things in your settings are not used"
    assert told.why.splitlines() == [
        "In /c.toml",
        "line 3: keys.x: none",
        "line 12 asks",
        "odd",
    ]


def test_many_are_counted() -> None:
    told = trouble_with([f"/c.toml line {n}: keys.x: none" for n in range(30)])
    assert told is not None
    assert told.why.count("line ") == 9
    assert told.why.endswith("and 21 more")
