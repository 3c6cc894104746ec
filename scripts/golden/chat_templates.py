#!/usr/bin/env python3
"""Conversations as transformers renders them, for tests/it/chat.rs.

    python3 scripts/golden/chat_templates.py models/cache/SmolLM2-135M-Instruct.Q4_1.gguf \
        tests/fixtures/golden/chat_templates.json

Needs the packages transformers, jinja2 and gguf (no torch). The templates are that
of the model file and those under tests/fixtures/chat_templates. A rendering that a
template refuses has `null` for its text. The clock stands at 26 July 2024.
"""

import datetime
import json
import sys
from importlib.metadata import version
from pathlib import Path

import jinja2
from gguf import GGUFReader
from transformers.utils import chat_template_utils

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "chat_templates"
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}

CONVERSATIONS = [
    [("user", "Is my thesis clear?")],
    [("system", "Be brief."), ("user", "Is my thesis clear?")],
    [("system", "  Be brief.\n"), ("user", "\n Is it?  \n"), ("assistant", " Yes. "), ("user", "Why?")],
    [("user", "First draft:\n\n“Rain — all day…” 🌧"), ("assistant", "Lovely image.")],
    [("user", "What follows?"), ("assistant", "<think>\nhm\n</think>\n\nAn example."), ("user", "Which?")],
    [("user", "{{ not a template }} {% raw %} {# nor this #} <|im_end|>")],
    [("user", "")],
    [("user", "One"), ("user", "Two")],
    [("assistant", "I begin.")],
    [("system", "Only this.")],
    [("user", "a"), ("system", "b"), ("user", "c")],
    [("user", "it's \"quoted\" \\ and <b>tagged</b> & more")],
]


class Clock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2024, 7, 26)


def render(template, conversation, add_generation_prompt, tokens):
    messages = [{"role": role, "content": content} for role, content in conversation]
    try:
        texts, _ = chat_template_utils.render_jinja_template(
            conversations=[messages], chat_template=template,
            add_generation_prompt=add_generation_prompt, **tokens)
    except jinja2.TemplateError:
        return None
    return texts[0]


def main():
    path, output = sys.argv[1:]
    chat_template_utils.datetime = Clock
    fields = GGUFReader(path).fields

    def content(key):
        return fields[key].contents()

    texts = content("tokenizer.ggml.tokens")
    model_tokens = {
        "bos_token": texts[content("tokenizer.ggml.bos_token_id")],
        "eos_token": texts[content("tokenizer.ggml.eos_token_id")],
    }
    templates = [(Path(path).name, content("tokenizer.chat_template"), model_tokens)]
    templates += [(path.name, path.read_text(), TOKENS) for path in sorted(FOLDER.glob("*.jinja"))]
    golden = {
        "format_version": 1,
        "made_by": f"transformers {version('transformers')}, jinja2 {version('jinja2')}",
        "bos_token": TOKENS["bos_token"],
        "eos_token": TOKENS["eos_token"],
        "renderings": [
            {
                "template": name,
                "messages": [{"role": role, "content": text} for role, text in conversation],
                "add_generation_prompt": add_generation_prompt,
                "text": render(template, conversation, add_generation_prompt, tokens),
            }
            for name, template, tokens in templates
            for conversation in CONVERSATIONS
            for add_generation_prompt in (True, False)
        ],
    }
    with open(output, "w", encoding="utf-8") as file:
        json.dump(golden, file, ensure_ascii=False, indent=1)
        file.write("\n")
    refused = sum(rendering["text"] is None for rendering in golden["renderings"])
    print(f"{output}: {len(golden['renderings'])} renderings, {refused} refused")


if __name__ == "__main__":
    main()
