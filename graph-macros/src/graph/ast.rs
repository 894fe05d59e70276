//! A graph as it is written, names not yet resolved.

use graph_plan::Space;
use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, Generics, Ident, Path, Token, Type, Visibility};

/// `pub graph Name<..> { .. }`
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) attributes: Attributes,
    pub(crate) visibility: Visibility,
    pub(crate) name: Ident,
    pub(crate) generics: Generics,
    pub(crate) statements: Vec<Statement>,
    /// Names of statements that could not be parsed: whoever mentions them is not to blame.
    pub(crate) unparsed: Vec<Ident>,
}

/// `#[..]` in front of a graph or a statement.
#[derive(Debug, Default)]
pub(crate) struct Attributes {
    /// Documentation, passed on to what the statement generates.
    pub(crate) docs: Vec<Attribute>,
    /// The rules of `#[allow(rule)]`, spelled with dashes.
    pub(crate) allowed: Vec<String>,
}

/// A declaration in a graph's body.
#[derive(Debug)]
pub(crate) enum Statement {
    Resource(Resource),
    Param(Param),
    Node(Box<Node>),
}

impl Statement {
    pub(crate) fn name(&self) -> &Ident {
        match self {
            Statement::Resource(resource) => &resource.name,
            Statement::Param(param) => &param.name,
            Statement::Node(node) => &node.name,
        }
    }
}

/// `host x: shape;` and `device x: shape;`
#[derive(Debug)]
pub(crate) struct Resource {
    pub(crate) attributes: Attributes,
    pub(crate) space: Space,
    pub(crate) name: Ident,
    pub(crate) shape: Shape,
}

/// `param x: T = initial;`
#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) attributes: Attributes,
    pub(crate) name: Ident,
    pub(crate) ty: Type,
    pub(crate) initial: Expr,
}

/// A node and what it runs after.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) attributes: Attributes,
    pub(crate) name: Ident,
    pub(crate) action: Action,
    pub(crate) after: Vec<Ident>,
}

/// What a node does.
#[derive(Debug)]
pub(crate) enum Action {
    Kernel(Box<Launch>),
    Memcpy { from: Place, to: Place },
    Memset { to: Place, value: Box<Expr> },
    Join,
}

/// `unsafe? path<<<grid, block, shared>>>(arguments)`
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) unsafety: Option<Token![unsafe]>,
    pub(crate) path: Path,
    pub(crate) grid: Extent,
    pub(crate) block: Extent,
    pub(crate) shared: Option<Expr>,
    pub(crate) arguments: Vec<Argument>,
    /// The last bracket of `>>>`.
    pub(crate) closing: Span,
    /// The parentheses around the arguments.
    pub(crate) parens: Span,
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

/// A resource or a part of it.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) name: Ident,
    pub(crate) part: Option<Part>,
    /// The last token.
    pub(crate) end: Span,
}

/// `[index]` or `[start..end]`.
#[derive(Debug)]
pub(crate) enum Part {
    Index(Box<Expr>),
    Range {
        start: Option<Box<Expr>>,
        end: Option<Box<Expr>>,
        inclusive: bool,
    },
}

/// `T` or `[shape; length]`.
#[derive(Debug)]
pub(crate) struct Shape {
    /// The innermost type.
    pub(crate) element: Type,
    /// Lengths, outermost first.
    pub(crate) lengths: Vec<Expr>,
    /// The brackets around each dimension, outermost first.
    pub(crate) brackets: Vec<Span>,
}

impl Shape {
    /// The type of one element of the outermost dimension; `None` for a scalar.
    pub(crate) fn row(&self) -> Option<TokenStream> {
        (!self.lengths.is_empty()).then(|| self.nested(1))
    }

    /// The type without its `skip` outermost dimensions, at the user's tokens.
    fn nested(&self, skip: usize) -> TokenStream {
        let dimensions = self.lengths.iter().zip(&self.brackets).skip(skip).rev();
        dimensions.fold(self.element.to_token_stream(), |inner, (length, span)| {
            let mut group = Group::new(Delimiter::Bracket, quote!(#inner; #length));
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
