//! What tests work on: fixtures, models, and data that may be absent.

use camino::Utf8PathBuf;

/// A file or folder under `tests/fixtures`.
pub(crate) fn fixture(path: &str) -> Utf8PathBuf {
    root().join("tests/fixtures").join(path)
}

/// Data that lies beside the checkout and is not part of the project. Where it
/// is absent the test should return, and the reason is printed here.
pub(crate) fn shared(path: &str) -> Option<Utf8PathBuf> {
    let path = root().join("../shared").join(path);
    if path.exists() {
        return Some(path);
    }
    print(&format!("skipped: {path} is not there"));
    None
}

/// A model file, as `scripts/fetch_models.py` brings it.
///
/// # Panics
///
/// If it is not there: tests on real models are not skipped.
pub(crate) fn model(path: &str) -> Utf8PathBuf {
    let path = models().join(path);
    assert!(path.exists(), "{path} is not there: run scripts/fetch_models.py");
    path
}

/// A model file that is too large or not free enough to be fetched. Where it is
/// absent the test should return, and the reason is printed here.
pub(crate) fn optional_model(path: &str) -> Option<Utf8PathBuf> {
    let path = models().join(path);
    if path.exists() {
        return Some(path);
    }
    print(&format!("skipped: {path} is not there"));
    None
}

/// A browser of Chromium's kind: `UNIMATCH_BROWSER`, or the first that is installed. Where
/// there is none the test should return, and the reason is printed here.
pub(crate) fn browser() -> Option<Utf8PathBuf> {
    let named = std::env::var("UNIMATCH_BROWSER").ok().map(Utf8PathBuf::from);
    let path = std::env::var("PATH").unwrap_or_default();
    let installed = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let mut found = path
        .split(':')
        .flat_map(|dir| installed.map(|name| Utf8PathBuf::from(dir).join(name)))
        .filter(|file| file.is_file());
    let browser = named.or_else(|| found.next());
    if browser.is_none() {
        print("skipped: no Chromium is installed, and UNIMATCH_BROWSER names none");
    }
    browser
}

/// The root of the checkout.
pub(crate) fn root() -> Utf8PathBuf {
    Utf8PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Where `scripts/fetch_models.py` puts model files.
fn models() -> Utf8PathBuf {
    std::env::var("UNIMATCH_MODELS").map_or_else(|_| root().join("models/cache"), Utf8PathBuf::from)
}

#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn print(message: &str) {
    eprintln!("{message}");
}
