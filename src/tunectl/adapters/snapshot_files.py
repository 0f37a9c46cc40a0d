"""Saved snapshots: written for later and for others, read back from every form in which people have them."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from tunectl.adapters.node_trees import find_trees, unpack_tree
from tunectl.core.errors import InputError, problem
from tunectl.core.snapshot import SNAPSHOT_API_VERSION, Snapshot
from tunectl.snapshot_reader import read_snapshot

LIST_KIND = "SnapshotSet"

_FORMS = ".json, .json.gz, .tar.gz, or a directory"
_ARCHIVES = (".tar.gz", ".tgz", ".tar")
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*\Z")
_TREE_MEMBER = re.compile(r"(?:\./)?(?:[^/]+/)?sys/")
# A snapshot has some hundred KiB; a text of this size is something else.
_MAX_DOCUMENT = 256 << 20


def save_snapshots(path: Path, snapshots: Sequence[Snapshot]) -> None:
    """Write snapshots to a file or directory, whole or not at all.

    Shape: the suffix chooses: `.json` and `.json.gz` hold one document (a list where there is not exactly one
    snapshot), `.tar.gz` and a directory one `NODE.json` each. Equal snapshots give equal bytes.
    Sad paths: `InputError` TUN-1703 for another suffix, a node name that is no file name, or a place that cannot
    be written.
    """
    name = path.name
    if path.is_dir() or not path.suffix:
        documents = {f"{_file_name(one, path)}.json": _encode(one.to_json()) for one in snapshots}
        _guarded(path, lambda: path.mkdir(parents=True, exist_ok=True))
        for leaf, data in documents.items():
            _write(path / leaf, data)
    elif name.endswith(".json"):
        _write(path, _encode(_document(snapshots)))
    elif name.endswith(".json.gz"):
        _write(path, gzip.compress(_encode(_document(snapshots)), mtime=0))
    elif name.endswith(_ARCHIVES[:2]):
        _write(path, _archive(snapshots, path))
    else:
        raise _cannot_write(path, "its name tells no form", f"name it {_FORMS}")


def load_snapshots(path: Path) -> list[Snapshot]:
    """Return the snapshots that a file or directory holds, sorted by node where the form has no order.

    Shape: reads what `save_snapshots` writes, and captured trees: a directory or archive with `sys/` and `proc/`
    at its top (the node is called like the file, without `sysfs-`) or one level below (called like the directory).
    Sad paths: `InputError` TUN-1704 naming the file that is missing, damaged or no snapshot.
    """
    if path.is_dir():
        return _from_directory(path)
    data = _read(path)
    if data[:2] == b"\x1f\x8b":
        data = _gunzip(path, data)
    if _is_tar(data):
        return _from_archive(path, data)
    return _from_document(path, data)


def _document(snapshots: Sequence[Snapshot]) -> dict[str, Any]:
    if len(snapshots) == 1:
        return snapshots[0].to_json()
    items = [snapshot.to_json() for snapshot in snapshots]
    return {"apiVersion": SNAPSHOT_API_VERSION, "kind": LIST_KIND, "items": items}


def _encode(document: dict[str, Any]) -> bytes:
    return (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()


def _archive(snapshots: Sequence[Snapshot], path: Path) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for snapshot in snapshots:
            data = _encode(snapshot.to_json())
            member = tarfile.TarInfo(f"{_file_name(snapshot, path)}.json")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return gzip.compress(buffer.getvalue(), mtime=0)


def _file_name(snapshot: Snapshot, path: Path) -> str:
    if not _FILE_NAME.match(snapshot.node):
        raise _cannot_write(path, f"{snapshot.node!r} is no file name", "save into one .json file instead")
    return snapshot.node


def _write(path: Path, data: bytes) -> None:
    def replace() -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    _guarded(path, replace)


def _guarded(path: Path, action: Any) -> None:
    try:
        action()
    except OSError as error:
        raise _cannot_write(path, error.strerror or str(error), "choose a place that can be written") from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _no_snapshot(path, error.strerror or str(error)) from error


def _gunzip(path: Path, data: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            text = file.read(_MAX_DOCUMENT + 1)
    except (OSError, EOFError, ValueError) as error:
        raise _no_snapshot(path, f"it is not whole: {error}") from error
    except Exception as error:
        # zlib.error is no OSError.
        raise _no_snapshot(path, f"it is damaged: {error}") from error
    if len(text) > _MAX_DOCUMENT:
        raise _no_snapshot(path, f"unpacked it is larger than {_MAX_DOCUMENT >> 20} MiB")
    return text


def _is_tar(data: bytes) -> bool:
    return data[257:262] == b"ustar"


def _from_directory(path: Path) -> list[Snapshot]:
    trees = list(find_trees(path))
    if trees:
        return _from_trees(trees, path.resolve().name)
    documents = sorted(path.glob("*.json"))
    if not documents:
        return _none_in(path)
    return sorted((one for file in documents for one in load_snapshots(file)), key=lambda one: one.node)


def _from_archive(path: Path, data: bytes) -> list[Snapshot]:
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            if not any(_TREE_MEMBER.match(name) for name in tar.getnames()):
                documents = list(_documents(path, tar))
                return sorted(documents, key=lambda one: one.node) if documents else _none_in(path)
            with tempfile.TemporaryDirectory(prefix="tunectl-tree-") as scratch:
                unpack_tree(tar, Path(scratch))
                trees = list(find_trees(Path(scratch)))
                if trees:
                    return _from_trees(trees, _node_of(path))
    except (tarfile.TarError, OSError, KeyError) as error:
        raise _no_snapshot(path, f"the archive cannot be unpacked: {error}") from error
    return _none_in(path)


def _documents(path: Path, tar: tarfile.TarFile) -> Iterator[Snapshot]:
    for member in tar:
        if member.isfile() and member.name.endswith(".json") and member.name.removeprefix("./").count("/") == 0:
            file = tar.extractfile(member)
            if file is not None:
                yield from _from_document(path / member.name, file.read())


def _from_trees(trees: Sequence[tuple[str, Path]], default: str) -> list[Snapshot]:
    return [read_snapshot(str(root), name or default) for name, root in trees]


def _node_of(path: Path) -> str:
    name = path.name
    for suffix in _ARCHIVES:
        name = name.removesuffix(suffix)
    return name.removeprefix("sysfs-") or name


def _from_document(path: Path, data: bytes) -> list[Snapshot]:
    try:
        document = json.loads(data)
    except ValueError as error:
        raise _no_snapshot(path, f"it is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise _no_snapshot(path, "it is JSON, but no object")
    items = document.get("items") if document.get("kind") == LIST_KIND else [document]
    if not isinstance(items, list):
        raise _no_snapshot(path, "its items are no list")
    if not all(isinstance(item, dict) for item in items):
        raise _no_snapshot(path, "one of its items is no object")
    try:
        return [Snapshot.from_json(item) for item in items]
    except ValueError as error:
        raise _no_snapshot(path, str(error)) from error


def _none_in(path: Path) -> NoReturn:
    raise _no_snapshot(path, "it holds neither NODE.json files nor a tree with sys/ and proc/")


def _no_snapshot(path: Path, why: str) -> InputError:
    fix = f"give a file or directory that `tunectl snapshot save` wrote ({_FORMS}), or a captured tree"
    return InputError((problem("TUN-1704", "no snapshot can be read from this", where=str(path), why=why, fix=fix),))


def _cannot_write(path: Path, why: str, fix: str) -> InputError:
    return InputError((problem("TUN-1703", "snapshots cannot be saved there", where=str(path), why=why, fix=fix),))
