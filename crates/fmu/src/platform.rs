//! The platform tuples under which an FMU may keep what runs on this machine.
//!
//! A tuple is `<arch>-<sys>{-<abi>{<abi_ver>}{<abi_sub>}}`. The plain tuple comes first, since it is the one that the
//! standard gives to shared libraries; then the variants of Linux' own ABI; then the name that FMI 1.0 and 2.0 have for it. Other
//! C libraries (`android`, `musl` unless vecud itself is built for it) are not ours.
#![forbid(unsafe_code)]

/// The tuples of this machine, best first: `x86_64-linux`, `x86_64-linux-gnu`, `x86_64-linux-elf`, `linux64`.
pub fn of_this_machine() -> Vec<String> {
    let own_abi = if cfg!(target_env = "musl") { "musl" } else { "gnu" };
    let mut tuples = Vec::new();
    for arch in arch_names(std::env::consts::ARCH) {
        tuples.push(format!("{arch}-linux"));
        tuples.push(format!("{arch}-linux-{own_abi}"));
        tuples.push(format!("{arch}-linux-elf"));
    }
    // FMI 2.0.4, 2.3; FMI 1.0, 2.1.4: named when other processors than these were not thought of.
    let before_fmi3 = match std::env::consts::ARCH {
        "x86_64" => Some("linux64"),
        "x86" => Some("linux32"),
        _ => None,
    };
    tuples.extend(before_fmi3.map(str::to_owned));
    tuples
}

/// The rank of `tuple` for this machine: smaller is better, `None` if its code does not run here. Versions of the ABI
/// (`x86_64-linux-gnu2`) are accepted after the plain names.
pub fn rank(tuple: &str) -> Option<usize> {
    let own = of_this_machine();
    if let Some(place) = own.iter().position(|name| name == tuple) {
        return Some(place);
    }
    own.iter()
        .position(|name| {
            let version = tuple.strip_prefix(name.as_str()).unwrap_or("");
            name.matches('-').count() == 2 && version.starts_with(|c: char| c.is_ascii_digit())
        })
        .map(|place| own.len() + place)
}

/// FMI's names (FMI 3.0.2, 2.5.1.4) of a processor that Rust calls `arch`, best first.
fn arch_names(arch: &str) -> Vec<&str> {
    match arch {
        "arm" => vec!["aarch32"],
        // After the standard's name those that compilers have for it.
        "x86" => vec!["x86", "i686", "i586", "i386"],
        other => vec![other],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_tuple_comes_before_the_variants() {
        let plain = format!("{}-linux", std::env::consts::ARCH);
        assert_eq!(rank(&plain), Some(0));
        assert_eq!(rank(&format!("{plain}-elf")), Some(2));
        let versioned = rank(&format!("{plain}-elf2")).expect("ABI versions run here");
        assert!(versioned > 2);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn what_fmi_1_and_2_call_it_comes_after_the_standards_names() {
        assert_eq!(of_this_machine().last().map(String::as_str), Some("linux64"));
        assert!(rank("linux64") < rank("x86_64-linux-gnu2") && rank("linux32").is_none());
    }

    #[test]
    fn other_platforms_are_not_ours() {
        let arch = std::env::consts::ARCH;
        for tuple in ["darwin", "windows", "linux-android", "linux-", "linuxgnu"] {
            assert_eq!(rank(&format!("{arch}-{tuple}")), None, "{tuple}");
        }
        let foreign = if arch == "aarch64" { "x86_64" } else { "aarch64" };
        assert_eq!(rank(&format!("{foreign}-linux")), None);
    }

    #[test]
    fn processors_have_the_names_of_the_standard() {
        assert_eq!(arch_names("arm"), ["aarch32"]);
        assert_eq!(arch_names("x86"), ["x86", "i686", "i586", "i386"]);
        assert_eq!(arch_names("aarch64"), ["aarch64"]);
    }
}
