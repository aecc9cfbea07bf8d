"""Names of files that hold secrets."""

from __future__ import annotations

from tests.support.tables import each
from tui.core.files import why_private


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
