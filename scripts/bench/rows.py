"""The rows of the table: which work each engine does in turns, and what is compared."""

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import random_model
from server import Server, tokens
from tools import HOME, MODELS, ROOT, SMOLLM2, Failure, first_token_cost, run

PREFIX, OWN, PARAGRAPHS, NEW = 1500, 100, 6, 64
GUIDELINE, PAIR = 2000, 60
OURS = "unimatch"

# On processors, several sequences behind a long beginning are written twice as fast by
# llama.cpp without its fused attention (llama-batched-bench, SmolLM2, 6 behind 1,500).
WITHOUT_FUSED = ("-fa", "off")


@dataclass
class Row:
    """One comparison. `ours` and `theirs` name a contender and a number of its. The greater
    rate and the shorter time are better, and the ratio is above one where ours is better;
    of a count, the ratio is ours to theirs, and at most the bar is wanted."""

    work: str
    against: str
    ours: tuple
    theirs: tuple
    bar: float
    kind: str = "rate"
    unit: str = "tokens/s"


@dataclass
class Group:
    """Work that is measured in turns. A contender gets the number of the round and
    returns its numbers by name; `close` ends what it keeps running."""

    name: str
    contenders: dict
    rows: list
    close: Callable = lambda: None
    rounds: int | None = None
    notes: list = field(default_factory=list)


def prefill(ours, llama, options):
    q4_0 = llama.quantised(SMOLLM2, "Q4_0")
    lengths = (512, 1536)

    def own(_):
        found = ours("prefill", SMOLLM2, "--n-tokens", ",".join(map(str, lengths)))
        return {f"pp{case['n']}": case["per_second"] for case in found}

    def theirs(model):
        return lambda _: llama.bench(model, "-p", ",".join(map(str, lengths)), "-n", 0)

    return Group("prefill", {
        OURS: own, "llama.cpp": theirs(SMOLLM2), "llama.cpp, Q4_0": theirs(q4_0),
    }, [Row(f"prefill {length:,} tokens, SmolLM2 Q4_1", f"llama-bench, {against}",
            (OURS, f"pp{length}"), (contender, f"pp{length}"), bar)
        for contender, against, bar in (("llama.cpp", "same file", 5.0),
                                        ("llama.cpp, Q4_0", "its Q4_0", 2.2))
        for length in lengths])


def decode(ours, llama, options):
    q4_0 = llama.quantised(SMOLLM2, "Q4_0")
    work = "decode, batch 1, short context"
    return Group("decode", {
        OURS: lambda _: {"tg": ours("decode", SMOLLM2, "--n-tokens", 64)["per_second"]},
        "llama.cpp": lambda _: {"tg": llama.bench(SMOLLM2, "-p", 0, "-n", 64)["tg64"]},
        "llama.cpp, Q4_0": lambda _: {"tg": llama.bench(q4_0, "-p", 0, "-n", 64)["tg64"]},
    }, [Row(work, "llama-bench, same file", (OURS, "tg"), ("llama.cpp", "tg"), 2.0),
        Row(work, "llama-bench, its Q4_0", (OURS, "tg"), ("llama.cpp, Q4_0", "tg"), 1.2)])


def own_essay(ours):
    return ours("essay", SMOLLM2, "--n-prefix", PREFIX, "--n-own", OWN,
                "--n-paragraphs", PARAGRAPHS, "--n-new", NEW)["seconds"]


def essay(ours, llama, options):
    q4_0 = llama.quantised(SMOLLM2, "Q4_0")

    def own(_):
        decode = ours("decode", SMOLLM2, "--n-prefix", PREFIX, "--n-sequences", PARAGRAPHS,
                      "--n-tokens", NEW)
        return {"tg": decode["per_second"], "seconds": own_essay(ours)}

    def theirs(model):
        def measure(_):
            case = llama.batched(model, PREFIX, NEW, [PARAGRAPHS])[PARAGRAPHS]
            return {"tg": case["speed_tg"], "seconds": case["t"]}
        return measure

    job = f"one essay: {PARAGRAPHS} paragraphs, {PREFIX:,} + {OWN} tokens in, {NEW} out each"
    behind = f"decode, {PARAGRAPHS} sequences over a {PREFIX:,}-token prefix"
    return Group("essay", {
        OURS: own, "llama.cpp": theirs(SMOLLM2), "llama.cpp, Q4_0": theirs(q4_0),
    }, [Row(behind, "llama-batched-bench, its Q4_0", (OURS, "tg"), ("llama.cpp, Q4_0", "tg"), 2.5),
        Row(job, "llama-batched-bench, same file (reads no paragraphs)", (OURS, "seconds"),
            ("llama.cpp", "seconds"), 4.0, "time", "s"),
        Row(job, "llama-batched-bench, its Q4_0 (reads no paragraphs)", (OURS, "seconds"),
            ("llama.cpp, Q4_0", "seconds"), 2.5, "time", "s")])


