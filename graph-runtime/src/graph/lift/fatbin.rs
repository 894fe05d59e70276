//! PTX in fat binaries: those that `nvcc` puts into programs and libraries, in a section of their own.
//!
//! NVIDIA documents no format. A fat binary has a header of 16 bytes (a number, a version, the bytes of the header, and
//! those of its members), and members. Each has a header of its own, which these constants are places in, and contents,
//! which may be compressed.

#[cfg(target_os = "linux")]
use std::collections::BTreeSet;
use std::io::Read as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The first word of a fat binary.
const MAGIC: u32 = 0xBA55_ED50;
/// The bytes of the header of a fat binary.
const HEADER: u64 = 16;
/// The bytes of a member's header that are read.
const MEMBER: usize = 64;
/// The kinds of members.
const PTX: u16 = 1;
const MACHINE_CODE: u16 = 2;
/// The flags of members: whether they are for one architecture and its like alone (`sm_90a`), and their compression.
const SPECIFIC: u64 = 0x10_0000;
const LZ4: u64 = 0x2000;
const ZSTD: u64 = 0x8000;
/// The multiples at which fat binaries begin, and the most bytes between two.
const STEP: u64 = 8;
const LONGEST_GAP: u64 = 1 << 12;
/// The most bytes of a text. The PTX of a large source has some megabytes.
const LONGEST: u64 = 1 << 28;

/// PTX in a fat binary, which is decompressed when it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// The number of its architecture: 90 for `compute_90`.
    pub(super) architecture: u32,
    /// The place and the bytes of the contents.
    start: u64,
    bytes: u64,
    /// The bytes after decompression, and the flags.
    pub(super) length: u64,
    flags: u64,
}

/// A file in which fat binaries may be.
#[derive(Debug)]
pub(super) enum File {
    Bytes(Box<[u8]>),
    #[cfg(target_os = "linux")]
    Open(std::fs::File),
}

/// The files of the program and of the libraries that this process has loaded.
#[cfg(target_os = "linux")]
pub(super) fn loaded() -> Vec<File> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let paths: BTreeSet<&str> = maps.lines().filter_map(|line| line.get(line.find('/')?..)).collect();
    let files = paths
        .into_iter()
        .filter(|path| std::fs::metadata(path).is_ok_and(|file| file.is_file()));
    files
        .filter_map(|path| Some(File::Open(std::fs::File::open(path).ok()?)))
        .collect()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn loaded() -> Vec<File> {
    Vec::new()
}

