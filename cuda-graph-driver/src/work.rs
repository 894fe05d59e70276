//! Work: what a stream does, and what a node of a graph does.

use crate::code::Done;
use crate::handle::Handle;
use crate::memory::Block;
use crate::module::Launch;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex};

/// A function of the user, with its data.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) function: unsafe extern "C" fn(*mut c_void),
    pub(crate) data: usize,
}

/// `CUDA_MEMCPY3D`, as words: of the source, of the target, and the width, the height and the depth. A side is x, y, z,
/// the level, the kind, the address for the host, that for the device, an array, a reserved word, the pitch and the
/// height.
pub(crate) type CopyWords = [usize; 25];
/// The kinds of memory.
pub(crate) const HOST: u32 = 1;
pub(crate) const DEVICE: u32 = 2;
pub(crate) const ARRAY: u32 = 3;
pub(crate) const UNIFIED: u32 = 4;

/// A copy of rows.
#[derive(Clone)]
pub(crate) struct Copy {
    pub(crate) words: CopyWords,
    /// The source, if the driver has read it already.
    pub(crate) bytes: Option<Arc<[u8]>>,
}

/// `CUDA_MEMSET_NODE_PARAMS`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Fill {
    pub(crate) to: u64,
    pub(crate) pitch: usize,
    pub(crate) value: u32,
    pub(crate) element: u32,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// The kinds of conditional nodes; the third is `switch`.
pub(crate) const IF: u32 = 0;
pub(crate) const WHILE: u32 = 1;

/// A conditional node.
#[derive(Clone)]
pub(crate) struct Conditional {
    pub(crate) handle: u64,
    pub(crate) kind: u32,
    /// The graphs of the bodies.
    pub(crate) bodies: Arc<[Handle]>,
}

/// `CUstreamBatchMemOpParams`, as words: the number of the operation, the address, the value, and the flags.
pub(crate) type Operation = [u64; 6];

/// A batch of memory operations.
#[derive(Clone)]
pub(crate) struct Batch {
    pub(crate) operations: Arc<[Operation]>,
    pub(crate) flags: u32,
    pub(crate) context: Handle,
}

#[derive(Clone)]
pub(crate) enum Work {
    Kernel(Launch),
    Copy(Copy),
    Fill(Fill),
    Call(Call),
    /// The graph of a child.
    Child(Handle),
    Empty,
    Wait(Handle),
    Record(Handle),
    Conditional(Conditional),
    /// Memory that belongs to the graph.
    Allocate(Arc<Block>),
    Free(u64),
    Batch(Batch),
    /// A collective of NCCL's, which is one kernel for all that others see.
    Collective(Arc<dyn Task>),
}

/// Work that another module does.
pub(crate) trait Task: Send + Sync {
    fn run(&self) -> Done;
}

/// The values of conditional handles in an executable graph.
pub(crate) type Conditions = Arc<Mutex<HashMap<u64, u32>>>;

impl Work {
    /// The number of a node's type.
    pub(crate) fn node_type(&self) -> u32 {
        match self {
            Work::Kernel(_) | Work::Collective(_) => 0,
            Work::Copy(_) => 1,
            Work::Fill(_) => 2,
            Work::Call(_) => 3,
            Work::Child(_) => 4,
            Work::Empty => 5,
            Work::Wait(_) => 6,
            Work::Record(_) => 7,
            Work::Allocate(_) => 10,
            Work::Free(_) => 11,
            Work::Batch(_) => 12,
            Work::Conditional(_) => 13,
        }
    }

    /// The name of a node's type in messages.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Work::Kernel(_) => "kernel",
            Work::Copy(_) => "copy",
            Work::Fill(_) => "memset",
            Work::Call(_) => "host function",
            Work::Child(_) => "child graph",
            Work::Empty => "empty",
            Work::Wait(_) => "wait for an event",
            Work::Record(_) => "record of an event",
            Work::Allocate(_) => "allocation",
            Work::Free(_) => "free",
            Work::Batch(_) => "batch of memory operations",
            Work::Collective(_) => "collective",
            Work::Conditional(conditional) => match conditional.kind {
                IF => "if",
                WHILE => "while",
                _ => "switch",
            },
        }
    }
}

impl Copy {
    /// A copy of bytes by addresses of any memory.
    pub(crate) fn of_bytes(to: usize, to_host: bool, from: usize, from_host: bool, bytes: usize) -> Self {
        let mut words = [0; 25];
        for (first, address, is_host) in [(0, from, from_host), (11, to, to_host)] {
            words[first + 4] = if is_host { HOST } else { DEVICE } as usize;
            words[first + if is_host { 5 } else { 6 }] = address;
            (words[first + 9], words[first + 10]) = (bytes, 1);
        }
        words[22..].copy_from_slice(&[bytes, 1, 1]);
        Self { words, bytes: None }
    }

    /// The words of a side.
    pub(crate) fn side(&self, target: bool) -> &[usize] {
        if target { &self.words[11..22] } else { &self.words[..11] }
    }

    pub(crate) fn sides(&self) -> [usize; 3] {
        [self.words[22], self.words[23], self.words[24]]
    }

    /// The kinds of memory of both sides.
    pub(crate) fn kinds(&self) -> [u32; 2] {
        [false, true].map(|target| self.side(target)[4] as u32)
    }

    /// The addresses of both sides, 0 for arrays.
    pub(crate) fn addresses(&self) -> [usize; 2] {
        [false, true].map(|target| match self.side(target)[4] as u32 {
            HOST => self.side(target)[5],
            DEVICE | UNIFIED => self.side(target)[6],
            _ => 0,
        })
    }

    /// Whether it is one row of bytes.
    pub(crate) fn is_one_row(&self) -> bool {
        let [_, rows, planes] = self.sides();
        rows <= 1 && planes <= 1 && !self.kinds().contains(&ARRAY)
    }
}

impl Fill {
    /// A fill of one row.
    pub(crate) fn row(to: u64, value: u32, element: u32, width: usize) -> Self {
        Self {
            to,
            pitch: 0,
            value,
            element,
            width,
            height: 1,
        }
    }

    /// The bytes from the first to the last.
    pub(crate) fn bytes(&self) -> usize {
        let row = self.width * self.element as usize;
        (self.height.max(1) - 1) * self.pitch + row
    }
}
