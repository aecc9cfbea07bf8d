"""The edit scenarios of tests/corpus: an input tree, a patch, the tree that must come out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

CORPUS = Path(__file__).parent.parent / "corpus" / "scenarios"

Tree = dict[str, bytes]
"""Path -> bytes; a symlink is its target behind `LINK`."""
LINK = b"symlink to "


@dataclass(frozen=True)
class Scenario:
    """One folder of the corpus."""

    folder: Path

    def __str__(self) -> str:
        return f"{self.folder.parent.name}/{self.folder.name}"

    @cached_property
    def patch(self) -> str:
        """The stream, as it came."""
        return (self.folder / "patch.txt").read_bytes().decode()

    @cached_property
    def error(self) -> str:
        """A part of the reason that must be told; empty if all is well."""
        file = self.folder / "error.txt"
        return file.read_text("utf-8").strip() if file.exists() else ""

    @cached_property
    def meta(self) -> dict[str, object]:
        """Source, whether the stream is cut, what peers do."""
        found: dict[str, object] = json.loads((self.folder / "meta.json").read_text("utf-8"))
        return found

    @property
    def cut(self) -> bool:
        """The stream stopped behind the patch."""
        return bool(self.meta["cut"])

    def expected(self) -> Tree:
        """The tree that must come out."""
        return self.tree("expected")

    def make(self, root: Path) -> Tree:
        """Write the input tree into an empty folder; returns it."""
        tree = self.tree("input")
        for path, data in tree.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            if data.startswith(LINK):
                file.symlink_to(data[len(LINK) :].decode())
            else:
                file.write_bytes(data)
        return tree

    def tree(self, name: str) -> Tree:
        """All files of one of its folders."""
        links = self.meta.get("symlinks", [])
        assert isinstance(links, list)
        tree = _kept(self.folder / name)
        return {path: LINK + data if path in links else data for path, data in tree.items()}


def tree_of(root: Path) -> Tree:
    """All files below a folder."""
    tree = {}
    for file in sorted(root.rglob("*")):
        path = file.relative_to(root).as_posix()
        if file.is_symlink():
            tree[path] = LINK + str(file.readlink()).encode()
        elif file.is_file():
            tree[path] = file.read_bytes()
    return tree


_kept = cache(tree_of)
"""Of the corpus, which stays as it is: each folder is played very many times."""


def scenarios(fmt: str = "v4a") -> list[Scenario]:
    """All scenarios of a format."""
    found = [Scenario(folder) for folder in sorted((CORPUS / fmt).iterdir())]
    assert found
    return found
