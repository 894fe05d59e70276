//! Verdicts that were found before, kept in the target folder of the build: the next one need not prove a kernel again.
//!
//! A record is about one kernel of one declaration. It begins with the version of the analysis and the hash of the PTX.
//! With other ones it counts for nothing, and is replaced; so a verdict is always that of this analysis.

use super::{Judged, Words};
use crate::kernels::source::{Ptx, hash};
use graph_ptx::proof::{Kernel, VERSION};
use std::ffi::OsString;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};

/// The format of records.
const FORMAT: &str = "cuda-graph-proof-1";
/// The text between the parts of a record: one character.
const BETWEEN: &str = "\u{1f}";
/// The folder of records, in the target folder.
const FOLDER: &str = "cuda-graph-proofs";
/// The file that marks Cargo's target folder.
const TARGET: &str = "CACHEDIR.TAG";

/// The verdict on a kernel, from its record or, if there is none, from `judge`. `how` is all that the verdict depends
/// on but for the kernel and the PTX.
pub(super) fn verdict(
    ptx: &Ptx,
    kernel: &Kernel,
    how: &impl Debug,
    judge: impl FnOnce() -> Option<Judged>,
) -> Option<Judged> {
    let Some(folder) = folder(std::env::args_os()) else {
        return judge();
    };
    let name = format!("{} {kernel:?} {how:?}", ptx.absolute);
    let path = folder.join(format!("{:032x}", hash(name.as_bytes())));
    let key = format!("{FORMAT} {VERSION:016x} {:032x}", ptx.hash);
    let record = fs::read_to_string(&path).ok();
    if let Some(verdict) = record.and_then(|record| parse(&record, &key)) {
        return verdict;
    }
    let verdict = judge();
    if let Some(record) = record_of(&key, verdict.as_ref()) {
        store(&folder, &path, &record);
    }
    verdict
}

/// The folder of records: in Cargo's target folder, which the compiler was told to write below.
fn folder(mut arguments: impl Iterator<Item = OsString>) -> Option<PathBuf> {
    arguments.find(|argument| argument == "--out-dir")?;
    let out = PathBuf::from(arguments.next()?);
    let target = out.ancestors().find(|folder| folder.join(TARGET).is_file())?;
    Some(target.join(FOLDER))
}

/// Writes a record in one step. A folder that cannot be written is no mistake: then the next build proves again.
fn store(folder: &Path, path: &Path, record: &str) {
    let own = path.with_extension(std::process::id().to_string());
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&own, record));
    if written.and_then(|()| fs::rename(&own, path)).is_err() {
        let _ = fs::remove_file(&own); // may not be there
    }
}

/// The text of a record; `None` if a part has the character between parts.
fn record_of(key: &str, verdict: Option<&Judged>) -> Option<String> {
    let mut parts = vec![key];
    if let Some(Judged {
        is_refuted,
        reason,
        words,
    }) = verdict
    {
        parts.extend([if *is_refuted { "refuted" } else { "unknown" }, reason]);
        if let Some(words) = words {
            parts.extend([&*words.message, &*words.help]);
            parts.extend(words.notes.iter().map(String::as_str));
        }
    } else {
        parts.push("proved");
    }
    parts.push("end"); // shows that the record is whole
    let is_plain = parts.iter().all(|part| !part.contains(BETWEEN));
    is_plain.then(|| parts.join(BETWEEN))
}

/// The verdict of a record; `None` if it is another one's, or damaged.
fn parse(record: &str, key: &str) -> Option<Option<Judged>> {
    let parts: Vec<&str> = record.split(BETWEEN).collect();
    let [first, verdict, rest @ .., "end"] = &parts[..] else {
        return None;
    };
    if *first != key {
        return None;
    }
    let is_refuted = match (*verdict, rest) {
        ("proved", []) => return Some(None),
        ("refuted", _) => true,
        ("unknown", _) => false,
        _ => return None,
    };
    let (reason, words) = match rest {
        [reason] => (reason, None),
        [reason, message, help, notes @ ..] => {
            let words = Words {
                message: (*message).to_owned(),
                notes: notes.iter().map(|note| (*note).to_owned()).collect(),
                help: (*help).to_owned(),
            };
            (reason, Some(words))
        }
        _ => return None,
    };
    Some(Some(Judged {
        is_refuted,
        reason: (*reason).to_owned(),
        words,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(words: Option<Words>) -> Judged {
        Judged {
            is_refuted: true,
            reason: "it leaves `x`".to_owned(),
            words,
        }
    }

    #[test]
    fn records_are_read_as_they_were_written() {
        let words = Words {
            message: "a message".to_owned(),
            notes: vec!["a note\nof two lines".to_owned(), String::new()],
            help: "a help".to_owned(),
        };
        for verdict in [None, Some(judged(None)), Some(judged(Some(words)))] {
            let record = record_of("key", verdict.as_ref()).unwrap();
            assert_eq!(parse(&record, "key"), Some(verdict), "{record}");
            assert_eq!(parse(&record, "another key"), None);
            assert_eq!(parse(&record[..record.len() - 1], "key"), None, "it is cut off");
        }
    }

    #[test]
    fn the_folder_is_in_that_of_the_build() {
        let target = std::env::temp_dir().join(format!("cuda-graph-proofs-test-{}", std::process::id()));
        let out = target.join("debug/deps");
        fs::create_dir_all(&out).unwrap();
        let arguments = || {
            ["rustc", "--out-dir", out.to_str().unwrap()]
                .map(OsString::from)
                .into_iter()
        };
        assert_eq!(folder(arguments()), None, "it is no target folder");
        fs::write(target.join(TARGET), "").unwrap();
        assert_eq!(folder(arguments()), Some(target.join(FOLDER)));
        assert_eq!(folder(["rustc"].map(OsString::from).into_iter()), None);
        fs::remove_dir_all(&target).unwrap();
    }

    #[test]
    fn a_record_of_other_ptx_is_replaced() {
        let folder = std::env::temp_dir().join(format!("cuda-graph-records-test-{}", std::process::id()));
        let path = folder.join("record");
        store(&folder, &path, &record_of("old", None).unwrap());
        store(&folder, &path, &record_of("new", Some(&judged(None))).unwrap());
        let record = fs::read_to_string(&path).unwrap();
        assert_eq!(parse(&record, "old"), None);
        assert_eq!(parse(&record, "new"), Some(Some(judged(None))));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no other files are left");
        fs::remove_dir_all(&folder).unwrap();
    }
}
