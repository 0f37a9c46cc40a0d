# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The hash by which a joining machine knows the certificate authority of its cluster."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re

_PEM = re.compile(r"-----BEGIN CERTIFICATE-----\s*([A-Za-z0-9+/=\s]+?)-----END CERTIFICATE-----")
_SEQUENCE = 0x30
_VERSION = 0xA0
_LONG = 0x80
# Before the key in TBSCertificate: serial number, signature algorithm, issuer, validity, subject (RFC 5280, 4.1).
_BEFORE_KEY = 5


def ca_hash(pem: str) -> str:
    """Return `sha256:…` of the public key information of the first certificate of a PEM text.

    Sad paths: `ValueError` for a text that holds no X.509 certificate.
    Source: kubeadm --discovery-token-ca-cert-hash (RFC 7469 pin of the DER of SubjectPublicKeyInfo).
    """
    match = _PEM.search(pem)
    if match is None:
        raise ValueError("there is no PEM certificate")
    try:
        der = base64.b64decode("".join(match.group(1).split()), validate=True)
        return f"sha256:{hashlib.sha256(_public_key(der)).hexdigest()}"
    except (binascii.Error, IndexError) as error:
        raise ValueError(f"the certificate is damaged: {error}") from error


def _public_key(der: bytes) -> bytes:
    tag, start, _ = _element(der, 0)
    if tag != _SEQUENCE:
        raise ValueError("the certificate is no sequence")
    tag, at, end = _element(der, start)
    if tag != _SEQUENCE:
        raise ValueError("the certificate has no body")
    if der[at] == _VERSION:
        at = _element(der, at)[2]
    for _ in range(_BEFORE_KEY):
        at = _element(der, at)[2]
    tag, _, stop = _element(der, at)
    if tag != _SEQUENCE or stop > end or stop > len(der):
        raise ValueError("the certificate has no public key where it belongs")
    return der[at:stop]


def _element(der: bytes, at: int) -> tuple[int, int, int]:
    """Return tag, start and end of the content of the element at an offset."""
    tag, size, start = der[at], der[at + 1], at + 2
    if size & _LONG:
        count = size & ~_LONG
        size = int.from_bytes(der[start : start + count], "big")
        start += count
    if start + size > len(der):
        raise ValueError("the certificate is cut off")
    return tag, start, start + size