def server(ours, llama, options):
    context = PARAGRAPHS * (PREFIX + OWN + NEW + 64)
    running = Server(llama.folder, SMOLLM2, llama.threads, PARAGRAPHS, context,
                     *WITHOUT_FUSED).__enter__()

    def theirs(number):
        # Each round is an essay that the server has not seen.
        both = {f"lead {lead}": running.essay(f"{number}/{lead}", PREFIX, OWN, PARAGRAPHS, NEW,
                                              lead) for lead in (True, False)}
        return {**both, "seconds": min(both.values())}

    return Group("server", {
        OURS: lambda _: {"seconds": own_essay(ours)}, "llama-server": theirs,
    }, [Row("one essay, the same", f"llama-server, same file, {PARAGRAPHS} slots, prompt cache",
            (OURS, "seconds"), ("llama-server", "seconds"), 3.0, "time", "s")],
        close=running.__exit__,
        notes=["llama-server: the faster of sending all prompts at once and the first alone"])


def judge(ours, llama, options):
    slots = 4
    running = Server(llama.folder, SMOLLM2, llama.threads, slots,
                     slots * (GUIDELINE + PAIR + 64), *WITHOUT_FUSED).__enter__()
    guideline = tokens(GUIDELINE, "guideline")
    # Each slot reads the guideline before the clock starts.
    for slot in range(slots):
        running.complete(guideline + tokens(PAIR, f"warm/{slot}"), 1, id_slot=slot)
    count = 20 if options.quick else 40

    def theirs(number):
        pairs = [guideline + tokens(PAIR, f"{number}/{index}") for index in range(count)]
        return {"pairs": count / running.complete_all(pairs, 1)}

    def own(_):
        return {"pairs": ours("rate", SMOLLM2, "--n-prefix", GUIDELINE, "--n-own", PAIR,
                              "--n-pairs", 500)["per_second"]}

    return Group("judge", {OURS: own, "llama-server": theirs}, [
        Row(f"500 pairs of {PAIR} tokens rated behind a {GUIDELINE:,}-token guideline",
            "llama-server, same file, cached prompt, one token",
            (OURS, "pairs"), ("llama-server", "pairs"), 3.0, unit="pairs/s")],
        close=running.__exit__,
        notes=[f"llama-server: {slots} slots, each with the guideline read before the clock "
               f"starts; {count} pairs a round"])


def large(recipe, bars):
    def group(ours, llama, options):
        model = HOME / f"random-8b-{recipe}.gguf"
        if not model.exists():
            random_model.write(recipe, model)

        def own(_):
            read = ours("prefill", model, "--n-tokens", 256, "--cold")[0]
            return {"pp": read["per_second"],
                    "tg": ours("decode", model, "--n-tokens", 16)["per_second"]}

        def theirs(_):
            found = llama.bench(model, "-p", 256, "-n", 16, "--no-warmup")
            return {"pp": found["pp256"], "tg": found["tg16"]}

        name = f"8B-shaped, {recipe.upper()}"
        return Group(f"8b-{recipe}", {OURS: own, "llama.cpp": theirs}, [
            Row(f"{name}: prefill 256", "llama-bench, same file", (OURS, "pp"),
                ("llama.cpp", "pp"), bars[0]),
            Row(f"{name}: decode 16", "llama-bench, same file", (OURS, "tg"),
                ("llama.cpp", "tg"), bars[1])])
    return group


def count(ours, llama, options):
    corpus = ROOT.parent / "shared" / "sefora"
    if not corpus.exists():
        raise Failure(f"{corpus} is not there")
    folder = Path(ours.program).parent

    def own(_):
        binary = os.environ.get("UNIMATCH") or folder.parent / "unimatch"
        found = json.loads(run([binary, "run", corpus, "--generator", f"local:{SMOLLM2}",
                                "--dry-run", "-f", "json"]))
        return {"read": found["n_prefill_tokens"], "naive": found["n_prefill_tokens_naive"]}

    return Group("count", {OURS: own}, [
        Row("whole SEFORA generation, SmolLM2: tokens read", "a loop that shares nothing",
            (OURS, "read"), (OURS, "naive"), 0.18, "count", "tokens")], rounds=1)


