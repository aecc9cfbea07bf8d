"""What goes to other machines, and what they say."""

from __future__ import annotations

from msgspec.structs import replace

from tui.core.cluster import (
    RemoteTask,
    SentTree,
    WorkerFacts,
    differences,
    moved_back,
    server_of,
    worker_argv,
)

HERE = WorkerFacts("here", "1.0", "3.11.7", "Linux x86_64", 1000.0, False, "bubblewrap")


def test_an_address_is_daskes_own_or_none() -> None:
    assert server_of("dask://10.0.0.1:8786") == "tcp://10.0.0.1:8786"
    assert server_of("dask+tls://dask.example:8786") == "tls://dask.example:8786"
    assert server_of("dask://[::1]:8786") == "tcp://[::1]:8786"
    for wrong in ("", "dask://host", "http://host:1", "dask://a b:1", "dask://host:1/path"):
        assert server_of(wrong) == "", wrong


def task(*argv: str) -> RemoteTask:
    return RemoteTask(1, argv, "/home/me/work", "/opt/duetto", 10)


def test_a_command_means_the_workers_places() -> None:
    def there(*argv: str) -> tuple[str, ...] | str:
        return worker_argv(task(*argv), "/w/tree", "/usr/lib/duetto", "/usr/bin/python3.12")

    python = "/usr/bin/python3.12"
    assert there("/home/me/work/.venv/bin/python", "-m", "pytest") == (python, "-m", "pytest")
    assert there("/usr/bin/cargo", "test") == ("cargo", "test")
    assert there("./gradlew", "test") == ("./gradlew", "test")
    assert there("go", "/home/me/work/a.go", "-o=/home/me/work/b") == (
        *("go", "/w/tree/a.go", "-o=/w/tree/b"),
    )
    assert there("cat", "/home/me/workshop/a", "/home/me/work.bak") == (
        *("cat", "/home/me/workshop/a", "/home/me/work.bak"),
    )
    assert there("python3", "/opt/duetto/tui/check.py") == (python, "/usr/lib/duetto/tui/check.py")
    line = replace(task(), argv="cd /home/me/work/below && make")
    assert worker_argv(line, "/w/tree", "", "") == "cd /w/tree/below && make"
    assert moved_back(b"/w/tree/a.py:3: no", {"/w/tree": "/home/me/work"}) == (
        b"/home/me/work/a.py:3: no"
    )


def test_a_tree_is_called_by_what_is_in_it() -> None:
    one = SentTree({"a": ("1", 0o644), "b": ("2", 0o644)})
    assert one.name == SentTree({"b": ("2", 0o644), "a": ("1", 0o644)}).name
    assert one.name != SentTree({"a": ("1", 0o755), "b": ("2", 0o644)}).name
    assert one.name != SentTree({"a": ("1", 0o644), "b": ("3", 0o644)}).name


def test_what_differs_there_is_said_once_for_all() -> None:
    same = replace(HERE, name="w1", time_s=1001.0)
    assert differences([same], HERE) == []
    old = replace(same, python="3.12.1", time_s=1060.0, folds_case=True, sandbox="")
    workers = [replace(old, name=f"w{number}") for number in range(4)]
    assert differences(workers, HERE) == [
        "w0, w1 and 2 more: tests run with Python 3.12.1 there and 3.11.7 here",
        "w0, w1 and 2 more: the file system does not tell A from a there",
        "w0, w1 and 2 more: the clock is 60 s ahead there",
        "w0, w1 and 2 more: nothing confines commands there",
    ]
