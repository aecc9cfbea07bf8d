"""What is shipped: a wheel in an empty environment, and an editable install."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import tui
from tests.support.sources import ROOT

pytestmark = pytest.mark.slow

PROBE = """
import sys, tui
from tui.ui.theme import themes_dir
from tui.bridge.rehearsal.scripts import load_scripts
print(tui.__file__)
print(sorted(path.name for path in themes_dir().iterdir()))
print(len(load_scripts()))
"""


def run(*command: str | Path, cwd: Path) -> str:
    """Output of a command that must succeed."""
    ran = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "DUETTO_HOME": str(cwd / "home"), "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def empty_environment(folder: Path) -> Path:
    """A virtual environment that has our dependencies but not us; returns its python.

    The dependencies come from the environment of the tests by a path file, which is faster than
    installing them again, and needs no network.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    major, minor = sys.version_info[:2]
    site = folder / "lib" / f"python{major}.{minor}" / "site-packages"
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(
        sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT,
        cwd=folder,
    )  # fmt: skip
    (built,) = folder.glob("duetto-*.whl")
    return built


def test_the_wheel_holds_code_themes_styles_and_practice_data(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {f"tui/themes/{theme.name}" for theme in (ROOT / "themes").glob("*.toml")} | {
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "tui").rglob("*")
        if file.is_file() and not {"__pycache__", ".pytest_cache"} & set(file.parts)
    }
    assert wanted <= names
    assert not [name for name in names if name.startswith("tests/")]
    assert not [name for name in names if "__pycache__" in name]


def test_the_wheel_runs_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    python = empty_environment(tmp_path / "env")
    run(
        sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps",
        "--no-index", wheel, cwd=tmp_path,
    )  # fmt: skip
    assert run(tmp_path / "env/bin/duetto", "--version", cwd=tmp_path) == (
        f"duetto {tui.__version__}\n"
    )
    where, themes, prompts = run(python, "-c", PROBE, cwd=tmp_path).splitlines()
    assert Path(where).is_relative_to(tmp_path)
    assert themes == str(sorted(theme.name for theme in (ROOT / "themes").iterdir()))
    assert int(prompts) >= 6


def test_an_editable_install_finds_the_same(tmp_path: Path) -> None:
    python = empty_environment(tmp_path / "env")
    run(
        sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps",
        "--no-index", "--no-build-isolation", "-e", ROOT, cwd=tmp_path,
    )  # fmt: skip
    where, themes, prompts = run(python, "-c", PROBE, cwd=tmp_path).splitlines()
    assert Path(where) == Path(tui.__file__)
    assert "dusk.toml" in themes
    assert int(prompts) >= 6
    assert run(tmp_path / "env/bin/duetto", "--version", cwd=tmp_path).startswith("duetto ")
