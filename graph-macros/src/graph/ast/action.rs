//! The actions of nodes, as their author wrote them.

use super::{Attributes, Place, Statement};
use graph_plan::{Mode, NodeKind, Role};
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::{Expr, ExprParen, Ident, Path, Token};

/// A node and its `after` list.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) attributes: Attributes,
    pub(crate) kind: NodeKind,
    pub(crate) name: Ident,
    pub(crate) action: Action,
    pub(crate) after: Vec<Dependency>,
}

/// `a`, `a(i - 1)` or `programmatic(a)` in an `after` list.
#[derive(Debug)]
pub(crate) struct Dependency {
    pub(crate) name: Ident,
    /// The iteration, if it is named.
    pub(crate) iteration: Option<Iteration>,
    /// The word `programmatic`.
    pub(crate) programmatic: Option<Ident>,
}

/// `(i - 1, j)` after the name of a node.
#[derive(Debug)]
pub(crate) struct Iteration {
    pub(crate) numbers: Vec<Expr>,
    /// The closing parenthesis.
    pub(crate) end: Span,
}

/// The action of a node.
#[derive(Debug)]
pub(crate) enum Action {
    Kernel(Box<Launch>),
    Memcpy {
        from: Place,
        to: Place,
    },
    Memset {
        to: Place,
        value: Box<Expr>,
    },
    Call(Box<Call>),
    Graph(Box<Child>),
    /// Fields of a `capture` or a `raw` node.
    Library(Box<Library>),
    Join,
    /// The event that is recorded or waited for.
    Event(Box<Expr>),
    /// Fields of an `if`, a `while` or a `switch`.
    Conditional(Box<Conditional>),
    /// Fields of an `all_reduce` and its like.
    Collective(Box<Collective>),
}

/// `max(x) over world`, `part -> whole over world`, `w from 0 over world` or `send a to next, recv b from last over
/// world`.
#[derive(Debug)]
pub(crate) struct Collective {
    /// `max` before the parentheses.
    pub(crate) reduction: Option<Ident>,
    pub(crate) moves: Vec<Move>,
    /// The name of the communicator.
    pub(crate) communicator: Ident,
    /// The same name, as an expression.
    pub(crate) over: Expr,
}

/// Memory that a collective sends, receives or combines.
#[derive(Debug)]
pub(crate) struct Move {
    pub(crate) place: Place,
    pub(crate) mode: Mode,
    /// The rank that it comes from or goes to, if the author says one.
    pub(crate) peer: Option<Expr>,
}

/// `unsafe? function<<<grid, block, shared>>>(arguments)`
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) unsafety: Option<Token![unsafe]>,
    pub(crate) function: Function,
    pub(crate) grid: Extent,
    pub(crate) block: Extent,
    pub(crate) shared: Option<Expr>,
    pub(crate) arguments: Vec<Argument>,
    /// The last bracket of `>>>`.
    pub(crate) closing: Span,
    /// The parentheses around the arguments.
    pub(crate) parens: Span,
}

/// The function that is launched.
#[derive(Debug)]
pub(crate) enum Function {
    /// A declared kernel.
    Path(Path),
    /// `(expr)`: a function value.
    Value(ExprParen),
}

impl Launch {
    /// The path of a declared kernel.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.function {
            Function::Path(path) => Some(path),
            Function::Value(_) => None,
        }
    }

    /// The generic arguments in the path of a declared kernel.
    pub(crate) fn generics(&self) -> TokenStream {
        let segments = self.path().into_iter().flat_map(|path| &path.segments);
        segments.map(|segment| segment.arguments.to_token_stream()).collect()
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Function::Path(path) => path.to_tokens(tokens),
            Function::Value(value) => value.to_tokens(tokens),
        }
    }
}

/// Launch dimensions: an integer expression, or a literal tuple of one to three.
#[derive(Clone, Debug)]
pub(crate) struct Extent {
    /// As written.
    pub(crate) whole: Expr,
    /// The one to three parts.
    pub(crate) parts: Vec<Expr>,
}

/// An argument of a kernel.
#[derive(Debug)]
pub(crate) enum Argument {
    /// `&x`, `&mut x[..]`
    Borrow {
        and: Token![&],
        mutable: Option<Token![mut]>,
        place: Place,
    },
    /// By value.
    Value(Box<Expr>),
}

impl Argument {
    /// The place that is borrowed.
    pub(crate) fn place(&self) -> Option<&Place> {
        match self {
            Argument::Borrow { place, .. } => Some(place),
            Argument::Value(_) => None,
        }
    }

    /// Whether it is `None`, in place of memory.
    pub(crate) fn is_none(&self) -> bool {
        let Argument::Value(value) = self else { return false };
        matches!(&**value, Expr::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "None"))
    }
}

/// `|&input, &mut output| body`: a host function and the memory that it gets.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) parameters: Vec<CallParameter>,
    pub(crate) body: Expr,
}

/// `&x` or `&mut x`, the name of a resource and, in the body, of the reference to it.
#[derive(Debug)]
pub(crate) struct CallParameter {
    pub(crate) and: Token![&],
    pub(crate) mutable: Option<Token![mut]>,
    /// The whole resource.
    pub(crate) place: Place,
}

/// `Layer::<N>(x: &mut a, lr: 0.5)`: another graph, and the arguments that its names are bound to.
#[derive(Debug)]
pub(crate) struct Child {
    pub(crate) path: Path,
    /// The parentheses around the bindings.
    pub(crate) parens: Span,
    pub(crate) bindings: Vec<Binding>,
}

impl Child {
    /// The place of the graph's name.
    pub(crate) fn span(&self) -> Span {
        let first = self.path.segments.first();
        first.map_or(self.parens, |segment| segment.ident.span())
    }
}

