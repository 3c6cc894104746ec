#!/usr/bin/env python3
"""Count what corpora hold, independently of the program.

    python3 scripts/golden/corpus_stats.py \\
        sample=tests/fixtures/corpus sefora=../shared/sefora/SEFORA \\
        > tests/fixtures/golden/corpus_stats.json

Needs Python 3.9 and nothing else. Writes figures only, no text of the corpora.
Class, essay and stage are taken from the folders here, where the program takes
them from the names of the files; rubrics are looked for with nothing but the
tree.
"""

import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

LEVELS = ["corpus", "batch", "course", "class", "essay", "stage"]


def words(text):
    return len(text.split())


def rubric_level(draft, root):
    """The level of the nearest folder, going up, that holds a .txt file."""
    folder = draft.parent
    while True:
        if any(folder.glob("*.txt")):
            return LEVELS[len(folder.relative_to(root).parts)]
        if folder == root:
            return "none"
        folder = folder.parent


def odd_pieces(paragraph):
    """The kinds of what is odd about the annotations of a paragraph."""
    body = paragraph["body"]
    seen = []
    for annotation in paragraph["annotations"]:
        size = len(annotation["comment"].strip())
        if size == 0:
            yield "empty-comment"
        elif size < 3:
            yield "short-comment"
        text = annotation.get("text")
        left, right = annotation["context_left"], annotation["context_right"]
        if text is None:
            if not left and not right:
                yield "note-without-context"
            elif left + right not in body:
                yield "context-mismatch"
        elif not text.strip():
            yield "empty-highlight"
        elif text not in body:
            yield "words-not-found"
        else:
            # Overlapping occurrences with the whole context around them.
            whole = re.compile("(?=" + re.escape(left + text + right) + ")")
            n_places = len(whole.findall(body))
            if n_places == 0:
                yield "context-mismatch"
            elif 1 < n_places:
                yield "ambiguous-place"
        if annotation in seen:
            yield "duplicate-annotation"
        seen.append(annotation)


def count(root):
    figures = Counter()
    findings = Counter()
    drafts_by_essay = Counter()
    classes_by_student = defaultdict(set)
    texts = Counter()
    files = sorted(root.rglob("*.json"))
    for file in files:
        batch, course, class_, essay, stage = file.relative_to(root).parts[:-1]
        student = re.search(r"_(ID\d+)$", file.stem).group(1)
        class_id = f"{batch}_{course}_{class_}"
        draft = json.loads(file.read_text(encoding="utf-8"))
        figures["drafts.total"] += 1
        figures[f"drafts.by_stage.{stage}"] += 1
        figures[f"classes.drafts.{class_id}"] += 1
        figures[f"rubrics.drafts.{rubric_level(file, root)}"] += 1
        drafts_by_essay[class_id, essay, student] += 1
        classes_by_student[student].add(class_id)
        assessments = draft.get("annotations", [])
        figures["drafts.with_assessment"] += bool(assessments)
        for assessment in assessments:
            overall = words(assessment.get("comment", ""))
            peer = words(assessment.get("Peer Comment", ""))
            figures["drafts.with_overall_comment"] += 0 < overall
            figures["drafts.with_peer_comment"] += 0 < peer
            figures["words.overall"] += overall
            figures["words.peer"] += peer
            findings["no-overall-comment"] += not overall and not peer
            for grade in assessment["grades"].values():
                figures["grades.total"] += 1
                if not isinstance(grade, str):
                    figures["grades.points"] += 1
                elif grade == "N/A":
                    figures["grades.not_given"] += 1
                else:
                    figures["grades.marks"] += 1
        n_annotations = 0
        bodies = Counter()
        for paragraph in draft["paragraphs"]:
            body = paragraph["body"]
            annotations = paragraph["annotations"]
            comments = [annotation["comment"].strip() for annotation in annotations]
            n_usable = sum(3 <= len(comment) for comment in comments)
            n_annotations += len(annotations)
            figures["paragraphs.total"] += 1
            figures["paragraphs.annotated"] += bool(annotations)
            figures["paragraphs.with_usable_comment"] += 0 < n_usable
            figures["paragraphs.with_one_annotation"] += len(annotations) == 1
            figures["paragraphs.with_one_usable_comment"] += n_usable == 1
            figures["words.essays"] += words(body)
            figures["words.inline"] += sum(words(comment) for comment in comments)
            figures["annotations.total"] += len(annotations)
            figures["annotations.with_usable_comment"] += n_usable
            figures["annotations.without_comment"] += sum(not comment for comment in comments)
            for annotation in annotations:
                if annotation["type"] == "highlight":
                    figures["annotations.highlights.total"] += 1
                    figures[f"annotations.highlights.{annotation['color']}"] += 1
                else:
                    figures[f"annotations.{annotation['type']}s"] += 1
            findings.update(odd_pieces(paragraph))
            findings["empty-paragraph"] += not body.strip()
            findings["duplicate-paragraph"] += bool(bodies[body.strip()] and body.strip())
            bodies[body.strip()] += 1
        figures["drafts.without_annotation"] += n_annotations == 0
        findings["no-paragraphs"] += not draft["paragraphs"]
        findings["no-annotations"] += bool(draft["paragraphs"]) and n_annotations == 0
        text = "\0".join(paragraph["body"] for paragraph in draft["paragraphs"])
        findings["duplicate-draft"] += bool(text.strip("\0 ") and texts[text])
        texts[text] += 1

    figures["annotations.with_short_comment"] = (
        figures["annotations.total"]
        - figures["annotations.with_usable_comment"]
        - figures["annotations.without_comment"]
    )
    figures["essays.total"] = len(drafts_by_essay)
    for n_drafts in drafts_by_essay.values():
        figures[f"essays.with_drafts.{n_drafts}"] += 1
    figures["classes.total"] = sum(key.startswith("classes.drafts.") for key in figures)
    figures["students.total"] = len(classes_by_student)
    figures["students.in_several_classes"] = sum(
        1 < len(classes) for classes in classes_by_student.values()
    )
    findings["student-in-classes"] = figures["students.in_several_classes"]
    for file in root.rglob("*.txt"):
        figures["rubrics.total"] += 1
        figures[f"rubrics.files.{LEVELS[len(file.relative_to(root).parts) - 1]}"] += 1
    figures["words.feedback"] = figures["words.inline"] + figures["words.overall"]
    for kind in ["inline", "overall", "essays"]:
        figures[f"words.{kind}_per_draft"] = figures[f"words.{kind}"] / len(files)
    return {
        "figures": dict(sorted(figures.items())),
        "findings": {kind: n for kind, n in sorted(findings.items()) if n},
    }


def main():
    counts = {}
    for argument in sys.argv[1:]:
        name, path = argument.split("=", 1)
        counts[name] = count(Path(path))
    json.dump(counts, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
