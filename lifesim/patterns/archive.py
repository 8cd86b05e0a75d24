"""A pattern of a zip archive and its rules: hostile until shown otherwise, as any file."""

from __future__ import annotations

import io
import os
import struct
import zipfile
import zlib

from lifesim.patterns.files import unpacked
from lifesim.patterns.pattern import PatternError

_END = struct.Struct("<4s4H2LH")  # of the directory: magic, ..., its size at 5
_END_MAGIC, _LONG_MAGIC = b"PK\x05\x06", b"PK\x06\x07"
_LONG_SIZE = 20
_MOST_DIRECTORY = 1 << 20  # bytes of it, which become objects ten times as large
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 1
_SHOWN = 3
_ZIP = ".zip/"
_RULES = (".rule", ".table", ".tree")
_MOST_RULES = 16  # files of rules, and the bytes of all of them together
_MOST_RULES_BYTES = 16 << 20
_DAMAGES = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    ValueError,  # and UnicodeDecodeError, of names
    OverflowError,
    IndexError,
    OSError,
    NotImplementedError,
    RuntimeError,
)


def split(path: str) -> tuple[str, str] | None:
    """Return the path of an archive and the member that the rest of a path names, as in
    `ARCHIVE.zip/FOLDER/MEMBER`; None where no part of the path is a file that ends in .zip."""
    at = path.lower().find(_ZIP)
    while at >= 0:
        archive = path[: at + len(_ZIP) - 1]
        if os.path.isfile(archive):
            return archive, path[at + len(_ZIP) :]
        at = path.lower().find(_ZIP, at + 1)
    return None


def member_of(
    data: bytes, extensions: tuple[str, ...], name: str, wanted: str | None = None
) -> tuple[bytes, str]:
    """Return the bytes of the member that is wanted, and what errors call it.

    None wants the only member with one of the extensions. Names are looked at, and never used as
    paths; archives in the archive are not opened. Raises PatternError for a damaged archive, for
    none or several such members, and for one that is encrypted, packed by another method than
    deflate, or a bomb.
    """
    _check_directory(data, name)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [entry for entry in archive.infolist() if _is_pattern(entry, extensions)]
            chosen = [entry for entry in members if wanted in (None, entry.filename)]
            if len(chosen) != 1:
                raise PatternError(_choice(members, name, wanted), name)
            return _contents(archive, chosen[0], len(data), name)
    except _DAMAGES as error:
        raise PatternError(f"damaged zip archive: {_plain(str(error))}", name) from None


def rule_files(data: bytes, name: str) -> dict[str, bytes]:
    """Return the rule files of an archive by paths of the archive and their own names.

    Raises PatternError as member_of() does, and for more than 16 files or 16 MiB of them.
    """
    _check_directory(data, name)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [entry for entry in archive.infolist() if _is_pattern(entry, _RULES)]
            size = sum(entry.file_size for entry in members)
            if len(members) > _MOST_RULES or size > _MOST_RULES_BYTES:
                raise PatternError("too many rule files: unpack the archive", name)
            found: dict[str, bytes] = {}
            for member in members:  # of equal names in several folders the first counts
                path = f"{name}/{member.filename.rpartition('/')[2]}"
                found.setdefault(path, _contents(archive, member, len(data), name)[0])
            return found
    except _DAMAGES as error:
        raise PatternError(f"damaged zip archive: {_plain(str(error))}", name) from None


def _contents(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, size: int, name: str
) -> tuple[bytes, str]:
    """Return the bytes of a member of an archive of so many bytes, and what errors call it."""
    where = f"{name}/{_plain(member.filename)}"
    if member.flag_bits & _ENCRYPTED:
        raise PatternError("encrypted: it is not read", where)
    if member.compress_type not in _METHODS:
        raise PatternError("packed by another method than deflate", where)
    with archive.open(member) as stream:
        return unpacked(stream, where, min(member.compress_size, size)), where


def _check_directory(data: bytes, name: str) -> None:
    """Raise PatternError for a directory so long that its entries would fill the memory."""
    at = data.rfind(_END_MAGIC, max(0, len(data) - _END.size - (1 << 16)))
    if at < 0 or len(data) - at < _END.size:
        raise PatternError("damaged zip archive: it is cut off", name)
    size = _END.unpack_from(data, at)[5]
    if size > _MOST_DIRECTORY or data[max(0, at - _LONG_SIZE) : at].startswith(_LONG_MAGIC):
        raise PatternError("too large an archive: unpack it and open the pattern", name)


def _is_pattern(entry: zipfile.ZipInfo, extensions: tuple[str, ...]) -> bool:
    path = entry.filename.lower().split("/")
    # macOS puts a file with what it knows of each beside them.
    hidden = "__macosx" in path or path[-1].startswith(".")
    return not entry.is_dir() and not hidden and path[-1].endswith(extensions)


def _choice(members: list[zipfile.ZipInfo], name: str, wanted: str | None) -> str:
    """Return what is wrong where not one member of an archive is the wanted one."""
    if not members:
        return "the archive holds no pattern"
    if wanted is not None:
        held = sum(entry.filename == wanted for entry in members)
        if held:
            return f"the archive holds {held} patterns of the name {_plain(wanted)}"
        what = f"the archive holds no pattern {_plain(wanted)}, but"
    else:
        what = f"the archive holds {len(members)} patterns:"
    names = ", ".join(_plain(entry.filename) for entry in members[:_SHOWN])
    more = ", ..." if len(members) > _SHOWN else ""
    one = f"{os.path.basename(name)}/{_plain(members[0].filename)}"
    return f"{what} {names}{more}: name one, as {one}"


def _plain(text: str) -> str:
    """Return text from an archive as it may stand in an error message: one line, and short."""
    shown = "".join(character if character.isprintable() else "?" for character in text)
    return shown if len(shown) <= 80 else shown[:77] + "..."
