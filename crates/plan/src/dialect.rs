//! The differences of the draft dialect: where resources are, and when intervals are set.

use super::clocks::ClockNetwork;
use super::described::DescribedFmu;
use super::findings::Findings;
use super::{DraftClocksPlan, DraftIntervals};
use std::fmt::Write;
use std::path::Path;
use vecud_description::{Abi, ClockType, IntervalVariability, Variable};

/// Keys of the rig that concern the other dialect.
pub(super) fn check(described: &DescribedFmu, findings: &mut Findings) {
    if let (Abi::Fmi3, Some(key)) = (described.abi(), &described.rig.get_intervals) {
        let message = format!(
            "get_intervals concerns FMUs of the draft dialect; {} is of released FMI 3.0, where only countdown and changing \
             clocks have such intervals",
            described.name()
        );
        findings.rig(key.place, message);
    }
    let is_of_points = |variable: &&Variable| {
        variable.clock.as_ref().is_some_and(|clock| clock.clock_type == Some(ClockType::CommunicationPoint))
    };
    let clock = described.variables().iter().find(is_of_points);
    if let (Some(_), Some(clock)) = (described.model_exchange(), clock) {
        let message = format!(
            "the clock \"{}\" is one of communication points, at which partitions of Scheduled Execution are activated: Model Exchange of \
             the draft has none, and its clocks are synchronous (clockType=\"synchronousTime\"); run the FMU with an interface that has \
             such clocks, or export it with the other ones",
            clock.name
        );
        findings.xml(described, clock, message);
    }
}

/// The location of the resources, as the instance is given it: a path in released FMI 3.0; before, a URI, in the draft and FMI
/// 2.0 of the `resources` directory, in FMI 1.0 of the FMU. FMI 2.0 and 1.0 require one, even without such a directory.
pub fn resources(abi: Abi, folder: &str, resources: Option<&str>) -> Option<String> {
    let uri = |path: &str| file_uri(path.trim_end_matches('/'));
    match abi {
        Abi::Fmi3 => resources.map(str::to_owned),
        Abi::Draft => resources.map(uri),
        Abi::Fmi2 => Some(uri(&format!("{}/resources", folder.trim_end_matches('/')))),
        Abi::Fmi1 => Some(uri(folder)),
    }
}

/// Whether the URI of a path has it as it is, with nothing escaped: FMUs that do not decode URIs find their files then.
pub fn is_plain_in_uri(path: &Path) -> bool {
    path.to_str().is_some_and(|path| file_uri(path).strip_prefix("file://") == Some(path))
}

/// The URI of an absolute path (RFC 8089): `file://` and the path, where every byte of its UTF-8 that may not stand in the
/// path of a URI (RFC 3986, 3.3) is `%` and two hexadecimal digits.
fn file_uri(path: &str) -> String {
    let mut uri = "file://".to_owned();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => uri.push(byte.into()), // unreserved
            b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' => uri.push(byte.into()), // sub-delims
            b':' | b'@' | b'/' => uri.push(byte.into()),
            // Writing to a `String` cannot fail.
            other => drop(write!(uri, "%{other:02X}")),
        }
    }
    uri
}

/// The plan of the draft's clocks; `None`: the FMU is not of the draft.
pub(super) fn clocks(described: &DescribedFmu, fmu: usize, clocks: &ClockNetwork) -> Option<DraftClocksPlan> {
    (described.abi() == Abi::Draft).then(|| DraftClocksPlan {
        intervals: intervals(described, fmu, clocks),
        get_intervals: described.rig.get_intervals.as_ref().map(|at| at.value).unwrap_or_default(),
    })
}

/// Intervals to set in Instantiated: of periodic clocks that are not strict, and only where the rig
/// gives another interval than the description or the description gives none: "start interval values from XML apply unless
/// the simulation algorithm gives others". One call is for all elements of a clock.
fn intervals(described: &DescribedFmu, fmu: usize, clocks: &ClockNetwork) -> Vec<DraftIntervals> {
    let mut all = Vec::new();
    for (variable, v) in described.variables().iter().enumerate() {
        let Some(clock) = v.clock.as_ref().filter(|c| c.interval_variability == IntervalVariability::Fixed) else {
            continue;
        };
        let own = clocks.of_inputs(fmu).filter(|candidate| candidate.is_of(fmu, variable, None));
        let intervals: Vec<_> = own.filter_map(|candidate| candidate.period).collect();
        if intervals.iter().any(|&interval| Some(interval) != clock.interval) {
            let fraction = clock.resolution.is_some();
            all.push(DraftIntervals { reference: v.value_reference, fraction, intervals });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_version_is_told_in_its_own_way_where_its_resources_are() {
        let told = |abi| resources(abi, "/tmp/x y", Some("/tmp/x y/resources/")).unwrap();
        assert_eq!(told(Abi::Fmi3), "/tmp/x y/resources/");
        assert_eq!(told(Abi::Draft), "file:///tmp/x%20y/resources");
        assert_eq!(told(Abi::Fmi2), "file:///tmp/x%20y/resources");
        assert_eq!(told(Abi::Fmi1), "file:///tmp/x%20y");
    }

    #[test]
    fn fmi_2_and_1_are_told_also_where_there_are_none() {
        let told = |abi| resources(abi, "/tmp/x", None);
        assert_eq!([told(Abi::Fmi3), told(Abi::Draft)], [None, None]);
        assert_eq!(told(Abi::Fmi2).as_deref(), Some("file:///tmp/x/resources"));
        assert_eq!(told(Abi::Fmi1).as_deref(), Some("file:///tmp/x"));
    }

    #[test]
    fn what_may_not_stand_in_a_uri_is_escaped_byte_by_byte() {
        assert_eq!(file_uri("/opt/Kühler 50%/a#b?c[1]"), "file:///opt/K%C3%BChler%2050%25/a%23b%3Fc%5B1%5D");
        assert!(is_plain_in_uri(Path::new("/opt/a-b._~/c")) && !is_plain_in_uri(Path::new("/opt/a b")));
        assert_eq!(file_uri("/a-b._~!$&'()*+,;=:@/c"), "file:///a-b._~!$&'()*+,;=:@/c");
    }

    proptest! {
        #[test]
        fn decoding_gives_the_path_back(path in "/[^\0]{0,20}") {
            let uri = file_uri(&path);
            let mut bytes = uri.strip_prefix("file://").unwrap().bytes();
            let mut decoded = Vec::new();
            while let Some(byte) = bytes.next() {
                prop_assert!(byte.is_ascii_graphic());
                decoded.push(match byte {
                    b'%' => {
                        let digits = [bytes.next().unwrap(), bytes.next().unwrap()];
                        u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
                    }
                    other => other,
                });
            }
            prop_assert_eq!(decoded, path.into_bytes());
        }
    }
}
