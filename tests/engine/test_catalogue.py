from __future__ import annotations

from tests.support.fakes import MemoryFiles
from tui.engine.catalogue import Catalogue


async def test_the_listing_is_remembered_until_it_expires() -> None:
    files = MemoryFiles({"a.py": "", ".env": ""})
    files.private = {".env": "secrets"}
    catalogue = Catalogue(files)
    assert not catalogue.ready
    await catalogue.prepare()
    assert catalogue.ready
    assert catalogue.paths() == ["a.py"]
    files.data["b.py"] = b""
    await catalogue.prepare()
    assert catalogue.paths() == ["a.py"]
    catalogue.expire()
    assert not catalogue.ready
    assert catalogue.paths() == ["a.py"]
    await catalogue.prepare()
    assert catalogue.paths() == ["a.py", "b.py"]


def test_privacy_is_asked_once() -> None:
    files = MemoryFiles({".env": ""})
    files.private = {".env": "secrets"}
    catalogue = Catalogue(files)
    assert catalogue.privacy(".env") == "secrets"
    files.private = {}
    assert catalogue.privacy(".env") == "secrets"
    catalogue.expire()
    assert catalogue.privacy(".env") == ""
