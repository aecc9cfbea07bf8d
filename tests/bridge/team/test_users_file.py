from __future__ import annotations

import copy
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each
from tui.bridge.team.users_file import (
    SPAN_S,
    Limits,
    RateWindow,
    UsersFile,
    add_user,
    hash_of,
    read_users,
    revoke_user,
    whole_seconds,
)
from tui.errors import FileRefused, UsageError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "users.json"


def test_a_token_is_not_kept_only_its_hash(file: Path) -> None:
    token = add_user(file, "anna", Limits(in_flight=2))
    assert token.startswith("duetto_")
    assert len(token) > 43
    assert token not in file.read_text()
    assert token[7:] not in file.read_text()
    assert read_users(file)["anna"].hash == hash_of(token.encode())
    assert read_users(file)["anna"].limits == Limits(in_flight=2)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert add_user(file, "bob", Limits()) != token
    assert [entry.name for entry in file.parent.iterdir()] == ["users.json"]


def test_revoking_takes_one_user_out(file: Path) -> None:
    add_user(file, "anna", Limits())
    add_user(file, "bob", Limits())
    revoke_user(file, "anna")
    assert list(read_users(file)) == ["bob"]
    with pytest.raises(UsageError, match=r"no user 'bbo' in .*; did you mean 'bob'\?"):
        revoke_user(file, "bbo")
    with pytest.raises(UsageError, match="bob has a token already: revoke it first"):
        add_user(file, "bob", Limits())


@each("name", ["", "a b", "-x", "x" * 65, "a\nb", "ä", "a/b"])
def test_a_name_is_a_word(file: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot be a user's name"):
        add_user(file, name, Limits())
    assert not file.exists()


@each(
    "text, words",
    [
        ("", "is not a file of users"),
        ("[]", "is not a file of users"),
        ('{"users": {"a": {"hash": "plain"}}}', "is not a file of users"),
        ('{"users": {"a": {"hash": "HASH", "role": "x"}}}', "role"),
        ('{"schema": 2, "users": {}}', "schema 2; this version of duetto knows 1"),
        (
            '{"users": {"a": {"hash": "HASH"}, "b": {"hash": "HASH"}}}',
            "have the same token",
        ),
        (
            '{"users": {"a": {"hash": "sha256:%s", "limits": {"in_flight": 0}}}}' % ("0" * 64),
            ">= 1",
        ),
        ("\udcff", "is not a file of users"),
    ],
)
def test_a_wrong_file_is_named_in_one_sentence(file: Path, text: str, words: str) -> None:
    text = text.replace("HASH", f"sha256:{'0' * 64}")
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError, match=words) as wrong:
        read_users(file)
    assert str(wrong.value).count("\n") == 0


def test_no_file_and_no_folder_are_told(file: Path) -> None:
    with pytest.raises(UsageError, match="duetto bridge token add NAME makes one"):
        read_users(file)
    with pytest.raises(UsageError, match="there is no file of users"):
        revoke_user(file, "anna")
    with pytest.raises(FileRefused, match="cannot be written: No such file or directory"):
        add_user(file.parent / "nowhere" / "users.json", "anna", Limits())
    with pytest.raises(FileRefused, match="cannot be read"):
        read_users(file.parent)


def test_a_file_that_anybody_may_change_names_nobody(file: Path) -> None:
    add_user(file, "anna", Limits())
    users_file = UsersFile(file)
    file.chmod(0o644)
    assert read_users(file)
    file.chmod(0o646)
    with pytest.raises(UsageError, match=r"anybody on this machine may change .*: chmod 600"):
        read_users(file)
    assert users_file.look()
    assert "chmod 600" in users_file.wrong


