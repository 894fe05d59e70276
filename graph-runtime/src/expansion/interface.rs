//! Declared graphs as child graphs: the interface that a child offers, and the checks of the values bound to it.

use crate::error::{Error, Result, Site};
use crate::expansion::node_target::NodeTarget;
use crate::graph::change::update::Update;
use crate::graph::handle::NodeHandle;
use crate::shape::place::Place;
use crate::shape::table::Table;
use graph_plan::{ArenaSize, Mode, Text, same};
use std::marker::PhantomData;

/// The names that a parent binds in a graph, and other facts that a parent needs.
#[derive(Clone, Copy, Debug)]
pub struct Interface {
    /// The graph's name.
    pub graph: &'static str,
    /// The memory, each with the accesses of the nodes to it: `Atomic` if all accesses are atomic, `ReadWrite` if a
    /// node writes it in any other way.
    pub memory: &'static [(&'static str, Mode)],
    /// The build arguments and params, each with whether it must be bound.
    pub values: &'static [(&'static str, bool)],
    /// The names that can be bound only where their statements are visible.
    pub restricted: &'static [&'static str],
    /// A node that no conditional body may hold, and its keyword, if the graph or a child of it has such a node.
    pub unconditional: Option<(&'static str, &'static str)>,
    /// The size of its arena, with the scratch memory of its children.
    pub scratch: ArenaSize,
}

impl Interface {
    /// An interface without names, of no graph.
    pub const EMPTY: Self = Self {
        graph: "",
        memory: &[],
        values: &[],
        restricted: &[],
        unconditional: None,
        scratch: ArenaSize::of(0),
    };
}

/// A graph type that `cuda_graph!` has declared.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no graph",
    label = "not declared by `cuda_graph!`",
    note = "a child is another graph, bound by name: `graph step = Step(data: &mut data);`"
)]
pub trait DeclaredGraph {
    /// The handles of its nodes where it is a child.
    type Nodes<'nodes>;

    /// The handles of the nodes of the child that `node` is.
    #[doc(hidden)]
    fn __nodes(node: NodeHandle<'_>) -> Self::Nodes<'_>;
}

/// Stands for the type of a graph.
pub const fn graph_type<G: DeclaredGraph>() -> PhantomData<G> {
    PhantomData
}

/// A stand-in for the items of a graph, for types that are none: so rustc reports only that [`DeclaredGraph`] is not
/// implemented.
pub trait NoGraph: Sized {
    /// An interface without names.
    #[doc(hidden)]
    const __INTERFACE: Interface = Interface::EMPTY;

    /// Binds nothing.
    #[doc(hidden)]
    fn __unbound() {}

    /// Declares nothing.
    #[doc(hidden)]
    fn __declare<O, S>(_: O, _: S) -> Result<()> {
        Ok(())
    }

    /// Changes nothing. Graphs whose nodes mention no params use this one, too.
    #[doc(hidden)]
    fn __update<S>(_: &mut Update<'_>, _: S) -> Result<()> {
        Ok(())
    }
}

impl<T> NoGraph for T {}

/// Memory that a parent can bind as the place `P` of a child.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is bound as `{P}` [shape-mismatch]",
    label = "another shape",
    note = "memory whose lengths the child takes as build arguments is bound to memory of as many dimensions, with its elements"
)]
pub trait BindTo<P> {
    /// The place that the child uses.
    #[doc(hidden)]
    fn bind(&self) -> P;
}

#[diagnostic::do_not_recommend]
impl<S: ?Sized, M> BindTo<Place<S, M>> for Place<S, M> {
    fn bind(&self) -> Place<S, M> {
        *self
    }
}

#[diagnostic::do_not_recommend]
impl<T, const N: usize, M> BindTo<Place<[T], M>> for Place<[T; N], M> {
    fn bind(&self) -> Place<[T], M> {
        Place::new(self.span)
    }
}

/// Memory of other shapes with the same number of dimensions, for a child that takes all lengths as build arguments.
macro_rules! bind_tables {
    ($([$($length:ident)*] $shape:ty => $dimensions:literal;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T, M, $(const $length: usize),*> BindTo<Place<Table<T, $dimensions>, M>> for Place<$shape, M> {
            fn bind(&self) -> Place<Table<T, $dimensions>, M> {
                self.as_table()
            }
        }
    )*};
}
bind_tables! {
    [A B] [[T; B]; A] => 2;
    [B] [[T; B]] => 2;
    [A B C] [[[T; C]; B]; A] => 3;
    [B C] [[[T; C]; B]] => 3;
    [C] Table<[T; C], 2> => 3;
    [A B C D] [[[[T; D]; C]; B]; A] => 4;
    [B C D] [[[[T; D]; C]; B]] => 4;
    [D] Table<[T; D], 3> => 4;
    [C D] Table<[[T; D]; C], 2> => 4;
}

/// The form of the value in a binding, `name: value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// `&memory`
    Read,
    /// `&mut memory`
    Write,
    /// An expression.
    Value,
    /// An expression that mentions a param.
    Param,
}

