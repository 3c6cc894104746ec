//! What holds of every page, figure and table.

use super::{digest::policy_source, *};

const RUNS: [&str; 2] = ["base", "guided <&> \"x\""];

fn estimate(value: f64) -> Estimate {
    Estimate { value: Some(value), interval: Some((value - 0.02, value + 0.03)) }
}

fn run(name: &str) -> RunSummary {
    let figures = Figures {
        subset: "full".to_owned(),
        measure: "soft".to_owned(),
        precision: estimate(0.25),
        recall: estimate(0.31),
        f1: estimate(0.28),
        n_paragraphs: 40,
        n_generated: 160,
        n_gold: 120,
    };
    RunSummary {
        name: name.to_owned(),
        signature: "unimatch 0.1.0, 100% of a_b & {c}".to_owned(),
        model: "m".to_owned(),
        condition: "v2".to_owned(),
        figures: vec![figures.clone(), Figures { f1: Estimate::default(), ..figures }],
        coverage: vec![("evaluated".to_owned(), 40)],
        replies: vec![("cut by length".to_owned(), 2)],
        failures: vec![("generate".to_owned(), "too long <b>".to_owned(), 3)],
        bounds: Some((0.2, 0.4)),
        all_ratings: [50, 30, 20, 10, 5],
        aligned_ratings: [1, 2, 3, 4, 5],
        units_per_paragraph: Some(4.0),
        scorer: ScorerStanding { scorer: "overlap".to_owned(), ..Default::default() },
    }
}

fn paragraph(at: usize, words: &str) -> ParagraphView {
    let view = AlignmentView {
        generated: vec![Some(words.to_owned()); 5],
        pairs: vec![(0, 1, 2.5), (3, 0, 3.75)],
        f1: Some(0.3),
        outcome: "evaluated".to_owned(),
    };
    ParagraphView {
        id: format!("DRAFT#{at}"),
        class: format!("1.2.{}", at % 3),
        stage: "Final".to_owned(),
        student: "S".to_owned(),
        text: Some(words.repeat(8)),
        marks: vec![MarkView { start: 2, end: 9, color: "green".to_owned(), annotation: 0 }],
        gold: vec![GoldView { text: Some(words.to_owned()), annotation: 0 }; 3],
        runs: vec![Some(view), None],
    }
}

fn report(n_paragraphs: usize, words: &str) -> Report {
    let [base, other] = RUNS.map(str::to_owned);
    let comparison = Comparison {
        baseline: base.clone(),
        run: other.clone(),
        part: "all".to_owned(),
        measure: "soft".to_owned(),
        figure: "F1".to_owned(),
        difference: estimate(-0.05),
        p_value: Some(0.01),
        p_adjusted: Some(0.0001),
        n_paragraphs: 40,
        n_clusters: 12,
    };
    let slice = Slice {
        by: "class".to_owned(),
        part: "Class 1".to_owned(),
        run: base.clone(),
        f1: estimate(0.2),
        n_paragraphs: 9,
    };
    Report {
        title: "A <title>".to_owned(),
        program: "unimatch 0.1.0".to_owned(),
        level: "student".to_owned(),
        confidence: 0.95,
        runs: RUNS.map(run).to_vec(),
        comparisons: vec![comparison],
        effects: vec![Effect {
            factor: "guided - unguided".to_owned(),
            pairs: vec![(other, base, 0.3, 0.28)],
            mean_gain: 0.02,
            wins: 1,
        }],
        slices: vec![slice],
        paragraphs: (0..n_paragraphs).map(|at| paragraph(at, words)).collect(),
        notes: vec!["The runs <differ>.".to_owned()],
        is_redacted: false,
    }
}

fn everything(report: &Report) -> Vec<(String, String)> {
    let whole = ("whole.html".to_owned(), html(report));
    let pages = html_pages(report, 3);
    std::iter::once(whole).chain(pages).chain(figures(report)).chain(tables(report)).collect()
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    let report = report(7, "words ");
    assert_eq!(everything(&report), everything(&report.clone()));
}

