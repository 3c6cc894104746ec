#!/usr/bin/env bash
# Trains the scorer and the segmenter that unimatch carries, anew, as models/distilled/README.md
# tells: a teacher rates what nobody rated, both small models learn, and their cards are made.
#
#   ./scripts/train_distilled.sh ANNOTATIONS CORPUS TEACHER OUT
#
# ANNOTATIONS holds similarity_{train,dev}.jsonl and segmentation_{train,dev}.jsonl, CORPUS the
# drafts of SEFORA, TEACHER all-mpnet-base-v2 (see scripts/teach_scorer.py, whose Python packages
# are needed: `PYTHON=venv/bin/python` names another interpreter). An hour on two cores. Killed, it
# goes on with the same command. Nothing outside OUT is written.
set -euo pipefail
if [ $# -ne 4 ]; then
    echo "usage: $0 ANNOTATIONS CORPUS TEACHER OUT (the first lines of this file tell more)" >&2
    exit 2
fi
annotations=$(realpath "$1") corpus=$(realpath "$2") teacher=$(realpath "$3")
mkdir -p "$4"
out=$(realpath "$4")
cd "$(dirname "$0")/.."

cargo build --locked --release
python3 scripts/fetch_models.py
unimatch() { target/release/unimatch "$@"; }

echo "== the teacher"
if [ ! -e "$out/taught.jsonl" ]; then
    "${PYTHON:-python3}" scripts/teach_scorer.py --teacher "$teacher" --corpus "$corpus" \
        --train "$annotations/similarity_train.jsonl" --dev "$annotations/similarity_dev.jsonl" \
        --keep "$out/teacher.pt" --out "$out/taught.jsonl.part"
    mv "$out/taught.jsonl.part" "$out/taught.jsonl"
fi
cat "$annotations/similarity_train.jsonl" "$out/taught.jsonl" > "$out/similarity_and_taught.jsonl"

base=models/cache/all-MiniLM-L6-v2
echo "== the scorer"
[ -e "$out/scorer.safetensors" ] || unimatch distill scorer --config models/distilled/scorer.toml \
    --base "$base" --train "$out/similarity_and_taught.jsonl" \
    --dev "$annotations/similarity_dev.jsonl" --out "$out"
echo "== the segmenter"
[ -e "$out/segmenter.safetensors" ] || unimatch distill segmenter \
    --config models/distilled/segmenter.toml --base "$base" \
    --train "$annotations/segmentation_train.jsonl" --dev "$annotations/segmentation_dev.jsonl" \
    --students "$annotations/similarity_train.jsonl" --out "$out"

echo "== the cards"
who="language models, not humans"
unimatch validate similarity "$annotations/similarity_dev.jsonl" --scorer "distilled:$out" \
    --annotators "$who" --out "$out/similarity"
unimatch validate segmentation "$annotations/segmentation_dev.jsonl" \
    --segmenter "distilled:$out" --annotators "$who" --out "$out/segmentation"
