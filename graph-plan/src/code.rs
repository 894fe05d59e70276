//! The stable codes of all diagnostics.

use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $text:literal,)*) => {
        /// The code of a rule. Every message ends its first line with it, in square brackets; `docs/diagnostics.md`
        /// explains each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code { $($(#[$doc])* $variant,)* }

        impl Code {
            /// All codes, errors first.
            pub const ALL: &[Code] = &[$(Code::$variant),*];

            /// The code as it is written in messages: `out-of-bounds`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $text,)* }
            }
        }
    };
}

codes! {
    /// The text is not in the grammar.
    Syntax = "syntax",
    /// Two names of a graph are the same.
    DuplicateName = "duplicate-name",
    /// `after` names no node.
    UnknownNode = "unknown-node",
    /// A place names no resource.
    UnknownResource = "unknown-resource",
    /// `after` names the node itself.
    SelfDependency = "self-dependency",
    /// `after` names one node twice.
    DuplicateDependency = "duplicate-dependency",
    /// The `after` edges form a cycle.
    Cycle = "cycle",
    /// Two unordered nodes touch overlapping memory and one writes.
    Race = "race",
    /// One node gets the same memory as `&mut` and again as anything else.
    AliasedArgument = "aliased-argument",
    /// Host memory is given where device memory is needed, or the reverse.
    WrongMemory = "wrong-memory",
    /// The two sides of a memcpy differ in shape.
    ShapeMismatch = "shape-mismatch",
    /// An index or range exceeds a length.
    OutOfBounds = "out-of-bounds",
    /// `scratch` memory is read before anything has written it.
    Uninitialized = "uninitialized",
    /// Launch dimensions are zero, over CUDA's limits or against the kernel's own.
    LaunchConfig = "launch-config",
    /// A `#[requires]` does not hold.
    Contract = "contract",
    /// The PTX has no such kernel.
    MissingKernel = "missing-kernel",
    /// A kernel declaration differs from its PTX in parameters.
    Signature = "signature",
    /// A kernel declaration promises less access than its PTX takes.
    Access = "access",
    /// A kernel that is declared `safe` leaves the memory of its arguments.
    KernelBounds = "kernel-bounds",
    /// A kernel is not proved to stay within the memory of its arguments.
    Unproved = "unproved",
    /// The PTX file cannot be read or parsed.
    PtxFile = "ptx-file",
    /// The CUDA source beside a PTX file has changed since the file was made.
    StalePtx = "stale-ptx",
    /// A programmatic edge that the kernel's PTX does not make safe.
    ProgrammaticEdge = "programmatic-edge",
    /// A conditional body holds a node that CUDA does not allow there.
    ConditionalBody = "conditional-body",
    /// Nothing in the body of a `while` writes its condition.
    EndlessWhile = "endless-while",
    /// Nothing orders two collectives.
    CollectiveOrder = "collective-order",
    /// A condition that may differ between ranks decides whether a collective runs.
    RankDependent = "rank-dependent",
    /// A resource is used by no node (a warning).
    UnusedResource = "unused-resource",
    /// An edge is implied by a longer path (a warning).
    RedundantEdge = "redundant-edge",
    /// A node whose results nothing uses (a warning).
    DeadNode = "dead-node",
    /// A parameter is declared `&mut` but never written (a warning).
    NeedlessMut = "needless-mut",
    /// Two threads of a kernel access one element, one of them writes, and no barrier is between (a warning).
    KernelRace = "kernel-race",
}

impl Code {
    /// Whether this is a warning rather than an error.
    pub const fn is_warning(self) -> bool {
        matches!(
            self,
            Code::UnusedResource | Code::RedundantEdge | Code::DeadNode | Code::NeedlessMut | Code::KernelRace
        )
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
