//! The kinds of memory: a row for each, and what follows from the kind. `check/memory.rs` has the rules of each kind.

/// The side that memory is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Page-locked host memory.
    Host,
    /// Device memory.
    Device,
}

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $kind:ident = $keyword:literal, $described:literal, $space:ident;)*) => {
        /// The kind of a resource's memory.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
        pub enum Memory {
            $($(#[doc = $doc])* $kind,)*
        }

        impl Memory {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// The keyword of the statement that declares such memory; the word for a kind that no author declares.
            pub const fn keyword(self) -> &'static str {
                match self {
                    $(Self::$kind => $keyword,)*
                }
            }

            /// The words of messages, after "is".
            pub const fn described(self) -> &'static str {
                match self {
                    $(Self::$kind => $described,)*
                }
            }

            /// The side that nodes take the memory from.
            pub const fn space(self) -> Space {
                match self {
                    $(Self::$kind => Space::$space,)*
                }
            }
        }
    };
}

// The keyword, the words of messages, and the side. Kernels take mapped memory, so it counts as device memory.
kinds! {
    /// Page-locked host memory.
    Host = "host", "host memory", Host;
    /// Device memory.
    Device = "device", "device memory", Device;
    /// Device memory whose contents last at most one launch, so that it may share addresses with resources that never
    /// live at the same time.
    Scratch = "scratch", "device memory", Device;
    /// A variable of the kernels' module that the author declares as memory.
    Constant = "constant", "a variable of a module", Device;
    /// Host memory that kernels and the host access while the graph runs.
    Mapped = "mapped", "mapped memory", Device;
    /// A CUDA array: device memory that has no address, of which only the GPU knows how it lies.
    Array = "array", "an array", Device;
    /// A module-scope variable of kernels, which no author declares.
    Variable = "variable", "device memory", Device;
}

/// The way in which a graph gives its author access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accessors {
    /// It lends the memory between launches.
    Lent,
    /// It returns a handle, which is usable during launches too.
    Handle,
    /// It has none.
    None,
}

impl Memory {
    /// The kind that a keyword declares.
    pub fn of_keyword(word: &str) -> Option<Self> {
        let mut declared = Self::ALL.iter().filter(|&&memory| memory != Memory::Variable);
        declared.find(|memory| memory.keyword() == word).copied()
    }

    /// The accessors of such memory.
    pub const fn accessors(self) -> Accessors {
        match self {
            Memory::Host | Memory::Device | Memory::Constant | Memory::Variable => Accessors::Lent,
            Memory::Mapped => Accessors::Handle,
            Memory::Scratch | Memory::Array => Accessors::None,
        }
    }

    /// Whether a node may have the name of such memory: no accessor has it.
    pub const fn may_share_name(self) -> bool {
        matches!(self.accessors(), Accessors::None)
    }

    /// Whether a graph that has another as a node may give it such memory in place of the other's own.
    pub const fn is_bindable(self) -> bool {
        match self {
            Memory::Host | Memory::Device | Memory::Mapped | Memory::Array => true,
            Memory::Scratch | Memory::Constant | Memory::Variable => false,
        }
    }

    /// Whether the module of a kernel has the memory, so that the graph neither allocates nor clears it.
    pub const fn is_of_module(self) -> bool {
        match self {
            Memory::Constant | Memory::Variable => true,
            Memory::Host | Memory::Device | Memory::Scratch | Memory::Mapped | Memory::Array => false,
        }
    }

    /// Whether it is device memory of the graph that a kernel of ours may read and write at its address.
    pub const fn is_plain_device(self) -> bool {
        match self {
            Memory::Device | Memory::Scratch => true,
            Memory::Host | Memory::Mapped | Memory::Array | Memory::Constant | Memory::Variable => false,
        }
    }

    /// Whether an author may promise that it holds the same on all ranks when a launch begins.
    pub const fn may_be_uniform(self) -> bool {
        match self {
            Memory::Host | Memory::Device => true,
            Memory::Scratch | Memory::Mapped | Memory::Array | Memory::Constant | Memory::Variable => false,
        }
    }

    /// Whether drawings name the kind. Host and device memory need no name; of scratch memory, drawings show the place.
    pub const fn is_named_in_drawings(self) -> bool {
        match self {
            Memory::Mapped | Memory::Array | Memory::Constant | Memory::Variable => true,
            Memory::Host | Memory::Device | Memory::Scratch => false,
        }
    }

    /// Whether CUDA copies it in conditional bodies.
    pub const fn is_copied_in_conditionals(self) -> bool {
        match self {
            Memory::Host | Memory::Device | Memory::Scratch => true,
            Memory::Mapped | Memory::Constant | Memory::Variable => true,
            Memory::Array => false,
        }
    }
}
