"""-o: only plain files are replaced, whole, and what cannot be written is said before the run."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import matplotlib as mpl
import pytest
from click.testing import CliRunner, Result

from miniredis.cli import cli
from miniredis.cli.params import FilePath

PNG = b"\x89PNG"
COMMANDS = (
    ("expire", "--keys", "20", "--ttl", "1s"),
    ("strategies", "--duration", "1s", "--rate", "50", "--only", "lazy"),
)

mpl.use("Agg")


def draw(output: str, command: tuple[str, ...] = COMMANDS[0]) -> Result:
    result = CliRunner().invoke(cli, [*command, "-o", output])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


@pytest.fixture
def no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulation must not begin."""

    def refuse(*args: object) -> None:
        raise AssertionError("the simulation has begun")

    monkeypatch.setattr("miniredis.lab.experiments._write_keys", refuse)
    monkeypatch.setattr("miniredis.lab.strategies.run_strategies", refuse)


@pytest.mark.usefixtures("no_run")
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pipe", "that is a named pipe, not a plain file"),
        ("link-to-pipe", "that is a named pipe"),
        ("directory", "that is a directory"),
        ("loop", "Too many levels of symbolic links"),
        ("dangling", "does not exist"),
        ("no/such/x.png", "does not exist"),
        ("plain/x.png", "Not a directory"),
        ("n" * 300 + ".png", "File name too long"),
        ("x.foo", "cannot write .foo files here; choose one of"),
        ("x.PNG2", "cannot write .PNG2 files here"),
    ],
)
def test_refused_before_the_run(
    tmp_path: Path, command: tuple[str, ...], name: str, message: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link-to-pipe").symlink_to("pipe")
    (tmp_path / "directory").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("no/such/x.png")
    (tmp_path / "plain").touch()
    before = sorted(p.name for p in tmp_path.iterdir())
    result = draw(str(tmp_path / name), command)
    assert result.exit_code == 2
    assert message in result.output
    assert result.output.count("cannot write") == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == before
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)
    assert (tmp_path / "link-to-pipe").is_symlink()


@pytest.mark.usefixtures("no_run")
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize("name", ["", "-"])
def test_no_name_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = draw(name, command)
    assert result.exit_code == 2
    assert "name" in result.output
    assert os.listdir() == []


@pytest.mark.usefixtures("no_run")
def test_a_format_whose_program_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(mpl.rcParams, "pgf.texsystem", "lualatex")
    monkeypatch.setenv("PATH", str(tmp_path))
    result = draw(str(tmp_path / "x.pgf"))
    assert result.exit_code == 2
    assert "cannot write .pgf files here" in result.output
    assert "pgf," not in result.output


@pytest.mark.usefixtures("no_run")
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_place_that_may_not_be_written(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    result = draw(str(closed / "x.png"))
    assert (result.exit_code, "no file may be made in" in result.output) == (2, True)


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link.png").symlink_to("elsewhere/real.png")
    for _ in range(2):  # the target does not exist, then it does
        assert draw(str(tmp_path / "link.png")).exit_code == 0
        assert (tmp_path / "link.png").is_symlink()
        assert (tmp_path / "elsewhere/real.png").read_bytes().startswith(PNG)
    assert os.listdir(tmp_path / "elsewhere") == ["real.png"]


def test_the_mode_is_kept_and_a_new_one_follows_the_umask(tmp_path: Path) -> None:
    old, new = tmp_path / "old.png", tmp_path / "new.png"
    old.touch()
    old.chmod(0o640)
    umask = os.umask(0o027)
    try:
        assert draw(str(old)).exit_code == draw(str(new)).exit_code == 0
    finally:
        os.umask(umask)
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert stat.S_IMODE(new.stat().st_mode) == 0o640


def test_a_failure_while_writing_names_the_file_that_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device", "/tmp/secret-temporary-name.png")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", full)
    monkeypatch.setattr("miniredis.lab.plots.files._can_write", lambda format: True)
    result = draw(str(tmp_path / "x.png"))
    assert result.exit_code == 1
    assert result.output.endswith(
        f"Error: cannot write {tmp_path}/x.png: No space left on device\n"
    )
    assert os.listdir(tmp_path) == []


def test_postscript_is_written_without_a_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for command in COMMANDS:
        result = draw(str(tmp_path / "x.eps"), command)
        assert result.exit_code == 0
        assert "transparen" not in result.output
    assert not [record for record in caplog.records if record.levelname == "WARNING"]


def test_every_command_that_draws_takes_the_same_option() -> None:
    for name, command in cli.commands.items():
        for option in command.params:
            if option.name == "output":
                assert isinstance(option.type, FilePath), name
