#!/usr/bin/env python3
"""How time grows with the context and with the paragraphs of an essay, beside llama.cpp.

    ./scripts/bench/engine.sh growth [--rounds N] [--draw-only]

Writes the numbers to target/bench/growth.json and the picture to docs/engine-growth.svg.
"""

import argparse
import json
import statistics
import sys

from tools import HOME, ROOT, SMOLLM2, LlamaCpp, Ours

LENGTHS = [512, 1024, 2048, 4096, 8192]
PARAGRAPHS = [1, 2, 4, 8, 16]
PREFIX, OWN, NEW = 1500, 100, 64
SERIES = ["unimatch", "llama.cpp", "llama.cpp, Q4_0"]


def measure(ours, llama, n_rounds):
    """Medians over interleaved rounds: by panel and series, seconds at each place."""
    q4_0 = llama.quantised(SMOLLM2, "Q4_0")

    def own_context():
        found = ours("prefill", SMOLLM2, "--n-tokens", ",".join(map(str, LENGTHS)))
        return [case["seconds"] for case in found]

    def their_context(model):
        found = llama.bench(model, "-p", ",".join(map(str, LENGTHS)), "-n", 0)
        return [length / found[f"pp{length}"] for length in LENGTHS]

    def own_essay():
        return [ours("essay", SMOLLM2, "--n-prefix", PREFIX, "--n-own", OWN, "--n-paragraphs",
                     count, "--n-new", NEW)["seconds"] for count in PARAGRAPHS]

    def their_essay(model):
        found = llama.batched(model, PREFIX, NEW, PARAGRAPHS)
        return [found[count]["t"] for count in PARAGRAPHS]

    turns = {
        "context": [own_context, lambda: their_context(SMOLLM2), lambda: their_context(q4_0)],
        "paragraphs": [own_essay, lambda: their_essay(SMOLLM2), lambda: their_essay(q4_0)],
    }
    numbers = {}
    for panel, contenders in turns.items():
        rounds = []
        for number in range(n_rounds):
            print(f"== {panel}, round {number + 1}", file=sys.stderr, flush=True)
            rounds.append([contender() for contender in contenders])
        numbers[panel] = [
            [statistics.median(found[series][place] for found in rounds)
             for place in range(len(rounds[0][series]))] for series in range(len(contenders))]
    return numbers


STYLE = """
  text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2328 }
  .title { font-size: 15px; font-weight: 600 }
  .note { font-size: 12px; fill: #59636e }
  .card { fill: #ffffff } .grid { stroke: #d1d9e0 } .axis { stroke: #59636e }
  .s0 { stroke: #0a58ca; fill: #0a58ca } .s1 { stroke: #b3430f; fill: #b3430f }
  .s2 { stroke: #6b5c00; fill: #6b5c00 }
  path { fill: none !important; stroke-width: 2.2 }
  text.s0, text.s1, text.s2 { stroke: none; font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .note { fill: #9198a1 } .card { fill: #0d1117 }
    .grid { stroke: #2a313a } .axis { stroke: #9198a1 }
    .s0 { stroke: #6cb6ff; fill: #6cb6ff } .s1 { stroke: #ff9a66; fill: #ff9a66 }
    .s2 { stroke: #e3c54a; fill: #e3c54a }
  }
"""
DASHES = ["", "7 4", "2 4"]
WIDTH, HEIGHT = 1000, 450
PLOT_WIDTH, PLOT_HEIGHT, TOP = 300, 280, 64


