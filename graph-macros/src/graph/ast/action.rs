//! The actions of nodes, as their author wrote them.

use super::{Attributes, Place, Statement};
use crate::graph::keyword::Keyword;
use graph_plan::Role;
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::{Expr, ExprParen, Ident, Path, Token};

/// A node and its `after` list.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) attributes: Attributes,
    pub(crate) keyword: Keyword,
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
    Memcpy { from: Place, to: Place },
    Memset { to: Place, value: Box<Expr> },
    Call(Box<Call>),
    Graph(Box<Child>),
    Capture(Box<Capture>),
    Raw(Box<Raw>),
    Join,
    Record(Box<Expr>),
    Wait(Box<Expr>),
    If(Box<If>),
    While(Box<While>),
    Switch(Box<Switch>),
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
#[derive(Debug)]
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

/// `(arguments) |stream| body`: library calls that are captured from a stream.
#[derive(Debug)]
pub(crate) struct Capture {
    pub(crate) arguments: Vec<Argument>,
    /// The parentheses around the arguments.
    pub(crate) parens: Span,
    pub(crate) stream: Ident,
    pub(crate) body: Expr,
}

/// `unsafe (arguments) |graph, after| body`: nodes that the body adds through CUDA itself.
#[derive(Debug)]
pub(crate) struct Raw {
    pub(crate) unsafety: Token![unsafe],
    pub(crate) arguments: Vec<Argument>,
    /// The parentheses around the arguments.
    pub(crate) parens: Span,
    pub(crate) graph: Ident,
    pub(crate) after: Ident,
    pub(crate) body: Expr,
}

/// The body of a conditional, `{ .. }`: nodes and `for`s.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) statements: Vec<Statement>,
    /// The names of statements in it that could not be parsed.
    pub(crate) unparsed: Vec<Ident>,
    /// The span of the braces with their content.
    pub(crate) brace: Span,
}

/// `condition { .. } else { .. }`
#[derive(Debug)]
pub(crate) struct If {
    pub(crate) condition: Place,
    pub(crate) then: Body,
    pub(crate) otherwise: Option<Body>,
}

/// `condition { .. }`
#[derive(Debug)]
pub(crate) struct While {
    pub(crate) condition: Place,
    pub(crate) body: Body,
}

/// `condition { {..} {..} }`: the bodies for 0, 1 and so on.
#[derive(Debug)]
pub(crate) struct Switch {
    pub(crate) condition: Place,
    pub(crate) cases: Vec<Body>,
}

/// The parts of an action that several kinds of nodes have.
#[derive(Default)]
struct Parts<'a> {
    condition: Option<&'a Place>,
    bodies: Vec<(Role, &'a Body)>,
    arguments: Vec<&'a Argument>,
    places: Vec<&'a Place>,
}

impl<'a> Parts<'a> {
    fn of_places(places: impl IntoIterator<Item = &'a Place>) -> Self {
        Self {
            places: places.into_iter().collect(),
            ..Self::default()
        }
    }

    fn of_arguments(arguments: impl IntoIterator<Item = &'a Argument>) -> Self {
        let arguments: Vec<&Argument> = arguments.into_iter().collect();
        Self {
            places: arguments.iter().filter_map(|argument| argument.place()).collect(),
            arguments,
            ..Self::default()
        }
    }

    fn conditional(condition: &'a Place, bodies: impl IntoIterator<Item = (Role, &'a Body)>) -> Self {
        Self {
            condition: Some(condition),
            bodies: bodies.into_iter().collect(),
            ..Self::of_places([condition])
        }
    }
}

impl Action {
    fn parts(&self) -> Parts<'_> {
        match self {
            Action::Kernel(launch) => Parts::of_arguments(&launch.arguments),
            Action::Capture(capture) => Parts::of_arguments(&capture.arguments),
            Action::Raw(raw) => Parts::of_arguments(&raw.arguments),
            Action::Graph(child) => Parts::of_arguments(child.bindings.iter().map(|binding| &binding.argument)),
            Action::Memcpy { from, to } => Parts::of_places([from, to]),
            Action::Memset { to, .. } => Parts::of_places([to]),
            Action::Call(call) => Parts::of_places(call.parameters.iter().map(|parameter| &parameter.place)),
            Action::If(choice) => {
                let otherwise = choice.otherwise.as_ref().map(|body| (Role::Else, body));
                Parts::conditional(
                    &choice.condition,
                    [(Role::Then, &choice.then)].into_iter().chain(otherwise),
                )
            }
            Action::While(inner) => Parts::conditional(&inner.condition, [(Role::While, &inner.body)]),
            Action::Switch(switch) => {
                Parts::conditional(&switch.condition, switch.cases.iter().map(|body| (Role::Case, body)))
            }
            Action::Join | Action::Record(_) | Action::Wait(_) => Parts::default(),
        }
    }

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

    /// The condition of an `if`, a `while` or a `switch`.
    pub(crate) fn condition(&self) -> Option<&Place> {
        self.parts().condition
    }

    /// The bodies, each with its role.
    pub(crate) fn bodies(&self) -> Vec<(Role, &Body)> {
        self.parts().bodies
    }

    /// The arguments of a kernel, a `capture` or a `raw` node, or the arguments in the bindings of a child.
    pub(crate) fn arguments(&self) -> Vec<&Argument> {
        self.parts().arguments
    }

    /// The places that the node touches, other than in its bodies.
    pub(crate) fn places(&self) -> Vec<&Place> {
        self.parts().places
    }
}
