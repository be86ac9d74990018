//! `[[trigger]]`: an output clock, a list of times, or datagrams from outside.

use super::document::{TableReader, describe, elements, number};
use super::endpoint::endpoint;
use super::{At, DatagramAddress, Datagrams, Rig, RigTrigger, TriggerSource};
use core::net::SocketAddr;
use std::path::Path;
use vecud_base::time::Instant;

const TRIGGER: &[&str] = &["clock", "from", "at", "udp", "unix", "max_rate", "allow_remote"];
/// The keys of which a trigger has exactly one.
const SOURCES: [&str; 4] = ["from", "at", "udp", "unix"];
/// Default of `max_rate`, events per second.
const MAX_RATE: f64 = 1000.0;
/// Bytes that Linux takes as the path of a socket (`sockaddr_un`, less the final NUL).
const LONGEST_PATH: usize = 107;

/// Reads one table; relative paths in it count from `folder`.
pub(super) fn read_trigger(section: TableReader, folder: &Path, rig: &Rig) -> Option<RigTrigger> {
    let section = &section.only(TRIGGER);
    let clock = endpoint(section, "clock", rig);
    let sources: Vec<&str> = SOURCES.into_iter().filter(|key| section.get(key).is_some()).collect();
    let source = match sources.as_slice() {
        [] => {
            let message = "[[trigger]] has no source: from (an output clock), at (times), udp or unix (datagrams)";
            section.document.problem(section.place, message);
            None
        }
        ["from"] => endpoint(section, "from", rig).map(TriggerSource::OutputClock),
        ["at"] => Some(TriggerSource::Times(read_times(section))),
        [key] => {
            let address = if *key == "udp" { read_udp(section) } else { read_unix(section, folder) };
            let max_rate = read_max_rate(section);
            address.map(|address| TriggerSource::Datagrams(Datagrams { address, max_rate }))
        }
        [_, second, ..] => {
            let message = format!("[[trigger]] has both {}: one trigger has one source", sources.join(" and "));
            section.document.problem(section.place_of_key(second), message);
            None
        }
    };
    for (key, only_with) in [("max_rate", ["udp", "unix"]), ("allow_remote", ["udp", "udp"])] {
        if let ([one], true) = (sources.as_slice(), section.get(key).is_some())
            && !only_with.contains(one)
        {
            let message = format!("{key} has no meaning in a [[trigger]] with {one}");
            section.document.problem(section.place_of_key(key), message);
        }
    }
    let trigger = RigTrigger { clock: clock?, source: source? };
    is_free(section, &trigger, rig).then_some(trigger)
}

/// Whether no trigger before this one has its address.
fn is_free(section: &TableReader, trigger: &RigTrigger, rig: &Rig) -> bool {
    let TriggerSource::Datagrams(Datagrams { address, .. }) = &trigger.source else { return true };
    let same = |other: &&RigTrigger| match &other.source {
        TriggerSource::Datagrams(datagrams) => datagrams.address.value == address.value,
        _ => false,
    };
    let Some(first) = rig.triggers.iter().find(same) else { return true };
    let message = format!(
        "{} is the address of {}'s trigger already (line {}): one address triggers one clock",
        address.value, first.clock.value, first.clock.place.line
    );
    section.document.problem(address.place, message);
    false
}

fn read_times(section: &TableReader) -> Vec<At<Instant>> {
    let mut times: Vec<At<Instant>> = Vec::new();
    for element in elements(section, "at").unwrap_or_default() {
        let place = element.place;
        let seconds = element.value.as_float().or_else(|| element.value.as_integer().map(|i| i as f64));
        match seconds.and_then(Instant::from_f64) {
            None => section.document.problem(place, "at must be a list of times in seconds, as [0.0, 1.5]"),
            Some(time) if times.last().is_some_and(|last| last.value >= time) => {
                section.document.problem(place, "the times of at must increase strictly");
            }
            Some(value) => times.push(At { value, place }),
        }
    }
    times
}

fn read_udp(section: &TableReader) -> Option<At<DatagramAddress>> {
    let item = section.get("udp")?;
    let place = section.place_of(item);
    let remote = section.boolean("allow_remote").unwrap_or(false);
    match udp(item.as_str(), remote) {
        Ok(address) => return Some(At { value: DatagramAddress::Udp(address), place }),
        Err(reason) => section.document.problem(place, format!("udp = {} {reason}", written(item))),
    }
    None
}

