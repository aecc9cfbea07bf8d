"""What a prompt attaches, and what a pasted text is a path to."""

from __future__ import annotations

from tests.support.tables import each
from tui.core.attachments import Mention, in_folder, mentions, pasted_paths


@each(
    "prompt, found",
    [
        ("look at @src/cache.py, and at (@README.md).", ["src/cache.py", "README.md"]),
        ("@a.py:10-40 against @a.py:7", ["a.py:10-40", "a.py:7"]),
        ('@"my file.py":3-5 and @"b c.md"', ["my file.py:3-5", "b c.md"]),
        ("fix @failures of @diff with @selection", ["failures", "diff", "selection"]),
        ("@Cache.put and @src/ and @src", ["Cache.put", "src/", "src"]),
        ("@a.py @a.py twice", ["a.py"]),
        ("„@a.py“, «@b.py» and @c.py…", ["a.py", "b.py", "c.py"]),
        ("看看，@a.py。 「@b.py」", ["a.py", "b.py"]),
        ("'@shot.png' and \"@a.py\" and '@a.py:3'", ["shot.png", "a.py", "a.py:3"]),
        ("看@shot.png里的内容 와@a.py를 見て@b.py:3-5は", ["shot.png", "a.py", "b.py:3-5"]),
        ("@メモ.md", ["メモ.md"]),
        ("mail me@example.com, 3 @ 4, @", []),
        ("@a.py:40-10", ["a.py:40"]),
        ("look at @., (@.) and @..", [".", ".."]),
        ("wait @... and @!.", []),
        ('@"broken', []),
    ],
)
def test_mentions(prompt: str, found: list[str]) -> None:
    assert [str(one) for one in mentions(prompt)] == found


def test_what_hardly_means_anything_but_a_file() -> None:
    assert Mention("src/a").like_a_path
    assert Mention("a.py").like_a_path
    assert Mention("..").like_a_path
    assert Mention("~").like_a_path
    assert not Mention("property").like_a_path


def test_a_package_in_quotes_is_no_file_that_is_missed_and_an_image_is() -> None:
    (package,) = mentions("import x from '@angular/core'")
    assert not package.like_a_path
    (image,) = mentions("look at '@shot.png'")
    assert image.like_a_path


def test_a_folder_is_named_with_or_without_its_slash() -> None:
    listed = sorted(["a.py", "src/a.py", "src/deep/b.py", "src2/c.py"])
    for name in ("src", "src/", "./src"):
        assert in_folder(name, listed) == ["src/a.py", "src/deep/b.py"]
    assert in_folder(".", listed) == listed
    assert in_folder("sr", listed) == []


@each(
    "pasted, paths",
    [
        ("/home/u/p/src/a.py\n", ["src/a.py"]),
        ("'/home/u/p/my file.py' ", ["my file.py"]),
        ("/home/u/p/my\\ file.py", ["my file.py"]),
        ("/home/u/p/my file.py", ["my file.py"]),
        ("file:///home/u/p/my%20file.py", ["my file.py"]),
        ("./src/a.py", ["src/a.py"]),
        ("/etc/passwd", ["/etc/passwd"]),
        ("'/home/u/p/a.png' '/tmp/my shot.png'", ["a.png", "/tmp/my shot.png"]),
        ("/tmp/my\\ shot.png /tmp/b.png", ["/tmp/my shot.png", "/tmp/b.png"]),
        ("file:///tmp/a.png\r\nfile:///tmp/b.png\r\n", ["/tmp/a.png", "/tmp/b.png"]),
        ("/tmp/a.png\n/tmp/b.png", ["/tmp/a.png", "/tmp/b.png"]),
        ("file://[", ["/"]),
        ("file://laptop/tmp/a.png", ["/tmp/a.png"]),
        ("~/a.png", []),
        ("two words", []),
        ("a.py\nb.py", []),
        ("see /tmp/a.png", []),
        ("it's /tmp/a.png", []),
        ("", []),
    ],
)
def test_pasted_paths(pasted: str, paths: list[str]) -> None:
    assert [path for path, _ in pasted_paths(pasted, "/home/u/p")] == paths


@each(
    "prompt, named",
    [
        ("/tmp/shot.png what is wrong here?", ["/tmp/shot.png"]),
        ("'/tmp/my shot.png' what is wrong here?", ["/tmp/my shot.png"]),
        ('"/tmp/my shot.png" and @a.py', ["/tmp/my shot.png", "a.py"]),
        ("/tmp/my\\ shot.png", ["/tmp/my shot.png"]),
        ("file:///tmp/my%20shot.png?", ["/tmp/my shot.png"]),
        ("./docs/shot.webp why", ["docs/shot.webp"]),
        ("/usr/bin/python is missing", []),
        ("look at /tmp/shot.png", []),
        ("shot.png is wrong", []),
        ("~/shot.png", []),
        ("/", []),
        ("'/tmp/a.png", []),
    ],
)
def test_an_image_that_a_prompt_begins_with_is_named(prompt: str, named: list[str]) -> None:
    assert [one.name for one in mentions(prompt)] == named
