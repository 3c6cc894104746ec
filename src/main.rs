//! The `unimatch` command.

fn main() -> std::process::ExitCode {
    unimatch::cli::main()
}
