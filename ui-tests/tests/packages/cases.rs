//! The tables of `cases/`, all programs in one crate: rustc says what the tables say, and nothing more. (A unit test of
//! `graph-macros` reads the tables too, without rustc.)

#[path = "../../cases/table.rs"]
mod table;

use crate::messages::messages;
use crate::package::Package;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use table::{Case, Message, tables};

/// The names that each program has. They stand below it, so that lines are those of the table.
const NAMES: &str = "#[allow(unused_imports)]\nuse graph_runtime::*;\n#[allow(unused_imports)]\nuse ui_tests::*;\n";

#[test]
fn rustc_says_what_the_tables_say_and_nothing_more() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let package = Package::new("cases", None).expect("a package in the target folder");
    for entry in fs::read_dir(folder.join("kernels")).expect("kernels") {
        let file = entry.expect("a file").path();
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        let bytes = fs::read(&file).expect("a kernel");
        package.write(&format!("kernels/{name}"), &bytes).expect("a copy");
    }
    let mut root = String::from("//! Generated.\n#![warn(dead_code)]\n");
    let mut expected = BTreeMap::new();
    let mut places = BTreeMap::new();
    for table in tables(&folder.join("cases")).expect("the tables can be read") {
        let code = table.code().replace('-', "_");
        for case in table.cases {
            let module = format!("{code}_{}", case.line);
            let _ = writeln!(root, "mod {module};");
            package
                .write(&format!("src/{module}.rs"), program(&case).as_bytes())
                .expect("the program can be written");
            places.insert(module.clone(), format!("{}:{}", table.path.display(), case.line));
            expected.insert(module, case.messages);
        }
    }
    let mut check = package
        .cargo("check", "src/lib.rs", &root)
        .expect("the crate can be written");
    let mut found: BTreeMap<String, Vec<Message>> = BTreeMap::new();
    for message in messages(&mut check) {
        let Some((module, message)) = located(&message) else {
            let text = message["message"].as_str().unwrap_or_default();
            let ends = [
                "aborting due to",
                "For more information",
                "Some errors have detailed explanations",
            ];
            let is_end = ends.iter().any(|end| text.starts_with(end));
            assert!(is_end, "a message without a place: {message}");
            continue;
        };
        found.entry(module).or_default().push(message);
    }
    let mut wrong = String::new();
    for (module, expected) in &expected {
        let mut found = found.remove(module).unwrap_or_default();
        found.sort();
        if found != *expected {
            let shown = |messages: &[Message]| {
                messages
                    .iter()
                    .map(|message| format!("{message}\n"))
                    .collect::<String>()
            };
            let (expected, found) = (shown(expected), shown(&found));
            let _ = writeln!(wrong, "{}\n{expected}rustc says\n{found}", places[module]);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(found.is_empty(), "{found:?}");
}

fn program(case: &Case) -> String {
    format!("{}{NAMES}", case.program)
}

/// The module that a message is about, and the message.
fn located(message: &Value) -> Option<(String, Message)> {
    let spans = message["spans"].as_array()?;
    let span = spans.iter().find(|span| span["is_primary"] == true)?;
    let file = Path::new(span["file_name"].as_str()?);
    let number = |name: &str| span[name].as_u64().map(|number| number as usize);
    let message = Message {
        start: (number("line_start")?, number("column_start")?),
        end: (number("line_end")?, number("column_end")?),
        text: message["message"].as_str()?.to_owned(),
    };
    Some((file.file_stem()?.to_string_lossy().into_owned(), message))
}
