from __future__ import annotations

import ssl
import time
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from tests.support.tables import each
from tests.support.team import Authority
from tui.bridge.team.service import Certificate, ListenAddress, check_exposure, listen_address
from tui.errors import DuettoError, FileRefused, UsageError


@each(
    "text, host, port, near",
    [
        ("127.0.0.1:8443", "127.0.0.1", 8443, True),
        ("localhost:0", "localhost", 0, True),
        ("[::1]:8443", "::1", 8443, True),
        ("0.0.0.0:443", "0.0.0.0", 443, False),
        ("[::]:443", "::", 443, False),
        (":8443", "", 8443, False),
        ("*:8443", "", 8443, False),
        ("bridge.example.com:65535", "bridge.example.com", 65535, False),
        ("192.168.1.7:80", "192.168.1.7", 80, False),
    ],
)
def test_places(text: str, host: str, port: int, near: bool) -> None:
    assert listen_address(text) == ListenAddress(host, port)
    assert listen_address(text).near == near


@each(
    "text",
    [
        "",
        "8443",
        "localhost",
        "::1:8443",
        "localhost:65536",
        "localhost:-1",
        "a b:1",
        "http://x:1",
        "localhost:٣",
        "u@h:1",
        "[::1:80",
        "::1]:80",
    ],
)
def test_what_is_no_place_is_told(text: str) -> None:
    with pytest.raises(UsageError, match=r"^--listen .*: .*; use HOST:PORT"):
        listen_address(text)


def test_strangers_are_kept_out_before_anybody_listens() -> None:
    far, near = ListenAddress("0.0.0.0", 1), ListenAddress("127.0.0.1", 1)
    check_exposure(near, tls=False, tokens=False, fronted=False)
    check_exposure(far, tls=True, tokens=True, fronted=False)
    check_exposure(far, tls=False, tokens=True, fronted=True)
    with pytest.raises(UsageError, match="with --tokens"):
        check_exposure(far, tls=True, tokens=False, fronted=True)
    with pytest.raises(UsageError, match="--tls-cert and --tls-key, or --behind-tls"):
        check_exposure(far, tls=False, tokens=True, fronted=False)
    with pytest.raises(UsageError, match="every address can be reached"):
        check_exposure(ListenAddress("", 1), tls=True, tokens=False, fronted=False)


def test_an_address_is_shown_as_one() -> None:
    assert ListenAddress("::1", 0).url(8443, tls=True) == "wss://[::1]:8443/v1/responses"
    assert ListenAddress("", 0).url(80, tls=False) == "ws://0.0.0.0:80/v1/responses"


class TestCertificate:
    def test_wrong_ones_are_told_in_words(self, tmp_path: Path) -> None:
        authority = Authority.at(tmp_path)
        cert, key = authority.issue()
        _, other = authority.issue("other")
        text = tmp_path / "text.pem"
        text.write_text("hello")
        locked = tmp_path / "locked.key"
        locked.write_bytes(_encrypted(key.read_bytes()))
        cases: list[tuple[Path, Path | None, str]] = [
            (cert, other, "other.key is not that of the certificate .*server.pem"),
            (text, key, "no certificate"),
            (cert, text, "no certificate .* and key in PEM"),
            (cert, None, "BEGIN PRIVATE KEY"),
            (key, key, "no certificate"),
            (cert, locked, "locked.key is encrypted: give one without a password"),
            (tmp_path / "none.pem", key, "none.pem cannot be read: No such file"),
            (cert, tmp_path / "none.key", "none.key cannot be read: No such file"),
            (tmp_path, key, "cannot be read: Is a directory"),
        ]
        for one, its_key, words in cases:
            with pytest.raises(DuettoError, match=words) as wrong:
                Certificate(one, its_key)
            assert isinstance(wrong.value, UsageError | FileRefused)
            assert "\n" not in str(wrong.value)

    def test_one_that_has_ended_is_refused_and_the_end_of_others_is_known(
        self, tmp_path: Path
    ) -> None:
        authority = Authority.at(tmp_path)
        cert, key = authority.issue("server", 20)
        certificate = Certificate(cert, key)
        assert certificate.ends_unix_s == pytest.approx(time.time() + 20 * 86_400, abs=60)
        authority.issue("server", -1)
        with pytest.raises(UsageError, match=r"server\.pem has ended: renew it"):
            certificate.look()
        assert certificate.ends_unix_s > time.time()
        with pytest.raises(UsageError, match="has ended"):
            Certificate(cert, key)

    def test_one_file_may_hold_both(self, tmp_path: Path) -> None:
        cert, key = Authority.at(tmp_path).issue()
        both = tmp_path / "both.pem"
        both.write_bytes(cert.read_bytes() + key.read_bytes())
        assert Certificate(both, None).context.minimum_version == ssl.TLSVersion.TLSv1_2

    def test_a_renewed_one_is_taken_when_both_halves_are_there(self, tmp_path: Path) -> None:
        authority = Authority.at(tmp_path)
        cert, key = authority.issue()
        certificate, former = Certificate(cert, key), key.read_bytes()
        assert not certificate.look()
        authority.issue()
        renewed = key.read_bytes()
        key.write_bytes(former)
        with pytest.raises(UsageError, match="not that of"):
            certificate.look()
        assert not certificate.look()  # told once
        key.write_bytes(renewed)
        assert certificate.look()
        assert not certificate.look()


def _encrypted(key: bytes) -> bytes:
    private = serialization.load_pem_private_key(key, None)
    return private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    )