def test_many_at_once_lose_nobody(file: Path) -> None:
    names = [f"user{number}" for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        tokens = list(pool.map(lambda name: add_user(file, name, Limits()), names))
    users = read_users(file)
    assert {users[name].hash for name in names} == {hash_of(t.encode()) for t in tokens}


class TestRoster:
    def test_it_follows_the_file(self, file: Path) -> None:
        anna = add_user(file, "anna", Limits()).encode()
        users_file = UsersFile(file)
        guest = users_file.find(anna)
        assert guest is not None
        assert guest.name == "anna"
        assert not users_file.look()
        bob = add_user(file, "bob", Limits()).encode()
        assert users_file.find(bob) is None
        assert users_file.look()
        assert users_file.find(bob) is not None
        revoke_user(file, "anna")
        assert users_file.look()
        assert users_file.find(anna) is None
        assert not users_file.knows(guest)

    def test_who_is_added_again_has_another_token(self, file: Path) -> None:
        former = add_user(file, "anna", Limits()).encode()
        users_file = UsersFile(file)
        guest = users_file.find(former)
        assert guest is not None
        revoke_user(file, "anna")
        add_user(file, "anna", Limits())
        assert users_file.look()
        assert not users_file.knows(guest)

    def test_half_a_file_leaves_all_as_it_was(self, file: Path) -> None:
        anna = add_user(file, "anna", Limits()).encode()
        users_file = UsersFile(file)
        whole = file.read_bytes()
        file.write_bytes(whole[:40])
        assert users_file.look()
        assert users_file.find(anna) is not None
        assert "is not a file of users" in users_file.wrong
        assert not users_file.look()
        file.write_bytes(whole)
        assert users_file.look()
        assert users_file.wrong == ""

    def test_a_file_that_is_gone_names_nobody(self, file: Path) -> None:
        anna = add_user(file, "anna", Limits()).encode()
        users_file = UsersFile(file)
        file.unlink()
        assert users_file.look()
        assert users_file.find(anna) is None

    def test_a_change_within_one_tick_of_the_clock_is_seen(self, file: Path) -> None:
        add_user(file, "anna", Limits())
        users_file, before = UsersFile(file), file.stat()
        revoke_user(file, "anna")
        add_user(file, "anna", Limits())
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert file.stat().st_size == before.st_size
        assert users_file.look()

    def test_nobody_comes_in_without_a_token(self, file: Path) -> None:
        add_user(file, "anna", Limits())
        users_file = UsersFile(file)
        for token in (b"", b"duetto_", b"\xff", b"x" * 10_000):
            assert users_file.find(token) is None

    def test_a_pipe_in_its_place_is_not_waited_for(self, file: Path) -> None:
        token = add_user(file, "anna", Limits())
        users_file = UsersFile(file)
        file.unlink()
        os.mkfifo(file)
        assert users_file.look()
        assert "is not a file of users" in users_file.wrong
        assert users_file.find(token.encode()) is not None


def test_a_users_own_limits_stand_over_the_defaults() -> None:
    defaults = Limits(connections=4, in_flight=8)
    own = Limits(in_flight=2, tokens_minute=1000)
    assert own.over(defaults) == Limits(connections=4, in_flight=2, tokens_minute=1000)


def test_a_window_opens_when_the_oldest_is_a_minute_old() -> None:
    window = RateWindow()
    for at_s in (0.0, 10.0, 20.0):
        assert window.pause_s(3, at_s) == 0
        window.take(1, at_s)
    assert window.pause_s(3, 30) == 30
    assert window.pause_s(3, 59.9) == pytest.approx(0.1)
    assert window.pause_s(3, 60) == 0
    window.take(1, 60)
    assert window.pause_s(3, 61) == pytest.approx(9)
    assert window.pause_s(None, 61) == 0


def test_one_large_answer_is_waited_out() -> None:
    window = RateWindow()
    window.take(10, 0)
    window.take(5000, 30)
    assert window.pause_s(1000, 31) == pytest.approx(59)
    assert window.pause_s(1000, 91) == 0


def test_seconds_of_a_pause_are_whole_and_enough() -> None:
    assert [whole_seconds(pause) for pause in (0.01, 1, 1.2, 59.9)] == [1, 1, 2, 60]


@given(
    st.lists(st.tuples(st.floats(0, 5), st.integers(1, 50)), max_size=80),
    st.integers(1, 200),
)
def test_no_minute_has_more_than_the_limit_and_one_more(
    steps: list[tuple[float, int]], limit: int
) -> None:
    """Whatever is asked when: what was let in before the last of any minute is below the limit."""
    window, now_s = RateWindow(), 0.0
    taken: list[tuple[float, int]] = []
    for later_s, amount in steps:
        now_s += later_s
        pause_s = window.pause_s(limit, now_s)
        in_span = sum(n for at_s, n in taken if at_s > now_s - SPAN_S)
        if pause_s == 0:
            assert in_span < limit
            window.take(amount, now_s)
            taken.append((now_s, amount))
        else:
            assert 0 < pause_s <= SPAN_S + 1e-6
            assert copy.deepcopy(window).pause_s(limit, now_s + pause_s + 1e-6) == 0
