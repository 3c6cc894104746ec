#!/usr/bin/env python3
"""Fine-tune a classifier of pairs, or of tokens, and save it as a plain Hugging Face folder.

    python3 scripts/make_finetuned.py pairs  --base models/cache/all-MiniLM-L6-v2 \
        --train similarity_train.jsonl --out models/my-scorer
    python3 scripts/make_finetuned.py tokens --base models/cache/all-MiniLM-L6-v2 \
        --train segmentation_train.jsonl --out models/my-segmenter

A line of `pairs` is {"a": "...", "b": "...", "ratings": [3]}: the mean of the ratings is
rounded to the label, 0 to 4. A line of `tokens` is {"text": "...", "segmented": "..."}, the
same text with `$$` at the end of every unit. The folder goes by `--scorer classifier:FOLDER`,
or `--segmenter classifier:FOLDER`. Any base that transformers loads will do if the program
runs its kind. The same seed on the same machine gives the same folder.

Needs the packages torch and transformers. An epoch over 3,000 pairs takes some minutes on two
cores.
"""

import argparse
import json
import random
from pathlib import Path

import torch
from transformers import (AutoModelForSequenceClassification, AutoModelForTokenClassification,
                          AutoTokenizer)

DELIMITER = "$$"
IGNORED = -100


def lines(path):
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except json.JSONDecodeError as error:
                raise SystemExit(f"{path}, line {number}: {error}") from error


def pair_items(path, tokenizer, max_tokens):
    items = []
    for number, line in lines(path):
        rating = round(sum(line["ratings"]) / len(line["ratings"]))
        if not 0 <= rating <= 4:
            raise SystemExit(f"{path}, line {number}: the rating is not from 0 to 4")
        # Both orders, so that neither text has a place of its own.
        for first, second in ((line["a"], line["b"]), (line["b"], line["a"])):
            encoded = tokenizer(first, second, truncation=True, max_length=max_tokens)
            items.append((encoded, rating))
    return items


def unit_starts(line):
    """The places in the text at which a unit other than the first begins."""
    starts, at = set(), 0
    units = line["segmented"].split(DELIMITER)
    if "".join(units) != line["text"]:
        return None
    for unit in units[:-1]:
        at += len(unit)
        rest = line["text"][at:]
        if rest.strip():
            starts.add(at + len(rest) - len(rest.lstrip()))
    return starts


def token_items(path, tokenizer, max_tokens):
    """The first token of each word is labelled, the others count nothing."""
    items = []
    for number, line in lines(path):
        starts, text = unit_starts(line), line["text"]
        if starts is None:
            raise SystemExit(f"{path}, line {number}: `segmented` is not `text` with {DELIMITER}")
        encoded = tokenizer(text, truncation=True, max_length=max_tokens,
                            return_offsets_mapping=True)
        labels, seen = [], -1
        words = [at for at in range(len(text))
                 if not text[at].isspace() and (at == 0 or text[at - 1].isspace())]
        for start, end in encoded.pop("offset_mapping"):
            word = next((at for at in words if seen < at < end), None) if start < end else None
            labels.append(IGNORED if word is None else int(word in starts))
            seen = seen if word is None else word
        items.append((encoded, labels))
    return items


def batches(items, size, order):
    """Items of like length together, the batches in random order."""
    by_length = sorted(range(len(items)), key=lambda i: (len(items[i][0]["input_ids"]), i))
    groups = [by_length[at:at + size] for at in range(0, len(by_length), size)]
    order.shuffle(groups)
    return [[items[i] for i in group] for group in groups]


def collate(batch, tokenizer):
    encoded = tokenizer.pad([dict(item) for item, _ in batch], return_tensors="pt")
    labels = [label for _, label in batch]
    if isinstance(labels[0], list):
        width = encoded["input_ids"].shape[1]
        labels = [row + [IGNORED] * (width - len(row)) for row in labels]
    return encoded, torch.tensor(labels)


def train(model, items, tokenizer, arguments):
    order = random.Random(arguments.seed)
    n_steps = arguments.epochs * -(-len(items) // arguments.batch)
    optimizer = torch.optim.AdamW(model.parameters(), lr=arguments.rate, weight_decay=0.01)
    n_warm = max(1, n_steps // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(
        (step + 1) / n_warm, (n_steps - step) / max(1, n_steps - n_warm)))
    model.train()
    for epoch in range(arguments.epochs):
        total, n_batches = 0.0, 0
        for batch in batches(items, arguments.batch, order):
            encoded, labels = collate(batch, tokenizer)
            loss = model(**encoded, labels=labels).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            total, n_batches = total + loss.item(), n_batches + 1
        print(f"epoch {epoch + 1} of {arguments.epochs}: mean loss {total / n_batches:.4f}",
              flush=True)
    model.eval()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=["pairs", "tokens"])
    parser.add_argument("--base", required=True)
    parser.add_argument("--train", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--max-tokens", type=int, default=256)
    parser.add_argument("--limit", type=int, help="take so many lines only, to try it out")
    arguments = parser.parse_args()

    torch.manual_seed(arguments.seed)
    tokenizer = AutoTokenizer.from_pretrained(arguments.base)
    if arguments.kind == "pairs":
        names = {index: str(index) for index in range(5)}
        kind, load = AutoModelForSequenceClassification, pair_items
    else:
        names = {0: "O", 1: "CUT"}
        kind, load = AutoModelForTokenClassification, token_items
    model = kind.from_pretrained(arguments.base, num_labels=len(names), id2label=names,
                                 label2id={name: index for index, name in names.items()})
    items = load(arguments.train, tokenizer, arguments.max_tokens)[:arguments.limit]
    train(model, items, tokenizer, arguments)
    model.save_pretrained(arguments.out)
    tokenizer.save_pretrained(arguments.out)
    print(f"written to {arguments.out}")


if __name__ == "__main__":
    main()
