//! A graph as it is written, before its names are resolved.

mod action;

pub(crate) use action::{
    Action, Argument, Binding, Body, Call, CallParameter, Child, Collective, Conditional, Dependency, Extent, Function,
    Iteration, Launch, Library, Move, Node, StandIn, Use,
};

use super::sum::Sum;
use crate::text::plain;
use graph_plan::{Memory, Space};
use proc_macro2::{Delimiter, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use std::fmt;
use std::ops::Deref;
use syn::ext::IdentExt;
use syn::{Attribute, Expr, Generics, Ident, LitStr, Path, Token, Type, Visibility};

/// The content of one `cuda_graph!`.
#[derive(Debug)]
pub(crate) enum Input {
    Items(Items),
    Expression(Box<Expression>),
}

/// Graphs, and the groups of memory that they take.
#[derive(Debug, Default)]
pub(crate) struct Items {
    pub(crate) graphs: Vec<Item>,
    pub(crate) groups: Vec<Group>,
}

/// `&device => statements`
#[derive(Debug)]
pub(crate) struct Expression {
    pub(crate) device: Expr,
    pub(crate) arrow: Token![=>],
    /// As in [`Item`].
    pub(crate) auto: bool,
    pub(crate) statements: Vec<Statement>,
    /// As in [`Item`].
    pub(crate) unparsed: Vec<Ident>,
    /// As in [`Item`].
    pub(crate) kernels: Vec<Path>,
}

/// `pub graph Name<..>(..) { .. }`
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) attributes: Attributes,
    pub(crate) name: Ident,
    pub(crate) generics: Generics,
    pub(crate) arguments: Vec<BuildArgument>,
    /// Whether it begins with `#![after(auto)]`.
    pub(crate) auto: bool,
    pub(crate) statements: Vec<Statement>,
    pub(crate) form: Form,
    /// The names of arguments and statements, at any depth, that could not be parsed. Mentions of them are no further
    /// mistakes.
    pub(crate) unparsed: Vec<Ident>,
    /// The kernels of launches that could not be parsed.
    pub(crate) kernels: Vec<Path>,
}

/// The form of a graph in the program.
#[derive(Debug)]
pub(crate) enum Form {
    /// A type.
    Item,
    /// An expression, whose type is a `Result` of a graph that is built on the device. After parsing it becomes an
    /// item.
    Expression(Box<Expr>, Token![=>]),
}

/// An argument of `build`.
#[derive(Debug)]
pub(crate) enum BuildArgument {
    /// `n: usize`
    Value { name: Ident, ty: Box<Type> },
    /// `world: &Communicator`. The type is the one without `&`: the graph keeps a handle of its own.
    Communicator { name: Ident, ty: Box<Type> },
    /// `w: device [f32; N]` or `out: mut host [f32; N]`: memory shared with others.
    Memory(Box<Resource>),
    /// `layers: [Layer; n]`: several groups of such memory. The parser takes it for a value.
    Group(Box<GroupArgument>),
    /// An argument that could not be parsed, which is reported.
    Unknown(Ident),
}

impl BuildArgument {
    pub(crate) fn name(&self) -> &Ident {
        match self {
            BuildArgument::Value { name, .. } | BuildArgument::Communicator { name, .. } => name,
            BuildArgument::Memory(resource) => &resource.name,
            BuildArgument::Group(group) => &group.name,
            BuildArgument::Unknown(name) => name,
        }
    }
}

/// `group Layer { q: device [f32; d], .. }`: memory that belongs together.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) attributes: Attributes,
    pub(crate) name: Ident,
    /// The fields, as shared memory of each group.
    pub(crate) fields: Vec<Resource>,
}

/// `layers: [Layer; n]`
#[derive(Debug)]
pub(crate) struct GroupArgument {
    pub(crate) name: Ident,
    /// The name of the group's type.
    pub(crate) group: Ident,
    /// The number of groups.
    pub(crate) length: Expr,
    /// The fields, as memory with one more dimension, the outermost: `layers.q` has a row for each group. Each row is
    /// memory of its own, so no range of rows is a place.
    pub(crate) fields: Vec<Resource>,
}

impl GroupArgument {
    /// Whether the graph may write a field.
    pub(crate) fn is_mutable(&self) -> bool {
        self.fields.iter().any(Resource::is_mutable)
    }
}

/// The name of memory: `x`; of a field of a group, `layers.q`.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    /// The name of fields and variables in the expansion.
    ident: Ident,
    /// The argument and the field.
    path: Option<(Ident, Ident)>,
}

