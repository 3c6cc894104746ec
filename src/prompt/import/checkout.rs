//! What a checkout of the public release says, before it is made into templates.

use camino::{Utf8Path, Utf8PathBuf};

use super::{
    ImportError,
    notebook::code_cells,
    python::{Token, tokens},
    value::{Constant, Scope, constants},
};

/// A named constant and the file it stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The file, relative to the checkout.
    pub(super) file: Utf8PathBuf,
    /// The name of the variable.
    pub(super) name: String,
    /// The string.
    pub(super) constant: Constant,
}

impl Found {
    /// Where it stands, as a person reads it.
    pub(super) fn place(&self) -> String {
        format!("{}: {}", self.file, self.name)
    }
}

/// All that is of use in a checkout.
#[derive(Debug, Default)]
pub(super) struct Checkout {
    /// Every string constant, scripts before notebooks, in the order of paths.
    pub(super) constants: Vec<Found>,
    /// The system message that a notebook sends with its prompts.
    pub(super) system: Option<String>,
    /// The f-string that lays out one pair, and what stands between two.
    pub(super) pair: Option<(String, String)>,
    /// What could not be read, and why.
    pub(super) notes: Vec<String>,
}

/// Reads the Python files and notebooks under a folder.
pub(super) fn read(root: &Utf8Path) -> Result<Checkout, ImportError> {
    let mut scripts = Vec::new();
    let mut notebooks = Vec::new();
    walk(root, &mut scripts, &mut notebooks)?;
    let mut checkout = Checkout::default();
    for path in &scripts {
        checkout.read_sources(root, path, &[fs_err::read_to_string(path)?]);
    }
    for path in &notebooks {
        match code_cells(&fs_err::read_to_string(path)?) {
            Ok(cells) => checkout.read_sources(root, path, &cells),
            Err(error) => checkout.notes.push(format!("{path} is not a notebook: {error}")),
        }
    }
    Ok(checkout)
}

/// Collects the files below `dir`, each folder's in the order of names. Hidden
/// folders are passed over, and links are not followed.
fn walk(
    dir: &Utf8Path,
    scripts: &mut Vec<Utf8PathBuf>,
    notebooks: &mut Vec<Utf8PathBuf>,
) -> Result<(), ImportError> {
    let mut paths = Vec::new();
    for entry in fs_err::read_dir(dir)? {
        let entry = entry?;
        let Ok(path) = Utf8PathBuf::from_path_buf(entry.path()) else {
            continue;
        };
        paths.push((path, entry.file_type()?));
    }
    paths.sort_by(|(a, _), (b, _)| a.cmp(b));
    for (path, kind) in paths {
        let is_hidden = path.file_name().is_some_and(|name| name.starts_with('.'));
        if kind.is_dir() && !is_hidden {
            walk(&path, scripts, notebooks)?;
        } else if kind.is_file() {
            match path.extension() {
                Some("py") => scripts.push(path),
                Some("ipynb") => notebooks.push(path),
                _ => (),
            }
        }
    }
    Ok(())
}

impl Checkout {
    /// Reads sources that share their names, such as the cells of a notebook.
    fn read_sources(&mut self, root: &Utf8Path, path: &Utf8Path, sources: &[String]) {
        let file = path.strip_prefix(root).unwrap_or(path).to_owned();
        let mut scope = Scope::new();
        for source in sources {
            let tokens = match tokens(source) {
                Ok(tokens) => tokens,
                Err(error) => {
                    self.notes.push(format!("{file} is left out in part: {error}"));
                    continue;
                }
            };
            let found = constants(&tokens, &mut scope).into_iter();
            self.constants.extend(found.map(|(name, constant)| Found {
                file: file.clone(),
                name,
                constant,
            }));
            self.system = self.system.take().or_else(|| system_message(&tokens));
            self.pair = self.pair.take().or_else(|| pair_layout(&tokens));
        }
    }
}

/// The text in `"role": "system", "content": "..."`.
fn system_message(tokens: &[Token]) -> Option<String> {
    let text = |token: &Token| match token {
        Token::Text { text, is_format: false } => Some(text.clone()),
        _ => None,
    };
    tokens.windows(7).find_map(|window| {
        let texts: Vec<Option<String>> = window.iter().map(text).collect();
        let says = |at: usize, expected: &str| texts[at].as_deref() == Some(expected);
        (says(0, "role") && says(2, "system") && says(4, "content")).then(|| texts[6].clone())?
    })
}

/// The first f-string of the function `_build_pairs_block`, joined with those
/// that follow it directly, and the text of the `"...".join` after it.
fn pair_layout(tokens: &[Token]) -> Option<(String, String)> {
    let is_word = |token: &Token, word: &str| matches!(token, Token::Word(found) if found == word);
    let start = tokens
        .windows(2)
        .position(|pair| is_word(&pair[0], "def") && is_word(&pair[1], "_build_pairs_block"))?;
    let body = &tokens[start..];
    let first =
        body.iter().position(|token| matches!(token, Token::Text { is_format: true, .. }))?;
    let layout: String = body[first..]
        .iter()
        .map_while(|token| match token {
            Token::Text { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let separator = body[first..].windows(3).find_map(|window| match window {
        [Token::Text { text, .. }, Token::Symbol('.'), Token::Word(word)] if word == "join" => {
            Some(text.clone())
        }
        _ => None,
    })?;
    Some((layout, separator))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_message_and_a_pair_layout_are_found_among_code() {
        let source = r#"
messages = [
    {"role": "system", "content": "You teach."},
    {"role": "user", "content": prompt},
]
def _build_pairs_block(pairs):
    chunks = []
    for tag, (a, b) in zip(tags, pairs):
        chunks.append(
            f"{tag}]\n"
            f"one: {a}\n"
            f"two: {b}\n"
        )
    return "\n".join(chunks)
"#;
        let tokens = tokens(source).unwrap();
        assert_eq!(system_message(&tokens).as_deref(), Some("You teach."));
        let expected = ("{tag}]\none: {a}\ntwo: {b}\n".to_owned(), "\n".to_owned());
        assert_eq!(pair_layout(&tokens), Some(expected));
    }
}
