"""Turns any text, path or argument into what a terminal only shows. It prints nothing."""

import re
from pathlib import PurePath

MAX_SHOWN = 300

# Control characters, those that end a line or turn the direction of text, and halves of characters.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_LOOKS_ESCAPED = re.compile(r"\\[\\xu]")


def escaped(text: str) -> str:
    r"""Return `text` with each character that could drive a terminal as `\xNN` or `\uNNNN`.

    A byte that the locale could not decode is `\xNN` too.

    >>> print(escaped("a\nb\x9b\udcff\u202e"))
    a\x0ab\u009b\xff\u202e
    """
    return _UNPRINTABLE.sub(lambda match: _escape(ord(match.group())), text)


def printable(path: str) -> str:
    r"""Return `path` as text that can be stored and printed; two paths never become one.

    A name in which something is escaped, or looks as if it were, has its backslashes doubled.

    >>> print(printable("./caf\udce9"), printable(r"caf\xe9"), printable(r"a\b"), printable("./"))
    caf\xe9 caf\\xe9 a\b .
    """
    name = PurePath(path).as_posix() if path else "''"
    if _UNPRINTABLE.search(name) or _LOOKS_ESCAPED.search(name):
        return escaped(name.replace("\\", r"\\"))
    return name


def one_line(text: str) -> str:
    """Return `text` with single spaces for white space; what could drive a terminal becomes U+FFFD."""
    return masked(" ".join(text.split()))


def masked(text: str) -> str:
    """Return `text`, at the same length, with U+FFFD for each character that could drive a terminal."""
    return _UNPRINTABLE.sub("\ufffd", text)


def shortened(text: str) -> str:
    """Return `text` without its middle if it is longer than a message should be."""
    if len(text) <= MAX_SHOWN:
        return text
    half = MAX_SHOWN // 2
    return f"{text[:half]}…{text[-half:]}"


def _escape(code_point: int) -> str:
    # An undecodable byte is a lone surrogate; no other character may look like it.
    if 0xDC80 <= code_point <= 0xDCFF:
        return f"\\x{code_point - 0xDC00:02x}"
    return f"\\x{code_point:02x}" if code_point < 0x80 else f"\\u{code_point:04x}"
