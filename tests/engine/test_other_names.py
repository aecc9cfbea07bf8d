"""One file under two names is one buffer: links, folders that are links, names in other letters."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.fakes import World
from tests.support.patches import Disk, patch
from tui.core.document.hunk import Decision, Stage
from tui.core.files import FileRead
from tui.core.patches.landing import Landing
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.engine import intents
from tui.engine.session import Session, SessionOptions

TEXT = "one\ntwo\nthree\nfour\nfive\n"
NAMES = ["link.py", "./real.py", "sub/../real.py", "away/real.py", "sub/up/link.py"]
"""Of real.py, beside its own; ``away`` and ``sub/up`` are links to the workspace's folder."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "real.py").write_text(TEXT)
    (tmp_path / "sub").mkdir()
    (tmp_path / "link.py").symlink_to("real.py")
    (tmp_path / "away").symlink_to(".")
    (tmp_path / "sub" / "up").symlink_to("..")
    return tmp_path


def session_in(root: Path) -> Session:
    world = World({})
    world.ports.files = Files(str(root), Listing(str(root)))
    return Session(world.ports, world.roles, SessionOptions(ask=True))


def land(session: Session, *lines: str) -> Landing:
    landing = Landing(session.workspace, turn=1, call_id="c")
    landing.feed("\n".join(["*** Begin Patch", *lines, "*** End Patch", ""]))
    landing.finish(cut=False)
    return landing


def update(path: str, *lines: str) -> list[str]:
    return [f"*** Update File: {path}", "@@", *lines]


@pytest.mark.case("H02")
@pytest.mark.parametrize("name", NAMES)
def test_h02_an_edit_under_another_name_is_in_the_open_buffer(root: Path, name: str) -> None:
    session = session_in(root)
    workspace = session.workspace
    session.submit(intents.OpenFile("real.py"))
    workspace.edit("real.py", (0, 0), (0, 0), "MINE ")
    landing = land(session, *update(name, " four", "-five", "+FIVE"))
    assert list(workspace.buffers) == ["real.py"]
    assert workspace.buffers["real.py"].text() == "MINE " + TEXT.replace("five", "FIVE")
    assert workspace.decorations("real.py", 4, 4) == {4: "pending"}
    said = landing.report()
    assert (f"written as '{name}'" in said) == ("link" in name or "away" in name)
    session.submit(intents.Accept())
    session.submit(intents.SaveFile("real.py"))
    assert (root / "real.py").read_text() == "MINE " + TEXT.replace("five", "FIVE")
    assert (root / "link.py").is_symlink()
    assert not session.workspace.conflicts


@pytest.mark.case("H02")
@pytest.mark.parametrize("name", NAMES)
def test_h02_a_patch_that_has_both_names_is_written_whole(root: Path, name: str) -> None:
    session = session_in(root)
    first, last = update(name, "-one", "+ONE"), update("real.py", "-five", "+FIVE")
    land(session, *first, *last)
    session.submit(intents.Accept())
    wanted = TEXT.replace("one", "ONE").replace("five", "FIVE")
    assert (root / "real.py").read_text() == wanted
    session.submit(intents.UndoTurn())
    assert (root / "real.py").read_text() == TEXT


@pytest.mark.case("H02")
def test_h02_a_tab_under_another_name_is_the_same_tab(root: Path) -> None:
    session = session_in(root)
    for name in ("real.py", *NAMES):
        session.submit(intents.OpenFile(name))
    assert session.status.open_paths == ["real.py"]
    assert session.workspace.documents.quotable("link.py") is session.workspace.buffers["real.py"]


@pytest.mark.case("H02")
def test_h02_two_calls_under_two_names_come_one_after_the_other(root: Path) -> None:
    session = session_in(root)
    one, other = (Landing(session.workspace, turn=1, call_id=name) for name in "ab")
    one.feed("*** Begin Patch\n*** Update File: link.py\n@@\n-one\n+ONE\n")
    other.feed("*** Begin Patch\n*** Update File: real.py\n@@\n-five\n+FIVE\n*** End Patch\n")
    assert session.workspace.documents.busy == {"real.py": one}
    one.feed("*** End Patch\n")
    one.finish(cut=False)
    other.finish(cut=False)
    wanted = TEXT.replace("one", "ONE").replace("five", "FIVE")
    assert session.workspace.buffers["real.py"].text() == wanted


@pytest.mark.parametrize(
    ("lines", "done"),
    [
        (["*** Delete File: link.py"], "deleted"),
        (["*** Update File: link.py", "*** Move to: new.py"], "moved"),
    ],
)
def test_a_link_is_not_taken_for_its_file_where_the_name_goes(
    root: Path, lines: list[str], done: str
) -> None:
    session = session_in(root)
    (hunk,) = land(session, *lines).hunks
    assert hunk.stage is Stage.REFUSED
    assert f"'link.py' is a symlink, which is not {done}" in hunk.reason
    session.submit(intents.Accept())
    assert hunk.decision is Decision.PENDING
    assert (root / "link.py").read_text() == TEXT
    (hunk,) = land(session, "*** Delete File: away/real.py").hunks
    assert (hunk.path, hunk.stage) == ("real.py", Stage.LANDED)


def test_a_new_file_in_a_folder_that_is_a_link_has_one_name(root: Path) -> None:
    session = session_in(root)
    land(session, "*** Add File: away/new.py", "+x", *update("new.py", "-x", "+y"))
    assert list(session.workspace.buffers) == ["new.py"]
    session.submit(intents.Accept())
    assert (root / "new.py").read_text() == "y\n"


@pytest.mark.case("H09")
def test_h09_names_that_differ_in_case_are_one_file_where_the_volume_says_so() -> None:
    class OneVolume(Disk):
        """Takes names for the same if only their letters' case differs."""

        same = True

        def read(self, path: str) -> FileRead:
            number = 7 if self.same else hash(path)
            return replace(super().read(path.lower()), place=(1, number))

    for same in (True, False):
        volume = OneVolume({"src/a.txt": TEXT.encode()})
        volume.same = same
        volume.land(patch("@@", "-one", "+ONE", file="src/a.txt"))
        volume.land(patch("@@", "-five", "+FIVE", file="Src/a.txt"))
        assert len(volume.workspace.buffers) == (1 if same else 2)
