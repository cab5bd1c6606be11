"""Zip archives: their files come out one by one, within limits that hold whatever the archive says."""

import io
import struct
import zipfile

import pytest

from assessor.formats import lines
from assessor.imports import unzip
from assessor.imports.unzip import ZipRefused, is_zip, unpack


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    """A folder of its own for each test's uploads."""
    settings.DATA_DIR = tmp_path / "data"
    folder = settings.DATA_DIR / "uploads"
    folder.mkdir(parents=True)
    return folder


def zipped(files, method=zipfile.ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name, text in files:
            archive.writestr(name, text)
    return content.getvalue()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some.zip"


def test_files_come_out_under_their_names_without_folders(path, folder):
    path.write_bytes(
        zipped(
            [("runs/", ""), ("runs/b.jsonl", "b"), ("../../a.tsv", "a"), ("__MACOSX/x", "x"), ("runs/.DS_Store", "x")]
        )
    )
    found = unpack(path)
    assert [(name, target.read_text()) for name, target in found] == [("b.jsonl", "b"), ("a.tsv", "a")]
    assert {target.parent for _, target in found} == {folder}


def refuses(path, folder, content: bytes, why: str) -> None:
    path.write_bytes(content)
    with pytest.raises(ZipRefused) as refused:
        unpack(path)
    assert why in str(refused.value)
    assert list(folder.iterdir()) == []


def test_what_unpacks_to_too_much_is_refused_whatever_it_says(path, folder, monkeypatch, settings):
    monkeypatch.setattr(lines, "UNPACKED", 1_000)
    monkeypatch.setattr(lines, "TIMES", 2)
    refuses(path, folder, zipped([("good.tsv", "a"), ("bomb.tsv", "x" * 5_000_000)]), "bomb.tsv in it unpacks to more")
    monkeypatch.undo()
    settings.DATA_DIR = folder.parent
    settings.MAX_UPLOAD_BYTES = 1_000
    four = [(f"{n}.tsv", "x" * 999) for n in range(5)]
    refuses(path, folder, zipped(four), "4.tsv in it unpacks to more")
    path.write_bytes(zipped(four[:4]))
    assert len(unpack(path)) == 4


def test_too_many_files_are_refused_before_one_is_taken_out(path, folder, monkeypatch):
    monkeypatch.setattr(unzip, "MOST_FILES", 2)
    refuses(path, folder, zipped([(f"{n}.tsv", "a") for n in range(3)]), "it holds 3 files; at most 2")
    monkeypatch.setattr(unzip, "_LONGEST_DIRECTORY", 100)
    monkeypatch.setattr(zipfile, "ZipFile", None)  # its list is not read
    refuses(path, folder, zipped_list(300), "it lists more files than are taken at once")


def zipped_list(length: int) -> bytes:
    """Return the end of an archive whose list of files is this long."""
    return b"x" * length + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, length, 0, 0)


def test_a_list_whose_length_is_elsewhere_is_refused(path, folder):
    large = struct.pack("<4sLQL", b"PK\x06\x07", 0, 0, 1)
    refuses(path, folder, large + zipped_list(0), "it lists more files")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "it is no whole zip file"),
        (b"PK\x05\x06", "it is no whole zip file"),
        (b"not a zip" * 100, "it is no whole zip file"),
        (zipped([("a.tsv", "a" * 100)])[:-30], "it is no whole zip file"),
        (zipped([("a.tsv", "abc" * 100)]).replace(b"a.tsv", b"b.tsv", 1), "it is no whole zip file"),
        (zipped([]), "it holds no file"),
        (zipped([("a.tsv", "a")], zipfile.ZIP_BZIP2), "a.tsv in it is packed by another method"),
    ],
    # A packed file holds the time, and the processes of the tests must know each test by the same name.
    ids=["empty", "end", "text", "cut off", "renamed", "no file", "other method"],
)
def test_what_is_no_good_zip_is_refused(path, folder, content, why):
    refuses(path, folder, content, why)


def test_an_encrypted_file_is_refused(path, folder):
    content = bytearray(zipped([("a.tsv", "a")]))
    content[content.index(b"PK\x01\x02") + 8] |= 1
    refuses(path, folder, bytes(content), "a.tsv in it is encrypted")


def test_a_zip_is_known_by_its_name():
    assert [is_zip(name) for name in ("a.zip", "A.ZIP", "a.jsonl", "a.docx")] == [True, True, False, False]
