"""What is wrong with a model's file is said before it is loaded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.gguf import LLAMA, gguf
from tests.support.tables import each
from tui.bridge.endpoints.base import Refused
from tui.bridge.local import model_file
from tui.bridge.local.model_file import check_machine, lacks_avx2, read_model_file


def refusal(path: Path) -> str:
    with pytest.raises(Refused) as caught:
        read_model_file(path)
    return str(caught.value)


def test_the_header_says_what_the_model_is_and_takes(tmp_path: Path) -> None:
    file = read_model_file(gguf(tmp_path / "tiny.gguf"))
    assert (file.name, file.architecture, file.window) == ("tiny", "llama", 2048)
    assert file.cache_bytes == 2 * 2 * (16 + 16) * 2  # layers, heads, key and value, two bytes
    assert file.needs_bytes(1000) - file.needs_bytes(0) == 1000 * file.cache_bytes


@each("kept", [10, 40, 120, 300])
def test_a_file_that_is_cut_off_is_no_model(tmp_path: Path, kept: int) -> None:
    path = gguf(tmp_path / "tiny.gguf")
    path.write_bytes(path.read_bytes()[:kept])
    assert "cut off" in refusal(path) or "not a GGUF file" in refusal(path)


def test_what_is_missing_of_a_file_is_said(tmp_path: Path) -> None:
    path = gguf(tmp_path / "tiny.gguf", tensor_bytes=4_000_000)
    path.write_bytes(path.read_bytes()[:1_000_000])
    assert "is cut off, 4 MB are missing: download it again." in refusal(path)
    path.write_bytes(gguf(tmp_path / "tiny.gguf").read_bytes()[:-1])
    assert "is cut off, 1 MB are missing" in refusal(path)


def test_another_file_is_refused_with_what_to_do(tmp_path: Path) -> None:
    other = tmp_path / "model.gguf"
    other.write_bytes(b"hello " * 100)
    assert "is not a GGUF file: name one that is." in refusal(other)
    assert "set [endpoints.local] model." in refusal(tmp_path / "none.gguf")
    odd = gguf(tmp_path / "odd.gguf", {**LLAMA, "general.alignment": "wide"})
    assert "is cut off in its header" in refusal(odd)
    picture = gguf(tmp_path / "eyes.gguf", {**LLAMA, "general.type": "mmproj"})
    assert "is not a language model (llama)" in refusal(picture)
    sound = gguf(tmp_path / "ears.gguf", {"general.architecture": "whisper"})
    assert "is not a language model (whisper)" in refusal(sound)
    for key, value in (("llama.pooling_type", 1), ("llama.attention.causal", 0)):
        vectors = gguf(tmp_path / "vectors.gguf", {**LLAMA, key: value})
        assert "makes vectors of texts (llama): name one that writes text." in refusal(vectors)


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.gguf")
    assert "pipe.gguf is not a file: set [endpoints.local] model" in refusal(tmp_path / "pipe.gguf")
    assert "is not a file" in refusal(tmp_path)


def test_a_header_without_an_end_is_not_read_for_long(tmp_path: Path) -> None:
    path = gguf(tmp_path / "many.gguf")
    data = path.read_bytes()
    at = data.index(b"blk.0") + 5
    path.write_bytes(data[:at] + b"\xff\xff\xff\xff" + data[at + 4 :])
    os.truncate(path, 2_000_000_000)  # sparse: all dimensions are there, and are 0
    assert "is cut off in its header" in refusal(path)


def test_a_model_without_a_window_is_refused(tmp_path: Path) -> None:
    path = gguf(tmp_path / "none.gguf", {**LLAMA, "llama.context_length": 0})
    assert "none.gguf says that it was trained for 0 tokens" in refusal(path)


def test_a_model_that_is_too_large_is_refused_before_it_is_tried(tmp_path: Path) -> None:
    file = read_model_file(gguf(tmp_path / "tiny.gguf"))
    check_machine(file, 1000, lambda: 10**12)
    check_machine(file, 1000, lambda: None)  # not known: it is tried
    with pytest.raises(Refused, match=r"tiny needs about 0\.2 GB of memory and 0\.1 GB are free"):
        check_machine(file, 1000, lambda: 10**8)


def test_a_processor_without_avx2_is_told_from_one_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    cpu = tmp_path / "cpuinfo"
    cpu.write_text("processor : 0\nflags\t\t: fpu sse2 avx\n")
    assert lacks_avx2(cpu)
    monkeypatch.setattr(model_file, "lacks_avx2", lambda: True)
    with pytest.raises(Refused, match="has no AVX2"):
        check_machine(read_model_file(gguf(tmp_path / "t.gguf")), 1, lambda: None)
    cpu.write_text("processor : 0\nflags\t\t: fpu sse2 avx avx2\n")
    assert not lacks_avx2(cpu)
    assert not lacks_avx2(tmp_path / "none")
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    cpu.write_text("flags : none\n")
    assert not lacks_avx2(cpu)
