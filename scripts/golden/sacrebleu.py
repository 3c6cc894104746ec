#!/usr/bin/env python3
"""Golden values of chrF and BLEU, computed by sacrebleu.

    pip install sacrebleu==2.6.0
    python3 scripts/golden/sacrebleu.py > tests/fixtures/golden/sacrebleu.json

Sentence level, all defaults. The texts are our own: feedback of the kind the
program compares, and whatever a tokenizer may stumble over. Every text is paired
with itself, with the next one, and with some drawn at random with a fixed seed.
"""

import json
import random
import sys
from pathlib import Path

# This file bears the name of the package, which must be found before it.
HERE = Path(__file__).resolve().parent
sys.path = [path for path in sys.path if Path(path).resolve() != HERE]

import sacrebleu  # noqa: E402

TEXTS = [
    "",
    " ",
    "\t\n",
    "Good",
    "good",
    "Good!",
    "?",
    "...",
    "a",
    "ab",
    "abcdef",
    "abcdefg",
    "Who is Alex?",
    "Who is Alex? Introduce him before he speaks.",
    "Who is Alex? You should introduce him before he speaks, or we are lost.",
    "Introduce Alex before he speaks.",
    "Nice opening.",
    "Nice opening; the smell of rain sets the scene at once.",
    "What a nice opening! The smell of rain sets the scene at once.",
    "The opening is vivid, and it sets the scene at once.",
    "This paragraph is vivid, but the last sentence repeats the first.",
    "The last sentence repeats the first: cut one of them.",
    "Cut the last sentence.",
    "Cut the last sentence. Cut it. Cut it now.",
    "very very very very good",
    "very good",
    "the the the the the the the",
    "the cat is on the mat",
    "the cat sat on the mat and the dog sat on the cat",
    "Tense slips from past to present in the third sentence.",
    "You slip from past to present tense in sentence 3.",
    "Watch your tenses!",
    "watch your tenses",
    "WATCH YOUR TENSES!!!",
    "Comma splice: join the two clauses with a conjunction, or use a full stop.",
    "This is a comma splice, join the clauses properly.",
    "Spell out numbers below 10, e.g. 'nine', and write 1,000.50 or 3.14 in digits.",
    "Write 1,000.50, not 1.000,50; and 3-4 or 20-year-old, not 3 - 4.",
    "In 1999-2000 you wrote .5 where 0.5 was meant, didn't you?",
    "On page 12, line 3.",
    "p.12,l.3",
    "It costs $5.00 (or \u20ac4,50) -- about 10% more.",
    "Don't use \"very\" so often; it's a well-worn word.",
    "Don\u2019t use \u201cvery\u201d so often; it\u2019s a well\u2013worn word.",
    "He said, \"Stop.\" Then he left.",
    "He said &quot;stop&quot; &amp; left &lt;b&gt;at once&lt;/b&gt;.",
    "He said \"stop\" & left <b>at once</b>.",
    "&amp;quot; &amp;amp; R&D",
    "<skipped> The word <skipped>is left out.",
    "The word is left out.",
    "A word is bro-\nken over two lines\nand a third.",
    "A word is broken over two lines and a third.",
    "Two  spaces\tand a tab and trailing blanks   ",
    "no\u00a0break\u2009thin\u3000wide spaces",
    "no break thin wide spaces",
    "separators\x1cof\x1dASCII\x1eand\x1funits\x85next",
    "{braces} [brackets] (parens) <angles> /slashes/ \\back\\ |bars| ~tilde~ ^caret^ `tick`",
    "* star # hash @ at + plus = equals _ under",
    "a_b a+b a=b a@b a/b a\\b a|b a~b",
    "semi;colon:and,comma.and-hyphen'apostrophe",
    "caf\u00e9 na\u00efve r\u00e9sum\u00e9 \u2014 \u00fcber",
    "cafe\u0301 nai\u0308ve re\u0301sume\u0301 \u2014 u\u0308ber",
    "cafe naive resume - uber",
    "Stra\u00dfe und \u00c4rger, \u00f6fter als n\u00f6tig.",
    "Stra\u00dfe und \u00c4rger \u00f6fter, als n\u00f6tig.",
    "\u00bfPor qu\u00e9 no explicas m\u00e1s? \u00a1Bien hecho!",
    "\u041e\u0447\u0435\u043d\u044c \u0445\u043e\u0440\u043e\u0448\u043e, \u043d\u043e \u043a\u043e\u0440\u043e\u0442\u043a\u043e.",
    "\u041e\u0447\u0435\u043d\u044c \u0445\u043e\u0440\u043e\u0448\u043e.",
    "\u0627\u0644\u0641\u0642\u0631\u0629 \u062c\u064a\u062f\u0629\u060c \u0644\u0643\u0646\u0647\u0627 \u0642\u0635\u064a\u0631\u0629.",
    "\u8fd9\u4e00\u6bb5\u5199\u5f97\u5f88\u597d\uff0c\u4f46\u662f\u7ed3\u5c3e\u592a\u7a81\u7136\u3002",
    "\u8fd9\u4e00\u6bb5\u5199\u5f97\u5f88\u597d\u3002",
    "\u7d50\u672b\u304c\u5531\u7a81\u3067\u3059\u3002\u3082\u3046\u5c11\u3057\u66f8\u304d\u307e\u3057\u3087\u3046\u3002",
    "\u7d50\u672b\u304c \u5531\u7a81 \u3067\u3059",
    "\ub2e8\ub77d\uc774 \uc88b\uc2b5\ub2c8\ub2e4.",
    "Great job \U0001f600\U0001f44d keep going!",
    "Great job \U0001f44d\U0001f3fd keep going",
    "\U0001f600",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 a family",
    "zero\u200bwidth and soft\u00adhyphen",
    "\u0661\u0662\u0663.\u0664\u0665 Arabic digits, \u00bd and \u2167",
    "End with a digit 5",
    "End with a digit 5.",
    "5",
    "5.",
    "5-",
    ",5",
    ".,.,",
    "1.2.3.4",
    "a-1-b",
    "I wonder why she stays on the couch, since the door is open and the car is waiting. "
    "Give her a reason: fear, pride, or a promise. Otherwise the reader stops believing you, "
    "and the ending, which could be strong, falls flat.",
    "Why does she stay on the couch when the door is open? Give her a reason, such as fear or a "
    "promise, so that the ending does not fall flat.",
    "The ending falls flat because she has no reason to stay.",
    "Give her a reason to stay.",
    "Give her a reason to stay on the couch, please.",
]

N_DRAWN = 2


def pairs():
    """Pairs of hypothesis and reference, each once."""
    draw = random.Random(42)
    chosen = {}
    for index, text in enumerate(TEXTS):
        following = TEXTS[(index + 1) % len(TEXTS)]
        drawn = [draw.choice(TEXTS) for _ in range(N_DRAWN)]
        for other in [text, following, *drawn]:
            chosen.setdefault((text, other), None)
    return list(chosen)


def main():
    """Prints the golden file."""
    rows = [
        {
            "hypothesis": hypothesis,
            "reference": reference,
            "chrf": sacrebleu.sentence_chrf(hypothesis, [reference]).score,
            "bleu": sacrebleu.sentence_bleu(hypothesis, [reference]).score,
        }
        for hypothesis, reference in pairs()
    ]
    golden = {"sacrebleu": sacrebleu.__version__, "pairs": rows}
    print(json.dumps(golden, indent=1))


if __name__ == "__main__":
    main()