impl Name {
    /// The name of a field.
    pub(crate) fn of_field(argument: &Ident, field: &Ident) -> Self {
        Self {
            ident: format_ident!("{}__{}", argument.unraw(), field.unraw(), span = argument.span()),
            path: Some((argument.clone(), field.clone())),
        }
    }

    /// The name that closures which borrow the memory have for it: that of the field.
    pub(crate) fn short(&self) -> &Ident {
        self.path.as_ref().map_or(&self.ident, |(_, field)| field)
    }

    /// The memory that a part of the outermost dimension selects, `x[2]` or `layers[2].q`; the part has its brackets.
    pub(crate) fn with_part(&self, part: &str) -> String {
        match &self.path {
            Some((argument, field)) => format!("{argument}{part}.{field}"),
            None => format!("{}{part}", self.ident),
        }
    }

    /// The argument and the field, if it is the name of a field.
    pub(crate) fn path(&self) -> Option<&(Ident, Ident)> {
        self.path.as_ref()
    }
}

impl From<Ident> for Name {
    fn from(ident: Ident) -> Self {
        Self { ident, path: None }
    }
}

/// The name in expansions. Messages show the path.
impl Deref for Name {
    type Target = Ident;

    fn deref(&self) -> &Ident {
        &self.ident
    }
}

impl ToTokens for Name {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.ident.to_tokens(tokens);
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some((argument, field)) => write!(f, "{argument}.{field}"),
            None => self.ident.fmt(f),
        }
    }
}

/// `#[..]` before a graph or a statement, and its visibility.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attributes {
    /// The visibility of the graph's type, or of the methods that are made for the statement.
    pub(crate) visibility: Option<Visibility>,
    /// Documentation, which is passed on to the generated items.
    pub(crate) docs: Vec<Attribute>,
    /// The rules of `#[allow(rule)]`, spelled with dashes.
    pub(crate) allowed: Vec<String>,
    /// The attributes that only nodes have.
    pub(crate) node: NodeAttributes,
    /// Whether a reported mistake makes it unknown which nodes the statement runs after.
    pub(crate) astray: bool,
}

/// The attributes of nodes, each with the span of its name.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeAttributes {
    /// `#[priority(n)]`
    pub(crate) priority: Option<(Span, Expr)>,
    /// `#[cluster(x, y, z)]`
    pub(crate) cluster: Option<(Span, Extent)>,
    /// `#[cooperative]`
    pub(crate) cooperative: Option<Span>,
    /// `#[disabled]`
    pub(crate) disabled: Option<Span>,
}

impl NodeAttributes {
    /// The span of an attribute, if it is given.
    pub(crate) fn span(&self, attribute: NodeAttribute) -> Option<Span> {
        match attribute {
            NodeAttribute::Priority => self.priority.as_ref().map(|(span, _)| *span),
            NodeAttribute::Cluster => self.cluster.as_ref().map(|(span, _)| *span),
            NodeAttribute::Cooperative => self.cooperative,
            NodeAttribute::Disabled => self.disabled,
        }
    }
}

/// An attribute that only nodes have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeAttribute {
    Priority,
    Cluster,
    Cooperative,
    Disabled,
}

impl NodeAttribute {
    pub(crate) const ALL: [Self; 4] = [Self::Priority, Self::Cluster, Self::Cooperative, Self::Disabled];

    /// The word in the brackets.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Priority => "priority",
            Self::Cluster => "cluster",
            Self::Cooperative => "cooperative",
            Self::Disabled => "disabled",
        }
    }
}

/// A declaration in a graph's body.
#[derive(Debug)]
pub(crate) enum Statement {
    Resource(Resource),
    Param(Param),
    Let(Let),
    Node(Box<Node>),
    For(Box<For>),
}

impl Statement {
    /// The name that the statement declares; of a loop, its variable.
    pub(crate) fn name(&self) -> &Ident {
        match self {
            Statement::Resource(resource) => &resource.name,
            Statement::Param(param) => &param.name,
            Statement::Let(value) => &value.name,
            Statement::Node(node) => &node.name,
            Statement::For(for_loop) => &for_loop.variable,
        }
    }

