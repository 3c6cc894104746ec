#!/usr/bin/env bash
# Compiles what `--features cuda` adds, which no other check does, and where there is
# an NVIDIA GPU runs the tests on it too.
#
#   ./scripts/check-cuda.sh
#
# Needs Rust, Python 3 with pip and venv, and a C++ compiler; no GPU and no CUDA
# toolkit, the parts of which it installs under target/cuda. The first time takes
# about ten minutes on two cores. Set CUDA_HOME to use a toolkit of your own.
#
# Not covered: `flash-attn`. Its kernels need CUTLASS, which their build script clones
# with git.
set -euo pipefail
cd "$(dirname "$0")/.."

# A target directory of its own, so that the other builds stay as they are.
export CARGO_TARGET_DIR="$PWD/target/cuda"

# nvcc 13.5 and later are too new for cudarc 0.19. All parts of one version: headers of
# another one are refused by the compiler.
parts=(
    "nvidia-cuda-nvcc==13.0.88"    # nvcc, ptxas
    "nvidia-cuda-crt==13.0.88"     # its own headers
    "nvidia-nvvm==13.0.88"         # cicc, which nvcc calls
    "nvidia-cuda-runtime==13.0.96" # cuda.h, cuda_runtime.h, libcudart
    "nvidia-cuda-cccl==13.0.85"    # cuda/std, cub
)
# What programs are linked with.
libraries=(
    "nvidia-cublas==13.*"
    "nvidia-curand"
    "nvidia-cuda-nvrtc==13.0.*"
)

step() { printf '\n== %s\n' "$*"; }

install() {
    [ -x "$toolkit/bin/pip" ] || python3 -m venv "$toolkit"
    "$toolkit/bin/pip" install --quiet --disable-pip-version-check --no-cache-dir "$@"
}

# The linker looks for names without a version, and pip brings only those with one.
name_libraries() {
    local library
    for library in "$CUDA_HOME"/lib/lib*.so.*; do
        ln -sf "$(basename "$library")" "${library%%.so.*}.so"
    done
    if driver=$(ldconfig -p | sed -n 's/.*libcuda\.so\.1.*x86-64.* => //p' | head -n 1) && [ -n "$driver" ]; then
        ln -sf "$driver" "$CUDA_HOME/lib/libcuda.so"
    fi
}

n_gpus=$( (nvidia-smi --list-gpus 2>/dev/null || true) | wc -l)

step "toolkit"
if [ -z "${CUDA_HOME:-}" ]; then
    toolkit="$CARGO_TARGET_DIR/toolkit"
    install "${parts[@]}"
    if [ "$n_gpus" -gt 0 ]; then
        install "${libraries[@]}"
    fi
    CUDA_HOME=$(echo "$toolkit"/lib/python3.*/site-packages/nvidia/cu13)
    name_libraries
fi
export CUDA_HOME CUDA_PATH="$CUDA_HOME" CUDA_ROOT="$CUDA_HOME" CUDA_TOOLKIT_ROOT_DIR="$CUDA_HOME"
export PATH="$CUDA_HOME/bin:$PATH"
nvcc --version | tail -n 2

# What the kernels are compiled for: the GPU at hand, or the oldest that takes bf16.
if [ -z "${CUDA_COMPUTE_CAP:-}" ] && [ "$n_gpus" -gt 0 ]; then
    CUDA_COMPUTE_CAP=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
fi
export CUDA_COMPUTE_CAP="${CUDA_COMPUTE_CAP:-80}"

step "compile (kernels for compute capability $CUDA_COMPUTE_CAP)"
cargo check --locked --features cuda --all-targets

if [ "$n_gpus" -eq 0 ]; then
    step "no GPU here: nothing was run on one"
    exit 0
fi

step "tests on $n_gpus GPU(s)"
export LD_LIBRARY_PATH="$CUDA_HOME/lib:$CUDA_HOME/lib64:${LD_LIBRARY_PATH:-}"
cargo test --locked --features cuda --test it -- device
