"""Which certificates are trusted: the system's, whatever the environment says."""

import ssl
from pathlib import Path
from types import SimpleNamespace

import pytest

from redstring_ref.embeddings.trust import system_trust


def test_a_server_must_show_a_certificate_for_its_name() -> None:
    context = system_trust()
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_the_environment_chooses_no_authorities_and_no_log_of_keys(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = system_trust().cert_store_stats()
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "keys.log"))
    context = system_trust()
    assert context.cert_store_stats() == before
    assert context.keylog_filename is None
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    """Return the list of what contexts are told to trust from now on; nothing is loaded."""
    calls: list[dict[str, object]] = []
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", lambda _, **what: calls.append(what))
    return calls


def test_the_places_of_the_system_are_trusted_where_they_exist(
    loaded: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    places = SimpleNamespace(
        openssl_cafile=str(tmp_path / "cert.pem"), openssl_capath=str(tmp_path / "certs")
    )
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: places)
    monkeypatch.delattr(ssl, "enum_certificates", raising=False)
    system_trust()
    assert loaded == []
    (tmp_path / "cert.pem").touch()
    (tmp_path / "certs").mkdir()
    system_trust()
    assert loaded == [{"cafile": places.openssl_cafile}, {"capath": places.openssl_capath}]


def test_the_stores_of_windows_are_trusted_for_servers(
    loaded: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = {
        "CA": [(b"mail", "x509_asn", {"1.3.6.1.5.5.7.3.4"}), (b"server", "x509_asn", {"1.3.6.1.5.5.7.3.1"})],
        "ROOT": [(b"all", "x509_asn", True), (b"message", "pkcs_7_asn", True)],
    }
    nowhere = SimpleNamespace(openssl_cafile="", openssl_capath="")
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: nowhere)
    monkeypatch.setattr(ssl, "enum_certificates", stores.__getitem__, raising=False)
    system_trust()
    assert loaded == [{"cadata": b"server"}, {"cadata": b"all"}]