/// The address, or the error in it.
fn udp(text: Option<&str>, remote: bool) -> Result<SocketAddr, &'static str> {
    let address: SocketAddr = text.and_then(|text| text.parse().ok()).ok_or(
        "is no address and port, as \"127.0.0.1:5005\" or \"[::1]:5005\" (names of hosts are not looked up, ports end at \
         65535)",
    )?;
    let ip = address.ip().to_canonical();
    match () {
        () if address.port() == 0 => Err("has the port 0, which would be another port in each run: choose one"),
        () if ip.is_multicast() => Err("is a multicast address: give one of an interface of this machine"),
        () if !ip.is_loopback() && !remote => {
            Err("can be reached from other machines, who could activate the clock: use 127.0.0.1 or [::1], or write \
                 allow_remote = true in this [[trigger]]")
        }
        () => Ok(address),
    }
}

fn read_unix(section: &TableReader, folder: &Path) -> Option<At<DatagramAddress>> {
    let item = section.get("unix")?;
    let place = section.place_of(item);
    let refuse = |reason: &str| {
        section.document.problem(place, format!("unix = {} {reason}", written(item)));
        None
    };
    let Some(text) = item.as_str() else { return refuse("is no path of a socket, as \"key_on.sock\"") };
    // A path of `.` and empty components is that of the folder.
    let path = folder.join(text).components().collect::<std::path::PathBuf>();
    let length = path.as_os_str().len();
    match () {
        () if text.is_empty() || text.ends_with('/') || path.file_name().is_none() => refuse("names no file"),
        () if text.contains('\0') => refuse("has a NUL in it, which no path can have"),
        () if length > LONGEST_PATH => refuse(&format!(
            "is too long: with the rig file's folder it has {length} bytes, and a socket's path at most {LONGEST_PATH}"
        )),
        () => Some(At { value: DatagramAddress::Unix(path), place }),
    }
}

fn read_max_rate(section: &TableReader) -> f64 {
    let rate = |item| number(item).filter(|&rate| (1e-3..=1e6).contains(&rate));
    section.read("max_rate", "a number of events per second from 0.001 to 1e6", rate).map_or(MAX_RATE, |at| at.value)
}

