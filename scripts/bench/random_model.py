#!/usr/bin/env python3
"""A model file of the shape of Llama 3.1 8B with random weights, to measure speed with.

    python3 scripts/bench/random_model.py q4_k_m target/bench/random-8b-q4_k_m.gguf
    python3 scripts/bench/random_model.py q4_0 target/bench/random-8b-q4_0.gguf

It says nothing, has no tokenizer, and takes 4.9 or 4.6 GB. Which matrix is in which format
is what llama-quantize chooses. The blocks are drawn from a few thousand random ones of
each format, their scales such that the weights spread as those of trained models do.
The same bytes come out every time. Needs numpy.
"""

import struct
import sys
from pathlib import Path

import numpy as np

LAYERS, WIDTH, INNER, HEADS, KV_HEADS, HEAD, VOCABULARY = 32, 4096, 14336, 32, 8, 128, 128_256
CONTEXT, BASE, EPSILON = 8192, 500_000.0, 1e-5

# Number in the file, weights a block, bytes a block.
FORMATS = {"F32": (0, 1, 4), "Q4_0": (2, 32, 18), "Q4_K": (12, 256, 144), "Q6_K": (14, 256, 210)}
U32, F32, TEXT = 4, 6, 8
ALIGNMENT = 32
N_BLOCKS = 4096
SPREAD = 0.02


def blocks(kind, generator):
    """Some random blocks of a format, one a row."""
    size = FORMATS[kind][2]
    found = generator.integers(0, 256, (N_BLOCKS, size), dtype=np.uint8)

    def half(value, column):
        number = np.full(N_BLOCKS, value, np.float16) * generator.uniform(0.8, 1.2, N_BLOCKS)
        found[:, column:column + 2] = number.astype("<f2").view(np.uint8).reshape(-1, 2)

    if kind == "Q4_0":      # d (q - 8), where q - 8 spreads by 4.6
        half(SPREAD / 4.6, 0)
    elif kind == "Q4_K":    # d s q - m t, where s and t are six bits
        half(SPREAD / 4.6 / 32, 0)
        half(SPREAD / 4.6 / 32 * 7.5, 2)
    else:                   # d s (q - 32), where s is a signed byte: q - 32 spreads by 18.5
        half(SPREAD / 18.5 / 74, size - 2)
    return found


def shapes():
    """Name, outputs and inputs of each tensor, in the order of the file."""
    yield "token_embd.weight", VOCABULARY, WIDTH
    for layer in range(LAYERS):
        prefix = f"blk.{layer}."
        yield prefix + "attn_norm.weight", None, WIDTH
        yield prefix + "attn_q.weight", HEADS * HEAD, WIDTH
        yield prefix + "attn_k.weight", KV_HEADS * HEAD, WIDTH
        yield prefix + "attn_v.weight", KV_HEADS * HEAD, WIDTH
        yield prefix + "attn_output.weight", WIDTH, HEADS * HEAD
        yield prefix + "ffn_norm.weight", None, WIDTH
        yield prefix + "ffn_gate.weight", INNER, WIDTH
        yield prefix + "ffn_up.weight", INNER, WIDTH
        yield prefix + "ffn_down.weight", WIDTH, INNER
    yield "output_norm.weight", None, WIDTH
    yield "output.weight", VOCABULARY, WIDTH


def kind_of(name, outputs, recipe):
    """The format that llama-quantize gives a tensor."""
    if outputs is None:
        return "F32"
    if name == "output.weight":
        return "Q6_K"
    if recipe == "q4_0":
        return "Q4_0"
    if "attn_v" in name or "ffn_down" in name:
        layer = int(name.split(".")[1])
        eighth = LAYERS // 8
        if layer < eighth or layer >= 7 * eighth or (layer - eighth) % 3 == 2:
            return "Q6_K"
    return "Q4_K"


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def metadata(recipe):
    pairs = [
        ("general.architecture", TEXT, text("llama")),
        ("general.name", TEXT, text(f"random weights, 8B, {recipe}")),
        ("tokenizer.ggml.model", TEXT, text("no_vocab")),
    ]
    for key, number in {
            "vocab_size": VOCABULARY, "block_count": LAYERS, "context_length": CONTEXT,
            "embedding_length": WIDTH, "feed_forward_length": INNER,
            "attention.head_count": HEADS, "attention.head_count_kv": KV_HEADS,
            "rope.dimension_count": HEAD}.items():
        pairs.append((f"llama.{key}", U32, struct.pack("<I", number)))
    for key, number in {"attention.layer_norm_rms_epsilon": EPSILON, "rope.freq_base": BASE}.items():
        pairs.append((f"llama.{key}", F32, struct.pack("<f", number)))
    return pairs


def write(recipe, path):
    generator = np.random.default_rng(8)
    pools = {kind: blocks(kind, generator) for kind in FORMATS if kind != "F32"}
    tensors, offset = [], 0
    for name, outputs, inputs in shapes():
        kind = kind_of(name, outputs, recipe)
        number, weights, size = FORMATS[kind]
        n_blocks = (outputs or 1) * inputs // weights
        shape = [inputs] if outputs is None else [inputs, outputs]
        tensors.append((name, shape, number, offset, kind, n_blocks))
        offset += -(-n_blocks * size // ALIGNMENT) * ALIGNMENT
    pairs = metadata(recipe)
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs)))
        for key, kind, data in pairs:
            file.write(text(key) + struct.pack("<I", kind) + data)
        for name, shape, number, start, _, _ in tensors:
            file.write(text(name) + struct.pack("<I", len(shape)) +
                       struct.pack(f"<{len(shape)}Q", *shape) + struct.pack("<IQ", number, start))
        file.write(bytes(-file.tell() % ALIGNMENT))
        for *_, kind, n_blocks in tensors:
            if kind == "F32":
                data = np.ones(n_blocks, "<f4").tobytes()
                file.write(data + bytes(-len(data) % ALIGNMENT))
                continue
            size = 0
            while n_blocks:
                part = min(n_blocks, 1 << 18)
                data = pools[kind][generator.integers(0, N_BLOCKS, part)].tobytes()
                file.write(data)
                n_blocks, size = n_blocks - part, size + len(data)
            file.write(bytes(-size % ALIGNMENT))
    partial.replace(path)


if __name__ == "__main__":
    write(sys.argv[1], Path(sys.argv[2]))