def load(ours, llama, options):
    def own(_):
        seconds, memory, output = first_token_cost(ours.command("first-token", SMOLLM2))
        need = json.loads(output)
        least = need["file_bytes"] + need["kv_bytes"]
        return {"seconds": seconds, "memory": memory, "beyond": (memory - least) / 1e6}

    def theirs(_):
        seconds, memory, _ = first_token_cost(
            [llama.folder / "llama-completion", "-m", SMOLLM2, "-t", llama.threads, "-n", 1,
             "-no-cnv", "--no-warmup", "-c", 512, "-p", "Once upon a time"])
        return {"seconds": seconds, "memory": memory}

    return Group("load", {OURS: own, "llama.cpp": theirs}, [
        Row("load to first token, SmolLM2", "llama-completion, same file", (OURS, "seconds"),
            ("llama.cpp", "seconds"), 1.0, "time", "s"),
        Row("peak memory beyond weights and KV, SmolLM2", "a bound", (OURS, "beyond"),
            (None, 100.0), 1.0, "count", "MB"),
        Row("peak memory, SmolLM2", "llama-completion, same file", (OURS, "memory"),
            ("llama.cpp", "memory"), 1.0, "time", "bytes")])


def transformers(ours, llama, options):
    try:
        run([sys.executable, "-c", "import torch, transformers, gguf"])
    except Failure:
        raise Failure("torch, transformers and gguf are not in target/bench/venv: see --help")
    script = Path(__file__).with_name("transformers_essay.py")

    def theirs(_):
        found = json.loads(run(
            [sys.executable, script, SMOLLM2, llama.threads, PREFIX + OWN, NEW]).splitlines()[-1])
        return {"seconds": PARAGRAPHS * found["seconds"]}

    return Group("transformers", {
        OURS: lambda _: {"seconds": own_essay(ours)}, "transformers": theirs,
    }, [Row("one essay, the same", "transformers, f32, a paragraph at a time",
            (OURS, "seconds"), ("transformers", "seconds"), 20.0, "time", "s")],
        notes=["transformers: one paragraph measured, times the number of paragraphs"])


def encoder(ours, llama, options):
    """The table of encoder.py, which takes its own turns; of the precisions that are true
    enough, the fastest."""
    script = Path(__file__).with_name("encoder.py")
    if not script.exists():
        raise Failure(f"{script.name} is not there")
    try:
        run([sys.executable, "-c", "import onnx, onnxruntime, safetensors, tokenizers"])
    except Failure:
        raise Failure("onnx, onnxruntime, safetensors and tokenizers are not in target/bench/venv")

    def both(_):
        output = run([sys.executable, script, "--encoder", MODELS / "all-MiniLM-L6-v2",
                      "--rounds", 2 if options.quick else 7], cwd=ROOT)
        lines = [[cell.strip() for cell in line.strip("|").split("|")]
                 for line in output.splitlines() if line.startswith("| ")]
        rates, cosines = {}, {}
        for name, rate, _, _, _, cosine, *_ in lines:
            if rate[:1].isdigit():
                rates[name], cosines[name] = float(rate.split()[0]), float(cosine)
        best = max((name for name in rates if name.startswith("unimatch")
                    and cosines[name] >= 0.999), key=rates.get)
        rivals = {kind: next(name for name in rates if name.startswith(f"onnxruntime {kind}"))
                  for kind in ("f32", "int8")}
        return {"rate": rates[best], "cosine": cosines[best],
                **{kind: rates[name] for kind, name in rivals.items()}}

    work = "MiniLM, sentences of mixed lengths, mean cosine >= 0.999, one thread"
    return Group("encoder", {OURS: both}, [
        Row(work, f"onnxruntime, {against}", (OURS, "rate"), (OURS, kind), bar, unit="sentences/s")
        for kind, against, bar in (("f32", "f32", 2.0), ("int8", "dynamic int8", 1.0))], rounds=1)


GROUPS = {
    "prefill": prefill, "decode": decode, "essay": essay, "server": server,
    "8b-q4_k_m": large("q4_k_m", (1.5, 1.0)), "8b-q4_0": large("q4_0", (1.5, 1.0)),
    "judge": judge, "count": count, "encoder": encoder, "transformers": transformers,
    "load": load,
}
