#!/usr/bin/env python3
"""Measures the engine beside others; `scripts/bench/engine.sh` builds both and calls this.

Each row of the table is measured in rounds, in each of which every engine does its work
once, in an order that turns round from one to the next. The ratio is the median of the
ratios of the rounds; it is above one where this engine is better. Other work on the
machine spoils such figures: rounds in which it took a core for more than a twentieth of
the time are marked, and a row that holds any says how many.
"""

import argparse
import json
import os
import statistics
import sys
import time

from rows import GROUPS, OURS
from tools import HOME, Failure, LlamaCpp, Ours


def cpu_seconds():
    """Seconds that all processors worked on anything, and that this and its children did."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, irq, softirq, *_ = map(int, file.readline().split()[1:])
    mine = sum(os.times()[:4])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK"), mine


def server_seconds():
    """What the running children of this process have worked so far."""
    total = 0
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == os.getpid():
                total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def measured(contender, number):
    """The numbers of one turn, with the cores that others had meanwhile."""
    (all_before, mine_before), server_before = cpu_seconds(), server_seconds()
    start = time.monotonic()
    numbers = contender(number)
    seconds = time.monotonic() - start
    (all_after, mine_after), server_after = cpu_seconds(), server_seconds()
    others = all_after - all_before - (mine_after - mine_before) - (server_after - server_before)
    return {**numbers, "others": max(0.0, others / seconds)}


def measure(group, n_rounds):
    """The numbers of each contender by name, one for each round."""
    rounds = []
    for number in range(group.rounds or n_rounds):
        names = list(group.contenders)
        turn = number % len(names)
        found = {}
        for name in names[turn:] + names[:turn]:
            found[name] = measured(group.contenders[name], number)
            shown = " ".join(f"{key} {value:.4g}" for key, value in found[name].items())
            print(f"   round {number + 1}, {name}: {shown}", file=sys.stderr, flush=True)
        rounds.append(found)
    return rounds


def compare(row, rounds):
    """A row of the table out of its rounds."""
    def numbers(source):
        contender, what = source
        return [what if contender is None else found[contender][what] for found in rounds]

    ours, theirs = numbers(row.ours), numbers(row.theirs)
    pairs = list(zip(ours, theirs))
    ratio = statistics.median(
        b / a if row.kind == "time" else a / b for a, b in pairs)
    met = ratio <= row.bar if row.kind == "count" else ratio >= row.bar
    disturbed = sum(any(numbers["others"] > 0.05 for numbers in found.values())
                    for found in rounds)
    return {"work": row.work, "against": row.against, "ours": statistics.median(ours),
            "theirs": statistics.median(theirs), "unit": row.unit, "ratio": ratio,
            "bar": row.bar, "kind": row.kind, "met": met, "n_rounds": len(rounds),
            "n_disturbed": disturbed}


def figure(value, unit):
    if unit == "bytes":
        return f"{value / 1e6:.0f} MB"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {unit}"


def table(results):
    lines = ["| work | against | ours | theirs | ratio | to reach | |",
             "| --- | --- | ---: | ---: | ---: | ---: | --- |"]
    for result in results:
        bound = "at most " if result["kind"] == "count" else ""
        remark = "met" if result["met"] else "missed"
        if result["n_disturbed"]:
            remark += f"; {result['n_disturbed']} of {result['n_rounds']} rounds disturbed"
        unit = result["unit"]
        lines.append(
            f"| {result['work']} | {result['against']} | {figure(result['ours'], unit)} | "
            f"{figure(result['theirs'], unit)} | {result['ratio']:.2f} | "
            f"{bound}{result['bar']:.4g} | {remark} |")
    return "\n".join(lines)


def machine(options, llama):
    with open("/proc/cpuinfo") as file:
        name = next((line.split(":")[1].strip() for line in file if "model name" in line), "?")
    return {"processor": name, "cores": os.cpu_count(), "threads": options.threads,
            "rounds": options.rounds, "load": os.getloadavg()[0], "llama.cpp": str(llama.folder)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="the bench program of this project")
    parser.add_argument("--llama-cpp", required=True, help="the folder of llama.cpp's tools")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=None, help="default 5, with --quick 1")
    parser.add_argument("--quick", action="store_true", help="one round, to see that all runs")
    parser.add_argument("--only", action="append", choices=GROUPS, metavar="ROWS",
                        help=f"of {', '.join(GROUPS)}; may be given again")
    parser.add_argument("--skip", action="append", choices=GROUPS, default=[], metavar="ROWS")
    options = parser.parse_args()
    options.rounds = options.rounds or (1 if options.quick else 5)
    ours = Ours(options.program, options.threads)
    llama = LlamaCpp(options.llama_cpp, options.threads)
    if os.getloadavg()[0] > 0.5:
        print(f"warning: others work on this machine (load {os.getloadavg()[0]:.1f}): "
              "the figures will not be worth much", file=sys.stderr)
    record = {"format_version": 1, "machine": machine(options, llama), "groups": {}}
    results, left_out, notes = [], [], []
    for name, build in GROUPS.items():
        if name in options.skip or options.only and name not in options.only:
            continue
        print(f"== {name}", file=sys.stderr, flush=True)
        try:
            group = build(ours, llama, options)
            try:
                rounds = measure(group, options.rounds)
            finally:
                group.close()
        except Failure as failure:
            left_out.append(f"{name}: {failure}")
            print(f"   left out: {failure}", file=sys.stderr)
            continue
        compared = [compare(row, rounds) for row in group.rows]
        record["groups"][name] = {"rounds": rounds, "rows": compared, "notes": group.notes}
        results += compared
        notes += group.notes
        (HOME / "engine.json").write_text(json.dumps(record, indent=1) + "\n")
    facts = record["machine"]
    print(table(results))
    print(f"\n{facts['processor']}, {options.threads} threads, medians of {options.rounds} "
          f"interleaved rounds.", *notes, sep="\n- ")
    for line in left_out:
        print(f"- left out: {line}")
    return 1 if left_out else 0


if __name__ == "__main__":
    sys.exit(main())
