//! Runs against each other, and against what is published.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use crate::{
    material,
    program::{fail, rehearsal, succeed, text, unimatch},
};

fn scratch() -> (tempfile::TempDir, Utf8PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
    (dir, path)
}

fn json_of(args: &[&str]) -> Value {
    serde_json::from_slice(&succeed(unimatch().args(args)).stdout).unwrap()
}

/// Two runs of the sample corpus by scripts, under v1 and v2.
fn two_runs(dir: &Utf8Path) -> [Utf8PathBuf; 2] {
    ["v1", "v2"].map(|condition| {
        let out = dir.join(condition);
        succeed(rehearsal(&out).args(["--condition", condition]));
        out
    })
}

fn f1_of(run: &Utf8Path) -> f64 {
    let results: Value =
        serde_json::from_slice(&fs_err::read(run.join("results.json")).unwrap()).unwrap();
    results["evaluation"]["full"]["estimate"]["soft"]["micro"]["f1"].as_f64().unwrap()
}

fn figure<'a>(comparison: &'a Value, measure: &str, figure: &str) -> &'a Value {
    let figures = comparison["figures"].as_array().unwrap();
    figures
        .iter()
        .find(|found| found["measure"] == measure && found["figure"] == figure)
        .unwrap_or_else(|| panic!("no {measure} {figure}"))
}

#[test]
fn the_papers_statements_come_out_of_its_table() {
    let found = json_of(&["reproduce", "--published", "-f", "json"]);
    assert_eq!(found["configurations"].as_array().unwrap().len(), 74);
    let claims = found["claims"].as_array().unwrap();
    assert!(claims.iter().all(|claim| claim["agrees"] == true));
    let Some(path) = material::shared("paper/claims.toml") else { return };
    let stated: toml::Table = toml::from_str(&fs_err::read_to_string(path).unwrap()).unwrap();
    let mut n_stated = 0;
    for (finding, figures) in &stated {
        for (name, value) in figures.as_table().unwrap() {
            let claim = claims
                .iter()
                .find(|claim| claim["finding"] == *finding && claim["figure"] == *name)
                .unwrap_or_else(|| panic!("{finding}.{name} is not computed"));
            let wanted = value.as_float().or(value.as_integer().map(|n| n as f64)).unwrap();
            let computed = claim["computed"].as_f64().unwrap();
            assert!((computed - wanted).abs() < 0.00051, "{finding}.{name}: {computed} {wanted}");
            n_stated += 1;
        }
    }
    assert_eq!(n_stated, claims.len());
}

