#!/usr/bin/env python3
"""Token ids that llama.cpp computes, for tests/it/tokenizer.rs.

    python3 scripts/golden/llama_cpp_tokens.py models/cache/SmolLM2-135M-Instruct.Q4_1.gguf \
        tests/fixtures/golden/llama_cpp_tokens_smollm2.json
    python3 scripts/golden/llama_cpp_tokens.py models/cache/gemma-3-270m-q4_k_m.gguf \
        tests/fixtures/golden/llama_cpp_tokens_gemma3.json

Both models are as scripts/fetch_models.py brings them. Other vocabularies are tested
where they lie in models/cache/vocabularies, as NAME.gguf with the output of this script
as NAME.json.

Needs the packages llama-cpp-python and jinja2; scripts/bench/llama_cpp.sh builds the
library, and with LLAMA_CPP_LIB_PATH naming the folder that it prints and
PYTHONPATH=target/bench/llama.cpp/source, target/bench/venv/bin/python has both. Only
the vocabulary of the model is read. Where the model has a chat template, twenty
conversations are rendered through it with jinja2, set up as transformers sets it up,
and tokenised with special tokens read. Texts are tokenised twice: with special tokens
read (`parse`) and without (`plain`). No beginning-of-sequence token is added.
"""

import json
import sys

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment
from llama_cpp import Llama, __version__

SENTENCES = """\
School uniforms make everyone look the same, but they do not make everyone equal.
My grandmother's kitchen smelled of cardamom, burnt toast and rain.
In the first paragraph you tell us what happened; in the second you ask why.
Who is Alex, and why should the reader care about him?
The thesis is clear, yet the evidence comes from one website only.
I like how you open with a question - it pulls me in.
Consider splitting this sentence: it runs for sixty-four words.
"We never said goodbye," she whispered, and closed the door.
The author claims that social media isolates teenagers (Twenge, 2017, p. 12).
However, this does not follow; correlation isn't causation.
Great use of sensory detail here!!!
What do you mean by "the system"? Name it.
They're going to their house over there, aren't they?
I'd've thought you'd say more about the war.
It's the dog's bone, not it's bone.
DON'T SHOUT AT YOUR READER.
First, define the term. Second, give an example. Third, explain it.
This paragraph has no topic sentence, so I was lost until line 7.
On 4 July 1776, 56 delegates signed; 3.14159 is not 22/7.
About 1,234,567 people voted, which is 48.7% of the electorate.
Call me at 555-0199 between 9:00 and 17:30.
Use a semi-colon; or a full stop. Or a dash - but choose.
See https://example.org/essay?id=42&draft=final#top for the rubric.
Send it to teacher@example.org before Friday.
x = (a + b) * c / 2 - d ** 0.5
if (grade >= 90) { return "A"; } // curve it
The file is called draft_v2_FINAL(3).docx.
A+ for effort, C- for spelling, and B/B+ overall.
$5 is not 5 euros; it's roughly 4.60 euros @ today's rate.
#MeToo began, as you say, long before the hashtag.
My thesis: homework harms sleep, and sleep is learning.
Therefore I conclude that the experiment failed, as predicted.
Romeo and Juliet are fourteen, thirteen, dead.
He ran, she ran, we all ran; nobody arrived.
Supercalifragilisticexpialidocious antidisestablishmentarianism.
the quick brown fox jumps over the lazy dog
THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG
tHe QuIcK bRoWn FoX jUmPs
A single word
Yes
a
I
.
,
?!
...
-- he said --
(see above)
[citation needed]
{curly} <angle> |pipe|
C:\\Users\\student\\essay.txt
a/b/c/d
well-written, thought-provoking, half-baked
re-read, co-operate, e-mail
1st, 2nd, 3rd and 4th
one1two2three3
3D, H2O, CO2, B2B
0
7
42
1999
123456789012345678901234567890
-273.15
1e-12
0xDEADBEEF
12:30:45.678
50%50
The end.
""".splitlines()

