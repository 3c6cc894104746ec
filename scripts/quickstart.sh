#!/usr/bin/env bash
# From nothing to a result: builds unimatch, brings two small models, and evaluates
# SmolLM2's feedback on the sample corpus against its instructors' comments.
#
#   ./scripts/quickstart.sh [OPTIONS OF `unimatch run`]
#
# Needs Rust, Python 3 with pip and a C compiler. Run again, it goes on where it stopped.
set -euo pipefail
cd "$(dirname "$0")/.."

echo "== building (some minutes the first time)"
cargo build --locked --release

echo "== models"
python3 scripts/fetch_models.py --for start

models="${UNIMATCH_MODELS:-models/cache}"
echo "== running"
exec cargo run --locked --release --quiet -- run tests/fixtures/corpus \
    --generator "local:$models/SmolLM2-135M-Instruct.Q4_1.gguf" \
    --scorer "embedding:$models/all-MiniLM-L6-v2" --condition v1+guided --max-new-tokens 120 \
    --out runs/quickstart "$@"
