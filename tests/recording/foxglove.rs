//! Other people's reader: the package `mcap` of PyPI, which is what scripts around Foxglove use.

use super::program::{Outcome, skipped};
use super::{BOTH, messages, two};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Reads a file with Python: a line for each message.
const SCRIPT: &str = r#"
import json, sys
from mcap.reader import make_reader
with open(sys.argv[1], "rb") as stream:
    reader = make_reader(stream, validate_crcs=True)
    for schema, channel, message in reader.iter_messages(log_time_order=False):
        assert schema.encoding == "jsonschema" and channel.message_encoding == "json"
        fields, form = json.loads(message.data), json.loads(schema.data)
        assert form["type"] == "object"
        for key, value in fields.items():
            kind = form["properties"][key]["type"]
            types = {"boolean": bool, "integer": int, "number": (float, str)}[kind]
            assert value is None or isinstance(value, types), (key, value, kind)
        print(json.dumps([channel.topic, message.sequence, message.log_time, message.publish_time, message.data.decode()]))
    summary = reader.get_summary()
    print(json.dumps(summary and summary.statistics.message_count))
"#;

/// What Python says of a file: the messages and the count of its statistics. `None`, visibly, without that package.
pub fn reads(file: &Path, test: &str) -> Option<Value> {
    let python = |arguments: &[&str]| Command::new("python3").args(arguments).output();
    if !python(&["-c", "import mcap"]).is_ok_and(|output| output.status.success()) {
        skipped(test, &"python3 has no package mcap (pip install mcap)");
        return None;
    }
    let output = python(&["-c", SCRIPT, file.to_str().unwrap()]).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = lines.pop();
    let own: Vec<Value> = messages(file).into_iter().map(|message| serde_json::to_value(message).unwrap()).collect();
    assert!(lines == own, "Python reads other messages than the crate");
    count
}

#[test]
fn a_reader_of_others_finds_schemas_messages_and_statistics() {
    let run: Outcome = two("stop_time = 0.3\nmode = 'virtual'", BOTH).run().exits(0);
    let file = run.out.join("signals.mcap");
    if let Some(count) = reads(&file, "a_reader_of_others_finds_schemas_messages_and_statistics") {
        assert_eq!(count.as_u64(), Some(messages(&file).len() as u64));
    }
}
