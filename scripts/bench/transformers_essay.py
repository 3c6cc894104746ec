#!/usr/bin/env python3
"""One reply as the released generation script asks for it, in transformers on the CPU: the
weights of a GGUF file dequantised to single precision, one prompt at a time, nothing kept
between prompts. Prints the seconds, model loaded and warm.

    python scripts/bench/transformers_essay.py MODEL.gguf THREADS PROMPT_TOKENS NEW_TOKENS
"""

import json
import sys
import time
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, GenerationConfig


def main():
    path = Path(sys.argv[1])
    threads, n_prompt, n_new = map(int, sys.argv[2:])
    torch.set_num_threads(threads)
    model = AutoModelForCausalLM.from_pretrained(
        str(path.parent), gguf_file=path.name, dtype=torch.float32).eval()
    settings = GenerationConfig(do_sample=False, min_new_tokens=n_new, max_new_tokens=n_new,
                                pad_token_id=2, eos_token_id=2, use_cache=True)
    generator = torch.Generator().manual_seed(1)
    prompt = torch.randint(1_000, 40_000, (1, n_prompt), generator=generator)
    mask = torch.ones_like(prompt)
    with torch.inference_mode():
        model.generate(prompt[:, :32], attention_mask=mask[:, :32], generation_config=settings)
        start = time.monotonic()
        reply = model.generate(prompt, attention_mask=mask, generation_config=settings)
        seconds = time.monotonic() - start
    assert reply.shape[1] == n_prompt + n_new
    print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    main()
