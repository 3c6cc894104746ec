#!/usr/bin/env python3
"""Logits of tiny decoders of every family by Hugging Face, for tests/fixtures.

Needs the packages torch and transformers. Weights and tokens come from a generator
that the tests have too, so that the file holds settings and logits only: for each
case the settings as models on the hub have them, the same as this version of
transformers saves them, and the logits after some of the tokens, in single precision.

    python scripts/golden/decoder_logits.py > tests/fixtures/golden/decoder_logits.json
"""

import json

import numpy
import torch
from transformers import AutoConfig, AutoModelForCausalLM
import transformers

N_TOKENS = 70
POSITIONS = [0, 1, 15, 16, 17, 40, 69]

SIZES = {
    "vocab_size": 77,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "rms_norm_eps": 1e-5,
}

CASES = {
    "llama": {"model_type": "llama", "rope_theta": 500.0},
    "llama3": {
        "model_type": "llama",
        "rope_theta": 10000.0,
        "rope_scaling": {
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 64,
        },
    },
    "llama linear": {
        "model_type": "llama",
        "head_dim": 8,
        "rope_theta": 100.0,
        "rope_scaling": {"type": "linear", "factor": 4.0},
    },
    "mistral": {"model_type": "mistral", "rope_theta": 1000.0, "sliding_window": 16},
    "mistral without a window": {"model_type": "mistral", "sliding_window": None},
    "qwen2": {"model_type": "qwen2", "rope_theta": 1000.0, "tie_word_embeddings": True},
    "qwen2 with a window": {
        "model_type": "qwen2",
        "rope_theta": 1000.0,
        "use_sliding_window": True,
        "sliding_window": 9,
        "max_window_layers": 1,
    },
    "qwen2 yarn": {
        "model_type": "qwen2",
        "rope_theta": 1000.0,
        "rope_scaling": {
            "type": "yarn",
            "factor": 4.0,
            "original_max_position_embeddings": 128,
        },
    },
    "qwen3": {"model_type": "qwen3", "rope_theta": 1000.0, "head_dim": 24},
    "gemma3 with a scale of its queries": {
        "model_type": "gemma3_text",
        "num_hidden_layers": 7,
        "head_dim": 24,
        "rope_theta": 1000.0,
        "rope_local_base_freq": 100.0,
        "query_pre_attn_scalar": 16,
        "sliding_window": 16,
        "rope_scaling": {"rope_type": "linear", "factor": 8.0},
    },
    "gemma3": {
        "model_type": "gemma3_text",
        "num_hidden_layers": 7,
        "head_dim": 24,
        "query_pre_attn_scalar": 24,
        "sliding_window": 9,
    },
}


def numbers(seed, count):
    """Numbers from -1 to 1 that single precision has exactly."""
    state = seed
    out = numpy.empty(count, numpy.float32)
    for index in range(count):
        state = (state * 1664525 + 1013904223) % 2**32
        out[index] = (state >> 8) / 2**23 - 1
    return out


def seed(name):
    """FNV-1a."""
    state = 2166136261
    for byte in name.encode():
        state = (state ^ byte) * 16777619 % 2**32
    return state


def weights(name, shape, is_gemma):
    values = numbers(seed(name), int(numpy.prod(shape))).reshape(shape)
    if name.endswith("norm.weight"):
        return values / 2 + (0 if is_gemma else 1)
    return values / 4


def case(name, settings):
    settings = {**SIZES, **settings}
    config = AutoConfig.for_model(**settings)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").float().eval()
    is_gemma = settings["model_type"] == "gemma3_text"
    with torch.no_grad():
        for tensor_name, tensor in model.named_parameters():
            values = weights(tensor_name, tensor.shape, is_gemma)
            tensor.copy_(torch.from_numpy(values.astype(numpy.float32)))
        tokens = [int((x + 1) / 2 * settings["vocab_size"]) for x in numbers(5, N_TOKENS)]
        logits = model(torch.tensor([tokens])).logits[0]
    saved = config.to_dict()
    return {
        "name": name,
        "settings": settings,
        "saved": saved,
        "logits": {str(at): [float(f"{x:.7g}") for x in logits[at].tolist()] for at in POSITIONS},
    }


def main():
    cases = [case(name, settings) for name, settings in CASES.items()]
    print(json.dumps({"transformers": transformers.__version__, "cases": cases}))


main()
