#!/usr/bin/env python3
"""What Hugging Face's logits processors leave to be drawn, for tests/fixtures.

Needs the packages torch and transformers. Writes one JSON array: for each case the
logits, the tokens seen before, the rules, and the probabilities after all of them, in
the order in which `generate` applies them.

    python scripts/golden/hf_sampling.py > tests/fixtures/golden/hf_sampling.json
"""

import json
import random

import torch
from transformers import (
    LogitsProcessorList,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

RULES = [
    {"temperature": 1.0, "top_k": None, "top_p": 1.0, "repetition_penalty": 1.0},
    {"temperature": 0.1, "top_k": None, "top_p": 1.0, "repetition_penalty": 1.2},
    {"temperature": 0.7, "top_k": 5, "top_p": 1.0, "repetition_penalty": 1.0},
    {"temperature": 0.7, "top_k": None, "top_p": 0.9, "repetition_penalty": 1.0},
    {"temperature": 1.3, "top_k": 8, "top_p": 0.75, "repetition_penalty": 1.2},
    {"temperature": 2.0, "top_k": 100, "top_p": 0.5, "repetition_penalty": 0.8},
    {"temperature": 0.7, "top_k": 1, "top_p": 0.1, "repetition_penalty": 1.5},
]


def case(rng, rules):
    # Quarters are exact, and some of them are alike.
    logits = [rng.randrange(-24, 25) / 4 for _ in range(24)]
    seen = [rng.randrange(24) for _ in range(10)]
    processors = LogitsProcessorList([RepetitionPenaltyLogitsProcessor(rules["repetition_penalty"])])
    processors.append(TemperatureLogitsWarper(rules["temperature"]))
    if rules["top_k"] is not None:
        processors.append(TopKLogitsWarper(rules["top_k"]))
    processors.append(TopPLogitsWarper(rules["top_p"]))
    scores = processors(torch.tensor([seen]), torch.tensor([logits]))
    probabilities = torch.softmax(scores.double(), dim=-1)[0].tolist()
    return {"logits": logits, "seen": seen, "rules": rules, "probabilities": probabilities}


def main():
    rng = random.Random(11)
    cases = [case(rng, rules) for rules in RULES for _ in range(6)]
    print("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]")


if __name__ == "__main__":
    main()
