"""Files that appear whole or not at all."""

import os
import shutil
import stat

import pytest

from eigensieve._files import StagedFile, staged


def test_a_file_appears_at_the_end_and_nothing_else_is_left(tmp_path):
    place = tmp_path / "table.csv.gz"
    with staged(place) as path:
        assert path.name == place.name and path.parent.parent == tmp_path
        path.write_text("new")
        assert not place.exists()
    assert place.read_text() == "new" and list(tmp_path.iterdir()) == [place]


@pytest.mark.parametrize("failure", [OSError, KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("before", [None, "old"])
def test_a_failure_leaves_what_was_there(tmp_path, failure, before):
    place = tmp_path / "a.txt"
    if before is not None:
        place.write_text(before)

    def write():
        with staged(place) as path:
            path.write_text("half")
            raise failure

    with pytest.raises(failure):
        write()
    assert [path.read_text() for path in tmp_path.iterdir()] == ([] if before is None else [before])


@pytest.mark.parametrize("step", ["replace", "fsync"])
def test_a_full_disk_at_the_last_moment(tmp_path, monkeypatch, step):
    place = tmp_path / "a.txt"
    place.write_text("old")

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="No space"), staged(place, flush=True) as path:
        path.write_text("new")
    assert place.read_text() == "old" and list(tmp_path.iterdir()) == [place]


@pytest.mark.parametrize("flush", [False, True])
def test_a_folder_replaces_a_folder(tmp_path, flush):
    place = tmp_path / "matrix"
    place.mkdir()
    (place / "old").write_text("old")
    with staged(place, flush=flush) as path:
        path.mkdir()
        (path / "new").write_text("new")
    assert [file.name for file in place.iterdir()] == ["new"] and list(tmp_path.iterdir()) == [place]


@pytest.mark.skipif(os.name != "posix", reason="permissions are as on POSIX")
def test_a_file_is_shared_as_the_user_shares_files(tmp_path):
    mask = os.umask(0o022)
    try:
        with staged(tmp_path / "a.txt") as path:
            path.write_text("new")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o644


def test_a_missing_folder_is_said_at_once(tmp_path):
    with pytest.raises(FileNotFoundError), staged(tmp_path / "nowhere" / "a.txt"):
        raise AssertionError("nothing may be written")


def test_several_files_wait_for_each_other(tmp_path):
    files = [StagedFile(tmp_path / name) for name in ("a", "b")]
    for file in files:
        file.path.write_text(file.path.name)
    files[0].publish()
    for file in files:
        file.discard()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_link_is_followed_and_stays(tmp_path):
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with staged(tmp_path / "link") as path:
        path.write_text("new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").read_text() == "new"


@pytest.mark.parametrize("linked", [False, True])
def test_a_file_does_not_replace_a_folder(tmp_path, linked):
    target = tmp_path / "target"
    target.mkdir()
    place = tmp_path / "link" if linked else target
    if linked:
        place.symlink_to(target)
    with pytest.raises(IsADirectoryError), staged(place) as path:
        path.write_text("new")
    assert target.is_dir()


@pytest.mark.skipif(os.name != "posix", reason="named pipes are of POSIX")
def test_what_is_no_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="device, pipe or socket"), staged(tmp_path / "pipe"):
        raise AssertionError("nothing may be written")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_thread_that_still_writes_leaves_no_folder_behind(tmp_path, monkeypatch):
    removed, tries = shutil.rmtree, []

    def late(folder, **options):
        removed(folder, **options)
        tries.append(folder)
        if len(tries) < 3:
            folder.mkdir()

    monkeypatch.setattr("eigensieve._files.shutil.rmtree", late)
    StagedFile(tmp_path / "x.csv").discard()
    assert len(tries) == 3 and not list(tmp_path.iterdir())