#[test]
fn a_difference_is_that_of_the_results_and_has_all_that_goes_with_it() {
    let (_guard, dir) = scratch();
    let [v1, v2] = two_runs(&dir);
    let args = ["compare", v1.as_str(), v2.as_str(), "--measure", "all", "-f", "json"];
    let found = json_of(&args);
    let comparison = &found["comparisons"][0];
    let f1 = figure(comparison, "soft", "f1");
    let wanted = f1_of(&v2) - f1_of(&v1);
    let difference = f1["linearised"]["difference"].as_f64().unwrap();
    assert!((difference - wanted).abs() < 1e-12, "{difference} {wanted}");
    assert_eq!(comparison["figures"].as_array().unwrap().len(), 15);
    for field in ["bootstrap", "randomisation", "equivalence", "detectable", "p_holm", "by_class"] {
        assert!(!f1[field].is_null(), "{field}: {f1}");
    }
    // Another seed changes draws alone, and the same one nothing.
    assert_eq!(json_of(&args), found);

    let shown = text(&succeed(unimatch().args(["compare", v1.as_str(), v2.as_str()])).stdout);
    for words in ["F1 at matched units", "Holm", "detectable", "students", "p by class"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
}

#[test]
fn runs_of_other_instruments_are_refused_unless_told() {
    let (_guard, dir) = scratch();
    let (chrf, bleu) = (dir.join("chrf"), dir.join("bleu"));
    succeed(&mut rehearsal(&chrf));
    succeed(rehearsal(&bleu).args(["--scorer", "lexical:bleu"]));
    let args = ["compare", chrf.as_str(), bleu.as_str()];
    let message = fail(unimatch().args(args));
    assert!(message.contains("scorer: lexical:chrf and lexical:bleu"), "{message}");
    let shown = text(&succeed(unimatch().args(args).arg("--allow-differences")).stdout);
    assert!(shown.contains("not measured with the same instrument"), "{shown}");

    let message = fail(unimatch().args(["compare", chrf.as_str(), chrf.as_str()]));
    assert!(message.contains("given twice"), "{message}");
    let file = chrf.join("run.json");
    let message = fail(unimatch().args(["compare", chrf.as_str(), file.as_str()]));
    assert!(message.contains("is a file and no run"), "{message}");
    fs_err::remove_file(bleu.join("results.json")).unwrap();
    let message = fail(unimatch().args(args));
    assert!(message.contains("`unimatch match"), "{message}");
}

#[test]
fn other_alignments_lie_on_their_sides_of_the_best() {
    let (_guard, dir) = scratch();
    let [v1, v2] = two_runs(&dir);
    let f1 = |alignment: &str| {
        let found = json_of(&[
            "compare",
            v1.as_str(),
            v2.as_str(),
            "--alignment",
            alignment,
            "--draws",
            "200",
            "-f",
            "json",
        ]);
        figure(&found["comparisons"][0], "soft", "f1")["baseline"].as_f64().unwrap()
    };
    let [greedy, best, coverage] = ["greedy", "best", "coverage"].map(f1);
    assert!(greedy <= best + 1e-12 && best <= coverage + 1e-12, "{greedy} {best} {coverage}");
    assert!(best < coverage, "coverage shares no unit here: {best} {coverage}");
}

#[cfg(feature = "distilled")]
#[test]
fn the_scorers_error_widens_what_a_figure_lies_between() {
    let (_guard, dir) = scratch();
    let [v1, v2] = ["v1", "v2"].map(|condition| {
        let out = dir.join(condition);
        let args = ["--condition", condition, "--scorer", "distilled"];
        succeed(rehearsal(&out).args(args));
        out
    });
    let found = json_of(&["compare", v1.as_str(), v2.as_str(), "--scorer-error", "-f", "json"]);
    let imputed = &found["scorer_error"];
    let (name, own) = (&imputed["runs"][0][0], &imputed["runs"][0][1]);
    assert_eq!(name, "v1");
    assert!((own["reported"].as_f64().unwrap() - f1_of(&v1)).abs() < 1e-12);
    let share = own["share_of_scorer"].as_f64().unwrap();
    assert!(0.0 < share && share < 1.0, "{share}");
    let bias = &imputed["maximisation"][0][1];
    // Aligning drawn ratings by themselves gives at least as much as along another alignment.
    let [along, anew] =
        ["along_the_scorers", "aligned_anew"].map(|field| bias[field].as_f64().unwrap());
    assert!(along <= anew, "{along} {anew}");

    let (chrf, other) = (dir.join("chrf"), dir.join("chrf2"));
    succeed(&mut rehearsal(&chrf));
    succeed(rehearsal(&other).args(["--seed", "43"]));
    let args = ["compare", chrf.as_str(), other.as_str(), "--scorer-error"];
    let message = fail(unimatch().args(args).env("UNIMATCH_CARDS", dir.join("none")));
    assert!(message.contains("unvalidated"), "{message}");
}

#[test]
fn a_run_stands_beside_its_published_configuration() {
    let (_guard, dir) = scratch();
    let runs = two_runs(&dir);
    let args = ["reproduce", runs[0].as_str(), runs[1].as_str(), "--as", "Llama", "-f", "json"];
    let found = json_of(&args);
    let own = &found["runs"][0];
    assert_eq!((&own["model"], &own["condition"]), (&"Llama".into(), &"v1".into()));
    let full = &own["subsets"][1];
    assert_eq!(full["subset"], "full");
    let f1 = &full["figures"][2];
    assert!((f1["ours"].as_f64().unwrap() - f1_of(&runs[0])).abs() < 1e-12);
    assert!((f1["published"].as_f64().unwrap() - 0.119).abs() < 1e-12);
    let effect = &found["findings"]["effects"][0];
    assert_eq!((&effect["factor"], &effect["n_pairs"]), (&"V2 - V1".into(), &1.into()));
    assert!(!effect["published"].is_null());

    let shown = text(&succeed(unimatch().args(["reproduce", runs[0].as_str()])).stdout);
    assert!(shown.contains("of a model that the paper does not have"), "{shown}");
    assert!(shown.contains("GPT-5-nano") && shown.contains("Gemini 3.1 flash-lite"), "{shown}");
}
