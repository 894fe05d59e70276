//! Statements, and the variables that their names become.

use super::Memory;
use super::form::{call, child, closure, collective, launch, list, pair};
use super::tokens::{commas, is_group, is_punct, is_word, single_punct, split_at_puncts, stream};
use crate::graph::ast::place_kind;
use crate::graph::boundary::{is_visibility, starts_statement};
use crate::graph::constant::mentions;
use crate::graph::keyword::Keyword;
use graph_plan::{Family, Memory as Declared, NodeKind};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens, quote};

/// A statement by its parts, without its attributes and its `;`.
#[derive(Clone, Copy)]
struct Statement<'t> {
    visibility: &'t [TokenTree],
    keyword: Keyword,
    /// The token of the keyword.
    word: &'t TokenTree,
    name: &'t TokenTree,
    /// All tokens after the name and its `:`, `=` or `in`.
    rest: &'t [TokenTree],
}

/// The nodes of a body, and their `after` lists.
#[derive(Default)]
struct Order {
    nodes: Vec<TokenStream>,
    lists: Vec<AfterList>,
}

/// An `after` list as Rust.
struct AfterList {
    tokens: TokenStream,
    /// Whether it has numbers of iterations.
    numbered: bool,
}

/// The statements of a body. Nodes are variables in `after` lists only, so that expressions do not know them.
pub(super) fn body(tokens: TokenStream, around: &[Memory]) -> TokenStream {
    let mut order = Order::default();
    let statements = statements(tokens, around, &mut order);
    let Order { nodes, lists } = order;
    let lists = lists.into_iter().map(|list| list.tokens).collect::<Vec<_>>();
    let auto = mentions(lists.iter().cloned().collect(), &["auto".to_owned()]);
    let auto = auto.then(|| quote!(let auto: ::graph_runtime::NodeId;));
    let order = (!lists.is_empty()).then(|| {
        quote!({
            #auto
            #(let #nodes: ::graph_runtime::NodeId;)*
            #(#lists)*
        })
    });
    quote!(#statements #order)
}

/// All memory and params first, since they may be used before they are declared, then the statements that use them.
fn statements(tokens: TokenStream, around: &[Memory], order: &mut Order) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let statements: Vec<Statement<'_>> = split(&tokens).into_iter().filter_map(Statement::new).collect();
    let own = statements.iter().filter_map(|statement| statement.place());
    let memory: Vec<Memory> = own.map(|(_, memory)| memory).chain(around.iter().cloned()).collect();
    let declarations: TokenStream = statements.iter().map(Statement::declaration).collect();
    let uses = statements.iter().map(|statement| statement.uses(&memory, order));
    let uses: TokenStream = uses.collect();
    let visibilities = statements.iter().filter(|statement| !statement.visibility.is_empty());
    let visibilities = visibilities.map(|statement| stream(statement.visibility));
    quote!(#(#visibilities const _: () = ();)* #declarations #uses)
}

/// Memory that a statement declares, as the type of a place, and the facts that a closure needs.
pub(super) fn place(space: &TokenTree, name: &TokenTree, shape: &[TokenTree]) -> Option<(TokenStream, Memory)> {
    let space = place_kind(Declared::of_keyword(&space.to_string())?);
    let (name, shape) = (name.to_string(), stream(shape));
    let ty = quote!(::graph_runtime::Place<#shape, ::graph_runtime::#space>);
    Some((ty, Memory { name, shape }))
}

/// The tokens of each statement. A statement ends at a `;`, at the next statement, or after the body of a loop.
fn split(tokens: &[TokenTree]) -> Vec<&[TokenTree]> {
    let (mut parts, mut start) = (Vec::new(), 0);
    for (index, token) in tokens.iter().enumerate() {
        let ends = is_punct(token, ';');
        let is_loop = || ["for", "each"].iter().any(|word| is_word(&tokens[start], word));
        let loops = is_group(token, Delimiter::Brace) && is_loop();
        let goes_on = || is_visibility(&tokens[start..index]);
        let may_start =
            matches!(token, TokenTree::Ident(_)) || is_punct(token, '#') || is_group(token, Delimiter::None);
        if ends || may_start && !goes_on() && starts_statement(tokens[index..].iter().cloned()) {
            parts.push(&tokens[start..index]);
            start = index + usize::from(ends);
        } else if loops {
            parts.push(&tokens[start..=index]);
            start = index + 1;
        }
    }
    parts.push(&tokens[start..]);
    parts
}

impl<'t> Statement<'t> {
    fn new(mut tokens: &'t [TokenTree]) -> Option<Self> {
        while let [hash, brackets, rest @ ..] = tokens
            && is_punct(hash, '#')
            && is_group(brackets, Delimiter::Bracket)
        {
            tokens = rest;
        }
        let (visibility, tokens) = split_at_visibility(tokens);
        let [word @ TokenTree::Ident(first), name @ TokenTree::Ident(_), rest @ ..] = tokens else {
            return None;
        };
        let keyword = Keyword::of(first)?;
        let separated =
            single_punct(rest, ':') || single_punct(rest, '=') || rest.first().is_some_and(|next| is_word(next, "in"));
        let rest = &rest[usize::from(separated)..];
        Some(Self {
            visibility,
            keyword,
            word,
            name,
            rest,
        })
    }

    /// The type of the place, and the facts that a closure needs, if the statement declares memory.
    fn place(&self) -> Option<(TokenStream, Memory)> {
        let shape = if self.keyword == Keyword::Memory(Declared::Constant) {
            split_at_puncts(self.rest, "=").0
        } else {
            commas(self.rest).next().unwrap_or_default() // `uniform` may follow
        };
        place(self.word, self.name, shape)
    }

    /// The variable of memory or a param.
    fn declaration(&self) -> TokenStream {
        let (name, rest) = (self.name, stream(self.rest));
        match self.keyword {
            Keyword::Memory(_) => self.place().map_or_else(TokenStream::new, |(ty, memory)| {
                let lengths = lengths(memory.shape);
                quote!(#lengths let mut #name: #ty;)
            }),
            Keyword::Rng => quote!(let mut #name;),
            Keyword::Param => quote!(let mut #name: #rest;),
            Keyword::Let if split_at_puncts(self.rest, "=").1.is_empty() => quote!(let mut #name = #rest;),
            Keyword::Let => quote!(let mut #name: #rest;),
            Keyword::Node(_) | Keyword::For | Keyword::Each => TokenStream::new(),
        }
    }

    /// The uses of names in the statement. The name of a node and its `after` list go to `order`.
    fn uses(&self, memory: &[Memory], order: &mut Order) -> TokenStream {
        let (action, after) = self.action();
        let uses = match self.keyword {
            Keyword::Memory(_) | Keyword::Param | Keyword::Let => return TokenStream::new(),
            Keyword::For | Keyword::Each => return self.iterations(action, memory, order),
            Keyword::Rng => list(action, "draws"),
            Keyword::Node(kind) => match kind.family() {
                Family::Kernel => launch(action),
                Family::Copy => pair(action, if kind == NodeKind::Memcpy { "->" } else { "<-" }),
                Family::Call => call(action, memory),
                Family::Library => closure(self.word, action),
                Family::Child => child(action),
                Family::Conditional => self.conditional(action, memory),
                Family::Join | Family::Event => list(action, "draws"),
                Family::Collective => collective(action),
            },
        };
        order.nodes.push(self.name.to_token_stream());
        order.lists.extend(after.map(after_list));
        uses
    }

    /// The action of the node and its `after` list. `after` may also be the name of a variable.
    fn action(&self) -> (&'t [TokenTree], Option<&'t [TokenTree]>) {
        let names = |after: &usize| matches!(self.rest.get(after + 1), None | Some(TokenTree::Ident(_)));
        let mut words = (0..self.rest.len()).filter(|&index| is_word(&self.rest[index], "after"));
        match words.rfind(names) {
            Some(after) => (&self.rest[..after], Some(&self.rest[after + 1..])),
            None => (self.rest, None),
        }
    }

    /// A condition, and the statements of each body.
    fn conditional(&self, action: &[TokenTree], memory: &[Memory]) -> TokenStream {
        let (head, bodies) = split_at_braces(action);
        let (head, cases) = (stream(head), self.keyword == Keyword::Node(NodeKind::Switch));
        let bodies: TokenStream = bodies.iter().map(|token| nested(token, cases, memory)).collect();
        quote!(let _ = &(#head); #bodies)
    }

    /// A loop, with the statements of its body. Its nodes are nodes of the body around it.
    fn iterations(&self, action: &[TokenTree], memory: &[Memory], order: &mut Order) -> TokenStream {
        let ((head, bodies), outside) = (split_at_braces(action), order.lists.len());
        let body = match bodies.first() {
            Some(TokenTree::Group(group)) => statements(group.stream(), memory, order),
            _ => TokenStream::new(),
        };
        let (head, name) = (stream(head), self.name);
        // Numbers of iterations mention the variables of the loops around.
        for list in order.lists[outside..].iter_mut().filter(|list| list.numbered) {
            let tokens = &list.tokens;
            list.tokens = quote!(for #name in (#head) { #tokens });
        }
        quote!(for #name in (#head) { #body })
    }
}

/// Splits the tokens after a visibility at their beginning.
fn split_at_visibility(tokens: &[TokenTree]) -> (&[TokenTree], &[TokenTree]) {
    let length = (1..=2.min(tokens.len())).rfind(|&length| is_visibility(&tokens[..length]));
    tokens.split_at(length.unwrap_or(0))
}

/// The lengths of a shape as values. Lengths may be build arguments, which cannot occur in a type.
fn lengths(shape: TokenStream) -> TokenStream {
    let Some(TokenTree::Group(dimension)) = shape.into_iter().next() else {
        return TokenStream::new();
    };
    let dimension: Vec<TokenTree> = dimension.stream().into_iter().collect();
    let (inner, length) = split_at_puncts(&dimension, ";");
    let (inner, length) = (lengths(stream(inner)), stream(length));
    quote!(#inner let _: usize = #length;)
}

/// An `after` list. The numbers of an iteration become values beside the name of the node.
fn after_list(tokens: &[TokenTree]) -> AfterList {
    let mut separated = TokenStream::new();
    let mut numbered = false;
    for (index, token) in tokens.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &tokens[before]);
        let numbers = is_group(token, Delimiter::Parenthesis)
            && before.is_some_and(|before| matches!(before, TokenTree::Ident(_)) && !is_word(before, "programmatic"));
        if numbers {
            separated.extend(quote!(,));
            numbered = true;
        }
        separated.extend([token.clone()]);
    }
    let separated: Vec<TokenTree> = separated.into_iter().collect();
    let tokens = list(&separated, "programmatic");
    AfterList { tokens, numbered }
}

/// Splits the tokens before the first braces.
fn split_at_braces(tokens: &[TokenTree]) -> (&[TokenTree], &[TokenTree]) {
    let braces = tokens.iter().position(|token| is_group(token, Delimiter::Brace));
    tokens.split_at(braces.unwrap_or(tokens.len()))
}

/// The body in these braces; those of a `switch` are in braces of their own.
fn nested(token: &TokenTree, cases: bool, memory: &[Memory]) -> TokenStream {
    let TokenTree::Group(group) = token else {
        return TokenStream::new();
    };
    let inside = group.stream();
    if cases {
        return inside.into_iter().map(|case| nested(&case, false, memory)).collect();
    }
    let body = body(inside, memory);
    quote!({ #body })
}
