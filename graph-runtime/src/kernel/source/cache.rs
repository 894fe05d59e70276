//! The cache of compiled PTX on disk, so that the next process need not compile it.
//!
//! An entry is found by its input, not by its compiler: a machine without NVRTC can use entries that another machine
//! has made. The entry names the compiler's version, and a machine with NVRTC takes only entries of that version. The
//! name of an entry is a plain hash. That is enough, since the entry repeats its whole input: a clash costs a
//! compilation, and never gives a wrong kernel.

use super::{Architecture, SourceText};
use crate::driver::cache_folder;
use graph_ptx::host_headers;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::{env, fs, io, process};
use tracing::debug;

/// The first word of an entry. Its number changes with the meaning of an entry.
const FORMAT: &str = "cuda-graph-ptx-2";

/// Whether a key can hold the whole input of the compilation. It cannot if options name folders or headers, whose texts
/// may change.
fn is_whole(source: &SourceText<'_>) -> bool {
    const ELSEWHERE: [&str; 4] = ["-I", "--include-path", "-include", "--pre-include"];
    let elsewhere = |option: &&str| ELSEWHERE.iter().any(|named| option.starts_with(named));
    !source.options.iter().any(elsewhere)
}

/// The whole input that PTX is compiled from, as bytes; `None` if the result must not be kept. The length of each text
/// comes before it, so that no two sources have the same key.
///
/// The texts for headers of the host are part of it by their hash: they are those of this version of the crate.
pub(super) fn key(source: &SourceText<'_>, architecture: Architecture) -> Option<Vec<u8>> {
    if !is_whole(source) {
        return None;
    }
    let architecture = architecture.to_string();
    let texts = format!("{:032x}", hash(host_headers::all().collect::<String>().as_bytes()));
    let headers = source.headers.iter().flat_map(|header| [header.0, header.1]);
    let lists: [Vec<&str>; 3] = [
        vec![&architecture, &texts, source.path, source.text],
        source.options.to_vec(),
        headers.collect(),
    ];
    let mut key = Vec::new();
    for list in &lists {
        key.extend(format!("{}\n", list.len()).bytes());
        for text in list {
            key.extend(format!("{}\n{text}\n", text.len()).bytes());
        }
    }
    Some(key)
}

/// The PTX of an entry, if the entry exists, is whole, and was made by NVRTC of this version. Without a version, any
/// entry will do.
pub(super) fn load(key: &[u8], version: Option<&str>) -> Option<String> {
    let path = folder()?.join(name(key));
    let entry = match fs::read(&path) {
        Ok(entry) => entry,
        Err(error) => {
            if error.kind() != io::ErrorKind::NotFound {
                debug!(target: "graph_runtime", path = %path.display(), %error, "cannot read the cache");
            }
            return None;
        }
    };
    let found = parse(&entry, key);
    if found.is_none() {
        debug!(target: "graph_runtime", path = %path.display(), "not a whole entry of the cache, or another's");
    }
    let (made_by, ptx) = found?;
    if version.is_some_and(|version| version != made_by) {
        debug!(target: "graph_runtime", path = %path.display(), made_by, "made by another NVRTC");
        return None;
    }
    Some(ptx)
}

/// Writes an entry. A failure is only logged: the source is then compiled again next time.
pub(super) fn store(key: &[u8], version: &str, ptx: &str) {
    let Some(folder) = folder() else { return };
    if let Err(error) = write(&folder, &name(key), &entry(key, version, ptx)) {
        debug!(target: "graph_runtime", folder = %folder.display(), %error, "cannot write the cache");
    }
}

/// The folder of the entries, for messages.
pub(super) fn place() -> String {
    folder().map_or_else(|| "nowhere".to_owned(), |folder| folder.display().to_string())
}

/// Writes a new file and renames it, so that a reader finds all of the entry or nothing. Others who write it at the
/// same time write the same bytes.
fn write(folder: &Path, name: &str, entry: &[u8]) -> io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    fs::create_dir_all(folder)?;
    let part = folder.join(format!(".{name}.{}.{}", process::id(), NEXT.fetch_add(1, Relaxed)));
    let written = fs::write(&part, entry).and_then(|()| fs::rename(&part, folder.join(name)));
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}

/// The bytes of an entry: a line `cuda-graph-ptx-2 <NVRTC's version> <length of the PTX> <length of the key> <hash of
/// both>`, then the PTX and the key.
fn entry(key: &[u8], version: &str, ptx: &str) -> Vec<u8> {
    let body = [ptx.as_bytes(), key].concat();
    let mut entry = format!("{FORMAT} {version} {} {} {:032x}\n", ptx.len(), key.len(), hash(&body)).into_bytes();
    entry.extend(body);
    entry
}

