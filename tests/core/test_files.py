"""A quoted file comes back exactly, whatever stands in it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tables import each
from tui.core.files import FileBlock, file_block, file_blocks, summed, why_private


@settings(max_examples=30)
@given(
    st.text(max_size=200),
    st.text(min_size=1, max_size=30).filter(str.strip),
    st.text(max_size=60).filter(lambda text: "<file" not in text),
)
def test_any_text_and_any_path_come_back(text: str, path: str, around: str) -> None:
    """Also among other text."""
    message = f"{around}\n{file_block(path, text, state='open', from_='3')}\n{around}"
    assert list(file_blocks(message)) == [FileBlock(path, text, {"state": "open", "from": "3"})]


@given(
    st.sampled_from(["path", "chars"]),
    st.text(max_size=5) | st.sampled_from(["²", "9" * 5000, "-1", "1_0", "\x01", r"\x", r"\ud800"]),
)
def test_whatever_a_stranger_writes_is_passed_over(name: str, value: str) -> None:
    """A header that we did not write: control characters, odd numbers, broken escapes."""
    other = {"path": "a.py", "chars": "1"} | {name: value}
    header = "".join(f' {key}="{text}"' for key, text in other.items())
    found = list(file_blocks(f"<file{header}>\nx\n</file>\n{file_block('b.py', 'y')}"))
    assert found[-1] == FileBlock("b.py", "y")
    assert len(found) <= 2


def test_an_untracked_folder_stands_for_all_that_it_holds() -> None:
    states = summed({"new": "?", "old/x.py": "M"})
    assert states.of("new/deep/x.py") == "?"
    assert states.of("new") == "?"
    assert states.of("newer/x.py") is None
    assert states.of("old/y.py") is None


@each(
    "path, words",
    [
        (".env", "environment secrets"),
        ("app/.env.production", "environment secrets"),
        ("prod.env", "environment secrets"),
        (".ENV", "environment secrets"),
        ("server.pem", "a private key"),
        ("x/ID_RSA", "a private key"),
        ("id_ed25519", "a private key"),
        ("store.kdbx", "a private key"),
        (".netrc", "credentials"),
        (".aws/anything.py", "lies in .aws"),
        ("home/.ssh/known_hosts", "lies in .ssh"),
        ("credentials.json", "credentials"),
        ("terraform.tfstate", "credentials"),
        ("service-account-prod.json", "credentials"),
    ],
)
def test_secrets(path, words):
    assert words in why_private(path)


@each(
    "path",
    [
        "main.py",
        ".env.example",
        "config/.env.sample",
        "id_rsa.pub",
        "credentials.py",
        "secrets.md",
        "environment.yml",
        "keyboard.key.py",
        "docs/pem.txt",
    ],
)
def test_no_secrets(path):
    assert why_private(path) == ""
