"""Which certificates an https server may show. Nothing is sent from here."""

import ssl
from os.path import isdir, isfile
from typing import Any

_WINDOWS_STORES = ("CA", "ROOT")


def system_trust() -> ssl.SSLContext:
    """Return a context that demands a certificate that the system trusts, for the host asked.

    `ssl.create_default_context` lets the environment choose who is trusted (SSL_CERT_FILE) and
    write the keys of every connection into a file (SSLKEYLOGFILE); this one reads neither.

    Spec: EMB-4.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    paths = ssl.get_default_verify_paths()
    if isfile(paths.openssl_cafile):
        context.load_verify_locations(cafile=paths.openssl_cafile)
    if isdir(paths.openssl_capath):
        context.load_verify_locations(capath=paths.openssl_capath)
    # Windows keeps its certificates in stores; other systems have no such function, nor has their type stub.
    enum_certificates: Any = getattr(ssl, "enum_certificates", None)
    if enum_certificates is not None:
        for store in _WINDOWS_STORES:
            for certificate, encoding, purposes in enum_certificates(store):
                if encoding == "x509_asn" and (purposes is True or ssl.Purpose.SERVER_AUTH.oid in purposes):
                    context.load_verify_locations(cadata=certificate)
    return context
