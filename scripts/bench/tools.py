"""How each engine is run for one measurement, and what it says of it."""

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve() / "bench"
MODELS = Path(os.environ.get("UNIMATCH_MODELS") or ROOT / "models" / "cache")
SMOLLM2 = MODELS / "SmolLM2-135M-Instruct.Q4_1.gguf"


class Failure(Exception):
    """A tool that did not do its work; the message says which and how it ended."""


def run(command, **options):
    """The standard output of a command that must succeed."""
    command = [str(part) for part in command]
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()[-3:]
        raise Failure(f"{' '.join(command)} ended with {done.returncode}: {' / '.join(said)}")
    return done.stdout


def first_token_cost(command):
    """Seconds of a command from start to end, and the most memory it held, in bytes."""
    import time
    start = time.monotonic()
    process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - start
    if process.returncode != 0:
        raise Failure(f"{command[0]} ended with {process.returncode}")
    return seconds, usage.ru_maxrss * 1024, output


class Ours:
    """The bench program of this project."""

    def __init__(self, program, threads):
        self.program, self.threads = program, threads

    def command(self, work, model, *options):
        return [self.program, work, "--model", model, "--threads", self.threads, *options]

    def __call__(self, work, model, *options):
        return json.loads(run(self.command(work, model, *options)))


class LlamaCpp:
    """llama.cpp's own tools, with as many threads and otherwise as they come. Its fused
    attention is faster for some work and slower for other: each test is done with and
    without it, and what counts is the better."""

    def __init__(self, folder, threads):
        self.folder, self.threads = Path(folder), threads

    def bench(self, model, *options):
        """Tokens a second: by kind and length, as `pp512` and `tg64`."""
        output = run([self.folder / "llama-bench", "-m", model, "-t", self.threads, "-r", 1,
                      "-fa", "0,1", "-o", "json", *options])
        best = {}
        for test in json.loads(output):
            kind, length = ("pp", test["n_prompt"]) if test["n_prompt"] else ("tg", test["n_gen"])
            best[f"{kind}{length}"] = max(best.get(f"{kind}{length}", 0.0), test["avg_ts"])
        return best

    def batched(self, model, prefix, new, sequences, *options):
        """llama-batched-bench: replies of `new` tokens behind one shared beginning, for
        each number of sequences; nothing is read between the two. Of each number, the
        time that is the better."""
        context = max(sequences) * (prefix + new) + 512
        best = {}
        for fused in ("on", "off"):
            output = run([self.folder / "llama-batched-bench", "-m", model, "-t", self.threads,
                          "-c", context, "-npp", prefix, "-ntg", new,
                          "-npl", ",".join(map(str, sequences)), "-pps", "-fa", fused,
                          "--output-format", "jsonl", *options])
            for case in map(json.loads, filter(lambda line: line[:1] == "{", output.splitlines())):
                known = best.setdefault(case["pl"], case)
                for key, better in (("t", min), ("speed_tg", max), ("speed_pp", max)):
                    known[key] = better(known[key], case[key])
        return best

    def quantised(self, source, kind):
        """The model file in another format, made by llama-quantize once."""
        target = HOME / f"{Path(source).stem}.llama-{kind}.gguf"
        if not target.exists():
            partial = target.with_suffix(".partial")
            run([self.folder / "llama-quantize", "--allow-requantize", source, partial, kind])
            partial.replace(target)
        return target
