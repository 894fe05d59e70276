//! Messages that only `cargo build` gives, which instantiates generic code: the programs of `generic/` have exactly the
//! messages beside them.
//!
//! trybuild would build what they depend on for all of its tests. `TRYBUILD=overwrite` writes the `.stderr` files anew
//! here, too.

use crate::messages::messages;
use crate::package::Package;
use crate::rustc::is_blessed;
use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

#[test]
fn messages_of_build() {
    if !is_blessed() {
        println!("not compared: all have words of another rustc");
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/packages/generic");
    let package = Package::new("generic", None).expect("a package in the target folder");
    let mut expected = BTreeMap::new();
    for entry in fs::read_dir(&folder).expect("a folder") {
        let file = entry.expect("a file").path();
        if file.extension().is_some_and(|extension| extension == "rs") {
            let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
            let program = fs::read(&file).expect("a program");
            package.write(&format!("src/bin/{name}.rs"), &program).expect("a copy");
            expected.insert(
                name,
                fs::read_to_string(file.with_extension("stderr")).unwrap_or_default(),
            );
        }
    }
    let mut build = package
        .cargo("build", "src/lib.rs", "//! Generated.\n")
        .expect("the crate can be written");
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for message in messages(build.arg("--keep-going")) {
        let file = message["spans"][0]["file_name"].as_str();
        if let Some(name) = file.and_then(|file| Path::new(file).file_stem()) {
            let rendered = message["rendered"].as_str().expect("text").trim_end();
            let text = found.entry(name.to_string_lossy().into_owned()).or_default();
            let gap = if text.is_empty() { "" } else { "\n" };
            *text += &format!("{gap}{rendered}\n");
        }
    }
    if env::var_os("TRYBUILD").is_some_and(|value| value == "overwrite") {
        for (name, text) in &found {
            fs::write(folder.join(name).with_extension("stderr"), text).expect("the messages can be written");
        }
    } else {
        assert!(!expected.is_empty());
        for (name, text) in expected {
            assert_eq!(found.remove(&name), Some(text), "{name}");
        }
    }
}
