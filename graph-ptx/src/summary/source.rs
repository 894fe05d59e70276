//! The sources that an address can be made from.

/// An object, or a parameter whose value counts as the address of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Source {
    /// `.shared` memory, of this block or of another one of the cluster.
    Shared,
    /// `.local` memory.
    Local,
    /// `.const` memory.
    Const,
    /// The memory that a pointer parameter of the kernel points to.
    Param(u32),
    /// The memory of a parameter of the kernel.
    ParamAddress(u32),
    /// The value of a parameter that is no pointer.
    ByValue(u32),
    /// A module-scope `.global` variable: its index in the module.
    Variable(u32),
    /// A `.param` variable inside a function: its slot (see `flow`).
    Slot(u32),
    /// The workspace of a cooperative launch, where its blocks meet. No graph knows it.
    Workspace,
    /// A part of the workspace's address, which is no address by itself.
    WorkspacePart(Part),
}

/// A part of a 64-bit address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Part {
    /// The lower 32 bits (`%envreg2`), extended with zeros.
    Low,
    /// The upper 32 bits (`%envreg1`), as a number.
    High,
    /// The upper 32 bits in their place.
    Top,
}