/// A value as it stands in the file.
fn written(item: &toml_edit::Item) -> String {
    match item.as_str() {
        Some(text) => format!("{text:?}"),
        None => describe(item),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::{Place, parse};

    const FMU: &str = "[fmu.ecu]\npath = \"ecu\"\n";

    /// `trigger` begins in line 5, after an FMU and `clock`.
    fn read(trigger: &str) -> Result<Rig, String> {
        let text = format!("{FMU}[[trigger]]\nclock = \"ecu.key_on\"\n{trigger}");
        parse(&text, Path::new("rigs/rig.toml")).map_err(|error| error.to_string())
    }

    fn datagrams(trigger: &str) -> Datagrams {
        match &read(trigger).unwrap().triggers[0].source {
            TriggerSource::Datagrams(datagrams) => datagrams.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn addresses_are_read_with_their_rate() {
        let own = datagrams("udp = \"127.0.0.1:5005\"\n");
        assert_eq!((own.address.value.to_string().as_str(), own.max_rate), ("udp 127.0.0.1:5005", 1000.0));
        assert_eq!(own.address.place, Place { line: 5, column: 7 });
        for loopback in ["127.9.9.9:1", "[::1]:65535", "[::ffff:127.0.0.1]:5005"] {
            datagrams(&format!("udp = \"{loopback}\""));
        }
        let far = datagrams("udp = \"0.0.0.0:5005\"\nallow_remote = true\nmax_rate = 2.5");
        assert_eq!((far.address.value.to_string().as_str(), far.max_rate), ("udp 0.0.0.0:5005", 2.5));
        let unix = datagrams("unix = \"./run//key.sock\"\nmax_rate = 20");
        assert_eq!((unix.address.value.to_string().as_str(), unix.max_rate), ("unix rigs/run/key.sock", 20.0));
        assert_eq!(datagrams("unix = \"/run/key.sock\"").address.value.to_string(), "unix /run/key.sock");
    }

    #[test]
    fn the_longest_path_of_a_socket_is_the_kernels() {
        let name = "x".repeat(LONGEST_PATH - "rigs/".len());
        datagrams(&format!("unix = \"{name}\""));
        let error = read(&format!("unix = \"{name}x\"")).unwrap_err();
        let reason = "is too long: with the rig file's folder it has 108 bytes, and a socket's path at most 107";
        assert_eq!(error, format!("rigs/rig.toml:5:8: unix = \"{name}x\" {reason}"));
    }

    #[test]
    fn what_is_no_source_of_datagrams_says_why() {
        let no_address = "is no address and port";
        for (trigger, place, words) in [
            ("udp = \"127.0.0.1\"", "5:7", no_address),
            ("udp = \"127.0.0.1:70000\"", "5:7", no_address),
            ("udp = \"localhost:5005\"", "5:7", "(names of hosts are not looked up, ports end at 65535)"),
            ("udp = 5005", "5:7", "udp = 5005 is no address and port"),
            ("udp = \"\"", "5:7", "udp = \"\" is no address and port"),
            ("udp = \"127.0.0.1:0\"", "5:7", "has the port 0"),
            ("udp = \"0.0.0.0:5005\"", "5:7", "write allow_remote = true in this [[trigger]]"),
            ("udp = \"192.168.0.9:5005\"\nallow_remote = false", "5:7", "can be reached from other machines"),
            ("udp = \"[::]:5005\"", "5:7", "can be reached from other machines"),
            ("udp = \"[::ffff:8.8.8.8]:5005\"", "5:7", "can be reached from other machines"),
            ("udp = \"239.0.0.1:5005\"\nallow_remote = true", "5:7", "is a multicast address"),
            ("udp = \"127.0.0.1:5005\"\nallow_remote = 1", "6:16", "allow_remote must be true or false, not 1"),
            ("unix = \"\"", "5:8", "unix = \"\" names no file"),
            ("unix = \"..\"", "5:8", "names no file"),
            ("unix = \"run/\"", "5:8", "names no file"),
            ("unix = \"a\\u0000b\"", "5:8", "has a NUL in it"),
            ("unix = [1]", "5:8", "unix = a list is no path of a socket"),
            ("unix = \"a\"\nallow_remote = true", "6:1", "allow_remote has no meaning in a [[trigger]] with unix"),
            ("at = [1]\nmax_rate = 5", "6:1", "max_rate has no meaning in a [[trigger]] with at"),
            ("unix = \"a\"\nmax_rate = 0", "6:12", "max_rate must be a number of events per second"),
            ("unix = \"a\"\nmax_rate = 2e6", "6:12", "max_rate must be a number of events per second"),
            ("unix = \"a\"\nmax_rate = nan", "6:12", "max_rate must be a number of events per second"),
            ("udp = \"127.0.0.1:5005\"\nunix = \"a\"", "6:1", "has both udp and unix: one trigger has one source"),
            ("at = [1]\nudp = \"127.0.0.1:5005\"", "6:1", "has both at and udp"),
            ("", "3:1", "[[trigger]] has no source: from (an output clock), at (times), udp or unix (datagrams)"),
        ] {
            let error = read(trigger).unwrap_err();
            let place = format!("rigs/rig.toml:{place}: ");
            assert!(error.starts_with(&place) && error.contains(words), "{trigger}: {error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }

    #[test]
    fn an_address_triggers_one_clock() {
        for (first, second, place, name) in [
            ("udp = \"127.0.0.1:5005\"", "udp = \"127.0.0.1:5005\"", "8:7", "udp 127.0.0.1:5005"),
            ("unix = \"a\"", "unix = \"./a\"", "8:8", "unix rigs/a"),
        ] {
            let error = read(&format!("{first}\n[[trigger]]\nclock = \"ecu.other\"\n{second}\n")).unwrap_err();
            let rest = "is the address of ecu.key_on's trigger already (line 4): one address triggers one clock";
            assert_eq!(error, format!("rigs/rig.toml:{place}: {name} {rest}"));
        }
    }
}