    /// Visits the statements, and those in their bodies, in the order in which they are written.
    pub(crate) fn visit<'a>(statements: &'a [Self], found: &mut impl FnMut(&'a Self)) {
        for statement in statements {
            found(statement);
            match statement {
                Statement::Node(node) => {
                    let bodies = node.action.bodies().iter();
                    bodies.for_each(|(_, body)| Self::visit(&body.statements, found));
                }
                Statement::For(for_loop) => Self::visit(&for_loop.statements, found),
                Statement::Resource(_) | Statement::Param(_) | Statement::Let(_) => {}
            }
        }
    }
}

/// `host x: shape;`, `device`, `scratch`, `mapped` or `array x: shape;`, `constant x: shape = "name";` or
/// `rng x = seed, draws n;`, or memory that comes from outside.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    pub(crate) attributes: Attributes,
    /// The span of the keyword; for shared memory with `mut`, of that word.
    pub(crate) keyword: Span,
    pub(crate) kind: ResourceKind,
    pub(crate) name: Name,
    /// The shape; for an `rng`, the shape of the state that a kernel gets.
    pub(crate) shape: Shape,
    /// Seed and draws of an `rng`.
    pub(crate) random: Option<Box<Random>>,
    /// The name that a `constant` has in the PTX.
    pub(crate) symbol: Option<LitStr>,
    /// The word `uniform`: the author promises that it holds the same on all ranks when a launch begins.
    pub(crate) uniform: Option<Ident>,
}

/// Seed and draws of an `rng`, which follow its name.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    pub(crate) seed: Expr,
    /// The number of random numbers that each thread draws at each use.
    pub(crate) draws: Expr,
}

/// The keyword of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResourceKind {
    /// Memory that the graph declares.
    Own(Memory),
    /// Random numbers: the states of a generator in device memory.
    Rng,
    /// A build argument.
    Shared { space: Space, mutable: bool },
    /// A local that is moved into an expression. Only its type tells its shape. The space is the one that its nodes
    /// need: host functions take only host memory, and kernels only device memory.
    Moved(Space),
}

impl Resource {
    /// A resource that is no generator and no variable of a module.
    pub(crate) fn new(attributes: Attributes, keyword: Span, kind: ResourceKind, name: Ident, shape: Shape) -> Self {
        Self {
            attributes,
            keyword,
            kind,
            name: name.into(),
            shape,
            random: None,
            symbol: None,
            uniform: None,
        }
    }

    /// Whether it is a field of a group: each row of its outermost dimension is memory of its own.
    pub(crate) fn is_field(&self) -> bool {
        self.name.path().is_some()
    }

    /// Whether it is a local that is moved into an expression.
    pub(crate) fn is_moved(&self) -> bool {
        matches!(self.kind, ResourceKind::Moved(_))
    }

    /// Whether the graph may write it.
    pub(crate) fn is_mutable(&self) -> bool {
        self.kind
            != ResourceKind::Shared {
                space: self.space(),
                mutable: false,
            }
    }

    /// The kind of its memory.
    pub(crate) fn memory(&self) -> Memory {
        match self.kind {
            ResourceKind::Own(memory) => memory,
            ResourceKind::Rng => Memory::Device,
            ResourceKind::Shared { space, .. } | ResourceKind::Moved(space) => match space {
                Space::Host => Memory::Host,
                Space::Device => Memory::Device,
            },
        }
    }

    /// The space that the memory is in.
    pub(crate) fn space(&self) -> Space {
        self.memory().space()
    }
}

/// The name of the runtime's type for places in memory of this kind.
pub(crate) fn place_kind(memory: Memory) -> Ident {
    let name = match memory {
        Memory::Host => "OnHost",
        Memory::Device | Memory::Scratch | Memory::Constant | Memory::Variable => "OnDevice",
        Memory::Mapped => "OnMapped",
        Memory::Array => "OnArray",
    };
    Ident::new(name, Span::call_site())
}

/// `param x: T = initial;`
#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) attributes: Attributes,
    pub(crate) name: Ident,
    pub(crate) ty: Type,
    pub(crate) initial: Expr,
}

/// `let half = d / 2;`: a value that is fixed when the graph is built.
#[derive(Debug)]
pub(crate) struct Let {
    pub(crate) attributes: Attributes,
    pub(crate) name: Ident,
    /// The type: the one that is written, or else the one that the text of the value tells.
    pub(crate) ty: Option<Type>,
    pub(crate) value: Expr,
}

/// `for i in range { .. }` or `each i in range { .. }`: nodes and further loops. Its names that could not be parsed are
/// in the list of the whole graph, since nodes of a loop can be named from outside.
#[derive(Debug)]
pub(crate) struct For {
    pub(crate) attributes: Attributes,
    /// Whether its iterations are not ordered: an `each`.
    pub(crate) parallel: bool,
    pub(crate) keyword: Span,
    pub(crate) variable: Ident,
    pub(crate) range: Expr,
    pub(crate) statements: Vec<Statement>,
}

