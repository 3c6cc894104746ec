#!/usr/bin/env bash
# llama.cpp's own tools, built for this machine from the source in the package
# llama-cpp-python, once; prints the folder that holds them.
#
#   ./scripts/bench/llama_cpp.sh
#
# Needs Python 3 with pip and venv and a C++ compiler; nothing besides pip touches the
# network. Everything lies under target/bench: `venv` (cmake, ninja, and what
# scripts for golden numbers and benches import), `llama.cpp/source` and
# `llama.cpp/build/bin`. Delete it to start anew.
# BENCH_JOBS sets how many compilers run at a time (default: one a core).
set -euo pipefail
cd "$(dirname "$0")/../.."

version=0.3.36
home="$(realpath -m "${CARGO_TARGET_DIR:-target}")/bench"
venv="$home/venv"
tree="$home/llama.cpp"
tools=(llama-bench llama-batched-bench llama-server llama-completion llama-quantize llama-tokenize
    llama-perplexity)

say() { printf '%s\n' "$*" >&2; }

if [ ! -f "$venv/ready" ]; then
    say "== a Python environment with cmake and ninja in $venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check scikit-build-core cmake ninja \
        numpy jinja2 typing-extensions diskcache blake3 onnx onnxruntime safetensors tokenizers >&2
    touch "$venv/ready"
fi
export PATH="$venv/bin:$PATH"

if [ ! -f "$tree/$version" ]; then
    say "== the source of llama.cpp, out of llama-cpp-python $version"
    mkdir -p "$tree"
    if [ ! -f "$tree/llama_cpp_python-$version.tar.gz" ]; then
        pip download --quiet --disable-pip-version-check --no-deps --no-build-isolation \
            --no-binary llama-cpp-python --dest "$tree" "llama-cpp-python==$version" >&2
    fi
    rm -rf "$tree/source" "$tree/build"
    mkdir "$tree/source"
    tar -xzf "$tree/llama_cpp_python-$version.tar.gz" -C "$tree/source" --strip-components=1
    touch "$tree/$version"
fi

if [ ! -f "$tree/build/ready" ]; then
    say "== building ${tools[*]} (ten minutes and more)"
    # The server's page would be downloaded, and HTTPS is for downloading models.
    cmake -S "$tree/source/vendor/llama.cpp" -B "$tree/build" -G Ninja \
        -DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=ON -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_UI=OFF \
        -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF \
        -DLLAMA_BUILD_APP=OFF >&2
    cmake --build "$tree/build" --parallel "${BENCH_JOBS:-$(nproc)}" --target "${tools[@]}" >&2
    touch "$tree/build/ready"
fi
printf '%s\n' "$tree/build/bin"
