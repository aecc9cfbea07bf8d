"""Symbols of many languages, in slices; the list beside the editor."""

from __future__ import annotations

import time

import pytest

from tests.ui.editor.test_pane import cursor_of, pane, session_of
from tui.core.text.buffer import Buffer
from tui.engine.notices import Notices
from tui.ui.editor.view import View
from tui.ui.finding.outline import Symbol, needs_colours, ranked, symbols
from tui.ui.finding.outline_screen import OutlineScreen


def names(path: str, text: str) -> list[tuple[str, int]]:
    view = View(Buffer(path, text))
    while view.colours.pending and view.colours.wait_s == 0:
        view.colours.idle(0.05)
    return [(one.name, one.line) for one in symbols(view.buffer, view.colours.spans) if one]


@pytest.mark.parametrize(
    ("path", "text", "found"),
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


def test_most_files_need_no_colours() -> None:
    assert not needs_colours("a/b.py")
    assert needs_colours("a/b.java")


def test_the_best_fit_comes_first() -> None:
    found = [Symbol(name, at, 0, 0) for at, name in enumerate(("run_all", "arun", "r_u_n", "x"))]
    assert [one.name for one in ranked("run", found)] == ["run_all", "arun", "r_u_n"]
    assert ranked(" ", found) == found
    assert ranked("zz", found) == []


def test_a_long_file_is_scanned_in_slices() -> None:
    buffer = Buffer("a.py", "def f():\n    pass\n" * 25_000)
    slices, started = [], time.process_time()
    for symbol in symbols(buffer, lambda line: ()):
        if symbol is None:
            slices.append(time.process_time() - started)
            started = time.process_time()
    assert sorted(slices)[int(len(slices) * 0.99)] < 0.004


async def test_the_editor_moves_along_and_esc_goes_back() -> None:
    async with pane("m.py") as (p, pilot):
        editor = p.editor
        assert editor.view is not None
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
        assert chosen is not None
        assert chosen.name == "third"
        rows = [screen._list.render_line(y).text for y in range(screen._list.size.height)]
        assert any("def third" in row and row.rstrip().endswith("83") for row in rows)
        await pilot.press("escape")


async def test_a_file_without_symbols_says_so() -> None:
    async with pane("c/main.py") as (p, pilot):
        await pilot.press("ctrl+t")
        words = str(p.app.screen.query_one("#outline-count").render())
        assert words == "this file has no symbols that duetto knows · Esc leaves"
        await pilot.press("enter", "escape")
        assert p.editor.has_focus


async def test_it_is_the_list_of_its_file_whatever_comes_behind_it() -> None:
    async with pane("m.py") as (p, pilot):
        notices = Notices()
        notices.landing = ("c/main.py", 0)
        p.editor.following = True
        session_of(p).workspace.open("c/main.py")
        await pilot.press("ctrl+t")
        p.sync(notices)
        assert p.active == "m.py"
        await pilot.press("escape")
        assert p.editor.following
        await pilot.press("ctrl+t")
        p.choose("c/main.py")  # the engine asks for it: an edit needs to be seen
        await pilot.press("down", *"thi")
        assert (p.active, cursor_of(p)) == ("c/main.py", (0, 0))
        await pilot.press("enter")
        assert (p.active, cursor_of(p)) == ("m.py", (82, 4))


async def test_lines_that_come_above_a_symbol_while_the_list_is_open_move_it() -> None:
    async with pane("m.py") as (p, pilot):
        await pilot.press("ctrl+t", *"thi")
        session_of(p).workspace.write("m.py", (0, 0), (0, 0), "# one\n# two\n")
        session_of(p).workspace.write("m.py", (84, 0), (84, 0), "# three\n")
        await pilot.press("enter")
        assert cursor_of(p) == (85, 4)
        assert p.editor.view is not None
        assert "def third" in p.editor.view.buffer.lines[85]