/// Reads an entry: the version and the PTX; `None` if it is damaged or is for another key.
fn parse(entry: &[u8], key: &[u8]) -> Option<(String, String)> {
    let end = entry.iter().position(|&byte| byte == b'\n')?;
    let (first, body) = (str::from_utf8(&entry[..end]).ok()?, &entry[end + 1..]);
    let words: Vec<&str> = first.split(' ').collect();
    let [FORMAT, version, ptx, key_length, checksum] = words[..] else {
        return None;
    };
    let length: usize = ptx.parse().ok()?;
    let (ptx, rest) = body.split_at_checked(length)?;
    let whole = key_length.parse() == Ok(key.len()) && rest == key && checksum == format!("{:032x}", hash(body));
    let ptx = String::from_utf8(ptx.to_vec()).ok()?;
    whole.then(|| (version.to_owned(), ptx))
}

fn name(key: &[u8]) -> String {
    format!("{:032x}.ptx-cache", hash(key))
}

/// FNV-1a of 128 bits: unlike the standard library's hash, it is the same with every version of Rust.
fn hash(bytes: &[u8]) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes
        .iter()
        .fold(OFFSET, |hash, &byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

/// The cache's folder.
fn folder() -> Option<PathBuf> {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    cache_folder(&variable).or_else(|| private(env::temp_dir().join("cuda-graph")))
}

/// The folder, if nobody else could have put entries into it. (Everyone may write to the folder that it is in.)
#[cfg(target_os = "linux")]
fn private(folder: PathBuf) -> Option<PathBuf> {
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
    const OTHERS_WRITE: u32 = 0o022;
    let _ = fs::DirBuilder::new().mode(0o700).create(&folder); // fails if the folder exists
    let (found, me) = (fs::symlink_metadata(&folder).ok()?, fs::metadata("/proc/self").ok()?);
    let mine = found.is_dir() && found.uid() == me.uid() && found.mode() & OTHERS_WRITE == 0;
    mine.then_some(folder)
}

/// On other systems a user's temporary folder is the user's own.
#[cfg(not(target_os = "linux"))]
fn private(folder: PathBuf) -> Option<PathBuf> {
    Some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: SourceText<'static> = SourceText {
        path: "a.cu",
        text: "text",
        headers: &[("a.h", "header")],
        options: &["--option"],
    };

    fn key_of(source: &SourceText<'_>) -> Vec<u8> {
        key(source, Architecture::Emulator).expect("it may be kept")
    }

    #[test]
    fn what_is_compiled_from_headers_elsewhere_is_not_kept() {
        for option in [
            "-I/usr/include",
            "-I",
            "--include-path=/x",
            "-include=a.h",
            "--pre-include=a.h",
        ] {
            let options: &'static [&'static str] = vec!["--use_fast_math", option].leak();
            let source = SourceText { options, ..SOURCE };
            assert_eq!(key(&source, Architecture::Emulator), None, "{option}");
        }
    }

    #[test]
    fn an_entry_is_taken_whole_or_not_at_all() {
        let key = key_of(&SOURCE);
        let entry = entry(&key, "12.4", "the ptx\n");
        assert_eq!(parse(&entry, &key), Some(("12.4".to_owned(), "the ptx\n".to_owned())));
        for length in 0..entry.len() {
            assert_eq!(parse(&entry[..length], &key), None, "cut to {length} bytes");
        }
        for index in 0..entry.len() {
            let mut damaged = entry.clone();
            damaged[index] ^= 1;
            let found = parse(&damaged, &key).map(|(_, ptx)| ptx);
            assert!(found.is_none_or(|ptx| ptx == "the ptx\n"), "byte {index} was changed");
        }
        let other = SourceText {
            text: "other",
            ..SOURCE
        };
        assert_eq!(parse(&entry, &key_of(&other)), None, "a clash of hashes");
    }

    #[test]
    fn everything_that_is_compiled_is_in_the_key() {
        let (headers, options) = (&[("a.h", "other")], &["--option", ""]);
        let sources = [
            SOURCE,
            SourceText { path: "b.cu", ..SOURCE },
            SourceText {
                text: "other",
                ..SOURCE
            },
            SourceText { headers, ..SOURCE },
            SourceText { headers: &[], ..SOURCE },
            SourceText { options, ..SOURCE },
            SourceText { options: &[], ..SOURCE },
        ];
        let mut keys: Vec<Vec<u8>> = sources.iter().map(key_of).collect();
        keys.extend(key(&SOURCE, Architecture::Device(70)));
        keys.extend(key(&SOURCE, Architecture::Device(90)));
        let count = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }

    #[test]
    fn the_hash_is_fnv() {
        assert_eq!(hash(b""), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        assert_eq!(hash(b"a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
    }
}
