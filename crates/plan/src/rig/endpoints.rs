//! The endpoints of a rig: where items from outside come from, and the keys of a `[[trigger]]` that name them.

use super::At;
use super::document::{TableReader, describe, number};
use core::net::SocketAddr;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};
use vecud_base::time::Nanos;

/// An endpoint that ticks a clock.
#[derive(Clone, Debug, PartialEq)]
pub struct RigEndpoint {
    /// The source of the endpoint's items.
    pub source: At<EndpointSource>,
    /// `max_rate`, items per second: faster ones, beyond a short burst, are dropped and counted.
    pub max_rate: f64,
}

/// A source of items.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EndpointSource {
    /// `udp` or `unix`: each datagram is an item.
    Datagrams(DatagramAddress),
    /// `counter`: it makes an item each time this interval has passed.
    Counter(Nanos),
}

/// The address that receives datagrams.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DatagramAddress {
    /// `udp`: never port 0; a loopback address unless the rig allows another one.
    Udp(SocketAddr),
    /// `unix`: the path of a socket that the run makes, relative to the working directory.
    Unix(PathBuf),
}

/// The keys of a `[[trigger]]` that each name an endpoint, with those that may stand beside them.
pub(super) const KEYS: &[(&str, &[&str])] =
    &[("udp", &["max_rate", "allow_remote"]), ("unix", &["max_rate"]), ("counter", &[])];
/// [`KEYS`] for a message.
pub(super) const KEYS_IN_WORDS: &str = "udp or unix (datagrams), counter (seconds)";

/// Default of `max_rate`, events per second.
const MAX_RATE: f64 = 1000.0;
/// Bytes that Linux takes as the path of a socket (`sockaddr_un`, less the final NUL).
const LONGEST_PATH: usize = 107;

/// Reads the endpoint that this key of [`KEYS`] names; relative paths count from `folder`.
pub(super) fn read(key: &str, section: &TableReader, folder: &Path) -> Option<RigEndpoint> {
    if key == "counter" {
        return read_counter(section);
    }
    let address = if key == "udp" { read_udp(section) } else { read_unix(section, folder) };
    let max_rate = read_max_rate(section);
    let At { value, place } = address?;
    Some(RigEndpoint { source: At { value: EndpointSource::Datagrams(value), place }, max_rate })
}

/// Opens endpoints with sources of this type.
pub trait OpenEndpoint<Source, Opened> {
    /// Opens the one with this source.
    fn open(self, source: &Source) -> Opened;
}

impl EndpointSource {
    /// Opens the endpoint. Of the `opener` the compiler demands every kind.
    pub fn open<Opened>(
        &self,
        opener: impl OpenEndpoint<DatagramAddress, Opened> + OpenEndpoint<Nanos, Opened>,
    ) -> Opened {
        match self {
            EndpointSource::Datagrams(address) => opener.open(address),
            EndpointSource::Counter(each) => opener.open(each),
        }
    }

    /// The name of the items in messages.
    pub fn items(&self) -> &'static str {
        match self {
            EndpointSource::Datagrams(_) => "datagrams",
            EndpointSource::Counter(_) => "counts",
        }
    }

    /// The source as a plan has it, which is text on its way to the runner: there a path is for people alone.
    pub fn planned(&self) -> EndpointSource {
        match self {
            EndpointSource::Datagrams(DatagramAddress::Unix(path)) => {
                EndpointSource::Datagrams(DatagramAddress::Unix(path.to_string_lossy().into_owned().into()))
            }
            own => own.clone(),
        }
    }

    /// The socket that the supervisor makes for it.
    pub fn socket(&self) -> Option<&DatagramAddress> {
        match self {
            EndpointSource::Datagrams(address) => Some(address),
            EndpointSource::Counter(_) => None,
        }
    }
}

impl fmt::Display for EndpointSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EndpointSource::Datagrams(address) => address.fmt(f),
            EndpointSource::Counter(each) => write!(f, "counter each {} s", each.seconds()),
        }
    }
}

impl fmt::Display for DatagramAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatagramAddress::Udp(address) => write!(f, "udp {address}"),
            DatagramAddress::Unix(path) => write!(f, "unix {}", path.display()),
        }
    }
}

fn read_counter(section: &TableReader) -> Option<RigEndpoint> {
    let seconds = |item| number(item).filter(|seconds| (1e-3..=1e3).contains(seconds)).map(Nanos::from_seconds);
    let At { value, place } = section.read("counter", "a number of seconds from 0.001 to 1000", seconds)?;
    let max_rate = value.seconds().recip();
    Some(RigEndpoint { source: At { value: EndpointSource::Counter(value), place }, max_rate })
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
    use crate::rig::{Place, Rig, TriggerSource, parse};

    const FMU: &str = "[fmu.ecu]\npath = \"ecu\"\n";

    /// `trigger` begins in line 5, after an FMU and `clock`.
    fn read(trigger: &str) -> Result<Rig, String> {
        let text = format!("{FMU}[[trigger]]\nclock = \"ecu.key_on\"\n{trigger}");
        parse(&text, Path::new("rigs/rig.toml")).map_err(|error| error.to_string())
    }

    fn endpoint(trigger: &str) -> RigEndpoint {
        match &read(trigger).unwrap().triggers[0].source {
            TriggerSource::Endpoint(endpoint) => endpoint.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn addresses_are_read_with_their_rate() {
        let own = endpoint("udp = \"127.0.0.1:5005\"\n");
        assert_eq!((own.source.value.to_string().as_str(), own.max_rate), ("udp 127.0.0.1:5005", 1000.0));
        assert_eq!(own.source.place, Place { line: 5, column: 7 });
        for loopback in ["127.9.9.9:1", "[::1]:65535", "[::ffff:127.0.0.1]:5005"] {
            endpoint(&format!("udp = \"{loopback}\""));
        }
        let far = endpoint("udp = \"0.0.0.0:5005\"\nallow_remote = true\nmax_rate = 2.5");
        assert_eq!((far.source.value.to_string().as_str(), far.max_rate), ("udp 0.0.0.0:5005", 2.5));
        let unix = endpoint("unix = \"./run//key.sock\"\nmax_rate = 20");
        assert_eq!((unix.source.value.to_string().as_str(), unix.max_rate), ("unix rigs/run/key.sock", 20.0));
        assert_eq!(endpoint("unix = \"/run/key.sock\"").source.value.to_string(), "unix /run/key.sock");
    }

    #[test]
    fn a_counter_counts_at_a_rate_of_its_own() {
        let own = endpoint("counter = 0.02");
        assert_eq!((own.source.value.to_string().as_str(), own.max_rate), ("counter each 0.02 s", 50.0));
    }

    #[test]
    fn the_longest_path_of_a_socket_is_the_kernels() {
        let name = "x".repeat(LONGEST_PATH - "rigs/".len());
        endpoint(&format!("unix = \"{name}\""));
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
            ("counter = 0.0001", "5:11", "counter must be a number of seconds from 0.001 to 1000, not 0.0001"),
            ("counter = 1\nmax_rate = 5", "6:1", "max_rate has no meaning in a [[trigger]] with counter"),
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