/// Calls a function for each element of a list, on several threads: large libraries have hundreds of megabytes of PTX.
pub(super) fn for_each<T: Sync>(all: &[T], work: impl Fn(&T) + Sync) {
    const MOST_THREADS: usize = 8;
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(one);
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 1..threads.min(MOST_THREADS).min(all.len()) {
            // If there is no thread, the others do its part.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
}

impl File {
    /// A file with these bytes.
    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.into())
    }

    /// Reads so many bytes at a place, if they are there.
    fn read(&self, start: u64, length: usize) -> Option<Vec<u8>> {
        match self {
            Self::Bytes(bytes) => {
                let start = usize::try_from(start).ok()?;
                Some(bytes.get(start..start.checked_add(length)?)?.to_vec())
            }
            #[cfg(target_os = "linux")]
            Self::Open(file) => {
                let mut bytes = vec![0; length];
                std::os::unix::fs::FileExt::read_exact_at(file, &mut bytes, start).ok()?;
                Some(bytes)
            }
        }
    }

    /// The PTX in the file: in fat binaries, or in those of a program, a library or an object in the format ELF. PTX
    /// counts only beside machine code of its own kind: `sm_90a` is compiled of other code than `sm_90`.
    pub(super) fn members(&self) -> Vec<Member> {
        let whole = || match self {
            Self::Bytes(bytes) => vec![(0, bytes.len() as u64)],
            #[cfg(target_os = "linux")]
            Self::Open(_) => Vec::new(),
        };
        let sections = self.sections().unwrap_or_else(whole);
        let mut found = Vec::new();
        for (start, length) in sections {
            let end = start.saturating_add(length);
            let (mut place, mut gap) = (start, 0);
            while place < end && gap < LONGEST_GAP {
                match self.binary(place) {
                    Some((members, next)) => {
                        found.extend(members);
                        (place, gap) = (next, 0);
                    }
                    None => (place, gap) = (place.saturating_add(STEP), gap + STEP),
                }
            }
        }
        found
    }

    /// The PTX in the fat binary at a place, and the place after it.
    fn binary(&self, place: u64) -> Option<(Vec<Member>, u64)> {
        let header = self.read(place, HEADER as usize)?;
        if number(&header, 0, 4)? != u64::from(MAGIC) {
            return None;
        }
        let mut next = place.checked_add(number(&header, 6, 2)?.max(HEADER))?;
        let end = next.checked_add(number(&header, 8, 8)?)?;
        let (mut texts, mut codes) = (Vec::new(), Vec::new());
        while next < end {
            let member = self.read(next, MEMBER)?;
            let kind = number(&member, 0, 2)? as u16;
            let own = number(&member, 4, 4)?.max(MEMBER as u64);
            let padded = number(&member, 8, 8)?;
            let flags = number(&member, 40, 8)?;
            let is_compressed = flags & (LZ4 | ZSTD) != 0;
            let start = next.checked_add(own)?;
            if kind == PTX {
                texts.push(Member {
                    architecture: number(&member, 28, 4)? as u32,
                    start,
                    bytes: if is_compressed { number(&member, 16, 4)? } else { padded },
                    length: if is_compressed { number(&member, 56, 8)? } else { padded },
                    flags,
                });
            } else if kind == MACHINE_CODE {
                codes.push(flags & SPECIFIC);
            }
            next = start.checked_add(padded)?;
        }
        texts.retain(|text| codes.iter().all(|specific| *specific == text.flags & SPECIFIC));
        Some((texts, next))
    }

    /// The places and the bytes of the sections of a file in the format ELF that have fat binaries; `None` if it is no
    /// such file, of 64 bits.
    fn sections(&self) -> Option<Vec<(u64, u64)>> {
        const SECTION: usize = 64;
        const NAME: &[u8] = b".nv_fatbin\0";
        const LONGEST_NAMES: u64 = 1 << 20;
        let header = self.read(0, 64)?;
        if !header.starts_with(b"\x7fELF\x02\x01") || number(&header, 58, 2)? != SECTION as u64 {
            return None;
        }
        let count = number(&header, 60, 2)? as usize;
        let table = self.read(number(&header, 40, 8)?, count * SECTION)?;
        let place = |section: &[u8]| Some((number(section, 24, 8)?, number(section, 32, 8)?));
        let (names, bytes) = place(table.chunks_exact(SECTION).nth(number(&header, 62, 2)? as usize)?)?;
        let names = self.read(names, bytes.min(LONGEST_NAMES) as usize)?;
        let mut found = Vec::new();
        for section in table.chunks_exact(SECTION) {
            let name = names.get(number(section, 0, 4)? as usize..);
            if name.is_some_and(|name| name.starts_with(NAME)) {
                found.push(place(section)?);
            }
        }
        Some(found)
    }

    /// The text of a member; `None` if it cannot be decompressed.
    pub(super) fn text(&self, member: &Member) -> Option<String> {
        if member.bytes > LONGEST || member.length > LONGEST {
            return None;
        }
        let contents = self.read(member.start, member.bytes as usize)?;
        let mut text = Vec::with_capacity(member.length as usize);
        if member.flags & ZSTD != 0 {
            let decoder = ruzstd::decoding::StreamingDecoder::new(&contents[..]).ok()?;
            decoder.take(member.length).read_to_end(&mut text).ok()?;
        } else if member.flags & LZ4 != 0 {
            text = lz4_flex::block::decompress(&contents, member.length as usize).ok()?;
        } else {
            text = contents;
        }
        let end = text.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        text.truncate(end);
        String::from_utf8(text).ok()
    }
}

