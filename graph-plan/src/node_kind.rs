//! The kinds of nodes: a row for each, with its family. Most rules are about families, so that they hold for a new
//! kind.

macro_rules! node_kinds {
    ($($(#[$doc:meta])* $kind:ident = $keyword:literal, $family:ident;)*) => {
        /// The kind of a node.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
        pub enum NodeKind {
            $($(#[$doc])* $kind,)*
        }

        impl NodeKind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// The keyword of the statement that declares such a node.
            pub const fn keyword(self) -> &'static str {
                match self {
                    $(Self::$kind => $keyword,)*
                }
            }

            /// The family of the kind.
            pub const fn family(self) -> Family {
                match self {
                    $(Self::$kind => Family::$family,)*
                }
            }
        }
    };
}

node_kinds! {
    /// Launches a kernel.
    Kernel = "kernel", Kernel;
    /// Copies memory.
    Memcpy = "memcpy", Copy;
    /// Fills device memory.
    Memset = "memset", Copy;
    /// Calls a host function.
    Call = "call", Call;
    /// Runs another graph.
    Graph = "graph", Child;
    /// Runs library calls that were captured from a stream.
    Capture = "capture", Library;
    /// Adds nodes by driver calls of its author.
    Raw = "raw", Library;
    /// Joins edges, and has no other effect.
    Join = "join", Join;
    /// Records an event.
    Record = "record", Event;
    /// Waits for an event.
    Wait = "wait", Event;
    /// Runs one body, or another, or none.
    If = "if", Conditional;
    /// Runs a body while its condition holds.
    While = "while", Conditional;
    /// Runs one of several bodies.
    Switch = "switch", Conditional;
    /// Combines the memory of all ranks, and leaves the result on each.
    AllReduce = "all_reduce", Collective;
    /// Puts the memory of all ranks together, on each.
    AllGather = "all_gather", Collective;
    /// Combines the memory of all ranks, and leaves each rank its part of the result.
    ReduceScatter = "reduce_scatter", Collective;
    /// Copies the memory of one rank to all.
    Broadcast = "broadcast", Collective;
    /// Sends memory to other ranks, and receives memory from others.
    Exchange = "exchange", Collective;
}

/// Kinds of nodes that most rules treat alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// A kernel that the graph launches.
    Kernel,
    /// CUDA copies or fills memory.
    Copy,
    /// The host runs a function.
    Call,
    /// Another graph runs, whose nodes are in a body.
    Child,
    /// Code of the author makes the nodes.
    Library,
    /// Nothing runs.
    Join,
    /// An event is recorded or waited for.
    Event,
    /// A condition in device memory decides which bodies run.
    Conditional,
    /// All ranks of a communicator take part.
    Collective,
}

impl NodeKind {
    /// Whether a condition in device memory decides what it runs.
    pub const fn is_conditional(self) -> bool {
        matches!(self.family(), Family::Conditional)
    }

    /// Whether all ranks of a communicator take part in it.
    pub const fn is_collective(self) -> bool {
        matches!(self.family(), Family::Collective)
    }

    /// Whether CUDA allows it in conditional bodies.
    pub const fn may_be_conditional(self) -> bool {
        match self.family() {
            Family::Kernel | Family::Copy | Family::Child | Family::Join => true,
            Family::Conditional | Family::Collective => true,
            // Captured work is looked at when the graph is built.
            Family::Library => matches!(self, NodeKind::Capture),
            Family::Call | Family::Event => false,
        }
    }
}