#[test]
fn a_page_has_all_sections_figures_and_standings() {
    let page = html(&report(2, "words "));
    for id in ["overview", "differences", "paragraphs", "scorer", "coverage", "slices"] {
        assert!(page.contains(&format!("<section id=\"{id}\" aria-labelledby")), "{id}");
        assert!(page.contains(&format!("<a href=\"#{id}\">")), "{id}");
    }
    for name in ["precision-recall", "units-f1", "effects", "forest", "ratings"] {
        assert!(page.contains(&format!("<figure id=\"figure-{name}\">")), "{name}");
    }
    for words in [
        "<strong class=\"warn\">unvalidated</strong>",
        "over whole clusters, by <strong>student</strong>",
        "The runs &lt;differ&gt;.",
        "100% of a_b &amp; {c}",
        "soft F1 of the whole corpus 0.200 to 0.400",
        "too long &lt;b&gt;",
        "<caption>What became of replies and prompts.</caption>",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn nothing_of_an_essay_is_markup() {
    let hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u{2028}<!--";
    let mut report = report(5, hostile);
    for text in [&mut report.title, &mut report.program, &mut report.level] {
        hostile.clone_into(text);
    }
    report.paragraphs[0].id = hostile.to_owned();
    report.paragraphs[1].marks[0].color = hostile.to_owned();
    report.runs[0].name = hostile.to_owned();
    report.runs[0].scorer.figures = vec![(hostile.to_owned(), hostile.to_owned())];
    for (name, content) in everything(&report) {
        if content.starts_with("<!doctype html>") {
            assert_eq!(content.matches("<script").count(), 2, "{name}: data and program");
            assert_eq!(content.matches("</script>").count(), 2, "{name}");
            assert_eq!(content.matches("<img").count(), content.matches("<img alt=").count());
        }
        if content.starts_with("<svg") {
            assert!(!content.contains("<script") && !content.contains("<img"), "{name}");
        }
    }
}

#[test]
fn the_data_are_the_paragraphs_as_they_are() {
    let page = html(&report(1, "</script> \u{2029}é🙂 & "));
    let json = between(&page, "<script type=\"application/json\" id=\"data\">", "</script>");
    assert!(!json.contains(['<', '>', '&', '\u{2029}']));
    let data: serde_json::Value = serde_json::from_str(json).unwrap();
    let paragraph = &data["paragraphs"][0];
    assert_eq!(paragraph["text"], "</script> \u{2029}é🙂 & ".repeat(8));
    assert_eq!(paragraph["marks"], serde_json::json!([[2, 9, "green", 0]]));
    assert_eq!(paragraph["runs"][0]["pairs"], serde_json::json!([[0, 1, 2.5], [3, 0, 3.75]]));
    assert_eq!(paragraph["runs"][1], serde_json::Value::Null);
}

#[test]
fn the_policy_allows_its_own_style_and_script_alone() {
    for (name, page) in html_pages(&report(7, "words "), 3) {
        let policy = between(&page, "Content-Security-Policy\" content=\"", "\">");
        let style = policy_source(between(&page, "<style>", "</style>"));
        let script = policy_source(between(&page, "<script>", "</script>"));
        assert_eq!(
            policy,
            format!(
                "default-src 'none'; style-src {style}; script-src {script}; img-src data:; \
                 base-uri 'none'; form-action 'none'"
            ),
            "{name}"
        );
        let page = page.replace("http://www.w3.org/2000/svg", "");
        for outside in ["http://", "https://", "@import", "url(", " style=\"", " onclick", "<link"]
        {
            assert!(!page.contains(outside), "{name}: {outside}");
        }
        for unsafe_way in
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("]
        {
            assert!(!page.contains(unsafe_way), "{name}: {unsafe_way}");
        }
    }
}

#[test]
fn a_redacted_report_has_no_text_at_all() {
    let mut report = report(7, "Zugzwang ");
    assert!(everything(&report).iter().any(|(_, content)| content.contains("Zugzwang")));
    // Even where whoever made the report left the texts in.
    report.is_redacted = true;
    for (name, content) in everything(&report) {
        assert!(!content.contains("Zugzwang"), "{name}");
        assert!(!content.contains("[[2,9,"), "{name} says where marks are");
    }
    assert!(html(&report).contains("This report is redacted."));
}

#[test]
fn five_hundred_paragraphs_in_two_runs_are_less_than_five_megabytes() {
    let mut report = report(
        500,
        "Some ninety characters that say what a unit of feedback would, more or less, and no more. ",
    );
    for paragraph in &mut report.paragraphs {
        paragraph.runs[1] = paragraph.runs[0].clone();
    }
    let n = html(&report).len();
    assert!(1_000_000 < n && n < 5_000_000, "{n}");
}

#[test]
fn paragraphs_go_to_files_that_lead_to_each_other() {
    let report = report(7, "words ");
    assert_eq!(html_pages(&report, 7), [("index.html".to_owned(), html(&report))]);
    let files = html_pages(&report, 3);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let parts = ["paragraphs-001.html", "paragraphs-002.html", "paragraphs-003.html"];
    assert_eq!(names, [["index.html"].as_slice(), &parts].concat());
    let (_, index) = &files[0];
    assert!(parts.iter().all(|part| index.contains(&format!("href=\"{part}\""))));
    assert!(index.contains("id=\"data\">null</script>"));
    for at in 0..7 {
        let holders =
            files.iter().filter(|(_, page)| page.contains(&format!("{{\"id\":\"DRAFT#{at}\"")));
        assert_eq!(holders.count(), 1, "{at}");
    }
    let (_, middle) = &files[2];
    for name in ["index.html", "paragraphs-001.html", "paragraphs-003.html"] {
        assert!(middle.contains(&format!("href=\"{name}\"")), "{name}");
    }
    assert_eq!(html_pages(&report, 0).len(), 8, "one in a file at the least");
}

#[test]
fn figures_are_well_formed_and_speak() {
    let mut report = report(2, "words ");
    report.runs[0].figures[0].recall.interval = Some((f64::NAN, 0.4));
    report.comparisons[0].difference.value = Some(f64::INFINITY);
    let figures = figures(&report);
    let names: Vec<&str> = figures.iter().map(|(name, _)| name.as_str()).collect();
    let all = ["precision-recall", "units-f1", "effects", "forest", "ratings"];
    assert_eq!(names, all.map(|name| format!("{name}.svg")));
    for (name, svg) in &figures {
        assert!(svg.starts_with("<svg xmlns=") && svg.contains("<title id=\""), "{name}");
        assert!(svg.contains("<desc id=\"") && svg.contains("aria-labelledby"), "{name}");
        assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{name}");
        assert_eq!(open_elements(svg), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_report_of_nothing_is_a_page_without_figures_and_tables() {
    let empty = Report::default();
    assert!(figures(&empty).is_empty() && tables(&empty).is_empty());
    let page = html(&empty);
    assert!(page.contains("There are no runs") && page.contains("There are no paragraphs"));
    let bare = Report { runs: vec![RunSummary::default()], ..Report::default() };
    assert!(figures(&bare).is_empty());
    assert!(html(&bare).contains("<td class=\"n\">–</td>"));
}

#[test]
fn tables_are_written_three_ways() {
    let tables = tables(&report(2, "words "));
    for name in ["conditions", "figures", "comparisons", "effects", "slices", "failures"] {
        for extension in ["csv", "md", "tex"] {
            let file = format!("{name}.{extension}");
            assert_eq!(tables.iter().filter(|(name, _)| *name == file).count(), 1, "{file}");
        }
    }
    let content = |name: &str| &tables.iter().find(|(file, _)| file == name).unwrap().1;
    assert!(content("conditions.csv").starts_with("run,model,condition,P,P low,P high,R,R low"));
    assert!(content("conditions.csv").contains("\"guided <&> \"\"x\"\"\",m,v2,0.25,0.23,0.28,"));
    assert!(content("conditions.md").contains("- base: unimatch 0.1.0, 100% of a\\_b \\& {c}."));
    assert!(content("conditions.tex").contains("unimatch 0.1.0, 100\\% of a\\_b \\& \\{c\\}."));
    assert!(
        content("conditions.tex").contains("guided \\textless{}\\&\\textgreater{} {\\char34}x")
    );
    assert!(content("comparisons.tex").contains("& 0.010 & $<$0.001 & 40 & 12 \\\\"));
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let start = text.find(from).unwrap() + from.len();
    &text[start..start + text[start..].find(to).unwrap()]
}

/// The elements that are not closed in their order; attributes hold no angle brackets.
fn open_elements(xml: &str) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    for tag in xml.split('<').skip(1).map(|rest| rest.split('>').next().unwrap()) {
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name.to_owned());
        }
    }
    open
}
