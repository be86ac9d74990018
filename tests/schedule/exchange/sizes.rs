//! Strings and binaries that are longer than there is room for, or none at all.

use crate::exchange::rig;

#[test]
fn a_value_that_is_too_long_is_not_passed_on_and_is_found() {
    let rig = rig("stop_time = 0.1", &[("a", "long_from = 50", ""), ("b", "", "")])
        .connect("a.text", "b.text_in")
        .connect("a.blob", "b.blob_in");
    let outcome = rig.run_virtual().exits(0);
    let signals = outcome.signals();
    // Activation 49 was the last one whose values fit: letter 49 mod 26, byte 49.
    assert_eq!(signals.last("b.text_length"), 100 + 5 * 23);
    assert_eq!(signals.last("b.blob_length"), 1 + 7 * 49);
    assert_eq!(signals.last("b.torn"), 0);
    assert_eq!(signals.last("b.checked"), 10);
    let findings = outcome.fmu("a")["findings"].clone();
    let finding = findings.as_array().unwrap().iter().find(|f| f["kind"] == "oversized_value").expect("found").clone();
    assert_eq!(finding["count"], 2 * 51, "both variables, activations 50 to 100");
    let text = outcome.stderr.clone() + &outcome.stdout + &findings.to_string();
    for word in ["fmu `a`", "3000 bytes of text", "clock fast", "0.049 s"] {
        assert!(text.contains(word), "{word} is not in {text}");
    }
}

#[test]
fn with_more_room_the_same_value_is_passed_on() {
    let rig = rig("stop_time = 0.1", &[("a", "long_from = 50", ""), ("b", "", "")])
        .connect("a.text", "b.text_in")
        .more("max_size = 3000");
    let outcome = rig.run_virtual().exits(0);
    assert_eq!(outcome.signals().last("b.text_length"), 3000);
    // One of its outputs is NaN from the start, and nothing else is found.
    let findings = outcome.fmu("a")["findings"].clone();
    let kinds: Vec<_> = findings.as_array().unwrap().iter().map(|finding| finding["kind"].clone()).collect();
    assert_eq!(kinds, ["not_a_number"]);
}

#[test]
fn a_null_string_is_empty() {
    let rig = rig("stop_time = 0.02", &[("a", "null_text = true", ""), ("b", "text_in = 'aaa'", "")]);
    assert_eq!(rig.run_virtual().exits(0).signals().last("b.text_length"), 3, "not connected");
    let rig = crate::exchange::rig("stop_time = 0.02", &[("a", "null_text = true", ""), ("b", "text_in = 'aaa'", "")])
        .connect("a.text", "b.text_in");
    assert_eq!(rig.run_virtual().exits(0).signals().last("b.text_length"), 0);
}

#[test]
fn an_initial_value_that_is_too_long_is_found_too() {
    let long = "x".repeat(300);
    let rig = rig("stop_time = 0.001", &[("a", &format!("String_in = '{long}'"), ""), ("b", "", "")])
        .connect("a.String_out", "b.String_in");
    let outcome = rig.run_virtual().exits(0);
    let finding = outcome.fmu("a")["findings"][0].clone();
    assert_eq!((finding["kind"].as_str(), finding["count"].as_u64()), (Some("oversized_value"), Some(3)));
}
