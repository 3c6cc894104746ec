#!/usr/bin/env python3
"""Sentence vectors: this program against onnxruntime, as a table.

    cargo build --release --bench encoder
    python3 scripts/bench/encoder.py --bench target/release/deps/encoder-HASH \\
        --encoder models/cache/all-MiniLM-L6-v2 --sentences SENTENCES.jsonl

Without --bench the script asks cargo to build the program in release mode. SENTENCES
is a text file with a sentence on each line, or JSON lines whose fields `a` and `b`
hold texts (as the annotated pairs in ../shared do).

Both sides get the sentences as text, on one thread, and give vectors of length one.
onnxruntime reads two graphs of the same weights (see encoder_onnx.py), each in single
precision and quantised dynamically; it is given sentences sorted by their length, so
that little is padded, in batches of several sizes, and its fastest way counts. Rounds
are interleaved, and the processor's time is counted, not the wall's, so that other
work on the machine disturbs little. Fidelity is measured against onnxruntime's vectors
in single precision.

Needs the packages numpy, onnx, onnxruntime, safetensors and tokenizers.
"""

import argparse
import json
import os
import subprocess
import time
from pathlib import Path
from statistics import median

os.environ["TOKENIZERS_PARALLELISM"] = "false"

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from encoder_onnx import write_all

BATCH_SIZES = (1, 8, 16, 32)
PRECISIONS = ("int16", "int8", "f32")


def read_sentences(path, limit):
    """Distinct sentences, each on one line."""
    texts = []
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if path.endswith(".jsonl"):
            pair = json.loads(line)
            texts += [pair["a"], pair["b"]]
        else:
            texts.append(line)
    texts = [" ".join(text.split()) for text in texts]
    return list(dict.fromkeys(text for text in texts if text))[:limit]


class Onnx:
    """A graph in onnxruntime, and how many sentences it gets at once."""

    def __init__(self, path, batch_size, tokenizer, size):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"])
        self.batch_size, self.tokenizer, self.size = batch_size, tokenizer, size

    def vectors(self, texts):
        tokens = [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]
        order = sorted(range(len(texts)), key=lambda index: len(tokens[index]))
        vectors = np.empty((len(texts), self.size), np.float32)
        for start in range(0, len(order), self.batch_size):
            batch = order[start:start + self.batch_size]
            width = max(len(tokens[index]) for index in batch)
            ids = np.zeros((len(batch), width), np.int64)
            mask = np.zeros_like(ids)
            for row, index in enumerate(batch):
                ids[row, :len(tokens[index])] = tokens[index]
                mask[row, :len(tokens[index])] = 1
            found, = self.session.run(None, {"input_ids": ids, "attention_mask": mask})
            vectors[batch] = found
        return vectors

    def time_s(self, texts):
        before = time.process_time()
        self.vectors(texts)
        return time.process_time() - before


class Ours:
    """This program, in one precision."""

    def __init__(self, bench, encoder, sentences, precision):
        self.process = subprocess.Popen(
            [bench, encoder, sentences, precision], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def vectors(self, _):
        return np.array(self.ask("vectors"), np.float32)

    def time_s(self, _):
        return self.ask("time")


def build():
    """The bench program, built by cargo."""
    messages = subprocess.run(
        ["cargo", "build", "--release", "--bench", "encoder", "--message-format", "json"],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    found = [json.loads(line) for line in messages.splitlines()]
    return next(message["executable"] for message in found
                if message.get("executable") and message["target"]["name"] == "encoder")


def fidelity(vectors, reference):
    cosines = (vectors * reference).sum(axis=1)
    pairs = np.abs(vectors @ vectors.T - reference @ reference.T).max()
    return f"{cosines.min():.6f} | {cosines.mean():.6f} | {pairs:.5f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", help="the built bench program")
    parser.add_argument("--encoder", default="models/cache/all-MiniLM-L6-v2")
    parser.add_argument("--sentences", default="../shared/annotations/similarity_dev.jsonl")
    parser.add_argument("--limit", type=int, default=512, help="sentences at most")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--cache", default="target/bench/encoder", help="where graphs are kept")
    arguments = parser.parse_args()
    bench = arguments.bench or build()

    texts = read_sentences(arguments.sentences, arguments.limit)
    graphs = write_all(arguments.encoder, arguments.cache)
    sentences = Path(arguments.cache, "sentences.txt")
    sentences.write_text("\n".join(texts) + "\n", encoding="utf-8")
    tokenizer = Tokenizer.from_file(str(Path(arguments.encoder, "tokenizer.json")))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    lengths = [len(encoding.ids) for encoding in tokenizer.encode_batch(texts)]
    print(f"{len(texts)} sentences of {min(lengths)} to {max(lengths)} tokens, "
          f"{np.mean(lengths):.1f} in the mean; one thread, {arguments.rounds} rounds\n")

    size = json.loads(Path(arguments.encoder, "config.json").read_text())["hidden_size"]
    ours = {f"unimatch {precision}": Ours(bench, arguments.encoder, sentences, precision)
            for precision in PRECISIONS}
    ways = {(name, batch_size): Onnx(path, batch_size, tokenizer, size)
            for name, path in graphs.items() for batch_size in BATCH_SIZES}
    # Which way of onnxruntime's is fastest is found out first, on every fourth sentence.
    some = texts[::4]
    trial = {way: min(onnx.time_s(some) for _ in range(2)) for way, onnx in ways.items()}
    rivals = {}
    for kind in ("f32", "int8"):
        name, batch_size = min((way for way in ways if way[0].startswith(kind)), key=trial.get)
        rivals[kind] = f"onnxruntime {name}, {batch_size} at once"
        ours[rivals[kind]] = ways[name, batch_size]

    reference = ours[rivals["f32"]].vectors(texts)
    quality = {name: fidelity(side.vectors(texts), reference) for name, side in ours.items()}
    times = {name: [] for name in ours}
    for _ in range(arguments.rounds):
        for name, side in ours.items():
            times[name].append(side.time_s(texts))
    rate = {name: len(texts) / median(found) for name, found in times.items()}
    print("| | sequences a second | of f32 | of int8 | least cosine | mean cosine | pair error |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in ours:
        of = [f"{rate[name] / rate[rivals[kind]]:.2f}" for kind in ("f32", "int8")]
        spread = max(times[name]) / min(times[name]) - 1
        print(f"| {name} | {rate[name]:.0f} (rounds within {spread:.0%}) | {of[0]} | {of[1]} "
              f"| {quality[name]} |")


if __name__ == "__main__":
    main()
