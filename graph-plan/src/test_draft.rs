//! Graphs of tests, written as text:
//!
//! ```text
//! device x, y; scratch tmp; communicator world;      memory of any kind, and communicators
//! kernel a: x=, y[0..4], tmp*;      `x` is written, `y[0..4]` read, `tmp` both; `x+` is updated atomically
//! then memset b: y= after ~a;       `then` is `after` the node before; `~` is for programmatic edges
//! all_reduce sum: x* over world;
//! each i in 0..4 { kernel c: x[2 * i]= after c(-1); }       `(-1)` is the iteration before
//! if d: x { kernel e; } else { }    bodies, also of `while`, `switch` and `graph`
//! ```
//!
//! Resources, nodes, bodies, loops and edges have the order of the text.

use crate::{Affine, Bound, Draft, Edge, Memory, Mode, NodeKind, Region, Role, Shift};
use std::iter::Peekable;
use std::sync::Arc;
use std::vec::IntoIter;

/// The graph that a text describes.
pub(crate) fn draft_of(text: &str) -> Draft {
    let mut reader = Reader {
        words: words(text).into_iter().peekable(),
        draft: Draft::new("Test"),
        edges: Vec::new(),
    };
    reader.statements(0, None);
    assert_eq!(reader.words.next(), None, "{text}");
    reader.join();
    reader.draft
}

/// Edges from the first to the second node and so on.
pub(crate) fn edges<const N: usize>(pairs: [(usize, usize); N]) -> [Edge; N] {
    pairs.map(|(from, to)| Edge { from, to })
}

/// An edge whose first node may come later in the text.
struct Written<'t> {
    from: &'t str,
    to: usize,
    programmatic: bool,
    steps: Vec<i64>,
}

struct Reader<'t> {
    words: Peekable<IntoIter<&'t str>>,
    draft: Draft,
    edges: Vec<Written<'t>>,
}

