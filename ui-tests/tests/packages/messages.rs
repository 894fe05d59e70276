//! Messages of rustc as data.

use serde_json::Value;
use std::process::Command;

/// The messages of a command of cargo's, as `--message-format=json` has them.
pub(crate) fn messages(command: &mut Command) -> Vec<Value> {
    let output = command.arg("--message-format=json").output().expect("cargo runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let values = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    values
        .filter(|value| value["reason"] == "compiler-message")
        .map(|mut value| value["message"].take())
        .collect()
}
