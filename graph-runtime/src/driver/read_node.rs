//! Nodes of graphs that others made, in the driver's words: what [`reading`](super::reading) reads, and
//! [`adding`](super::adding) adds.

use super::host_function::HostFunction;
use super::types::CUkernelNodeAttrID;
use std::ffi::c_uint;

/// The value of an attribute of a kernel node.
pub(super) type AttributeValue = [u64; 8];

/// `CUstreamBatchMemOpParams`
pub(super) type Operation = [u64; 6];

/// `CUDA_MEMCPY3D_v2`, whose enums the driver writes, as words.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct CopyWords {
    from: CopyEnd,
    to: CopyEnd,
    width: u64,
    height: u64,
    depth: u64,
}

/// An end of a copy.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct CopyEnd {
    /// Bytes, rows, layers and levels before the first.
    offsets: [u64; 4],
    /// `CUmemorytype`, and four bytes without meaning.
    kind: u64,
    host: u64,
    device: u64,
    array: u64,
    reserved: u64,
    pitch: u64,
    height: u64,
}

/// Addresses from the first one up to the one after the last.
pub(super) type Addresses = std::ops::Range<u64>;

impl CopyEnd {
    /// The addresses that the copy touches, as one range from the first row to the last; `None` for arrays.
    fn addresses(&self, [width, height, depth]: [u64; 3]) -> Option<Addresses> {
        const HOST: u32 = 1;
        const ARRAY: u32 = 3;
        let base = match self.kind as u32 {
            ARRAY => return None,
            HOST => self.host,
            _ => self.device,
        };
        let [x, y, z, _] = self.offsets;
        let layer = self.pitch.checked_mul(self.height)?;
        let start = base
            .checked_add(x)?
            .checked_add(y.checked_mul(self.pitch)?)?
            .checked_add(z.checked_mul(layer)?)?;
        let rows = height.max(1) - 1;
        let layers = depth.max(1) - 1;
        let last = rows
            .checked_mul(self.pitch)?
            .checked_add(layers.checked_mul(layer)?)?
            .checked_add(width)?;
        Some(start..start.checked_add(last)?)
    }
}

/// A node as the driver tells it. Handles are numbers here: nothing is done with them unless the node is
/// [added](super::adding::node) to a graph.
#[derive(Clone, Debug)]
pub(crate) enum ReadNode {
    Kernel(Box<ReadLaunch>),
    Copy(Box<ReadCopy>),
    Fill(ReadFill),
    /// A function of the host, and the address of its data.
    Host(HostFunction, usize),
    /// A child graph: the first one of the graphs that come with the node.
    Child,
    Empty,
    /// A wait for an event.
    Wait(usize),
    /// The record of an event.
    Record(usize),
    /// An allocation of memory, which has these addresses whenever the graph runs.
    Allocation(Addresses),
    /// The end of the allocation that begins at this address.
    Free(u64),
    /// Operations on words of memory, with their flags and the handle of their context.
    Batch(Vec<Operation>, u32, usize),
    /// A conditional node, and its bodies if the driver tells them.
    Conditional(Option<Conditional>),
    /// A node of another kind.
    Other,
}

/// The kind of a conditional node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conditional {
    If,
    While,
    Switch,
}

/// A copy.
#[derive(Clone, Debug)]
pub(crate) struct ReadCopy {
    pub(super) words: CopyWords,
}

impl ReadCopy {
    /// The addresses that it reads, and those that it writes, unless these are arrays.
    pub(crate) fn addresses(&self) -> [Option<Addresses>; 2] {
        let CopyWords {
            width, height, depth, ..
        } = self.words;
        [self.words.from, self.words.to].map(|end| end.addresses([width, height, depth]))
    }

    /// Whether each is one range without gaps.
    pub(crate) fn is_dense(&self) -> bool {
        self.words.height <= 1 && self.words.depth <= 1
    }
}

/// A fill.
#[derive(Clone, Debug)]
pub(crate) struct ReadFill {
    pub(super) params: [u64; 2],
    /// The value of an element, and its bytes.
    pub(crate) value: (u32, u32),
    pub(super) sides: [usize; 2],
}

