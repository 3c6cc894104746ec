#!/usr/bin/env bash
# The engine beside llama.cpp and others: a table in Markdown, and all the numbers in
# target/bench/engine.json. About half an hour on two cores, after two long builds.
#
#   ./scripts/bench/engine.sh [--quick] [--only ROWS] [--skip ROWS] [--threads N] [--rounds N]
#   ./scripts/bench/engine.sh growth [--rounds N]    draws docs/engine-growth.svg
#
# Needs what scripts/bench/llama_cpp.sh needs, and the machine to itself. The row on
# transformers needs more, several gigabytes of it:
#   target/bench/venv/bin/pip install torch transformers gguf
# The row on SEFORA needs the corpus in ../shared. The 8B-shaped models take 10 GB under
# target/bench; delete them as you like.
# ENGINE_BENCH=PATH takes a bench program that is built already, UNIMATCH=PATH a program.
set -euo pipefail
cd "$(dirname "$0")/../.."

python3 scripts/fetch_models.py >&2
tools="$(./scripts/bench/llama_cpp.sh)"
program="${ENGINE_BENCH:-}"
if [ -z "$program" ]; then
    program="$(cargo bench --locked --bench engine --no-run --message-format=json \
        | python3 -c 'import json, sys
for line in sys.stdin:
    built = json.loads(line)
    if built.get("executable") and "bench" in built["target"]["kind"]:
        print(built["executable"])')"
    cargo build --locked --release >&2
fi
script=engine.py
if [ "${1:-}" = growth ]; then
    script=growth.py
    shift
fi
exec "${CARGO_TARGET_DIR:-target}/bench/venv/bin/python" "scripts/bench/$script" \
    --program "$program" --llama-cpp "$tools" "$@"
