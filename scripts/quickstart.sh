#!/usr/bin/env bash
# From nothing to a result: builds unimatch, brings a small model, and evaluates its
# feedback on the sample corpus against the instructors' comments, with the segmenter and
# the scorer that unimatch carries.
#
#   ./scripts/quickstart.sh [OPTIONS OF `unimatch run`]
#
# Needs Rust, Python 3 with pip and a C compiler. Run again, it goes on where it stopped.
set -euo pipefail
cd "$(dirname "$0")/.."

echo "== building (some minutes the first time)"
cargo build --locked --release

echo "== model"
python3 scripts/fetch_models.py --for start

models="${UNIMATCH_MODELS:-models/cache}"
echo "== running"
exec cargo run --locked --release --quiet -- run tests/fixtures/corpus \
    --generator "local:$models/SmolLM2-135M-Instruct.Q4_1.gguf" \
    --condition v1+guided --max-new-tokens 120 \
    --out runs/quickstart "$@"
