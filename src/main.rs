//! Arguments → library → exit code.

fn main() -> std::process::ExitCode {
    vecud::cli::main()
}