/// `name: argument`, where `name` is a name of the child.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) name: Ident,
    pub(crate) argument: Argument,
}

/// `(arguments) |stream| body`: library calls that are captured from a stream; or `unsafe (arguments) |graph, after|
/// body`: nodes that the body adds through CUDA itself.
#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) unsafety: Option<Token![unsafe]>,
    pub(crate) arguments: Vec<Argument>,
    /// The name of the stream or of the graph.
    pub(crate) handle: Ident,
    /// The name of the nodes that a `raw` node runs after.
    pub(crate) after: Option<Ident>,
    pub(crate) body: Expr,
    /// The host function that stands for the library calls where there is no CUDA.
    pub(crate) stand_in: Option<StandIn>,
}

/// `else |input, output| body`, after the closure of a `capture`.
#[derive(Debug)]
pub(crate) struct StandIn {
    /// A name for each argument of the node.
    pub(crate) names: Vec<Ident>,
    pub(crate) body: Expr,
}

/// The body of a conditional, `{ .. }`: nodes and `for`s.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) statements: Vec<Statement>,
    /// The names of statements in it that could not be parsed.
    pub(crate) unparsed: Vec<Ident>,
}

/// `condition { .. } else { .. }`, `condition { .. }`, or `condition { {..} {..} }` with the bodies for 0, 1 and so on.
#[derive(Debug)]
pub(crate) struct Conditional {
    pub(crate) condition: Place,
    pub(crate) bodies: Vec<(Role, Body)>,
}

/// The use that a node makes of one of its expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// It selects memory, is a dimension of a launch, or the value of a memset.
    Operand,
    /// It is passed by value.
    Argument,
    /// It is in an attribute, or a rank that a collective names, and fixed when the graph is built.
    Attribute,
    /// It is an event, a communicator, or the function that is launched.
    Object,
    /// It is the body of a closure.
    Closure,
}

impl Node {
    /// The expressions of the node, other than in the nodes of its bodies.
    pub(crate) fn expressions(&self) -> Vec<(Use, &Expr)> {
        let attributes = &self.attributes.node;
        let priority = attributes
            .priority
            .iter()
            .map(|(_, priority)| (Use::Attribute, priority));
        let clusters = attributes.cluster.iter().flat_map(|(_, cluster)| &cluster.parts);
        let bounds = self.action.places().into_iter().flat_map(Place::bounds);
        let operands = clusters.chain(bounds).map(|operand| (Use::Operand, operand));
        let mut found: Vec<(Use, &Expr)> = priority.chain(operands).collect();
        for argument in self.action.arguments() {
            if let Argument::Value(value) = argument {
                found.push((Use::Argument, value));
            }
        }
        match &self.action {
            Action::Kernel(launch) => {
                let operands = launch
                    .grid
                    .parts
                    .iter()
                    .chain(&launch.block.parts)
                    .chain(&launch.shared);
                found.extend(operands.map(|operand| (Use::Operand, operand)));
                if let Function::Value(function) = &launch.function {
                    found.push((Use::Object, &function.expr));
                }
            }
            Action::Memset { value, .. } => found.push((Use::Operand, value)),
            Action::Call(call) => found.push((Use::Closure, &call.body)),
            Action::Library(library) => {
                let bodies = [&library.body]
                    .into_iter()
                    .chain(library.stand_in.iter().map(|other| &other.body));
                found.extend(bodies.map(|body| (Use::Closure, body)));
            }
            Action::Event(event) => found.push((Use::Object, event)),
            Action::Collective(collective) => {
                let peers = collective.moves.iter().filter_map(|one| one.peer.as_ref());
                found.extend(peers.map(|peer| (Use::Attribute, peer)));
                found.push((Use::Object, &collective.over));
            }
            Action::Memcpy { .. } | Action::Graph(_) | Action::Join | Action::Conditional(_) => {}
        }
        found
    }
}

impl Action {
    /// The launch of a kernel node.
    pub(crate) fn launch(&self) -> Option<&Launch> {
        let Action::Kernel(launch) = self else { return None };
        Some(launch)
    }

    /// The path of the declared kernel that the node launches.
    pub(crate) fn kernel(&self) -> Option<&Path> {
        self.launch().and_then(Launch::path)
    }

    /// The child graph that the node is.
    pub(crate) fn child(&self) -> Option<&Child> {
        let Action::Graph(child) = self else { return None };
        Some(child)
    }

    /// The bodies, each with its role.
    pub(crate) fn bodies(&self) -> &[(Role, Body)] {
        match self {
            Action::Conditional(conditional) => &conditional.bodies,
            _ => &[],
        }
    }

    /// The arguments of a kernel, a `capture` or a `raw` node, or the arguments in the bindings of a child.
    pub(crate) fn arguments(&self) -> Vec<&Argument> {
        match self {
            Action::Kernel(launch) => launch.arguments.iter().collect(),
            Action::Library(library) => library.arguments.iter().collect(),
            Action::Graph(child) => child.bindings.iter().map(|binding| &binding.argument).collect(),
            _ => Vec::new(),
        }
    }

    /// The places that the node touches, other than in its bodies.
    pub(crate) fn places(&self) -> Vec<&Place> {
        match self {
            Action::Memcpy { from, to } => vec![from, to],
            Action::Memset { to, .. } => vec![to],
            Action::Call(call) => call.parameters.iter().map(|parameter| &parameter.place).collect(),
            Action::Conditional(conditional) => vec![&conditional.condition],
            Action::Collective(collective) => collective.moves.iter().map(|one| &one.place).collect(),
            Action::Kernel(_) | Action::Graph(_) | Action::Library(_) => {
                self.arguments().into_iter().filter_map(Argument::place).collect()
            }
            Action::Join | Action::Event(_) => Vec::new(),
        }
    }
}