impl ReadFill {
    /// A fill of one row.
    #[cfg(test)]
    pub(crate) fn row(value: u32, element: u32) -> Self {
        Self {
            params: [0, 0],
            value: (value, element),
            sides: [0, 1],
        }
    }

    /// The addresses that it writes.
    pub(crate) fn addresses(&self) -> Addresses {
        let ([to, pitch], [width, height]) = (self.params, self.sides);
        let row = (width as u64).saturating_mul(u64::from(self.value.1));
        let bytes = pitch.saturating_mul((height as u64).max(1) - 1).saturating_add(row);
        to..to.saturating_add(bytes)
    }

    /// Whether these are one range without gaps.
    pub(crate) fn is_dense(&self) -> bool {
        self.sides[1] <= 1
    }
}

/// A launch of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct ReadLaunch {
    /// The name that it has in its module, if the driver tells it (CUDA 12.3).
    pub(crate) name: Option<String>,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared: u32,
    /// The architecture of the PTX that its code was compiled of: 90 for `compute_90`.
    pub(crate) architecture: Option<u32>,
    /// The bytes of each argument, if the driver tells the sizes (CUDA 12.4), and the arguments are a list.
    pub(crate) arguments: Option<Vec<Vec<u8>>>,
    /// The addresses of the lists of arguments that the driver tells, as `kernelParams` and `extra`; each may be 0. The
    /// node owns them.
    pub(super) lists: [usize; 2],
    /// The handles of the function, the kernel and the context; one of the first two may be 0.
    pub(super) handles: [usize; 3],
    /// The attributes of the node.
    pub(super) attributes: Vec<(c_uint, AttributeValue)>,
}

/// `CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE`
pub(super) const UPDATABLE: c_uint = 13;
const COOPERATIVE: c_uint = CUkernelNodeAttrID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE as c_uint;
const CLUSTER: c_uint = CUkernelNodeAttrID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION as c_uint;
const PRIORITY: c_uint = CUkernelNodeAttrID::CU_LAUNCH_ATTRIBUTE_PRIORITY as c_uint;

impl ReadLaunch {
    /// A launch that no driver has.
    #[cfg(test)]
    pub(crate) fn named(name: &str) -> Self {
        Self {
            name: Some(name.to_owned()),
            grid: [1; 3],
            block: [1; 3],
            shared: 0,
            architecture: None,
            arguments: None,
            lists: [0; 2],
            handles: [0; 3],
            attributes: Vec::new(),
        }
    }

    /// The same with an attribute, as words of 32 bits.
    #[cfg(test)]
    pub(crate) fn with(mut self, attribute: c_uint, [x, y, z]: [u32; 3]) -> Self {
        let mut value = AttributeValue::default();
        value[0] = u64::from(x) | u64::from(y) << 32;
        value[1] = u64::from(z);
        self.attributes.push((attribute, value));
        self
    }

    /// The attributes of its statement, a line each.
    pub(crate) fn in_rust(&self) -> String {
        let attributes = self.attributes.iter().map(|(name, value)| {
            let words = value.map(|word| [word as u32, (word >> 32) as u32]);
            match (*name, words.as_flattened()) {
                (COOPERATIVE, [is_set, ..]) if *is_set != 0 => "        #[cooperative]\n".to_owned(),
                (CLUSTER, [x, y, z, ..]) if [x, y, z] != [&1; 3] && *x > 0 => {
                    format!("        #[cluster({x}, {y}, {z})]\n")
                }
                (PRIORITY, [priority, ..]) if *priority != 0 => {
                    format!("        #[priority({})]\n", priority.cast_signed())
                }
                _ => String::new(),
            }
        });
        attributes.collect()
    }

    /// Whether kernels may change the node while the graph runs.
    pub(crate) fn is_updatable(&self) -> bool {
        let is_set = |(name, value): &(c_uint, AttributeValue)| *name == UPDATABLE && value[0] as u32 != 0;
        self.attributes.iter().any(is_set)
    }
}
