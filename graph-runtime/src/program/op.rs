//! The work of one node.

use crate::kernel::{Launch, Value};
use crate::program::capture::CaptureCall;
use crate::program::communicator::call::CollectiveCall;
use crate::program::event::Event;
use crate::program::host_call::HostCall;
use crate::program::raw::RawCall;
use crate::shape::part::{ByteRectangle, Part};
use crate::shape::place::Span;
use graph_plan::{LaunchConfig, NodeKind};
use std::ops::Range;
use std::sync::Arc;

/// The work of a node.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Work(Work),
    Structure(Structure),
    External(External),
}

/// Work of the device that the graph itself describes. A graph may have very many such nodes.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    Kernel(KernelOp),
    Memcpy(MemcpyOp),
    Memset(MemsetOp),
    /// No work: the node only joins edges.
    Join,
}

/// Nodes that run the nodes of bodies.
#[derive(Clone, Debug)]
pub(crate) enum Structure {
    Conditional(Conditional),
    /// Runs the nodes of this body once.
    Child(usize),
}

/// Work that objects of the user describe: functions, events, communicators, and closures that make nodes.
#[derive(Clone, Debug)]
pub(crate) enum External {
    Call(Arc<HostCall>),
    Record(Event),
    Wait(Event),
    Capture(Arc<CaptureCall>),
    Raw(Arc<RawCall>),
    Collective(Arc<CollectiveCall>),
}

impl Op {
    /// The launch of a kernel node.
    #[inline]
    pub(crate) fn kernel(&self) -> Option<&KernelOp> {
        self.work().and_then(Work::kernel)
    }

    /// The work of the device that the graph itself describes.
    #[inline]
    pub(crate) fn work(&self) -> Option<&Work> {
        match self {
            Op::Work(work) => Some(work),
            Op::Structure(_) | Op::External(_) => None,
        }
    }

    /// The conditional of an `if`, a `while` or a `switch`.
    pub(crate) fn conditional(&self) -> Option<&Conditional> {
        match self {
            Op::Structure(Structure::Conditional(conditional)) => Some(conditional),
            Op::Work(_) | Op::Structure(Structure::Child(_)) | Op::External(_) => None,
        }
    }

    /// The collective that the node is.
    pub(crate) fn collective(&self) -> Option<&Arc<CollectiveCall>> {
        match self.external()? {
            External::Collective(call) => Some(call),
            _ => None,
        }
    }

    /// The work that objects of the user describe.
    pub(crate) fn external(&self) -> Option<&External> {
        match self {
            Op::External(external) => Some(external),
            Op::Work(_) | Op::Structure(_) => None,
        }
    }

    /// Whether the node only joins edges.
    pub(crate) fn is_join(&self) -> bool {
        matches!(self, Op::Work(Work::Join))
    }
}

impl From<Work> for Op {
    fn from(work: Work) -> Self {
        Op::Work(work)
    }
}

impl From<MemcpyOp> for Work {
    fn from(copy: MemcpyOp) -> Self {
        Work::Memcpy(copy)
    }
}

impl From<MemsetOp> for Work {
    fn from(set: MemsetOp) -> Self {
        Work::Memset(set)
    }
}

impl From<Structure> for Op {
    fn from(structure: Structure) -> Self {
        Op::Structure(structure)
    }
}

impl From<External> for Op {
    fn from(external: External) -> Self {
        Op::External(external)
    }
}

impl Work {
    /// The launch of a kernel node.
    #[inline]
    pub(crate) fn kernel(&self) -> Option<&KernelOp> {
        match self {
            Work::Kernel(kernel) => Some(kernel),
            Work::Memcpy(_) | Work::Memset(_) | Work::Join => None,
        }
    }

    /// The memory that a copy or a memset writes.
    pub(crate) fn written(&self) -> Option<&ByteRectangle> {
        match self {
            Work::Memcpy(copy) => Some(&copy.to),
            Work::Memset(set) => Some(&set.to),
            Work::Kernel(_) | Work::Join => None,
        }
    }

    /// The memory that a copy reads.
    pub(crate) fn read(&self) -> Option<&ByteRectangle> {
        match self {
            Work::Memcpy(copy) => Some(&copy.from),
            Work::Memset(_) | Work::Kernel(_) | Work::Join => None,
        }
    }

    /// Whether both copy the same memory, or both set the same memory.
    pub(crate) fn touches_like(&self, other: &Self) -> bool {
        self.written().is_some() && self.written() == other.written() && self.read() == other.read()
    }

