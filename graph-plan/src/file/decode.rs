//! Bytes as graph files. A length is compared with the bytes that are left before anything is made of it, so a file
//! never makes its reader allocate more than a multiple of its own size.

use super::encode::{HEADER, hash};
use super::{
    CONDITIONALS, FileArgument, FileBody, FileCode, FileEdge, FileError, FileKernel, FileMemory, FileModule, FileNode,
    FileRows, FileWork, GraphFile, MAGIC, MEMORY, MODES, PTX_ALONE, ROLES, VERSION,
};
use std::borrow::Cow;

type Result<T> = std::result::Result<T, FileError>;

fn wrong<T>(message: impl Into<String>) -> Result<T> {
    Err(FileError(message.into()))
}

/// The bytes of a file that have not been read yet.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let Some((taken, rest)) = self.0.split_at_checked(count) else {
            return wrong(format!(
                "it ends too early: {count} more bytes are announced, and {} are left",
                self.0.len()
            ));
        };
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let taken = self.take(N)?;
        taken.try_into().or_else(|_| wrong("it ends too early"))
    }

    fn byte(&mut self) -> Result<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn flag(&mut self) -> Result<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            other => wrong(format!("{other} is neither yes nor no")),
        }
    }

    fn word(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn words(&mut self) -> Result<[u32; 3]> {
        Ok([self.word()?, self.word()?, self.word()?])
    }

    fn long(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A length, in units of at least a byte each.
    fn len(&mut self) -> Result<usize> {
        let len = self.long()?;
        let fits = usize::try_from(len).ok().filter(|&len| len <= self.0.len());
        fits.map_or_else(
            || {
                wrong(format!(
                    "it announces a list of {len}, and {} bytes are left",
                    self.0.len()
                ))
            },
            Ok,
        )
    }

    fn bytes(&mut self) -> Result<&'a [u8]> {
        let len = self.len()?;
        self.take(len)
    }

    fn text(&mut self) -> Result<Cow<'static, str>> {
        let text = std::str::from_utf8(self.bytes()?).or_else(|_| wrong("a text of it is not UTF-8"))?;
        Ok(text.to_owned().into())
    }

    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let len = self.len()?;
        let mut items = Vec::new(); // grows as items are read
        for _ in 0..len {
            items.push(read(self)?);
        }
        Ok(items)
    }

    fn code<T: Copy>(&mut self, table: &[T], what: &str) -> Result<T> {
        let code = self.byte()?;
        let found = table.get(usize::from(code)).copied();
        found.map_or_else(|| wrong(format!("it has no {what} {code}")), Ok)
    }
}

impl GraphFile {
    /// Reads a file.
    ///
    /// # Errors
    /// [`FileError`] if the bytes are no graph file, one of another version, or a damaged one.
    pub fn decode(bytes: &[u8]) -> std::result::Result<Self, FileError> {
        let mut reader = Reader(bytes);
        if bytes.get(..MAGIC.len()) != Some(&MAGIC[..]) {
            return wrong("it is no graph file");
        }
        reader.take(MAGIC.len())?;
        let version = reader.word()?;
        if ![PTX_ALONE, VERSION].contains(&version) {
            return wrong(format!(
                "its format has version {version}, and this program reads versions {PTX_ALONE} and {VERSION}"
            ));
        }
        if reader.long()? != hash(&bytes[HEADER..]) {
            return wrong("it is damaged: its hash is not that of its content");
        }
        reader.text()?; // the version of the program that wrote it
        let file = Self {
            name: reader.text()?,
            modules: reader.list(|reader| module(reader, version))?,
            memory: reader.list(memory)?,
            bodies: reader.list(|reader| {
                Ok(FileBody {
                    role: reader.code(ROLES, "role of a body")?,
                    node: reader.word()?,
                })
            })?,
            nodes: reader.list(node)?,
        };
        if !reader.0.is_empty() {
            return wrong(format!("{} bytes follow its end", reader.0.len()));
        }
        file.check_indices()?;
        Ok(file)
    }

