"""The file tree on the screen: keys, mouse, filter, git's letters, where it lies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from tests.support.scripted_app import running, settled
from tests.support.scripted_session import FILES, ScriptedSession
from tui.core.files import summed
from tui.engine.notices import Notices
from tui.ui.app import DuettoApp
from tui.ui.file_search import SLICE
from tui.ui.files.file_tree import FileTree
from tui.ui.files.finder import FileFinder, FoundList

WIDE, ROOMY, NARROW = (170, 40), (120, 36), (80, 24)


class Seat:
    """A person at the tree."""

    def __init__(self, app: DuettoApp, pilot: Pilot[int], session: ScriptedSession) -> None:
        self.app = app
        self.pilot = pilot
        self.session = session

    @property
    def tree(self) -> FileTree:
        found = self.app.bench.editor.dock.tree
        assert found is not None
        return found

    @property
    def seen(self) -> bool:
        return bool(self.tree.region)

    @property
    def rows(self) -> list[str]:
        return [self.line(y) for y in range(1, self.tree.size.height) if self.line(y)]

    @property
    def header(self) -> str:
        return self.line(0)

    @property
    def lit(self) -> str:
        return self.tree.list.chosen.path if self.tree.list.chosen is not None else ""

    def line(self, y: int) -> str:
        return self.tree.render_line(y).text[:-1].rstrip()

    def is_at(self, widget: object) -> bool:
        """The focus is there."""
        return self.app.focused is widget

    async def open(self, path: str) -> None:
        self.session.open(path)
        await settled(self.session, self.pilot)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await settled(self.session, self.pilot)


@asynccontextmanager
async def seat(
    size: tuple[int, int] = WIDE, files: dict[str, str] | None = None
) -> AsyncIterator[Seat]:
    session = ScriptedSession(files)
    async with running(session, size) as (app, pilot):
        yield Seat(app, pilot, session)


async def test_it_shows_folders_first_and_opens_them() -> None:
    async with seat() as s:
        await s.press("f4")
        assert s.is_at(s.tree)
        assert s.rows == [" ▸ ledger", " ▸ tests", "   README.md"]
        await s.press("right")
        assert s.rows == [" ▾ ledger", "     cache.py", " ▸ tests", "   README.md"]
        await s.press("right", "left", "left")
        assert s.rows == [" ▸ ledger", " ▸ tests", "   README.md"]
        await s.press("enter", "end")
        assert s.lit == "README.md"
        await s.press("home", "enter")
        assert s.rows == [" ▸ ledger", " ▸ tests", "   README.md"]


async def test_what_is_no_text_says_what_it_is() -> None:
    files = {"a.py": "", "boat.png": "", "pictures-of-the-whole-house.tar": ""}
    async with seat(files=files) as s:
        await s.press("f4")
        assert s.rows[0] == "   a.py"
        assert s.rows[1].split() == ["boat.png", "PNG", "image,", "34.1", "kB"]
        assert s.rows[2].startswith("   pictures-of-the-wh")
        await s.press("ctrl+o", *"boat")
        shown = s.app.screen.query_one(FoundList).render_line(0).text
        assert shown.split() == ["▸", "boat.png", "PNG", "image,", "34.1", "kB"]


async def test_an_arrow_while_files_are_looked_for_moves_in_those_that_fit() -> None:
    async with seat(files={f"unit_{n}.py": "" for n in range(3 * SLICE)}) as s:
        await s.press("ctrl+o", *"unit_2")
        finder = s.app.screen
        assert isinstance(finder, FileFinder)
        finder.look_for("unit_29")
        finder.action_step(1)
        await settled(s.session, s.pilot)
        found = finder.query_one(FoundList)
        assert found.chosen is found._items[1]
        assert found.chosen.path.startswith("unit_29")


async def test_letters_filter_and_escape_goes_back_step_by_step() -> None:
    async with seat() as s:
        await s.open("README.md")
        await s.press("f4", *"cac")
        assert s.header.startswith(" ⌕ cac▏")
        assert s.header.endswith("2 files")
        assert s.rows == [" ▾ ledger", "     cache.py", " ▾ tests", "     test_cache.py"]
        assert s.lit == "ledger/cache.py"
        await s.press(*"zz")
        assert s.rows == []
        assert s.header.endswith("no files")
        await s.press("backspace", "backspace")
        assert s.lit == "ledger/cache.py"
        await s.press("escape")
        assert s.is_at(s.tree)
        assert s.lit == "ledger/cache.py"
        assert s.rows[:2] == [" ▾ ledger", "     cache.py"]
        await s.press("escape")
        assert s.is_at(s.app.bench.editor.editor)
        assert s.seen


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "over"), [(WIDE, False), (ROOMY, False), (NARROW, False), ((56, 20), True)]
)
async def test_it_lies_over_an_editor_that_has_no_room_beside_it(
    size: tuple[int, int], over: bool
) -> None:
    async with seat(size) as s:
        await s.open("README.md")
        await s.press("f4")
        pane = s.app.bench.editor
        assert pane.dock.is_over is over
        left = s.tree.region.x if over else s.tree.region.right
        assert pane.editor.region.x == left
        assert s.tree.region.bottom == pane.editor.region.bottom
        await s.press("end", "enter")
        assert s.seen is not over


async def test_git_says_what_changed() -> None:
    async with seat() as s:
        s.session.folders.states = summed(
            {"ledger/cache.py": "M", "README.md": "?", "tests/gone.py": "D"}
        )
        await s.press("f4", "right")
        assert [row.split() for row in s.rows] == [
            ["▾", "ledger", "•"],
            ["cache.py", "M"],
            ["▸", "tests", "•"],
            ["README.md", "?"],
        ]
        s.session.folders.states = summed({"README.md": "A"})
        s.tree.sync(Notices(git=True))
        assert [row.split()[-1] for row in s.rows] == ["ledger", "cache.py", "tests", "A"]


async def test_files_that_come_and_go_are_shown_without_asking() -> None:
    async with seat(files=dict(FILES)) as s:
        await s.press("f4", "right", "end")
        asked = len(s.session.folders.asked)
        s.session.files["ledger/new.py"] = ""
        s.session.state.folders_changed({"ledger"})
        await settled(s.session, s.pilot)
        assert s.rows[:3] == [" ▾ ledger", "     cache.py", "     new.py"]
        assert s.lit == "README.md"
        assert s.session.folders.asked[asked:] == ["ledger"]
        s.session.state.folders_changed({"tests"})
        await settled(s.session, s.pilot)
        assert s.session.folders.asked[asked:] == ["ledger"]


async def test_names_come_to_the_screen_inert() -> None:
    async with seat(files={"a\x1b[31m.py": "", "[red]b.py": "", "ü\u202e.py": ""}) as s:
        await s.press("f4")
        assert s.rows == ["   [red]b.py", "   a␛[31m.py", "   ü\ufffd.py"]


async def test_a_slow_disk_does_not_hold_the_keys_up() -> None:
    async with seat() as s:
        s.session.folders.hold = asyncio.Event()
        await s.pilot.press("f4")
        await s.pilot.press("r", "e", "a")
        assert s.rows == ["   README.md"]
        s.session.folders.hold.set()
        await s.press("escape")
        assert s.lit == "README.md"
        assert len(s.rows) == 3


async def test_a_change_on_the_disk_leaves_the_found_file_lit() -> None:
    async with seat(files={f"src/test_{number:02}.py": "" for number in range(20)}) as s:
        await s.press("f4", *"test", *["down"] * 5)
        lit = s.lit
        assert lit == "src/test_05.py"
        s.session.files["src/a_test.py"] = ""
        s.session.state.folders_changed({"src"})
        await settled(s.session, s.pilot)
        assert " ".join(s.rows).count("a_test.py") == 1
        assert s.lit == lit
        await s.press("enter")
        assert s.app.bench.editor.files.active == lit
