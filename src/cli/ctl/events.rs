//! Events of a rig, as the daemon sends them (server-sent events), line by line.

use super::client::{Client, matching, read};
use super::failure::CtlFailure;
use super::show;
use crate::cli::results;
use serde::Deserialize;
use vecud_base::plain::plain;

/// Prints what happens until the daemon says no more, or nobody reads it.
pub fn print(client: &Client, path: &str, globs: &[String], json: bool) -> Result<u8, CtlFailure> {
    let mut unread = client.open(&format!("{path}{}", matching(globs)))?;
    let mut stream = Stream::default();
    let mut failed = None;
    results::print_with(
        |out| {
            loop {
                let piece = match client.next(&mut unread) {
                    Ok(Some(piece)) => piece,
                    Ok(None) => return Ok(()),
                    Err(failure) => {
                        failed = Some(failure);
                        return Ok(());
                    }
                };
                for event in stream.take(&piece) {
                    let text = if json { event.json() } else { event.text() };
                    out.write_all(text.as_bytes())?;
                }
                out.flush()?;
            }
        },
        None,
    )?;
    failed.map_or(Ok(0), Err)
}

/// The bytes of events, of which the last one may not be whole yet.
#[derive(Default)]
struct Stream {
    line: Vec<u8>,
    event: Event,
}

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Event {
    name: String,
    data: String,
}

impl Stream {
    /// The events that are whole with these bytes.
    fn take(&mut self, piece: &[u8]) -> Vec<Event> {
        let mut whole = Vec::new();
        for &byte in piece {
            if byte != b'\n' {
                self.line.push(byte);
                continue;
            }
            let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).into_owned();
            let line = line.strip_suffix('\r').unwrap_or(&line);
            if line.is_empty() {
                let event = std::mem::take(&mut self.event);
                whole.extend(Some(event).filter(|event| !event.data.is_empty()));
                continue;
            }
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "event" => self.event.name = value.to_owned(),
                "data" => {
                    if !self.event.data.is_empty() {
                        self.event.data.push('\n');
                    }
                    self.event.data += value;
                }
                // Comments keep the connection going.
                _ => (),
            }
        }
        whole
    }
}

/// A problem of the run.
#[derive(Deserialize)]
struct Problem {
    severity: String,
    message: String,
}

/// Figures of the run.
#[derive(Deserialize)]
struct Figures {
    /// Simulation time since the start, s.
    elapsed: f64,
    clocks: Vec<show::ClockRow>,
}

impl Event {
    /// The event as one line of JSON.
    fn json(&self) -> String {
        let data = serde_json::from_str(&self.data).unwrap_or_else(|_| serde_json::Value::from(self.data.as_str()));
        serde_json::json!({"event": self.name, "data": data}).to_string() + "\n"
    }

    /// The event as lines for people.
    fn text(&self) -> String {
        let data = self.data.as_bytes();
        let text = match self.name.as_str() {
            "state" => read(data).map(|status| show::line(&status)),
            "problem" => {
                read(data).map(|Problem { severity, message }| format!("{}: {}\n", plain(&severity), plain(&message)))
            }
            "figures" => read(data).map(|Figures { elapsed, clocks }| show::figures(elapsed, &clocks)),
            "signals" => read(data).map(|signals: Vec<show::SignalValue>| show::values(&signals)),
            _ => Err(CtlFailure::Failed(String::new())),
        };
        // What is not known is shown as it is.
        text.unwrap_or_else(|_| format!("{} {}\n", plain(&self.name), plain(&self.data)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_whole_however_they_are_cut() {
        let bytes =
            ": keep\r\n\nevent: state\ndata: {\"a\":\ndata: \"\u{e4}\"}\n\nid: 1\ndata:x\r\n\r\nevent: cut\ndata: y"
                .as_bytes();
        let event = |name: &str, data: &str| Event { name: name.to_owned(), data: data.to_owned() };
        for size in [1, 2, 3, 7, 1000] {
            let mut stream = Stream::default();
            let whole: Vec<Event> = bytes.chunks(size).flat_map(|piece| stream.take(piece)).collect();
            assert_eq!(whole, [event("state", "{\"a\":\n\"\u{e4}\"}"), event("", "x")], "{size}");
        }
    }

    #[test]
    fn what_is_not_known_is_shown_as_it_is() {
        let event = Event { name: "new\u{1b}".to_owned(), data: "{\"x\":1}".to_owned() };
        assert_eq!(event.text(), "new\\u{1b} {\"x\":1}\n");
        assert_eq!(event.json(), "{\"data\":{\"x\":1},\"event\":\"new\\u001b\"}\n");
        let problem =
            Event { name: "problem".to_owned(), data: "{\"severity\":\"limit\",\"message\":\"late\"}".to_owned() };
        assert_eq!(problem.text(), "limit: late\n");
    }
}
