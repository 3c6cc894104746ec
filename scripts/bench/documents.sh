#!/usr/bin/env bash
# Scores `unimatch parse` on documents whose right answer is known.
#
#   scripts/bench/documents.sh KIT CORPUS WORK [SEED]
#
# KIT holds make_annotated_pdfs.py, make_annotated_docx.py and score_parse.py, which render drafts
# of CORPUS (SEFORA) to annotated files and compare what was parsed of them; WORK is a folder for
# all that is made. Prints the scores and the processor time for a file.
# Needs Python 3 with pip (reportlab, pikepdf, pymupdf, numpy, rapidfuzz are installed into WORK),
# Debian's fonts-liberation and fonts-dejavu, and a release build.
set -euo pipefail
[ $# -ge 3 ] || { sed -n '2,12p' "$0"; exit 2; }
kit=$(realpath "$1") corpus=$(realpath "$2") work=$3 seed=${4:-1}
cd "$(dirname "$0")/../.."
cargo build --release --locked
mkdir -p "$work"
[ -d "$work/venv" ] || python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q reportlab pikepdf pymupdf numpy rapidfuzz
python=$work/venv/bin/python

score() { # NAME FOLDER
  local set=$work/$1-$seed
  rm -rf "$set-parsed" "$set-parsed-side"
  local from=$set/$2
  echo "== $1, seed $seed: $(find "$from" -type f | wc -l) files"
  ( TIMEFORMAT='processor: %U s user, %S s system for all of them'
    time ./target/release/unimatch parse "$from" --out "$set-parsed" | tail -1 ) || true
  $python "$kit/score_parse.py" "$set/gt" "$set-parsed" --by-style
}

make_set() { # NAME SCRIPT ARGUMENTS...
  local set=$work/$1-$seed script=$2
  shift 2
  [ -d "$set/gt" ] || $python "$kit/$script" --corpus "$corpus" --out "$set" --seed "$seed" "$@"
}

make_set pdf make_annotated_pdfs.py --per-style 8
score pdf pdf
make_set adversarial make_annotated_pdfs.py --per-style 6 --adversarial
score adversarial pdf
make_set docx make_annotated_docx.py --per-style 5
score docx docx