WHITE_SPACE = [
    "", " ", "  ", "   ", "    ", "        ", "\n", "\n\n", "\n\n\n", "\n\n\n\n\n", "\t", "\t\t",
    " \n", "\n ", " \n \n ", "\r\n", "\r\n\r\n", "\r", "\n\t\n", "  \n\n  x",
    " leading space", "  two leading spaces", "   three leading spaces", "\tleading tab",
    "\nleading newline", "\n\ntwo leading newlines", "trailing space ", "trailing spaces   ",
    "trailing newline\n", "trailing newlines\n\n\n", "two  spaces  between  words",
    "three   spaces   between", "a\nb\nc", "a\n\nb\n\n\nc", "a \n b", "a\t\tb", "a\r\nb",
    "word\u00a0joined by no-break spaces", "\u2003em space", "zero\u200bwidth", "line\u2028separator",
    "next\u0085line", "\u3000ideographic space", "x \u00a0 y", "5  6   7", " 5", "  5", "a 5 b  6",
    "one.\n\nTwo.\n\n\n\nThree.   Four.", "\x0b\x0c", "item:\n  - one\n  - two\n",
]

UNICODE = [
    "café naïve façade Zoë", "Ångström, Øresund, Łódź, Čapek", "ﬁne ﬂight", "e\u0301le\u0300ve",
    "“Curly quotes” and ‘single ones’", "it’s, don’t, I’ll, we’ve", "wait… what — really – yes",
    "¿Qué? ¡Nada!", "«Привет», сказала она.", "Ελληνικά γράμματα", "שלום עולם", "مرحبا بالعالم",
    "你好，世界。", "こんにちは世界", "안녕하세요 세계", "नमस्ते दुनिया", "สวัสดีชาวโลก", "Xin chào thế giới",
    "½ ¾ ² ³ ¹⁰ Ⅷ ①", "٣٤٥ ४५६ 一二三", "√2 ≈ 1.414, π ≠ 3, ∑ ∞ ∂", "5° C, 20 µm, £3, €4, ¥5, ₿1",
    "😀", "😀😀😀", "nice work 👍🏽!", "👩‍👩‍👧‍👦 family", "🇫🇷🇩🇪", "❤️ vs ❤", "🏴‍☠️", "🤷🏾‍♀️ no idea",
    "𝒳 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟘𝟙𝟚", "𠀀𠀁 𪛖", "𐍈 𓀀 𝄞", "\U0001f9d1\u200d\U0001f680 and \U0010ffff",
    "\u0001\u0002\u001f", "\u007f\u0080\u009f", "\ufeffbyte order mark", "\ufffd replaced",
    "\ue000\uf8ff private", "\u202eright to left\u202c", "a\u0000b", "ſtrange 'ſ", "ǅ ǈ titlecase",
    "№ 5 ™ © ®", "‽ ⁂ § ¶ † ‡", "→ ← ⇒ ✓ ✗ ★", "ⁿ₁₂", "İstanbul ıssız", "ßtraße STRASSE ẞ",
]

SPECIAL = [
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|im_start|>user\nHi<|im_end|>\n",
    "I typed <|im_end|> in my essay.", "<|im_end|><|im_end|>", "<|im_start|><|im_start|>x",
    "<|im_end|", "|im_end|>", "<|im_ end|>", "<|IM_END|>", "< |im_end|>", " <|im_end|> ",
    "<|endoftext|>\n\n<|endoftext|>", "a<|im_end|>b<|im_start|>c", "<file_sep><reponame>",
    "<s>", "</s>", "<s>[INST] Hi [/INST]", "<unk>", "<pad>", "<bos><eos>", "<|eot_id|>",
    "<|begin_of_text|>", "<start_of_turn>user\nHi<end_of_turn>\n", "<0x0A>", "[CLS][SEP][MASK]",
    "<b>bold</b> and <i>italic</i>", "<br/>", "<think>hm</think>", "<<<>>>", "<|<|im_end|>|>",
]