/// A resource or a part of it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) name: Name,
    /// Empty for the whole resource, else one part for each of the outermost dimensions, at most two. `[..]` is listed
    /// only if another part follows it. The first part of a field, `layers[i].q`, is the index of the group.
    pub(crate) parts: Vec<Part>,
    /// The last token.
    pub(crate) end: Span,
}

impl Place {
    /// Whether it is columns of several rows, which may lie apart. Columns of one row lie in one piece.
    pub(crate) fn is_rectangle(&self) -> bool {
        matches!(self.parts[..], [Part::Range(_), _])
    }

    /// The indices and the bounds of ranges that select it.
    pub(crate) fn bounds(&self) -> impl Iterator<Item = &Expr> {
        self.parts.iter().flat_map(Part::bounds)
    }
}

/// `[index]` or `[start..end]`.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    Index(Box<Expr>),
    Range(Range),
}

/// `start..end` or `start..=end`.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    pub(crate) start: Option<Box<Expr>>,
    pub(crate) end: Option<Box<Expr>>,
    pub(crate) inclusive: bool,
}

impl Range {
    /// Whether it is `..`.
    pub(crate) fn is_full(&self) -> bool {
        self.start.is_none() && self.end.is_none()
    }

    /// The first index, and the one after the last, in a dimension of this length, as far as they are sums.
    pub(crate) fn sums(&self, length: Option<&Sum>, sum: impl Fn(&Expr) -> Option<Sum>) -> (Option<Sum>, Option<Sum>) {
        let start = self.start.as_ref().map_or(Some(Sum::number(0)), |start| sum(start));
        let end = match &self.end {
            Some(end) => sum(end).and_then(|end| end.minus(&Sum::number(-i128::from(self.inclusive)))),
            None => length.cloned(),
        };
        (start, end)
    }

    /// The range as text, with `bound` for each bound that is written.
    pub(crate) fn text(&self, bound: impl Fn(&Expr) -> String) -> String {
        let dots = if self.inclusive { "..=" } else { ".." };
        let [start, end] = [&self.start, &self.end].map(|end| end.as_ref().map_or_else(String::new, |end| bound(end)));
        format!("{start}{dots}{end}")
    }
}

impl Part {
    /// The index, or the bounds of the range that are written.
    pub(crate) fn bounds(&self) -> impl Iterator<Item = &Expr> {
        let bounds = match self {
            Part::Index(index) => [Some(index), None],
            Part::Range(range) => [range.start.as_ref(), range.end.as_ref()],
        };
        bounds.into_iter().flatten().map(|bound| &**bound)
    }
}

/// The part as it is written, brackets included.
impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Index(index) => write!(f, "[{}]", plain(index)),
            Part::Range(range) => write!(f, "[{}]", range.text(plain)),
        }
    }
}

/// `T` or `[shape; length]`.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// The innermost type.
    pub(crate) element: Type,
    /// Lengths, outermost first.
    pub(crate) lengths: Vec<Expr>,
    /// The brackets around each dimension, outermost first.
    pub(crate) brackets: Vec<Span>,
}

impl Shape {
    /// A single element.
    pub(crate) fn scalar(element: Type) -> Self {
        Self {
            element,
            lengths: Vec::new(),
            brackets: Vec::new(),
        }
    }

    /// The type of one element of the outermost dimension; `None` for a scalar.
    pub(crate) fn row(&self) -> Option<TokenStream> {
        self.inner(1)
    }

    /// The type without its `skip` outermost dimensions, if it has at least that many.
    pub(crate) fn inner(&self, skip: usize) -> Option<TokenStream> {
        (self.lengths.len() >= skip).then(|| self.nested(skip))
    }

    /// The type without its `skip` outermost dimensions, with the spans of the user's tokens.
    fn nested(&self, skip: usize) -> TokenStream {
        let dimensions = self.lengths.iter().zip(&self.brackets).skip(skip).rev();
        dimensions.fold(self.element.to_token_stream(), |inner, (length, span)| {
            let mut group = proc_macro2::Group::new(Delimiter::Bracket, quote!(#inner; #length));
            group.set_span(*span);
            group.to_token_stream()
        })
    }
}

impl ToTokens for Shape {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.nested(0));
    }
}
