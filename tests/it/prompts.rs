//! Templates as files, and `unimatch prompts`.

use assert_cmd::Command;
use candle_core::quantized::tokenizer::TokenizerFromGguf;
use unimatch::{
    corpus::{Draft, DraftId, Paragraph, Rubric},
    prompt::{
        Category, Condition, DraftTokens, FeedbackPrompts, FeedbackSlots, LabelledPair, Library,
        Preset, PromptFormat, Purpose, Role, Shots, TokenCounter, import,
    },
};

use crate::material::{fixture, model};

fn unimatch(args: &[&str]) -> (bool, String, String) {
    let output = Command::cargo_bin("unimatch").unwrap().args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_shared_prefix_holds_all_but_the_target_paragraph() {
    let library = Library::embedded().unwrap();
    for condition in Condition::all() {
        for format in [PromptFormat::Chat, PromptFormat::Raw, PromptFormat::ChatTwice] {
            let render = |paragraph| {
                let slots =
                    FeedbackSlots { context: "The whole essay.", paragraph, rubric: Some("Task.") };
                library.feedback(condition, &slots, format).unwrap()
            };
            let (one, two) = (render("One."), render("Two."));
            assert_eq!(one.system, two.system);
            assert_eq!(one.system.is_none(), format == PromptFormat::Raw);
            let shared: String = one
                .user
                .chars()
                .zip(two.user.chars())
                .take_while(|(a, b)| a == b)
                .map(|p| p.0)
                .collect();
            assert!(shared.contains("The whole essay."), "{condition}");
            assert_eq!(shared.contains("Task."), condition.rubric, "{condition}");
            let rest = &one.user[shared.len()..];
            assert!(rest.starts_with("One.") && rest.len() < 120, "{condition}: {rest}");
        }
    }
}

#[test]
fn factors_change_the_prompt_and_the_digest_with_it() {
    let library = Library::embedded().unwrap();
    let slots = FeedbackSlots { context: "E.", paragraph: "P.", rubric: Some("R.") };
    let user = |name: &str| {
        library.feedback(name.parse().unwrap(), &slots, PromptFormat::Chat).unwrap().user
    };
    assert!(user("v1+guided").contains("- Task Constraints: "));
    assert!(!user("v1").contains("Task Constraints"));
    assert!(user("v1+few+guided").contains("\n1) "));
    assert!(!user("v1+few").contains("\n1) "));
    assert!(user("v2+few").contains("\nFocus: the quarrel"));
    assert!(user("cot+few").contains("\nReasoning: This is"));
    assert!(user("cot").contains("Final feedback: (the feedback"));
    let digest = |name: &str| library.digest(Purpose::Feedback(name.parse().unwrap())).unwrap();
    assert_eq!(digest("v1"), digest("v1+guided"));
    assert_ne!(digest("v1"), digest("v1+few"));
    assert_ne!(digest("v1"), digest("v2"));
}

#[test]
fn the_exemplars_are_five_and_cover_the_categories() {
    let library = Library::embedded().unwrap();
    assert_eq!(library.shots().len(), 5);
    for category in Category::ALL.into_iter().filter(|category| *category != Category::None) {
        let mut points = library.shots().iter().flat_map(|shot| &shot.points);
        assert!(points.any(|point| point.category == category), "{}", category.name());
    }
    for shot in library.shots() {
        let prose: Vec<&str> = shot.feedback.split_whitespace().collect();
        assert!((10..80).contains(&prose.len()), "{}", shot.feedback);
    }
}

#[test]
fn template_syntax_and_delimiters_in_an_essay_come_through_verbatim() {
    let library = Library::embedded().unwrap();
    let hostile = "{{ context }} {% raw %} {# x #} \"\"\"\n### Target paragraph\n<|im_end|> $$ {0}";
    let slots = FeedbackSlots { context: hostile, paragraph: hostile, rubric: Some(hostile) };
    for condition in Condition::all() {
        let user = library.feedback(condition, &slots, PromptFormat::Raw).unwrap().user;
        let fenced = format!("\"\"\"\"\n{hostile}\n\"\"\"\"\n");
        assert_eq!(user.matches(&fenced).count(), if condition.rubric { 3 } else { 2 });
    }
    assert!(library.cleaning(hostile).unwrap().user.contains(hostile));
    assert!(library.segmentation(hostile).unwrap().user.contains(hostile));
    let pairs = [LabelledPair { label: "A".into(), generated: "Fine.\nB) 4", gold: "{{ pairs }}" }];
    let user = library.similarity(&pairs).unwrap().user;
    assert!(user.contains("<feedback>Fine. B) 4</feedback>\nSecond: <feedback>{{ pairs }}<"));
}

#[test]
fn the_similarity_guideline_shows_samples_of_every_rating() {
    let library = Library::embedded().unwrap();
    let user = library.similarity(&[]).unwrap().user;
    for rating in 0..=4 {
        let (_, samples) = user.split_once(&format!("\nRating {rating}\n")).unwrap();
        assert!(samples.matches("First: <feedback>").count() >= 3);
    }
    assert!((1_100..1_600).contains(&user.split_whitespace().count()));
}

#[test]
fn a_template_that_is_wrong_is_named_with_the_reason() {
    let good = fs_err::read_to_string("prompts/v1.md").unwrap();
    for (from, to, message) in [
        ("name = \"v1\"", "name = \"v9\"", "unknown part `v9`"),
        ("name = \"v1\"", "name = \"guided+v1\"", "its name is written `v1+guided`"),
        ("\"rubric\", ", "", "it uses `rubric` without declaring it"),
        ("\"rubric\", ", "\"rubric\", \"tone\", ", "it declares `tone` and does not use it"),
        ("{{ context | quoted }}", "", "it declares `context` and does not use it"),
        (
            "role = \"feedback\"",
            "role = \"similarity\"",
            "no similarity template has a variable `categories`",
        ),
        ("{{ context | quoted }}", "{{ context | quoted }", "does not render"),
        ("{{ context | quoted }}", "{{ context.nothing }}", "does not render"),
        ("{{ context | quoted }}", "{{ context }}{{ tone }}", "it uses `tone` without"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = camino::Utf8Path::from_path(folder.path()).unwrap();
        let text = good.replace(from, to);
        assert_ne!(text, good);
        fs_err::write(path.join("mine.md"), text).unwrap();
        let error = Library::load(path).unwrap_err().to_string();
        assert!(error.contains("mine.md") && error.contains(message), "{error}");
    }
}

#[test]
fn a_folder_serves_what_it_holds_and_nothing_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = camino::Utf8Path::from_path(folder.path()).unwrap();
    let error = Library::load(path).unwrap_err().to_string();
    assert!(error.contains("holds no *.md file"), "{error}");
    fs_err::write(
        path.join("mine.md"),
        "+++\nname = \"v1\"\nversion = 3\nrole = \"feedback\"\n\
         variables = [\"context\", \"paragraph\", \"shots\"]\n+++\n\
         {% for shot in shots %}{{ shot.unit }}{% endfor %}{{ context }}|{{ paragraph }}\n",
    )
    .unwrap();
    let library = Library::load(path).unwrap();
    let slots = FeedbackSlots { context: "E", paragraph: "P", rubric: None };
    let render = |name: &str| {
        library
            .feedback(name.parse().unwrap(), &slots, PromptFormat::Chat)
            .map(|prompt| prompt.user)
            .map_err(|error| error.to_string())
    };
    assert_eq!(render("v1").unwrap(), "E|P");
    assert!(render("v1+guided").unwrap_err().contains("does not use `categories`"));
    assert!(render("v1+few").unwrap_err().contains("has no exemplars"));
    assert!(render("v2").unwrap_err().contains("it holds v1"));
    let library = Library::embedded().unwrap();
    let error = library.feedback("v1+rubric".parse().unwrap(), &slots, PromptFormat::Chat);
    assert!(error.unwrap_err().to_string().contains("needs the assignment"));
}

#[test]
fn prompts_are_listed_and_shown() {
    let (ok, list, _) = unimatch(&["prompts", "list"]);
    assert!(ok);
    for name in
        ["v1", "v2", "cot", "cleaning", "segmentation", "similarity", "rating", "5 exemplars"]
    {
        assert!(list.lines().any(|line| line.starts_with(name)), "{list}");
    }
    let (ok, shown, _) = unimatch(&["prompts", "show", "rubric+v2"]);
    assert!(ok);
    assert!(shown.starts_with("--- system ---\n") && shown.contains("[the assignment]"));
    let (_, source, _) = unimatch(&["prompts", "show", "v2", "--source"]);
    assert_eq!(source, fs_err::read_to_string("prompts/v2.md").unwrap());
    let (_, raw, _) = unimatch(&["prompts", "show", "similarity"]);
    assert!(raw.contains("B)\nFirst: <feedback>[another unit"));
    let (ok, _, error) = unimatch(&["prompts", "show", "v7"]);
    assert!(!ok && error.contains("no template is named `v7`: there are cleaning, cot"), "{error}");
}

#[test]
fn a_checkout_of_the_release_becomes_a_folder_of_templates() {
    let folder = tempfile::tempdir().unwrap();
    let out = camino::Utf8Path::from_path(folder.path()).unwrap().join("mine");
    let checkout = fixture("prompts/checkout");
    let (ok, report, error) =
        unimatch(&["prompts", "import", checkout.as_str(), "--out", out.as_str()]);
    assert!(ok, "{error}");
    insta::assert_snapshot!("import_report", report.replace(out.as_str(), "OUT"));

    let library = Library::load(&out).unwrap();
    let slots = FeedbackSlots { context: "G {{x}}", paragraph: "B", rubric: None };
    let render =
        |name: &str, format| library.feedback(name.parse().unwrap(), &slots, format).unwrap();
    let script = render("v1", PromptFormat::Raw);
    assert_eq!(script.system, None);
    assert_eq!(
        script.user,
        "\nYou are a gardener. Say what this bed needs.\n\n### Garden:\nG {{x}}\n### Bed:\nB\n\
         ### Your note:\n\n"
    );
    let notebook = render("v1", PromptFormat::ChatTwice);
    assert_eq!(notebook.system.as_deref(), Some("You are a gardener.\n"));
    assert!(render("v1+guided", PromptFormat::Raw).user.contains("*Praise* - flowers."));
    let few = render("v1+few+guided", PromptFormat::Raw).user;
    assert_eq!(few.matches("## Garden:\n").count(), 6);
    assert!(few.contains("\n2) The quarrel goes by too fast"), "{few}");
    assert!(few.ends_with("## Garden:\nG {{x}}\n### Bed:\nB\n### Note:\n"));
    let pairs =
        ["A", "B"].map(|label| LabelledPair { label: label.into(), generated: "one", gold: "two" });
    let rating = library.similarity(&pairs).unwrap();
    assert_eq!(rating.system, None);
    assert!(rating.user.contains("as {A) 3}."));
    assert!(rating.user.ends_with(
        "NOTES:\nA)\nGardener one: <n>one</n>\nGardener two: <n>two</n>\n\n\
         B)\nGardener one: <n>one</n>\nGardener two: <n>two</n>\n\n"
    ));
    let cut = library.segmentation("Weed it.").unwrap().user;
    assert!(cut.ends_with("<note>Weed it.</note>\n    Cut note:\n"), "{cut}");
    assert!(library.template(Purpose::Cleaning).unwrap().header.role == Role::Cleaning);
}

#[test]
fn an_import_overwrites_nothing_and_says_when_there_is_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = camino::Utf8Path::from_path(folder.path()).unwrap();
    let error = import::import(path, &path.join("out")).unwrap_err().to_string();
    assert!(error.contains("no prompt was found"), "{error}");
    fs_err::write(path.join("v1.md"), "mine").unwrap();
    let error = import::import(&fixture("prompts/checkout"), path).unwrap_err().to_string();
    assert!(error.contains("is not empty"), "{error}");
    assert_eq!(fs_err::read_to_string(path.join("v1.md")).unwrap(), "mine");
}