LONGER = [
    "\n" * 31 + "x", " " * 40 + "x", "\t" * 9 + "x" + "\t" * 17, "a" + " \n" * 6 + "b",
    "\n \n  \n   \n", "-" * 70, "=" * 33, "." * 50, "?!" * 12, "ha" * 40, "aaaaaaaaaaaaaaaaaaaaaaaaa",
    "😀😃😄😁😆😅🤣😂🙂🙃🫠😉😊", "👩🏽‍🚀👨‍👩‍👦🏳️‍🌈🇺🇳🫱🏿‍🫲🏻", "1️⃣2️⃣#️⃣*️⃣", "Z̴̡͚̋a̷͓͑l̵̝̆g̸̞͊o̶̲͛",
    "ꙮ ꧁ ᚠᛇᚻ 𒀀𒁀 𐤀𐤁", "＜｜im_start｜＞ ＡＢＣ １２３",
    "When my grandmother left Lisbon she carried two photographs and a recipe.\n\nThe photographs "
    "faded; the recipe is still on our kitchen wall — “like a map,” my father says — and every "
    "Sunday (even in July, even at 38 °C) we follow it.\n\nI have it by heart now: 250 g of flour, "
    "3 eggs, ½ tsp. of salt…  and patience, which isn't written down anywhere.",
    "| week | hours | mood |\n|------|------:|------|\n| 1    |  12.5 | :-)  |\n| 2    |   9   | :-/  |\n",
    "def mean(xs):\n    # of a list\n    return sum(xs) / len(xs) if xs else float('nan')\n",
    "<p class=\"lead\">It&rsquo;s &lt;b&gt; not bold</p><!-- note --><table><tr><td>1</td></tr></table>",
    "O'Brien's d’Artagnan ’tis rock ’n’ roll 'twas y'all'd've",
]

FEEDBACK = "You give feedback on one paragraph of a student's essay. Be concise."
PARAGRAPHS = [
    "School starts too early. Students are tired, and tired students do not learn.",
    "My brother left in 2009. He took the blue car, 40 dollars and my bike.",
    "“Home” is a word my mother never translated; she just pointed at the floor.",
    "Homework should be banned because its boring and teachers dont even check it!!",
    "In conclusion, pollution is bad for the environment and for us all.",
    "The poem says \"nothing gold can stay\".\n\nI think it's about growing up.",
    "Café culture in Montréal – naïve as it sounds – saved my grades 😅.",
    "1. Define the problem\n2. Give a cause\n3. Offer a solution",
    "",
    "   The quote floats:   nobody introduces it.  ",
]


def conversations():
    """Twenty conversations: with and without a system message, long and short."""
    for index, paragraph in enumerate(PARAGRAPHS):
        ask = f"### Target Paragraph:\n{paragraph}\n\n### Feedback:"
        yield [("system", FEEDBACK), ("user", ask)], True
        if index % 2 == 0:
            yield [("user", ask)], True
        else:
            talk = [("user", ask), ("assistant", "Your claim is clear. Add an example.")]
            more = [("user", "Which example?\n")] if index % 4 == 1 else []
            yield [("system", FEEDBACK + "\n"), *talk, *more], bool(more)


def render(template, messages, add_generation_prompt, special):
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols])
    return environment.from_string(template).render(
        messages=messages, add_generation_prompt=add_generation_prompt, tools=None,
        documents=None, **special)


def token_text(model, key):
    token = model.metadata.get(key)
    return model._model.token_get_text(int(token)) if token is not None else None


def main():
    path, output = sys.argv[1:]
    model = Llama(path, vocab_only=True, verbose=False)

    def ids(text, special):
        return model.tokenize(text.encode(), add_bos=False, special=special)

    texts = list(dict.fromkeys(SENTENCES + WHITE_SPACE + UNICODE + SPECIAL + LONGER))
    golden = {
        "format_version": 1,
        "made_by": f"llama-cpp-python {__version__}",
        "model": path.rsplit("/", 1)[-1],
        "texts": [
            {"text": text, "parse": ids(text, True), "plain": ids(text, False)} for text in texts],
        "prompts": [],
    }
    template = model.metadata.get("tokenizer.chat_template")
    if template is not None:
        special = {
            "bos_token": token_text(model, "tokenizer.ggml.bos_token_id"),
            "eos_token": token_text(model, "tokenizer.ggml.eos_token_id"),
        }
        for conversation, add_generation_prompt in conversations():
            messages = [{"role": role, "content": content} for role, content in conversation]
            text = render(template, messages, add_generation_prompt, special)
            golden["prompts"].append({
                "messages": messages,
                "add_generation_prompt": add_generation_prompt,
                "text": text,
                "ids": ids(text, True),
            })
    with open(output, "w", encoding="utf-8") as file:
        json.dump(golden, file, ensure_ascii=False, separators=(",", ":"))
        file.write("\n")
    print(f"{output}: {len(golden['texts'])} texts, {len(golden['prompts'])} prompts")


if __name__ == "__main__":
    main()
