"""Skills are found where the tools keep them; no link of a workspace leads out of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tui.core.project_words import SkillFile
from tui.effects.project_folders import ProjectFolders

TEXT = "---\nname: {0}\ndescription: about {0}\n---\n"


class Place:
    """A workspace, a home, and what lies beside them."""

    def __init__(self, tmp_path: Path) -> None:
        self.root, self.home, self.own = tmp_path / "work", tmp_path / "home", tmp_path / "own"
        for folder in (self.root, self.home, self.own):
            folder.mkdir()
        self.folders = ProjectFolders(self.root, self.own, {"HOME": str(self.home)})

    def skill(self, folder: Path, text: str = "") -> Path:
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(text or TEXT.format(folder.name))
        return folder

    def found(self) -> dict[str, SkillFile]:
        return {Path(file.path).parent.name: file for file in self.folders.skills()}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_they_are_found_where_the_tools_keep_them(place: Place) -> None:
    for n, folder in enumerate(
        (".agents/skills", ".claude/skills", ".codex/skills", ".opencode/skills")
    ):
        place.skill(place.root / folder / f"w{n}")
    place.skill(place.root / ".agents/skills/group/deep")
    place.skill(place.own / "skills/mine")
    for n, folder in enumerate((".agents", ".claude", ".codex", ".config/opencode")):
        place.skill(place.home / folder / "skills" / f"h{n}")
    found = place.found()
    assert list(found) == ["w0", "deep", "w1", "w2", "w3", "mine", "h0", "h1", "h2", "h3"]
    assert found["w0"].path == ".agents/skills/w0/SKILL.md"
    assert not found["w0"].own
    assert found["mine"].own
    (place.home / ".claude/skills/h1/SKILL.md").write_text("another text, longer than before")
    assert place.found()["h1"].head.startswith(b"another")


def test_no_link_of_a_workspace_leads_out_and_none_goes_round(place: Place) -> None:
    skills, outside = place.root / ".agents/skills", place.home / ".agents/skills"
    place.skill(outside / "secret")
    place.skill(skills / "good")
    (skills / "out").symlink_to(outside / "secret")
    (skills / "alias").symlink_to(skills / "good")
    (skills / "round").symlink_to(skills)
    (skills / "self").symlink_to("self")
    (place.root / ".claude").mkdir()
    (place.root / ".claude/skills").symlink_to(outside)
    (skills / "file").mkdir()
    (skills / "file/SKILL.md").symlink_to(outside / "secret/SKILL.md")
    (skills / "loop").mkdir()
    (skills / "loop/SKILL.md").symlink_to("SKILL.md")
    (skills / "pipe").mkdir()
    os.mkfifo(skills / "pipe/SKILL.md")
    found = {Path(f.path).parent.name: f for f in place.folders.skills() if not f.own}
    assert sorted(found) == ["alias", "file", "loop", "out", "pipe"], "good was met under its alias"
    assert [name for name, file in found.items() if file.head] == ["alias"]
    assert all(file.problem for name, file in found.items() if name != "alias")


def test_the_users_own_are_read_within_their_folders(place: Place) -> None:
    folder = place.skill(place.home / ".agents/skills/pdf")
    (folder / "docs").mkdir()
    (folder / "docs/a.md").write_text("A")
    (folder / "out.md").symlink_to(place.home / "secret")
    (place.home / "secret").write_text("S")
    (file,) = place.folders.skills()
    read = place.folders.read
    assert read(file, "docs/a.md").data == b"A"
    assert (read(file, "").data or b"").startswith(b"---")
    for path in ("../../../secret", "out.md", "/etc/passwd", "docs", "x\0y"):
        assert read(file, path).data is None, path
    assert place.folders.rules()[1].data is None
    (place.own / "AGENTS.md").write_text("mine")
    assert place.folders.rules() == (f"{place.own}/AGENTS.md", place.folders.rules()[1])
    assert place.folders.rules()[1].data == b"mine"