impl Interface {
    /// Asserts that the child graph of `node` has the name `name`, and that it can be bound in this form. `visible`
    /// says whether its statement is visible to the parent, if it has a visibility.
    #[track_caller]
    pub const fn check_binding(&self, node: &str, (name, visible): (&str, bool), bound: Bound) {
        if self.graph.is_empty() {
            return;
        }
        let template = match (find(self.memory, name), find(self.values, name), bound) {
            _ if contains(self.restricted, name) && !visible => {
                "node `{0}`: `{1}` of `{2}` is private here, so it cannot be bound [signature]\n\
                 note: the visibility of its statement limits who gives it other contents\n\
                 help: use `{2}` as a child only where `{1}` is visible, or widen the visibility"
            }
            (Some(Mode::Write | Mode::ReadWrite), _, Bound::Read) => {
                "node `{0}`: `{2}` writes `{1}` [access]\nhelp: pass `&mut`"
            }
            (Some(_), _, Bound::Value | Bound::Param) => {
                "node `{0}`: `{1}` of `{2}` is memory, but bound by value [signature]\nhelp: borrow it: `&` or `&mut`"
            }
            (_, Some(_), Bound::Read | Bound::Write) => {
                "node `{0}`: `{1}` of `{2}` is a value, but bound to memory [signature]\nhelp: pass a value, without `&`"
            }
            (_, Some(true), Bound::Param) => {
                "node `{0}`: `{1}` of `{2}` is fixed when the graph is built, but bound to a `param` [signature]\n\
                 help: bind a literal, a constant or a build argument, or declare `{1}` as a `param`"
            }
            (None, None, _) => "node `{0}`: `{2}` has nothing named `{1}` to bind [signature]",
            _ => return,
        };
        let text = Text::filled(template, &[node, name, self.graph]);
        match (find(self.memory, name), find(self.values, name)) {
            (None, None) => panic!("{}", listed(text, self).as_str()),
            _ => panic!("{}", text.as_str()),
        }
    }

    /// Asserts that the names bound in the child graph of `node` include all that must be bound.
    #[track_caller]
    pub const fn check_bound(&self, node: &str, names: &[&str]) {
        let mut index = 0;
        while index < self.memory.len() + self.values.len() {
            let (name, needed) = if index < self.memory.len() {
                (self.memory[index].0, true)
            } else {
                self.values[index - self.memory.len()]
            };
            index += 1;
            if needed && !contains(names, name) {
                let template = if is_field(name) {
                    "node `{0}`: `{2}` takes groups of memory, as `{1}`, so it is no child of another graph [signature]\n\
                     help: let `{2}` take the memory of one group as arguments of its own"
                } else {
                    "node `{0}` does not bind `{1}` of `{2}` [signature]\nhelp: add `{1}: ..` to its bindings"
                };
                panic!("{}", Text::filled(template, &[node, name, self.graph]).as_str());
            }
        }
    }

    /// The first node of these graphs that no conditional body may hold, if any.
    pub const fn unconditional_in(children: &[&Interface]) -> Option<(&'static str, &'static str)> {
        let mut index = 0;
        while index < children.len() {
            if children[index].unconditional.is_some() {
                return children[index].unconditional;
            }
            index += 1;
        }
        None
    }

    /// Asserts that the child graph can be in a conditional body of `owner`.
    #[track_caller]
    pub const fn check_unconditional(&self, owner: &str) {
        let Some((node, keyword)) = self.unconditional else {
            return;
        };
        let template = "{0} node `{1}` of `{2}` cannot be in the body of `{3}` [conditional-body]\n\
                        note: CUDA runs kernels, copies, memsets, joins, captures, child graphs and conditionals in \
                        conditional bodies, and nothing else\n\
                        help: move the child out of the body, before or after `{3}`";
        panic!(
            "{}",
            Text::filled(template, &[keyword, node, self.graph, owner]).as_str()
        );
    }

    /// Whether the graph accesses the memory of this name by atomic operations alone.
    pub const fn updates(&self, name: &str) -> bool {
        matches!(find(self.memory, name), Some(Mode::Atomic))
    }

    /// Returns the value that was bound as `name`. (The macro has checked that there is one.)
    ///
    /// # Errors
    /// [`Error::Node`] if there is none.
    pub fn bound<T>(slot: Option<T>, graph: &impl NodeTarget, name: &str) -> Result<T> {
        slot.ok_or_else(|| Error::Node {
            site: Site::graph(graph.graph_name()),
            message: format!("`{name}` of a child graph is not bound"),
        })
    }
}

/// The value beside `name` in `names`, if it is there.
const fn find<T: Copy>(names: &[(&str, T)], name: &str) -> Option<T> {
    let mut index = 0;
    while index < names.len() {
        if same(names[index].0, name) {
            return Some(names[index].1);
        }
        index += 1;
    }
    None
}

const fn contains(names: &[&str], name: &str) -> bool {
    let mut index = 0;
    while index < names.len() {
        if same(names[index], name) {
            return true;
        }
        index += 1;
    }
    false
}

/// Whether the name is that of a field of groups, `layers.q`.
const fn is_field(name: &str) -> bool {
    let mut index = 0;
    while index < name.len() {
        if name.as_bytes()[index] == b'.' {
            return true;
        }
        index += 1;
    }
    false
}

/// Appends a note that lists all names that can be bound.
const fn listed(mut text: Text, child: &Interface) -> Text {
    let mut index = 0;
    while index < child.memory.len() + child.values.len() {
        let name = if index < child.memory.len() {
            child.memory[index].0
        } else {
            child.values[index - child.memory.len()].0
        };
        text = text.str(if index == 0 { "\nnote: it has `" } else { "`, `" }).str(name);
        index += 1;
    }
    text.str(if index > 0 { "`" } else { "" })
}