    /// Refuses indices that are not within their lists.
    fn check_indices(&self) -> Result<()> {
        let within = |index: u32, len: usize, what: &str| {
            if (index as usize) < len {
                return Ok(());
            }
            wrong(format!("it names {what} {index}, and has {len}"))
        };
        let memory = |index: u32| within(index, self.memory.len(), "memory");
        for body in &self.bodies {
            within(body.node, self.nodes.len(), "node")?;
        }
        for node in &self.nodes {
            within(node.body, self.bodies.len() + 1, "body")?;
            for edge in &node.after {
                within(edge.from, self.nodes.len(), "node")?;
            }
            match &node.work {
                FileWork::Kernel(kernel) => {
                    within(kernel.module, self.modules.len(), "module")?;
                    for argument in &kernel.arguments {
                        if let FileArgument::Memory { memory: index, .. } = argument {
                            memory(*index)?;
                        }
                    }
                }
                FileWork::Memcpy { from, to } => {
                    memory(from.memory)?;
                    memory(to.memory)?;
                }
                FileWork::Memset { to, .. } => memory(to.memory)?,
                FileWork::Conditional { memory: index, .. } => memory(*index)?,
                FileWork::Join | FileWork::Child => {}
            }
        }
        Ok(())
    }
}

fn module(reader: &mut Reader<'_>, version: u32) -> Result<FileModule> {
    let name = reader.text()?;
    let kind = if version == PTX_ALONE { 0 } else { reader.byte()? };
    let expected = reader.long()?;
    let code = match kind {
        0 => FileCode::Ptx(reader.text()?),
        1 => FileCode::Cubin(reader.bytes()?.to_owned().into()),
        other => return wrong(format!("it has no kind of code {other}")),
    };
    if hash(code.bytes()) != expected {
        return wrong(format!("it is damaged: the hash of `{name}` is not that of its code"));
    }
    Ok(FileModule { name, code })
}

fn memory(reader: &mut Reader<'_>) -> Result<FileMemory> {
    let memory = FileMemory {
        name: reader.text()?,
        memory: reader.code(MEMORY, "kind of memory")?,
        bytes: reader.long()?,
        align: reader.long()?,
        given: reader.flag()?,
        symbol: reader.text()?,
        contents: reader.bytes()?.to_vec(),
    };
    let (name, len) = (&memory.name, memory.contents.len() as u64);
    let begins = memory.memory == crate::Memory::Device && !memory.given && len == memory.bytes;
    if len > 0 && !begins {
        return wrong(format!(
            "it lets memory `{name}` begin with {len} bytes, which it cannot"
        ));
    }
    Ok(memory)
}

fn node(reader: &mut Reader<'_>) -> Result<FileNode> {
    Ok(FileNode {
        name: reader.text()?,
        body: reader.word()?,
        disabled: reader.flag()?,
        after: reader.list(|reader| {
            Ok(FileEdge {
                from: reader.word()?,
                programmatic: reader.flag()?,
            })
        })?,
        work: match reader.byte()? {
            0 => FileWork::Kernel(Box::new(kernel(reader)?)),
            1 => FileWork::Memcpy {
                from: rows(reader)?,
                to: rows(reader)?,
            },
            2 => FileWork::Memset {
                to: rows(reader)?,
                value: reader.bytes()?.to_vec(),
            },
            3 => FileWork::Join,
            4 => FileWork::Child,
            5 => FileWork::Conditional {
                kind: reader.code(CONDITIONALS, "kind of conditional")?,
                memory: reader.word()?,
                start: reader.long()?,
            },
            other => return wrong(format!("it has no kind of node {other}")),
        },
    })
}

fn rows(reader: &mut Reader<'_>) -> Result<FileRows> {
    Ok(FileRows {
        memory: reader.word()?,
        start: reader.long()?,
        bytes: reader.long()?,
        width: reader.long()?,
        pitch: reader.long()?,
    })
}

fn kernel(reader: &mut Reader<'_>) -> Result<FileKernel> {
    let (module, entry) = (reader.word()?, reader.text()?);
    let (grid, block, shared) = (reader.words()?, reader.words()?, reader.word()?);
    let (has_cluster, cluster) = (reader.flag()?, reader.words()?);
    let cooperative = reader.flag()?;
    let (has_priority, priority) = (reader.flag()?, reader.word()?.cast_signed());
    Ok(FileKernel {
        module,
        entry,
        grid,
        block,
        shared,
        cluster: has_cluster.then_some(cluster),
        cooperative,
        priority: has_priority.then_some(priority),
        arguments: reader.list(argument)?,
    })
}

fn argument(reader: &mut Reader<'_>) -> Result<FileArgument> {
    match reader.byte()? {
        0 => Ok(FileArgument::Value(reader.bytes()?.to_vec())),
        1 => Ok(FileArgument::Memory {
            memory: reader.word()?,
            start: reader.long()?,
            bytes: reader.long()?,
            mode: reader.code(MODES, "kind of access")?,
            unit: reader.word()?,
        }),
        other => wrong(format!("it has no kind of argument {other}")),
    }
}