def ticks(top):
    """Round numbers from zero to at least `top`, four to seven of them."""
    step = 10 ** len(str(int(top))) / 100
    while top / step > 6:
        step *= 2 if str(step).strip("0.").startswith(("1", "5")) else 2.5
    count = int(-(-top // step))
    return [step * index for index in range(count + 1)]


def spread(places, least):
    """Heights for labels near `places`, in their order, at least so far apart."""
    order = sorted(range(len(places)), key=lambda index: places[index])
    found, last = [0.0] * len(places), float("-inf")
    for index in order:
        last = found[index] = max(places[index], last + least)
    return found


def panel(left, title, x_title, xs, series):
    """The elements of one plot."""
    y_ticks = ticks(max(max(times) for times in series))

    def x(value):
        return left + PLOT_WIDTH * value / xs[-1]

    def y(value):
        return TOP + PLOT_HEIGHT * (1 - value / y_ticks[-1])

    out = [f'<text class="title" x="{left}" y="{TOP - 24}">{title}</text>']
    for tick in y_ticks:
        out.append(f'<line class="grid" x1="{left}" x2="{left + PLOT_WIDTH}" y1="{y(tick):.1f}" '
                   f'y2="{y(tick):.1f}"/>'
                   f'<text x="{left - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for value in xs:
        if value < xs[-1] / 5 and value > 2:
            continue  # no room for its label
        out.append(f'<line class="axis" x1="{x(value):.1f}" x2="{x(value):.1f}" y1="{y(0):.1f}" '
                   f'y2="{y(0) + 5:.1f}"/><text x="{x(value):.1f}" y="{y(0) + 20:.1f}" '
                   f'text-anchor="middle">{value:,}</text>')
    out.append(f'<line class="axis" x1="{left}" x2="{left + PLOT_WIDTH}" y1="{y(0):.1f}" '
               f'y2="{y(0):.1f}"/>')
    out.append(f'<text x="{left + PLOT_WIDTH / 2}" y="{y(0) + 42:.1f}" '
               f'text-anchor="middle">{x_title}</text>')
    middle = TOP + PLOT_HEIGHT / 2
    out.append(f'<text x="{left - 46}" y="{middle}" text-anchor="middle" '
               f'transform="rotate(-90 {left - 46} {middle})">seconds</text>')
    ends = spread([y(times[-1]) for times in series], 18)
    for index, times in enumerate(series):
        points = [(x(value), y(time)) for value, time in zip(xs, times)]
        line = "M" + " L".join(f"{px:.1f} {py:.1f}" for px, py in points)
        out.append(f'<path class="s{index}" d="{line}" stroke-dasharray="{DASHES[index]}"/>')
        out += [f'<circle class="s{index}" cx="{px:.1f}" cy="{py:.1f}" r="3"/>'
                for px, py in points]
        out.append(f'<text class="s{index}" x="{left + PLOT_WIDTH + 8}" '
                   f'y="{ends[index] + 4:.1f}">{SERIES[index]}</text>')
    return "\n".join(out)


def note(height, text):
    return f'<text class="note" x="70" y="{height}">{text}</text>'


def picture(record):
    numbers = record["numbers"]
    label = ("Time against the tokens of the context and the paragraphs of an essay: "
             "unimatch beside llama.cpp, lower is better")
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{label}">',
        f"<style>{STYLE}</style>",
        f'<rect class="card" width="{WIDTH}" height="{HEIGHT}" rx="8"/>',
        panel(70, "Reading a prompt", "tokens of the prompt", LENGTHS, numbers["context"]),
        panel(560, "Feedback on one essay", "paragraphs of the essay", PARAGRAPHS,
              numbers["paragraphs"]),
        note(HEIGHT - 34, f'SmolLM2-135M, {record["threads"]} threads, {record["processor"]}; '
             "lower is better. unimatch and llama.cpp read the same file, in Q4_1; Q4_0 is "
             "llama.cpp's fastest form."),
        note(HEIGHT - 16, f"An essay: {PREFIX:,} tokens that its prompts share, and {NEW} tokens "
             f"written for each paragraph. unimatch also reads {OWN} of each; llama.cpp's bench "
             "cannot."),
        "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", help="the bench program of this project")
    parser.add_argument("--llama-cpp", help="the folder of llama.cpp's tools")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--draw-only", action="store_true", help="from the numbers of last time")
    options = parser.parse_args()
    numbers = HOME / "growth.json"
    if not options.draw_only:
        ours = Ours(options.program, options.threads)
        llama = LlamaCpp(options.llama_cpp, options.threads)
        with open("/proc/cpuinfo") as file:
            name = next((line.split(":")[1].strip() for line in file if "model name" in line), "")
        record = {"format_version": 1, "threads": options.threads, "processor": name,
                  "numbers": measure(ours, llama, options.rounds)}
        numbers.write_text(json.dumps(record, indent=1) + "\n")
    target = ROOT / "docs" / "engine-growth.svg"
    target.parent.mkdir(exist_ok=True)
    target.write_text(picture(json.loads(numbers.read_text())))
    print(f"wrote {target}")


if __name__ == "__main__":
    main()
