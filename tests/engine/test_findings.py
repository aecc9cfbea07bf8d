"""What a model found, as it may write it."""

from __future__ import annotations

from tests.support.effort import lines_run
from tests.support.tables import each
from tui.engine.noting import findings, meant, numbered_diff

SAID = [
    ("src/a.py:12: error: it is closed twice", ("src/a.py", 12, "error", "it is closed twice")),
    ("- **src/a.py:12: warning:** slow", ("src/a.py", 12, "warning", "slow")),
    ("1. `src/a.py:12`: hint: say why", ("src/a.py", 12, "hint", "say why")),
    ("* src/a.py:12-15: Critical - lost", ("src/a.py", 12, "error", "lost")),
    ("src/a.py:12:5: [minor] typo", ("src/a.py", 12, "hint", "typo")),
    ("src/a.py:L12: no severity here", ("src/a.py", 12, "warning", "no severity here")),
    ("src/a.py, line 12: error: gone", ("src/a.py", 12, "error", "gone")),
    ("`src/a.py` (line 12): **bug**: gone", ("src/a.py", 12, "error", "gone")),
    ("src/a.py#L12: nit: x", ("src/a.py", 12, "hint", "x")),
    ("Makefile:3: error: tab", ("Makefile", 3, "error", "tab")),
]


@each("said, found", SAID)
def test_a_finding_is_read_however_it_is_decorated(said: str, found: tuple[object, ...]) -> None:
    assert findings(said) == [found]


@each("said", ["All is well.", "at 12 noon", "see 3: x", "", "Nothing: 12", "a.py:0x"])
def test_prose_is_no_finding(said: str) -> None:
    assert findings(said) == []


def test_indented_lines_go_on_and_the_same_is_said_once() -> None:
    (one,) = findings("a.py:1: error: it\n  goes on\n\n  not here\na.py:1: error: it goes on")
    assert one.text == "it goes on"


@each(
    "said, path",
    [("a.py", "src/a.py"), ("./src/a.py", "src/a.py"), ("b/src/a.py", "src/a.py"),
     ("c.py", ""), ("gone.py", ""), ("/home/me/w/src/a.py", "src/a.py")],
)  # fmt: skip
def test_which_file_is_meant(said: str, path: str) -> None:
    assert meant(said, ["src/a.py", "x/c.py", "y/c.py"]) == path


def test_paths_with_blanks_are_known_by_what_was_inspected() -> None:
    answer = "my docs/a b.py:2: error: one\n- `ü n.py:3`: hint: a b.py is meant\nb.py:1: bug: three"
    found = findings(answer, ["my docs/a b.py", "a b.py", "ü n.py", "b.py"])
    assert [(one.path, one.line) for one in found] == [
        ("my docs/a b.py", 2),
        ("ü n.py", 3),
        ("b.py", 1),
    ]
    assert found[1].text == "a b.py is meant"


def test_the_lines_of_a_difference_have_the_numbers_that_they_have_now() -> None:
    old = "".join(f"line {n}\n" for n in range(1, 31))
    new = old.replace("line 3\n", "").replace("line 6\n", "six\nseven\n")
    new = new.replace("line 20\n", "twenty\n")
    said = numbered_diff(old, new, 10_000)
    lines = new.splitlines()
    for row in said.splitlines():
        if row[:5].strip().isdecimal():
            assert lines[int(row[:5]) - 1] == row[7:]
    assert said.count("@@") == 2
    assert said.count("      -line") == 3
    shown = [row for row in said.splitlines() if row[:5].strip().isdecimal()]
    assert len(shown) == len(set(shown))
    assert "read_file" in numbered_diff("", new, 50)


@each("sign", ["*", "`", " ", "]", "-", "a", "1", ":", "(", "a:1", "a.py:1: - "])
def test_no_line_takes_long(sign: str) -> None:
    findings("a.py:1: warm")  # patterns are made at the first one
    runs = lines_run(lambda: findings((sign * 2_000)[:2_000] * 2))
    assert runs < 400
