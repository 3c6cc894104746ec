#!/usr/bin/env bash
# Everything that must pass: format, lints, documentation and all tests.
# Needs Rust, Python 3 with pip and a C compiler; brings the models itself.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; }

step "models"
python3 scripts/fetch_models.py

step "format"
cargo fmt --check

step "lints"
cargo clippy --locked --all-targets -- --deny warnings
cargo clippy --locked --no-default-features -- --deny warnings

step "documentation"
RUSTDOCFLAGS="--deny warnings" cargo doc --locked --no-deps

step "tests"
cargo test --locked --doc
cargo test --locked --lib
cargo test --locked --test it
