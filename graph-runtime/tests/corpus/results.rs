//! The recorded results: a file for each topic, with a section for each test.
//!
//! A section is a line with the name of the test and the number of bytes that follow it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

type Sections = BTreeMap<String, Vec<u8>>;

/// The results that the H200 left of the test `name` in the source file `source`.
pub(crate) fn recorded(source: &str, name: &str) -> Vec<u8> {
    let path = checked_in(source);
    let results = read(&path).remove(name);
    results.unwrap_or_else(|| panic!("no results of `{name}` in {}", path.display()))
}

/// Writes the results of the test `name` to the file of its topic in `$OUT`, which begins as the one checked in.
pub(crate) fn record(source: &str, name: &str, results: Vec<u8>) {
    /// Held by the one test that writes.
    static WRITER: Mutex<()> = Mutex::new(());

    let folder = PathBuf::from(std::env::var_os("OUT").expect("CORPUS_RECORD=1 needs a folder, OUT"));
    let _writer = WRITER.lock().unwrap_or_else(PoisonError::into_inner);
    fs::create_dir_all(&folder).expect("a folder to write to");
    let path = folder.join(topic(source));
    let before = [path.clone(), checked_in(source)]
        .into_iter()
        .find(|path| path.exists());
    let mut sections = before.map_or_else(Sections::new, |path| read(&path));
    sections.insert(name.to_owned(), results);
    fs::write(&path, bytes(&sections)).expect("a folder to write to");
}

/// The file name of the results of a source file.
fn topic(source: &str) -> PathBuf {
    let stem = Path::new(source).file_stem().expect("a source file has a name");
    Path::new(stem).with_extension("bin")
}

fn checked_in(source: &str) -> PathBuf {
    // At run time, since the machine that runs this may not be the one that built it.
    let package = std::env::var("CARGO_MANIFEST_DIR").expect("CARGO_MANIFEST_DIR names the package's folder");
    PathBuf::from(package).join("tests/corpus/results").join(topic(source))
}

fn read(path: &Path) -> Sections {
    let file = fs::read(path).unwrap_or_else(|error| panic!("no results at {}: {error}", path.display()));
    sections(&file).unwrap_or_else(|| panic!("{} is no file of results", path.display()))
}

fn sections(mut file: &[u8]) -> Option<Sections> {
    let mut sections = Sections::new();
    while !file.is_empty() {
        let end = file.iter().position(|&byte| byte == b'\n')?;
        let (name, len) = std::str::from_utf8(&file[..end]).ok()?.split_once(' ')?;
        let (results, rest) = file[end + 1..].split_at_checked(len.parse().ok()?)?;
        sections.insert(name.to_owned(), results.to_vec());
        file = rest;
    }
    Some(sections)
}

fn bytes(sections: &Sections) -> Vec<u8> {
    let section =
        |(name, results): (&String, &Vec<u8>)| [format!("{name} {}\n", results.len()).as_bytes(), results].concat();
    sections.iter().flat_map(section).collect()
}
