//! The keywords that begin statements. A new keyword does not compile until parser and editor have decided what it
//! means; the keywords of memory mean the same to both.

use graph_plan::Memory;
use proc_macro2::Ident;
use std::fmt;

macro_rules! keywords {
    ($($keyword:ident = $word:literal,)*) => {
        /// The first word of a statement.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Keyword {
            /// The keyword of a kind of memory.
            Memory(Memory),
            $($keyword,)*
        }

        impl Keyword {
            /// All keywords.
            pub(crate) fn all() -> impl Iterator<Item = Self> {
                let memory = Memory::ALL.iter().filter_map(|memory| Memory::of_keyword(memory.keyword()));
                memory.map(Self::Memory).chain([$(Self::$keyword),*])
            }

            /// The word as it is written.
            pub(crate) fn as_str(self) -> &'static str {
                match self {
                    Self::Memory(memory) => memory.keyword(),
                    $(Self::$keyword => $word,)*
                }
            }

            /// The keyword that a word is.
            pub(crate) fn of(word: &Ident) -> Option<Self> {
                // Comparing an `Ident` with text makes a `String` of it each time.
                match &*word.to_string() {
                    $($word => Some(Self::$keyword),)*
                    word => Memory::of_keyword(word).map(Self::Memory),
                }
            }
        }
    };
}

keywords! {
    Param = "param",
    Rng = "rng",
    Kernel = "kernel",
    Memcpy = "memcpy",
    Memset = "memset",
    Call = "call",
    Graph = "graph",
    Capture = "capture",
    Raw = "raw",
    Join = "join",
    Record = "record",
    Wait = "wait",
    If = "if",
    While = "while",
    Switch = "switch",
    For = "for",
    Each = "each",
}

impl Keyword {
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