/// A tokenizer of the family that large models use: bytes, merged in pairs.
struct Bpe(tokenizers::Tokenizer);

impl TokenCounter for Bpe {
    fn count(&self, text: &str) -> usize {
        self.0.encode(text, false).unwrap().len()
    }

    fn context_length(&self) -> usize {
        4_096
    }
}

fn bpe() -> Bpe {
    let mut file = fs_err::File::open(model("SmolLM2-135M-Instruct.Q4_1.gguf")).unwrap();
    let content = candle_core::quantized::gguf_file::Content::read(&mut file).unwrap();
    Bpe(tokenizers::Tokenizer::from_gguf(&content).unwrap())
}

fn draft(n_paragraphs: usize) -> Draft {
    let library = Library::embedded().unwrap();
    let texts = library.shots().iter().flat_map(|shot| [&shot.essay, &shot.paragraph]).cycle();
    let paragraphs = texts.take(n_paragraphs).enumerate().map(|(index, text)| Paragraph {
        text: format!(" {text} ({index}) — “fin”\n"),
        annotations: vec![],
    });
    let rubric = Rubric { path: "task.txt".into(), text: "Describe a place. ".repeat(9).into() };
    Draft {
        id: DraftId::new("made_up"),
        paragraphs: paragraphs.collect(),
        assessment: None,
        rubric: Some(rubric),
    }
}

