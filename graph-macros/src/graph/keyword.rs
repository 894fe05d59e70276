//! The keywords that begin statements: those of kinds of memory and of nodes, and a few others.

use graph_plan::{Memory, NodeKind};
use proc_macro2::Ident;
use std::fmt;

/// The first word of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keyword {
    Memory(Memory),
    Node(NodeKind),
    Param,
    Let,
    Rng,
    For,
    Each,
}

impl Keyword {
    /// All keywords.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let memory = Memory::ALL
            .iter()
            .filter_map(|memory| Memory::of_keyword(memory.keyword()));
        let nodes = NodeKind::ALL.iter().copied().map(Self::Node);
        let others = [Self::Param, Self::Let, Self::Rng, Self::For, Self::Each];
        memory.map(Self::Memory).chain(nodes).chain(others)
    }

    /// The word as it is written.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Memory(memory) => memory.keyword(),
            Self::Node(kind) => kind.keyword(),
            Self::Param => "param",
            Self::Let => "let",
            Self::Rng => "rng",
            Self::For => "for",
            Self::Each => "each",
        }
    }

    /// The keyword that a word is.
    pub(crate) fn of(word: &Ident) -> Option<Self> {
        // Comparing an `Ident` with text makes a `String` of it each time.
        let word = word.to_string();
        Self::all().find(|keyword| keyword.as_str() == word)
    }

    /// The keyword that a misspelt word was probably meant to be.
    pub(crate) fn nearest(word: &Ident) -> Option<Self> {
        let words = Self::all().map(Self::as_str);
        let nearest = graph_plan::nearest(&word.to_string().to_lowercase(), words)?;
        Self::all().find(|keyword| keyword.as_str() == nearest)
    }
}

impl fmt::Display for Keyword {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