    /// Whether it does nothing: a join, or a copy or a memset of no bytes.
    pub(crate) fn is_idle(&self) -> bool {
        match self {
            Work::Kernel(_) => false,
            Work::Memcpy(_) | Work::Memset(_) => self.written().is_some_and(ByteRectangle::is_empty),
            Work::Join => true,
        }
    }
}

/// A copy. Both rectangles have the same number of rows and the same width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemcpyOp {
    pub(crate) from: ByteRectangle,
    pub(crate) to: ByteRectangle,
}

/// A memset. The value repeats a whole number of times in each row.
#[derive(Clone, Debug)]
pub(crate) struct MemsetOp {
    pub(crate) to: ByteRectangle,
    pub(crate) value: Value,
    /// Whether updates may replace the value. If so, the node is lowered in a way that fits every value.
    pub(crate) will_update: bool,
}

/// A kernel launch.
#[derive(Clone, Debug)]
pub(crate) struct KernelOp {
    /// The index into [`Program::functions`].
    pub(crate) function: u32,
    pub(crate) config: LaunchConfig,
    /// The range of [`Program::arguments`].
    pub(crate) arguments: Range<u32>,
    /// The attributes, if any. Boxed, since few nodes have them.
    pub(crate) attributes: Option<Box<KernelAttributes>>,
}

/// Attributes of a kernel node's launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KernelAttributes {
    /// The number of blocks of a cluster in each dimension.
    pub(crate) cluster: Option<[u32; 3]>,
    /// Whether all blocks run at the same time.
    pub(crate) cooperative: bool,
    /// The priority as CUDA counts: smaller numbers run sooner.
    pub(crate) priority: Option<i32>,
}

impl KernelAttributes {
    /// The attributes of a launch, if it has any.
    pub(crate) fn of(launch: &Launch) -> Option<Box<Self>> {
        let attributes = Self {
            cluster: launch.request().cluster_blocks(),
            cooperative: launch.cooperative,
            priority: None,
        };
        (attributes != Self::default()).then(|| attributes.into())
    }
}

impl KernelOp {
    /// Whether a device that accepts one of the launches accepts the other.
    pub(crate) fn is_launched_like(&self, other: &Self) -> bool {
        self.function == other.function && self.config == other.config && self.attributes == other.attributes
    }

    /// Whether all blocks must run at the same time.
    pub(crate) fn is_cooperative(&self) -> bool {
        self.attributes
            .as_ref()
            .is_some_and(|attributes| attributes.cooperative)
    }

    /// The cluster that the node asks for.
    pub(crate) fn cluster(&self) -> Option<[u32; 3]> {
        self.attributes.as_ref().and_then(|attributes| attributes.cluster)
    }
}

/// A node with bodies, whose condition decides which of them run.
#[derive(Clone, Debug)]
pub(crate) struct Conditional {
    pub(crate) kind: ConditionalKind,
    /// The resource of the condition, which is one `u32` in device memory.
    resource: u32,
    /// The offset of the condition in the resource, in bytes.
    start: usize,
    /// The bodies, as indices into the draft's.
    pub(crate) bodies: Vec<usize>,
}

/// The kinds of conditionals, which differ in their bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConditionalKind {
    /// If the condition is not 0, the first body runs; if it is 0, the second body runs, if there is one.
    If,
    /// The body runs while the condition is not 0.
    While,
    /// The body whose number the condition is runs, if there is one. Bodies are counted from 0.
    Switch,
}

impl ConditionalKind {
    /// The kind of the node in the plan.
    pub(crate) fn node(self) -> NodeKind {
        match self {
            Self::If => NodeKind::If,
            Self::While => NodeKind::While,
            Self::Switch => NodeKind::Switch,
        }
    }
}

impl Conditional {
    /// A conditional without bodies.
    pub(crate) fn new(kind: ConditionalKind, condition: Span) -> Self {
        Self {
            kind,
            resource: condition.resource as u32,
            start: condition.start,
            bodies: Vec::new(),
        }
    }

    /// The body that runs while the condition has this value, if any.
    pub(crate) fn chosen(&self, value: u32) -> Option<usize> {
        // A `while` has body 0 only, so 1 ends it.
        let index = match self.kind {
            ConditionalKind::If | ConditionalKind::While => usize::from(value == 0),
            ConditionalKind::Switch => value as usize,
        };
        self.bodies.get(index).copied()
    }

    /// The memory of the condition.
    pub(crate) fn condition(&self) -> Part {
        Part {
            resource: self.resource,
            start: self.start,
            bytes: size_of::<u32>(),
        }
    }
}
