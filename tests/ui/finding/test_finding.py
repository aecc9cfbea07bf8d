"""The find bar and the outline at work in the editor."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.support import scripted_app
from tests.support.fake_session import FakeSession
from tests.support.tables import each
from tests.ui.editor.test_pane import FILES, count_of, cursor_of, pane, session_of
from tui.core.outline import CHUNK
from tui.core.text.buffer import Buffer
from tui.ui.editor.pane import EditorPane
from tui.ui.editor.view import View
from tui.ui.finding.find import parse_place
from tui.ui.finding.outline import OutlineScreen, file_symbols

LINES = "one two\nTwo twofold\n\nthree two\n"


FILES["find.py"] = LINES


FILES["big.py"] = "value = 1\n" * 20_000 + "needle\n"


def text_of(p: EditorPane) -> str:
    session = p.session
    assert isinstance(session, FakeSession)
    return session.workspace.buffers[p.files.active].text()


def label_of(p: EditorPane) -> str:
    return str(p.find_bar.query_one(".label").render()).strip()


async def until(pilot: Pilot[None], what: str, p: EditorPane) -> None:
    """Wait for a count."""
    await scripted_app.until(pilot, lambda: count_of(p) == what)


async def test_switches() -> None:
    async with pane("find.py") as (p, pilot):
        await pilot.press("ctrl+f", *"two")
        assert count_of(p) == "1 of 4"
        await pilot.press("alt+w")
        assert (count_of(p), label_of(p)) == ("1 of 3", "Find |ab|")
        await pilot.press("alt+c")
        assert (count_of(p), label_of(p)) == ("1 of 2", "Find Aa |ab|")
        await pilot.press("alt+c", "alt+w", "alt+x", "end", ".", "$")
        assert (count_of(p), label_of(p)) == ("not found", "Find .*")
        await pilot.press("backspace", "backspace", "(")
        assert count_of(p) == "not a pattern: missing ), unterminated subpattern at 4"
        await pilot.press("enter", "shift+enter")
        assert text_of(p) == LINES


async def test_replace_one_by_one_and_all() -> None:
    async with pane("find.py") as (p, pilot):
        await pilot.press("ctrl+r", *"two", "tab", *"2")
        assert p.find_bar.query_one("#find-replacement", Input).has_focus
        await pilot.press("enter")
        assert text_of(p) == LINES.replace("two", "2", 1)
        assert count_of(p) == "1 of 3"
        assert cursor_of(p) == (1, 3)
        await pilot.press("alt+enter")
        assert text_of(p) == "one 2\n2 2fold\n\nthree 2\n"
        assert count_of(p) == "3 replaced in 2 lines · Ctrl+Z takes it back"
        await pilot.press("tab", "shift+tab", "ctrl+z")
        assert text_of(p) == LINES.replace("two", "2", 1)
        await pilot.press("ctrl+z")
        assert text_of(p) == LINES
        assert p.find.close()


async def test_in_the_selection() -> None:
    async with pane("find.py") as (p, pilot):
        await pilot.press("down", "shift+down", "shift+down", "ctrl+r", *"two")
        assert label_of(p) == "Find in selection"
        assert count_of(p) == "1 of 2"
        await pilot.press("tab", *"2", "alt+enter")
        assert text_of(p) == "one two\n2 2fold\n\nthree two\n"
        await pilot.press("alt+i")
        assert (label_of(p), count_of(p)) == ("Find", "2 of 2")
        p.find.close()
        await pilot.press("ctrl+f", "alt+i")
        assert (label_of(p), count_of(p)) == ("Find", "select some lines first")


@pytest.mark.slow
async def test_a_long_file_is_searched_while_keys_work() -> None:
    async with pane("big.py") as (p, pilot):
        await pilot.press("ctrl+f", *"needle")
        await until(pilot, "1 of 1", p)
        assert cursor_of(p) == (20_000, 6)
        await pilot.press("ctrl+f", *"value")
        await until(pilot, "1 of 20000", p)
        await pilot.press("ctrl+r", "tab", *"v", "alt+enter")
        await until(pilot, "20,000 replaced in 20,000 lines · Ctrl+Z takes it back", p)
        assert text_of(p) == "v = 1\n" * 20_000 + "needle\n"
        await pilot.press("ctrl+z")
        assert text_of(p) == FILES["big.py"]


@pytest.mark.slow
async def test_all_are_replaced_while_a_model_writes() -> None:
    async with pane("big.py") as (p, pilot):
        await pilot.press("ctrl+r", *"value")
        assert p.editor.view is not None
        p.find._replace_all(p.editor.view, "v")
        assert count_of(p) == "replacing…"
        p.sync(session_of(p).land("big.py", 5, "value = 2\n"))
        await until(pilot, "20,001 replaced in 20,001 lines · Ctrl+Z takes it back", p)
        assert text_of(p) == "v = 1\n" * 5 + "v = 2\n" + "v = 1\n" * 19_995 + "needle\n"


@each(
    "text, place",
    [
        ("12", (11, 0)),
        (" 3:5 ", (2, 4)),
        (":7", (6, 0)),
        ("0", (0, 0)),
        ("", None),
        ("a", None),
        ("3:x", None),
    ],
)
def test_places_are_counted_from_one(text: str, place: tuple[int, int] | None) -> None:
    assert parse_place(text) == place


def names(path: str, text: str) -> list[tuple[str, int]]:
    view = View(Buffer(path, text))
    while view.colours.pending and view.colours.wait_s == 0:
        view.colours.idle(0.05)
    return [(one.name, one.line) for one in file_symbols(view.buffer, view.colours.spans) if one]


@each(
    "path, text, found",
    [
        (
            "a.py",
            'class A:\n    """def no(): pass\n    def no2\n    """\n    async def run(self):\n'
            "        pass\n\ndef f(): ...\nx = 'class B:'\n",
            [("A", 0), ("run", 4), ("f", 7)],
        ),
        (
            "a.ts",
            "export default class A {\n  private async go(x: number): Promise<void> {\n"
            "    if (x) {\n    }\n  }\n}\nexport const f = async (a) => {\n}\nfunction g() {}\n"
            "interface I {}\nfoo(1)\n",
            [("A", 0), ("go", 1), ("f", 6), ("g", 8), ("I", 9)],
        ),
        ("a.go", "func (s *S) Run() {\n}\ntype S struct {\n}\n", [("Run", 0), ("S", 2)]),
        (
            "a.rs",
            "pub struct S;\nimpl S {\n    pub(crate) async fn go() {}\n}\nenum E {}\n",
            [("S", 0), ("S", 1), ("go", 2), ("E", 4)],
        ),
        ("a.md", "# One\n```\n# no\n```\n## Two ##\ntext\n", [("One", 0), ("Two", 4)]),
        ("a.c", "int foo(int a) {\n  bar(a);\n}\nstruct S { int x; };\n", [("foo", 0), ("S", 3)]),
        ("A.java", "class A {\n  void go() {\n    bar();\n  }\n}\n", [("A", 0), ("go", 1)]),
        ("a.rb", "class A\n  def go\n  end\nend\n", [("A", 0), ("go", 1)]),
        ("Makefile", "all: x\n\tcc x\n", [("all", 0)]),
        (
            "a.css",
            ".a, .b {\n  color: red;\n}\n@media print {\n}\n",
            [(".a, .b", 0), ("@media print", 3)],
        ),
        ("a.yaml", "on: x\njobs:\n  test:\n    runs: 1\n", [("on", 0), ("jobs", 1), ("test", 2)]),
        ("a.toml", "[tool.x]\na = 1\n[[y]]\n", [("tool.x", 0), ("y", 2)]),
        ("a.rst", "Title\n=====\n\ntext\n", [("Title", 0)]),
        ("a.hs", "f :: Int -> Int\nf x = x\ng x = x\n", [("f", 0), ("g", 2)]),
        ("a.html", "<body>\n<h1 id=a>Hello</h1>\n", [("Hello", 1)]),
        ("a.sql", "CREATE TABLE IF NOT EXISTS t (\n", [("t", 0)]),
        ("a.unknown", "nothing\n", []),
    ],
)
def test_symbols(path: str, text: str, found: list[tuple[str, int]]) -> None:
    assert names(path, text) == found


async def test_the_editor_moves_along_and_esc_goes_back() -> None:
    async with pane("m.py") as (p, pilot):
        editor = p.editor
        await pilot.press("ctrl+t")
        assert isinstance(p.app.screen, OutlineScreen)
        await pilot.press("down")
        assert editor.view.cursor.position == (41, 4)
        await pilot.press("escape")
        assert editor.view.cursor.position == (0, 0)
        assert editor.view.top == 0
        await pilot.press("ctrl+t", *"thi", "enter")
        assert editor.view.cursor.position == (82, 4)
        assert editor.has_focus
        await pilot.press("ctrl+t")
        screen = p.app.screen
        assert isinstance(screen, OutlineScreen)
        chosen = screen._list.chosen
        assert chosen.name == "third"
        rows = [screen._list.render_line(y).text for y in range(screen._list.size.height)]
        assert any("def third" in row and row.rstrip().endswith("83") for row in rows)
        await pilot.press("escape")


FILES["long.py"] = "".join(f"def one_{number}():\n    pass\n" for number in range(3 * CHUNK))


@pytest.mark.slow
@each("keys, lit", [(["down", "down"], "one_2"), ([*"one_1", "down"], "one_10"), ([], "one_0")])
async def test_the_symbol_that_a_key_lit_stays_lit_while_others_are_found(
    keys: list[str], lit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.ui.finding.outline._SLICE_S", 0.0)
    monkeypatch.setattr("tui.ui.finding.outline._PAUSE_S", 3600.0)
    async with pane("long.py") as (p, pilot):
        await pilot.press("ctrl+t")
        screen = p.app.screen
        assert isinstance(screen, OutlineScreen)
        screen._collect()
        await pilot.press("x", "backspace", *keys)
        assert 0 < len(screen._all) < CHUNK
        for _ in range(9):
            screen._collect()
        assert len(screen._all) == 3 * CHUNK
        assert screen._list.chosen.name == lit
        await pilot.press("enter")
        assert p.editor.view.buffer.lines[p.editor.view.cursor.position[0]] == f"def {lit}():"
