//! One file per subcommand.

pub mod inspect;
