//! Other people's reader: the package `mcap` of PyPI, which is what scripts around Foxglove use.

use super::program::{Outcome, Rig, skipped};
use super::{BOTH, WITH_JSON, messages, two};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Reads a file with Python: a line for each message.
const SCRIPT: &str = r#"
import json, sys
from mcap.reader import make_reader
try:
    from jsonschema.validators import validator_for
except ImportError:
    validator_for = None
schemas = {}
with open(sys.argv[1], "rb") as stream:
    reader = make_reader(stream, validate_crcs=True)
    for schema, channel, message in reader.iter_messages(log_time_order=False):
        assert schema.encoding == "jsonschema" and channel.message_encoding == "json"
        if schema.id not in schemas:
            form = json.loads(schema.data)
            # What Foxglove's reader takes: one word for the type of each property.
            assert form["type"] == "object"
            for key, value in form["properties"].items():
                assert value["type"] in ("boolean", "integer", "number", "string"), key
            validator = validator_for and validator_for(form)
            validator and validator.check_schema(form)
            schemas[schema.id] = form["properties"], validator and validator(form)
        (properties, validator), fields = schemas[schema.id], json.loads(message.data)
        assert fields.keys() <= properties.keys()
        if validator:
            validator.validate(fields)
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
    if !python(&["-c", "import jsonschema"]).is_ok_and(|output| output.status.success()) {
        skipped(test, &"of this test schemas: python3 has no package jsonschema (pip install jsonschema)");
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
    let run: Outcome = two("stop_time = 0.3\nmode = 'virtual'", WITH_JSON).run().exits(0);
    let file = run.out.join("signals.mcap");
    if let Some(count) = reads(&file, "a_reader_of_others_finds_schemas_messages_and_statistics") {
        assert_eq!(count.as_u64(), Some(messages(&file).len() as u64));
    }
}

#[test]
fn numbers_that_json_has_no_word_for_fit_their_schema() {
    let numbers = "in_f64 = nan, in_f32 = -inf, in_array = [inf, nan, -inf, 1.0]";
    let numbers = numbers.replace("1.0]", &format!("{}]", ["1.0"; 61].join(", ")));
    let rig = Rig::new("stop_time = 0.03\nmode = 'virtual'").tracer("a", &numbers);
    let run = rig.more("[record]\nformat = 'mcap'\nmcap = 'json'\n").run().exits(0);
    let file = run.out.join("signals.mcap");
    let first = messages(&file).into_iter().find(|message| message.0 == "/a/fast").unwrap().4;
    assert!(first.contains("\"out_f64\":\"NaN\"") && first.contains("\"out_array[3]\":\"-Infinity\""), "{first}");
    reads(&file, "numbers_that_json_has_no_word_for_fit_their_schema");
}

/// Reads a file of messages in protobuf with Python: a line for each message, which has its values by the names in JSON.
const BINARY: &str = r#"
import json, sys
from google.protobuf.json_format import MessageToDict
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory
with open(sys.argv[1], "rb") as stream:
    reader = make_reader(stream, validate_crcs=True, decoder_factories=[DecoderFactory()])
    for schema, channel, message, decoded in reader.iter_decoded_messages(log_time_order=False):
        assert schema.encoding == "protobuf" and channel.message_encoding == "protobuf"
        fields = MessageToDict(decoded)
        for field, value in decoded.ListFields():
            if field.type == field.TYPE_BYTES:
                fields[field.json_name] = "0x" + value.hex()
        by_number = decoded.DESCRIPTOR.fields_by_number
        if "absent" in decoded.DESCRIPTOR.fields_by_name:
            fields.pop("absent", None)
            for number in decoded.absent:
                fields[by_number[number].json_name] = None
        print(json.dumps([channel.topic, message.sequence, message.log_time, message.publish_time, fields]))
    summary = reader.get_summary()
    print(json.dumps(summary and summary.statistics.message_count))
"#;

/// Whether Python has the same value. Whole numbers of 64 bits are texts there.
fn is_same(theirs: &Value, ours: &Value) -> bool {
    let text = ours.to_string();
    theirs == ours
        || theirs.as_str() == Some(text.as_str())
        || (theirs.as_f64().is_some() && theirs.as_f64() == ours.as_f64())
}

/// What Python says of a file in protobuf: the messages, and the count of its statistics. `None`, visibly, without the package.
pub fn reads_binary(file: &Path, test: &str) -> Option<(Vec<Value>, Value)> {
    let python = |arguments: &[&str]| Command::new("python3").args(arguments).output();
    if !python(&["-c", "import mcap_protobuf.decoder"]).is_ok_and(|output| output.status.success()) {
        skipped(test, &"python3 has no package mcap-protobuf-support (pip install mcap-protobuf-support)");
        return None;
    }
    let output = python(&["-c", BINARY, file.to_str().unwrap()]).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = lines.pop()?;
    Some((lines, count))
}

/// Compares what Python reads of this file in protobuf with the same messages in JSON.
fn has_the_same(file: &Path, json: &Path, test: &str) {
    let Some((lines, count)) = reads_binary(file, test) else { return };
    let own = messages(json);
    assert_eq!((count, lines.len()), (own.len().into(), own.len()));
    for (theirs, (topic, sequence, log_time, publish_time, text)) in lines.iter().zip(own) {
        let head = [Value::from(topic), sequence.into(), log_time.into(), publish_time.into()];
        assert_eq!(theirs.as_array().unwrap()[..4], head);
        let ours: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
        let theirs = theirs[4].as_object().unwrap();
        assert!(theirs.keys().all(|key| ours.contains_key(key)) && theirs.len() == ours.len(), "{theirs:?} {ours:?}");
        for (key, value) in ours {
            assert!(is_same(&theirs[&key], &value), "{key}: {value} in JSON, {} in protobuf", theirs[&key]);
        }
    }
}

#[test]
fn a_reader_of_others_finds_in_protobuf_what_json_has() {
    let test = "a_reader_of_others_finds_in_protobuf_what_json_has";
    let rig = "stop_time = 0.3\nmode = 'virtual'";
    let [binary, json] = [BOTH, WITH_JSON].map(|record| two(rig, record).run().exits(0));
    has_the_same(&binary.out.join("signals.mcap"), &json.out.join("signals.mcap"), test);
    let numbers = "in_f64 = nan, in_f32 = -inf, in_i64 = -9223372036854775808, in_u64 = 9223372036854775807";
    let [binary, json] = ["", "mcap = 'json'\n"].map(|mcap| {
        let rig = Rig::new("stop_time = 0.03\nmode = 'virtual'").tracer("a", numbers);
        rig.more(&format!("[record]\nformat = 'mcap'\n{mcap}")).run().exits(0)
    });
    has_the_same(&binary.out.join("signals.mcap"), &json.out.join("signals.mcap"), test);
}