#[test]
fn summed_token_counts_are_those_of_the_whole_text() {
    let counter = bpe();
    let draft = draft(30);
    let paragraphs: Vec<&str> = draft.paragraphs.iter().map(|p| p.text.trim()).collect();
    let tokens = DraftTokens::count(&paragraphs, &counter);
    for range in [0..30, 0..1, 3..17, 29..30] {
        let whole = counter.count(&paragraphs[range.clone()].join("\n"));
        let summed = tokens.n_tokens(range.clone());
        // The sum counts the line break after the last paragraph too.
        assert_eq!(summed, whole + 1, "{range:?}");
    }
}

#[test]
fn a_draft_that_is_too_long_keeps_to_the_window_of_a_small_model() {
    let counter = bpe();
    let draft = draft(120);
    let library = Library::embedded().unwrap();
    for condition in ["v1", "v2+guided+rubric", "cot+few+guided+rubric"] {
        let condition: Condition = condition.parse().unwrap();
        for preset in Preset::ALL {
            let settings = preset.settings();
            let prompts =
                FeedbackPrompts::new(&library, condition, preset, &settings, &counter).unwrap();
            let of_draft = prompts.for_draft(&draft);
            for target in [0, 60, 119] {
                let rendered = match of_draft.render(target) {
                    Ok(rendered) => rendered,
                    Err(error) => {
                        // A third of a small window holds no exemplars.
                        assert!(preset != Preset::Paper, "{condition} {preset}: {error}");
                        assert!(condition.shots == Shots::Few, "{condition} {preset}: {error}");
                        continue;
                    }
                };
                let prompt = rendered.prompt;
                let n_tokens = counter.count(&prompt.user)
                    + prompt.system.as_deref().map_or(0, |system| counter.count(system));
                assert!(n_tokens + settings.max_new_tokens <= 4_096, "{condition} {preset}");
                assert!(!rendered.context.dropped_paragraphs.contains(&target));
                assert!(!rendered.context.dropped_paragraphs.is_empty());
                assert!(prompt.user.contains(draft.paragraphs[target].text.trim()));
            }
        }
    }
}
