import logging
import stat

import pytest

from tui.cli import logfile
from tui.settings import Paths


def test_it_is_private_and_in_the_state_folder(paths: Paths) -> None:
    assert logfile.start(paths) == paths.log_file
    logging.getLogger("tui.engine").warning("the socket broke")
    assert "the socket broke" in paths.log_file.read_text()
    assert stat.S_IMODE(paths.log_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(paths.state_dir.stat().st_mode) == 0o700


def test_keys_are_masked_in_every_form(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://joe:pa%2Fss-word@proxy.example:3128")
    monkeypatch.setenv("SOME_TOKEN", "query/key+long=")
    logfile.start(paths)
    log = logging.getLogger("tui.x")
    log.info("via http://joe:pa%2Fss-word@proxy.example: pa/ss-word")
    log.info("at ?k=query%2Fkey%2Blong%3D and cXVlcnkva2V5K2xvbmc9 and query\\/key\\u002blong=")
    text = paths.log_file.read_text()
    assert text.count("[key]") == 5
    assert not [s for s in ("ss-word", "%2Fkey", "cXVlcnkva2V5", "/key") if s in text]


def test_libraries_are_not_written(paths: Paths) -> None:
    logfile.start(paths, debug=True)
    logging.getLogger("websockets.client").warning("> TEXT a prompt")
    assert "a prompt" not in paths.log_file.read_text()


def test_a_secret_that_is_known_later_is_masked(paths: Paths) -> None:
    logfile.start(paths)
    logfile.mask(["correct-horse-battery", "abc"])
    logging.getLogger("tui").info("a correct-horse-battery and abc")
    assert paths.log_file.read_text().endswith("a [key]**************** and abc\n")


def test_keys_are_masked_in_tracebacks_too(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "very-secret-value")
    logfile.start(paths)
    logfile.mask(["other-secret-value"])
    log = logging.getLogger("tui.x")
    try:
        raise RuntimeError("refused very-secret-value, Authorization: Bearer abcdefghijkl")
    except RuntimeError:
        log.exception("with %s", "other-secret-value")
    text = paths.log_file.read_text()
    assert "RuntimeError" in text
    assert not [s for s in ("very-secret", "other-secret", "abcdefghijkl") if s in text]


def test_a_line_is_one_line_and_inert(paths: Paths) -> None:
    logfile.start(paths)
    logging.getLogger("tui").info("said %s", "a\n2026-01-01 forged\x1b]0;own\x07\u202e \udcff")
    lines = paths.log_file.read_text().splitlines()
    assert len(lines) == 1
    assert lines[0].endswith("said a\\n2026-01-01 forged\\x1b]0;own\\x07\\u202e \\udcff")
