//! Sheets for people to fill in: one file each, without a link to anywhere.
//!
//! Texts reach a page as data, in which every `<` is escaped, and are shown by
//! `textContent` alone; a policy in the page forbids any other script and any request.

use minijinja::{AutoEscape, Environment, context};
use serde::Serialize;

use crate::agreement::{DrawnPair, KeyedSet, RankedText};

/// A sheet of pairs to be rated. The rating that a scorer gave is not on it.
pub fn pairs_sheet(name: &str, pairs: &[DrawnPair]) -> anyhow::Result<String> {
    #[derive(Serialize)]
    struct Data<'a> {
        sheet: &'a str,
        pairs: &'a [DrawnPair],
    }
    render(
        include_str!("sheet/pairs.html"),
        include_str!("sheet/pairs.js"),
        &Data { sheet: name, pairs },
    )
}

/// A sheet of texts to be put in order. Neither the F1 that they were made for nor where
/// their units come from is on it.
pub fn ranking_sheet(name: &str, sets: &[KeyedSet]) -> anyhow::Result<String> {
    #[derive(Serialize)]
    struct Shown<'a> {
        id: &'a str,
        gold: &'a [String],
        texts: Vec<RankedText>,
    }
    #[derive(Serialize)]
    struct Data<'a> {
        sheet: &'a str,
        sets: Vec<Shown<'a>>,
    }
    let sets = sets.iter().map(|set| Shown {
        id: &set.id,
        gold: &set.gold,
        texts: set.texts.iter().map(RankedText::from).collect(),
    });
    render(
        include_str!("sheet/ranking.html"),
        include_str!("sheet/ranking.js"),
        &Data { sheet: name, sets: sets.collect() },
    )
}

fn render(template: &str, script: &str, data: &impl Serialize) -> anyhow::Result<String> {
    let data = in_script(&serde_json::to_string(data)?);
    // The page allows the scripts that bear this word, and no essay can know it.
    let nonce = blake3::hash(data.as_bytes()).to_hex()[..24].to_owned();
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let style = include_str!("sheet/style.css");
    Ok(environment.render_str(template, context! { nonce, style, script, data })?)
}

/// JSON that may stand in a page: nothing in it can end the element it stands in.
fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::KeyedText;

    #[test]
    fn a_text_that_would_end_its_element_does_not() {
        let pair = DrawnPair {
            id: "1".to_owned(),
            draft: "D".to_owned(),
            paragraph: "0".to_owned(),
            a: "</script><script>alert(1)</script><!--".to_owned(),
            b: "{{ 7 * 7 }} & <b>".to_owned(),
            flip: false,
        };
        let text = KeyedText {
            id: "t".to_owned(),
            text: pair.a.clone(),
            units: vec!["secret unit".to_owned()],
            f1: 0.123_456,
            n_own: 1,
        };
        let set = KeyedSet {
            id: "1".to_owned(),
            draft: "D".to_owned(),
            paragraph: "0".to_owned(),
            gold: vec![pair.b.clone()],
            texts: vec![text],
        };
        let ranking = ranking_sheet("s", &[set]).unwrap();
        assert!(!ranking.contains("0.123") && !ranking.contains("secret"), "{ranking}");
        for page in [pairs_sheet("s", &[pair]).unwrap(), ranking] {
            assert_eq!(page.matches("<script").count(), 2, "the data and the program");
            assert_eq!(page.matches("</script>").count(), 2);
            assert!(page.contains("\\u003c/script\\u003e") && page.contains("{{ 7 * 7 }}"));
            for outside in ["http://", "https://", "src=", "@import", "url("] {
                assert!(!page.contains(outside), "{outside}");
            }
        }
    }
}
