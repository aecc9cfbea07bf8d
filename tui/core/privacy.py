"""Files whose names say that they hold secrets: never sent to a model without asking."""

from __future__ import annotations

from collections.abc import Collection
from fnmatch import fnmatchcase

from tui.core.file_read import ascii_shown

_NAMES = {
    "credentials": (
        ".netrc _netrc .npmrc .pypirc .pgpass .my.cnf .git-credentials .htpasswd .dockercfg "
        ".boto .s3cfg credentials credentials.* secrets.* *.credentials service-account*.json "
        "client_secret*.json *.tfvars *.tfstate kubeconfig *.kubeconfig .vault-token "
        "*.publishsettings auth.json master.key"
    ),
    "environment secrets": ".env .env.* *.env .envrc .flaskenv",
    "a private key": (
        "*.pem *.key *.p12 *.pfx *.jks *.keystore *.ppk *.kdbx *.p8 "
        "id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk"
    ),
}
"""What such a file holds, by the patterns of its name (lower case)."""
_CODE = (".py", ".pyi", ".js", ".ts", ".go", ".rs", ".java", ".c", ".h", ".md", ".rst", ".txt")
"""``secrets.py`` is a program."""
_SAMPLES = (".example", ".sample", ".template", ".dist", ".defaults")
_FOLDERS = frozenset({".ssh", ".aws", ".gnupg", ".kube", ".azure", ".password-store"})


LINK_OUTSIDE = "it is a hard link, and has another name outside the workspace"
LINK_IGNORED = "it is a hard link to a file that is ignored"
FOLDER_WIDE = frozenset({LINK_OUTSIDE, LINK_IGNORED})
"""Reasons that hold for thousands of files at once (package managers link): asked once a folder."""
_IGNORE_FILES = (".gitignore", ".ignore")


def is_ignore_file(path: str) -> bool:
    """True for a file that says which other ones are ignored."""
    return path.rpartition("/")[2] in _IGNORE_FILES


def why_linked(names: Collection[str], missing: bool, ignored: Collection[str]) -> str:
    """Why a file's other names call for a question, in words; empty if they do not.

    ``names`` are those in the workspace, ``missing`` says that there are more than these, and
    ``ignored`` are those that an ignore file names.
    """
    if secret := next(filter(why_private, sorted(names)), ""):
        return f"it is a hard link to '{ascii_shown(secret)}', a private file"
    if missing:
        return LINK_OUTSIDE
    return LINK_IGNORED if ignored else ""


def why_private(path: str) -> str:
    """Why a path (relative, with ``/``) looks like a secret, in words; empty if it does not."""
    *folders, name = path.lower().split("/")
    if found := _FOLDERS.intersection(folders):
        return f"it lies in {min(found)}, where keys are kept"
    if name.endswith((*_SAMPLES, *_CODE)):
        return ""
    for what, patterns in _NAMES.items():
        if any(fnmatchcase(name, pattern) for pattern in patterns.split()):
            return f"its name says that it holds {what}"
    return ""
