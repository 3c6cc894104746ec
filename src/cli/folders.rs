//! Where things of a user lie, as the environment says.

use anyhow::Context;
use camino::Utf8PathBuf;

/// What can be made again: `unimatch` in `XDG_CACHE_HOME`, else in `.cache` at home.
pub(super) fn cache() -> anyhow::Result<Utf8PathBuf> {
    folder("XDG_CACHE_HOME", ".cache", "--cache")
}

/// What cannot: `unimatch` in `XDG_DATA_HOME`, else in `.local/share` at home.
pub(super) fn cards() -> anyhow::Result<Utf8PathBuf> {
    Ok(folder("XDG_DATA_HOME", ".local/share", "--cards")?.join("cards"))
}

/// The folder of cards: the one that was named, else `UNIMATCH_CARDS`, else the user's,
/// where there is one.
pub(super) fn known_cards(named: Option<&Utf8PathBuf>) -> Option<Utf8PathBuf> {
    let from_variable = || std::env::var("UNIMATCH_CARDS").ok().filter(|value| !value.is_empty());
    named.cloned().or_else(|| from_variable().map(Utf8PathBuf::from)).or_else(|| cards().ok())
}

fn folder(variable: &str, at_home: &str, option: &str) -> anyhow::Result<Utf8PathBuf> {
    let given = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    if let Some(folder) = given(variable) {
        return Ok(Utf8PathBuf::from(folder).join("unimatch"));
    }
    let home = given("HOME").with_context(|| {
        format!("neither {variable} nor HOME is set: name a folder with {option}")
    })?;
    Ok(Utf8PathBuf::from(home).join(at_home).join("unimatch"))
}
