//! Graph files as bytes: numbers with the least byte first; before each list, text and row of bytes, its length.

use super::{
    CONDITIONALS, FileArgument, FileCode, FileKernel, FileMemory, FileNode, FileRows, FileWork, GraphFile, MAGIC,
    MEMORY, MODES, ROLES, VERSION,
};

/// The bytes before the part that the hash in them covers: the first ones, the version, the hash.
pub(super) const HEADER: usize = MAGIC.len() + size_of::<u32>() + size_of::<u64>();

/// The 64-bit FNV-1a hash, which finds files that were damaged. Against whoever means it, it is no protection.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

struct Writer(Vec<u8>);

impl Writer {
    fn byte(&mut self, value: u8) {
        self.0.push(value);
    }

    fn flag(&mut self, value: bool) {
        self.byte(value.into());
    }

    fn word(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    fn words(&mut self, values: [u32; 3]) {
        values.into_iter().for_each(|value| self.word(value));
    }

    fn long(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.long(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn list<T>(&mut self, items: &[T], write: impl Fn(&mut Self, &T)) {
        self.long(items.len() as u64);
        items.iter().for_each(|item| write(self, item));
    }

    /// The code of a value: its position in `table`. A value that is not there gets a code that no reader takes.
    fn code<T: PartialEq>(&mut self, table: &[T], value: &T) {
        let found = table.iter().position(|known| known == value);
        self.byte(found.and_then(|index| u8::try_from(index).ok()).unwrap_or(u8::MAX));
    }
}

impl GraphFile {
    /// The file as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut file = Writer(Vec::new());
        file.text(env!("CARGO_PKG_VERSION"));
        file.text(&self.name);
        file.list(&self.modules, |file, module| {
            file.text(&module.name);
            file.byte(match module.code {
                FileCode::Ptx(_) => 0,
                FileCode::Cubin(_) => 1,
            });
            file.long(hash(module.code.bytes()));
            file.bytes(module.code.bytes());
        });
        file.list(&self.memory, memory);
        file.list(&self.bodies, |file, body| {
            file.code(ROLES, &body.role);
            file.word(body.node);
        });
        file.list(&self.nodes, node);
        Self::seal(&file.0)
    }

    /// Puts the first bytes, the version and the hash before the content of a file.
    pub fn seal(content: &[u8]) -> Vec<u8> {
        let mut file = Writer(Vec::with_capacity(HEADER + content.len()));
        file.0.extend(MAGIC);
        file.word(VERSION);
        file.long(hash(content));
        file.0.extend_from_slice(content);
        file.0
    }

    /// The content of a file: the part that its hash covers. It is empty if the file is too short to have one.
    pub fn content(bytes: &[u8]) -> &[u8] {
        bytes.get(HEADER..).unwrap_or_default()
    }
}

fn memory(file: &mut Writer, memory: &FileMemory) {
    file.text(&memory.name);
    file.code(MEMORY, &memory.memory);
    file.long(memory.bytes);
    file.long(memory.align);
    file.flag(memory.given);
    file.text(&memory.symbol);
    file.bytes(&memory.contents);
}

fn node(file: &mut Writer, node: &FileNode) {
    file.text(&node.name);
    file.word(node.body);
    file.flag(node.disabled);
    file.list(&node.after, |file, edge| {
        file.word(edge.from);
        file.flag(edge.programmatic);
    });
    match &node.work {
        FileWork::Kernel(launch) => {
            file.byte(0);
            kernel(file, launch);
        }
        FileWork::Memcpy { from, to } => {
            file.byte(1);
            rows(file, from);
            rows(file, to);
        }
        FileWork::Memset { to, value } => {
            file.byte(2);
            rows(file, to);
            file.bytes(value);
        }
        FileWork::Join => file.byte(3),
        FileWork::Child => file.byte(4),
        FileWork::Conditional { kind, memory, start } => {
            file.byte(5);
            file.code(CONDITIONALS, kind);
            file.word(*memory);
            file.long(*start);
        }
    }
}

fn rows(file: &mut Writer, rows: &FileRows) {
    file.word(rows.memory);
    let numbers = [rows.start, rows.bytes, rows.width, rows.pitch];
    numbers.into_iter().for_each(|number| file.long(number));
}

fn kernel(file: &mut Writer, kernel: &FileKernel) {
    file.word(kernel.module);
    file.text(&kernel.entry);
    file.words(kernel.grid);
    file.words(kernel.block);
    file.word(kernel.shared);
    file.flag(kernel.cluster.is_some());
    file.words(kernel.cluster.unwrap_or_default());
    file.flag(kernel.cooperative);
    file.flag(kernel.priority.is_some());
    file.word(kernel.priority.unwrap_or_default().cast_unsigned());
    file.list(&kernel.arguments, |file, argument| match argument {
        FileArgument::Value(bytes) => {
            file.byte(0);
            file.bytes(bytes);
        }
        FileArgument::Memory {
            memory,
            start,
            bytes,
            mode,
            unit,
        } => {
            file.byte(1);
            file.word(*memory);
            file.long(*start);
            file.long(*bytes);
            file.code(MODES, mode);
            file.word(*unit);
        }
    });
}
