//! The program itself, run as a person runs it.

use std::process::{Command, Output};

use camino::Utf8Path;

use crate::material;

/// The program, with none of the settings of the one who runs the tests.
pub(crate) fn unimatch() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unimatch"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("UNIMATCH_")) {
        command.env_remove(name);
    }
    command.current_dir(material::root());
    command
}

/// The program with a rehearsal of the whole chain on the sample corpus: a
/// script in place of a model, sentences as units, chrF as scorer.
pub(crate) fn rehearsal(out: &Utf8Path) -> Command {
    let mut command = unimatch();
    command
        .args(["run", "tests/fixtures/corpus", "--generator"])
        .arg(format!("scripted:{}", material::fixture("replies.jsonl")))
        .args(["--segmenter", "sentence", "--scorer", "lexical:chrf", "--out", out.as_str()]);
    command
}

/// What a command printed, as text.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a command that must end well.
pub(crate) fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}\n{}", output.status, text(&output.stderr));
    output
}

/// Runs a command that must fail with one message, and gives that message.
pub(crate) fn fail(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}{}", text(&output.stdout));
    assert!(message.starts_with("error: "), "{message}");
    assert_eq!(message.matches("error: ").count(), 1, "{message}");
    assert!(!message.contains("panicked"), "{message}");
    message
}
