from __future__ import annotations

import asyncio

from tests.support.fakes import MemoryFiles
from tui.engine.open_files import NOT_KNOWN, FileIndex


async def test_a_change_while_it_looks_makes_it_look_again() -> None:
    class Changing(MemoryFiles):
        def listing(self) -> list[str]:
            listed = super().listing()
            if not self.private:
                self.private = {"a.py": "it is ignored"}
                catalogue.expire()
            return listed

    files = Changing({"a.py": ""})
    catalogue = FileIndex(files)
    await asyncio.gather(catalogue.prepare(["a.py"]), catalogue.prepare(["a.py"]))
    assert catalogue.privacy("a.py") == "it is ignored"


async def test_a_text_is_no_less_private_under_another_name() -> None:
    """A secret that a model moved to a public name is neither listed nor sent unasked."""
    files = MemoryFiles({"notes.txt": "", "last.txt": "", "b.py": ""})
    files.private = {".env": "secrets"}
    catalogue = FileIndex(files)
    catalogue.moved(".env", "notes.txt")
    catalogue.moved("notes.txt", "last.txt")
    catalogue.moved("a.py", "b.py")
    await catalogue.prepare(["notes.txt", "last.txt", "b.py"])
    assert catalogue.privacy("notes.txt") == catalogue.privacy("last.txt") == "secrets"
    assert catalogue.privacy("b.py") == ""
    assert catalogue.paths() == ["b.py"]


async def test_where_files_change_all_the_time_the_rest_is_known() -> None:
    class Busy(MemoryFiles):
        def listing(self) -> list[str]:
            catalogue.expire("build/out.js")
            return super().listing()

    files = Busy({"a.py": "", "build/out.js": "", ".x": ""})
    catalogue = FileIndex(files)
    await catalogue.prepare(["a.py", ".x"])
    assert catalogue.privacy("a.py") == catalogue.privacy(".x") == ""
    assert catalogue.privacy("build/out.js") == NOT_KNOWN


async def test_what_was_not_looked_up_is_private() -> None:
    files = MemoryFiles({"a.py": "", ".env": "", ".hidden": ""})
    files.private = {".env": "secrets"}
    catalogue = FileIndex(files)
    assert catalogue.privacy("a.py") == NOT_KNOWN
    await catalogue.prepare()
    assert catalogue.privacy("a.py") == ""
    assert catalogue.privacy(".env") == NOT_KNOWN
    assert not catalogue.ready([".env"])
    await catalogue.prepare([".env", "new.py"])
    assert catalogue.privacy(".env") == "secrets"
    assert catalogue.privacy("new.py") == ""
    catalogue.expire()
    assert catalogue.privacy("a.py") == catalogue.privacy("new.py") == NOT_KNOWN