/// A number of so many bytes.
fn number(bytes: &[u8], start: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(start..start + length)?;
    Some(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&[u8]; 3] = [
        include_bytes!("../../../tests/kernels/plain.fatbin"),
        include_bytes!("../../../tests/kernels/lz4.fatbin"),
        include_bytes!("../../../tests/kernels/zstd.fatbin"),
    ];

    /// The texts in a file, with their architectures.
    fn texts(file: &[u8]) -> Vec<(u32, Option<String>)> {
        let file = File::of_bytes(file);
        let members = file.members().into_iter();
        members
            .map(|member| (member.architecture, file.text(&member)))
            .collect()
    }

    #[test]
    fn texts_are_found_compressed_and_not() {
        let expected = texts(FILES[0]);
        let (architecture, text) = &expected[0];
        assert_eq!((*architecture, expected.len()), (70, 1));
        let module = graph_ptx::parse(text.as_deref().expect("it is not compressed")).expect("it is PTX");
        assert!(module.functions.iter().any(|function| function.name == "add_to"));
        assert!(FILES.into_iter().all(|file| texts(file) == expected));
        // Several may follow each other.
        assert_eq!(texts(&[FILES[0], &[0; 8], FILES[2]].concat()).len(), 2);
    }

    /// A library with a fat binary: the header of the file, the names of sections, the fat binary, and the table, with
    /// one section for it and one for the names.
    fn library(binary: &[u8]) -> Vec<u8> {
        let names = b"\0.nv_fatbin\0.names\0\0\0\0\0\0";
        let [first, second] = [64, 64 + names.len() as u64];
        let table = second + binary.len() as u64;
        let mut file = vec![0; 64];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[40..48].copy_from_slice(&table.to_le_bytes());
        (file[58], file[60], file[62]) = (64, 2, 1);
        file.extend_from_slice(names);
        file.extend_from_slice(binary);
        for (name, start, bytes) in [(1_u32, second, table - second), (12, first, second - first)] {
            let mut section = [0; 64];
            section[..4].copy_from_slice(&name.to_le_bytes());
            section[24..32].copy_from_slice(&start.to_le_bytes());
            section[32..40].copy_from_slice(&bytes.to_le_bytes());
            file.extend_from_slice(&section);
        }
        file
    }

    #[test]
    fn libraries_have_a_section_of_fat_binaries() {
        assert_eq!(texts(&library(FILES[1])), texts(FILES[1]));
        assert!(
            !cfg!(target_os = "linux") || loaded().len() > 1,
            "this program and the C library"
        );
    }

    #[test]
    fn machine_code_for_other_architectures_hides_the_text() {
        let [specific, other] = [SPECIFIC, 0].map(|flag| {
            let mut code = [0_u8; 72];
            (code[0], code[4], code[8]) = (2, 64, 8);
            code[40..48].copy_from_slice(&flag.to_le_bytes());
            let mut file = FILES[0].to_vec();
            file.extend(code);
            let length = file.len() as u64 - HEADER;
            file[8..16].copy_from_slice(&length.to_le_bytes());
            texts(&file).len()
        });
        assert_eq!((specific, other), (0, 1));
    }

    #[test]
    fn files_that_are_cut_off_or_damaged_have_less() {
        for file in FILES {
            for end in (0..file.len()).step_by(7) {
                texts(&file[..end]);
            }
            for place in 0..128 {
                let mut damaged = file.to_vec();
                damaged[place] ^= 0xFF;
                texts(&damaged);
            }
        }
        assert_eq!(texts(b"int main() {}"), []);
        // A section at the end of all addresses.
        let mut far = library(FILES[1]);
        let table = far.len() - 128;
        far[table + 24..table + 40].fill(0xFF);
        far[table + 24] = 0xF9;
        assert_eq!(texts(&far), []);
    }
}