/// Names and numbers, `..`, and single characters.
fn words(text: &str) -> Vec<&str> {
    let (mut words, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        let length = match rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_') {
            Some(0) if rest.starts_with("..") => 2,
            Some(0) => first.len_utf8(),
            length => length.unwrap_or(rest.len()),
        };
        words.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    words
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> &'t str {
        self.words.next().expect("the text goes on")
    }

    /// Takes the next word if it is this one.
    fn takes(&mut self, word: &str) -> bool {
        self.words.next_if_eq(&word).is_some()
    }

    /// Reads once by `read`, and again after each comma.
    fn list(&mut self, mut read: impl FnMut(&mut Self)) {
        read(self);
        while self.takes(",") {
            read(self);
        }
    }

    /// The statements of a body or of a loop, and the `}` behind them.
    fn statements(&mut self, body: usize, in_loop: Option<usize>) {
        let mut last = None;
        while let Some(word) = self.words.next().filter(|&word| word != "}") {
            if word == "for" || word == "each" {
                self.iterations(word == "each", body, in_loop);
                continue;
            }
            if word == "then" {
                let keyword = self.next();
                last = Some(self.node(keyword, body, in_loop, last));
                continue;
            }
            let memory = Memory::ALL.iter().find(|memory| memory.keyword() == word);
            match (word, memory) {
                ("communicator", _) => self.list(|reader| {
                    let name = reader.next().to_owned();
                    reader.draft.communicator(name);
                }),
                (_, Some(&memory)) => self.list(|reader| {
                    let name = reader.next().to_owned();
                    reader.draft.resource(name, memory);
                }),
                _ => {
                    last = Some(self.node(word, body, in_loop, None));
                    continue;
                }
            }
            assert_eq!(self.next(), ";");
        }
    }

    fn iterations(&mut self, parallel: bool, body: usize, parent: Option<usize>) {
        let variable = self.next().to_owned();
        let outside = self.draft.bodies[body]
            .node
            .and_then(|node| self.draft.loop_around(node));
        let add = if parallel { Draft::each } else { Draft::for_loop };
        let around = add(&mut self.draft, variable, parent.or(outside));
        if self.takes("in") {
            let first = self.sum();
            assert_eq!(self.next(), "..");
            let last = self.sum().plus(&literal(-1));
            let variable = Arc::make_mut(&mut self.draft.loops[around].variable);
            (variable.first, variable.last) = (Some(first), last);
        }
        assert_eq!(self.next(), "{");
        self.statements(body, Some(around));
    }

    /// A node from after its keyword, with its bodies.
    fn node(&mut self, keyword: &str, body: usize, in_loop: Option<usize>, before: Option<usize>) -> usize {
        let kind = NodeKind::ALL.iter().find(|kind| kind.keyword() == keyword);
        let kind = *kind.unwrap_or_else(|| panic!("no statement begins with `{keyword}`"));
        let name = self.next();
        let node = self.draft.node_in(body, name.to_owned(), kind);
        self.draft.nodes[node].in_loop = in_loop;
        if let Some(before) = before {
            self.draft.edge(before, node);
        }
        if self.takes(":") {
            self.list(|reader| reader.access(node));
        }
        if self.takes("over") {
            let name = self.next();
            let known = self.draft.communicators.iter().position(|known| known == name);
            self.draft.collective(node, known.expect("a communicator"));
        }
        if self.takes("after") {
            self.list(|reader| reader.edge(node));
        }
        let roles = match kind {
            NodeKind::If => [Role::Then, Role::Else],
            NodeKind::While => [Role::While; 2],
            NodeKind::Graph => [Role::Child; 2],
            _ => [Role::Case; 2],
        };
        let mut role = roles[0];
        while self.takes("{") {
            let body = self.draft.body(node, role);
            self.statements(body, None);
            self.takes("else");
            role = roles[1];
        }
        self.takes(";");
        node
    }

    /// A part of memory and the mode of its access.
    fn access(&mut self, node: usize) {
        let name = self.next();
        let resource = self.draft.resources.iter().position(|known| known.name == name);
        let resource = resource.unwrap_or_else(|| panic!("no memory is named `{name}`"));
        let region = if self.takes("[") { self.region() } else { Region::Whole };
        let modes = [
            ("=", Mode::Write),
            ("*", Mode::ReadWrite),
            ("+", Mode::Atomic),
            ("!", Mode::Mapped),
        ];
        let mode = modes.into_iter().find(|(sign, _)| self.takes(sign));
        self.draft
            .access(node, resource, region, mode.map_or(Mode::Read, |(_, mode)| mode));
    }

    /// An index or a range, and the `]` behind it.
    fn region(&mut self) -> Region {
        let start = self.bound();
        let region = if !self.takes("..") {
            Region::Index(start)
        } else if self.words.peek() == Some(&"]") {
            Region::Range(start, Bound::End)
        } else {
            Region::Range(start, self.bound())
        };
        assert_eq!(self.next(), "]");
        region
    }

    /// A number, a sum of loop variables, or the name of something else.
    fn bound(&mut self) -> Bound {
        let word = self.words.peek().copied().unwrap_or_default();
        if word.starts_with(char::is_alphabetic) && self.variable(word).is_none() {
            return Bound::Symbol(self.next().to_owned());
        }
        let sum = self.sum();
        match sum.value() {
            Some(value) => Bound::Known(value.try_into().expect("a length")),
            None => Bound::Affine(Box::new(sum)),
        }
    }

    /// The variable of the last loop of this name.
    fn variable(&self, name: &str) -> Option<Affine> {
        let found = self.draft.loops.iter().rfind(|known| known.variable.name == name);
        found.map(|known| Affine::variable(&known.variable))
    }

    /// `2 * i - j + 1`
    fn sum(&mut self) -> Affine {
        let (mut sum, mut sign) = (literal(0), if self.takes("-") { -1 } else { 1 });
        loop {
            let word = self.next();
            let term = match word.parse() {
                Ok(factor) if self.takes("*") => {
                    let name = self.next();
                    self.variable(name).expect("a variable").times(factor)
                }
                Ok(number) => Some(literal(number.into())),
                Err(_) => self.variable(word),
            };
            let term = term.and_then(|term| term.times(sign));
            sum = sum.plus(&term.expect("a small sum")).expect("a small sum");
            sign = match self.words.peek() {
                Some(&"+") => 1,
                Some(&"-") => -1,
                _ => return sum,
            };
            self.next();
        }
    }

    fn edge(&mut self, to: usize) {
        let programmatic = self.takes("~");
        let from = self.next();
        let mut steps = Vec::new();
        if self.takes("(") {
            self.list(|reader| steps.push(reader.sum().value().expect("a number")));
            assert_eq!(self.next(), ")");
        }
        self.edges.push(Written {
            from,
            to,
            programmatic,
            steps,
        });
    }

    /// Adds the edges, when all nodes are known.
    fn join(&mut self) {
        for Written {
            from,
            to,
            programmatic,
            steps,
        } in std::mem::take(&mut self.edges)
        {
            let known = self.draft.nodes.iter().position(|node| node.name == from);
            let from = known.unwrap_or_else(|| panic!("no node is named `{from}`"));
            match (steps.is_empty(), programmatic) {
                (true, false) => self.draft.edge(from, to),
                (true, true) => self.draft.programmatic_edge(from, to),
                (false, _) => {
                    self.draft.shifts.push(Shift {
                        from,
                        to,
                        steps,
                        programmatic,
                    });
                    self.draft.shifts.len()
                }
            };
        }
    }
}

fn literal(value: i128) -> Affine {
    Affine::literal(value).expect("a small number")
}
