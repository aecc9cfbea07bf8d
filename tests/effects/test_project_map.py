"""The process that reads a project for its map: what it reads, keeps and leaves alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tui.core.project_map import Seeds
from tui.effects.project_map import MapOrder
from tui.effects.project_map import __main__ as scanning
from tui.effects.project_map.__main__ import ProjectScan
from tui.effects.project_map.process import MapProcess

CART = "class Cart:\n    def refund_all(self): ...\n"


def written(root: Path, **files: str) -> list[str]:
    for name, text in files.items():
        (root / f"{name}.py").write_text(text)
    return sorted(f"{name}.py" for name in files)


def read(root: Path, paths: list[str], kept: Path | None = None) -> ProjectScan:
    scan = ProjectScan(str(root), kept)
    scan.obey(MapOrder(listed=paths))
    finish(scan)
    return scan


def finish(scan: ProjectScan) -> None:
    while scan.busy:
        scan.step()


def said(scan: ProjectScan, text: str) -> str:
    return scan.map(MapOrder(seeds=Seeds(text), tokens=2000)).text


def test_only_what_changed_is_read_again_also_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    real = scanning.facts_of
    monkeypatch.setattr(
        scanning, "facts_of", lambda path, text: looked.append(path) or real(path, text)
    )
    root, kept = tmp_path / "project", tmp_path / "maps" / "a.map"
    root.mkdir()
    paths = written(root, a=CART, b="x = 1\n")
    scan = read(root, paths, kept)
    assert "refund_all" in said(scan, "refund")
    assert looked == ["a.py", "b.py"]
    (root / "b.py").write_text("def ledger_of(): ...\n")
    scan.obey(MapOrder(changed=[]))
    finish(scan)
    assert "b.py\n  1: def ledger_of" in said(scan, "the ledger")
    assert looked == ["a.py", "b.py", "b.py"]
    scan.keep()
    again = read(root, paths, kept)
    assert "refund_all" in said(again, "refund")
    assert "b.py" in said(again, "the ledger")
    assert looked == ["a.py", "b.py", "b.py"]
    assert kept.stat().st_mode & 0o77 == 0


@pytest.mark.parametrize("damage", [b"", b"\x00" * 40, b"\x92\xa10\x80"])
def test_what_was_kept_and_is_damaged_is_read_anew(tmp_path: Path, damage: bytes) -> None:
    kept = tmp_path / "a.map"
    kept.write_bytes(damage)
    assert "refund_all" in said(read(tmp_path, written(tmp_path, a=CART), kept), "refund")


def test_links_other_names_pipes_and_binaries_are_named_and_not_read(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "outside.py").write_text("class Secret_refund: ...\n")
    (root / "refund_link.py").symlink_to(tmp_path / "outside.py")
    (root / "refund_folder").symlink_to(tmp_path)
    os.link(tmp_path / "outside.py", root / "refund_hard.py")
    os.mkfifo(root / "refund_pipe.py")
    (root / "refund_binary.py").write_bytes(b"class Secret_refund: ...\n\0")
    (root / "refund_loop.py").symlink_to("refund_loop.py")
    names = [
        *(f"refund_{name}.py" for name in ("link", "hard", "pipe", "binary", "loop", "gone")),
        "refund_folder/outside.py",
    ]
    text = said(read(root, names), "refund")
    assert "Secret" not in text
    assert sorted(line for line in text.split("\n")[1:]) == sorted(names)


@pytest.mark.slow
async def test_the_process_draws_while_it_reads_and_ends_with_the_app(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    paths = written(root, a=CART, b="import a\n")
    process = MapProcess(str(root), tmp_path / "maps", dict(os.environ))
    await process.list_files(paths)
    assert "refund_all" in await process.draw(Seeds("refund"), 2000, 60)
    assert "a.py" in await process.draw(Seeds("a.py"), 2000, 0)  # at once
    (root / "a.py").write_text("def exchange(): ...\n")
    await process.change(["a.py"])
    assert "exchange" in await process.draw(Seeds("exchange"), 2000, 60)
    await process.close()
    assert len(list((tmp_path / "maps").iterdir())) == 1
    assert await process.draw(Seeds("refund"), 2000, 60) == ""


@pytest.mark.slow
async def test_a_process_that_breaks_is_no_map_and_no_trouble(tmp_path: Path) -> None:
    process = MapProcess(str(tmp_path), None, {"PATH": "", "PYTHONHOME": str(tmp_path)})
    await process.list_files(["a.py"])
    assert await process.draw(Seeds("a"), 2000, 60) == ""
    await process.close()


async def test_names_and_words_that_are_not_utf_8_leave_the_map_as_it_is(tmp_path: Path) -> None:
    mapper = MapProcess(str(tmp_path), None, dict(os.environ))
    await mapper.list_files(written(tmp_path, a=CART))
    await mapper.change(["caf\udce9.py"])
    await mapper.change(["a.py", "caf\udce9.py"])
    assert "refund_all" in await mapper.draw(Seeds("refund caf\udce9"), 2000, 30.0)
    await mapper.close()


def test_a_file_that_cannot_be_read_is_known_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> bytes:
        raise OSError("input/output error")

    paths = written(tmp_path, refund=CART)
    monkeypatch.setattr(os, "read", fails)
    assert said(read(tmp_path, paths), "refund").endswith("\nrefund.py")
