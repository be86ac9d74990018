//! Builds the one file in C that vecud itself has, with the C compiler of the machine that it is built on.

fn main() {
    println!("cargo::rerun-if-changed=src/abi/logger.c");
    cc::Build::new().file("src/abi/logger.c").std("c11").compile("vecud_logger");
}
