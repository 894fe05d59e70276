//! Text to [`Item`]. A statement that cannot be parsed is reported, and parsing goes on at the next `;` or at the next
//! keyword that is followed by a name.

use super::ast::{
    Action, Argument, Attributes, Extent, Item, Launch, Node, Param, Part, Place, Resource, Shape, Statement,
};
use crate::report::Report;
use graph_plan::{Code, Space};
use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Expr, ExprRange, Ident, Lit, Path, RangeLimits, Token, Visibility, braced, bracketed, parenthesized,
};

/// The keywords that start a statement of this version.
const KEYWORDS: [&str; 7] = ["host", "device", "param", "kernel", "memcpy", "memset", "join"];

/// Keywords of the language that this version does not build yet.
const LATER: [&str; 13] = [
    "scratch", "rng", "call", "graph", "capture", "raw", "record", "wait", "if", "while", "switch", "for", "else",
];

/// The most dimensions a shape may have.
const MAX_DIMENSIONS: usize = 4;

/// Parses the macro's input; `None` where not even a name and a body could be made out.
pub(crate) fn item(input: TokenStream, report: &mut Report) -> Option<Item> {
    let parser = |input: ParseStream<'_>| {
        let item = parse_item(input, report)?;
        if !input.is_empty() {
            report.syntax(
                input.span(),
                "expected the end of the graph: one `cuda_graph!` declares one graph",
            );
            input.parse::<TokenStream>()?;
        }
        Ok(item)
    };
    match parser.parse2(input) {
        Ok(item) => Some(item),
        Err(error) => {
            report.syn(&error);
            None
        }
    }
}

fn parse_item(input: ParseStream<'_>, report: &mut Report) -> syn::Result<Item> {
    let attributes = attributes(input, report)?;
    let visibility: Visibility = input.parse()?;
    let keyword: Option<Ident> = input
        .peek(Ident::peek_any)
        .then(|| input.call(Ident::parse_any))
        .transpose()?;
    if keyword.as_ref().is_none_or(|keyword| keyword != "graph") {
        let span = keyword.map_or_else(|| input.span(), |keyword| keyword.span());
        return Err(syn::Error::new(
            span,
            "expected a declaration such as `pub graph Name { .. }`",
        ));
    }
    let name: Ident = input.parse()?;
    let mut generics: syn::Generics = input.parse()?;
    if input.peek(syn::token::Paren) {
        let span = input.span();
        input.parse::<TokenTree>()?;
        report.syntax(span, "build arguments are not supported yet");
    }
    generics.where_clause = input.parse()?;
    let content;
    braced!(content in input);
    let (statements, unparsed) = body(&content, report);
    Ok(Item {
        attributes,
        visibility,
        name,
        generics,
        statements,
        unparsed,
    })
}

/// Parses statements up to the end; returns those that could be parsed and the names of those that could not.
fn body(input: ParseStream<'_>, report: &mut Report) -> (Vec<Statement>, Vec<Ident>) {
    let (mut statements, mut unparsed) = (Vec::new(), Vec::new());
    while !input.is_empty() {
        let start = input.span();
        let mut name = None;
        match statement(input, &mut name, report) {
            Ok(statement) => statements.push(statement),
            Err(error) => {
                report.syn(&error);
                unparsed.extend(name);
                recover(input, start);
            }
        }
    }
    (statements, unparsed)
}

/// Skips to behind the next `;`, or to the next statement; at least one token if none was read since `start`.
fn recover(input: ParseStream<'_>, start: Span) {
    let mut first = format!("{:?}", input.span()) == format!("{start:?}");
    while !input.is_empty() && (first || !starts_statement(input)) {
        first = false;
        match input.parse::<TokenTree>() {
            Ok(TokenTree::Punct(punct)) if punct.as_char() == ';' => return,
            Ok(_) => {}
            Err(_) => return,
        }
    }
}

/// Does a statement keyword followed by a name (or an attribute of one) come next?
fn starts_statement(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    if ahead.peek(Token![#]) {
        return ahead.peek2(syn::token::Bracket);
    }
    let keyword = ahead
        .call(Ident::parse_any)
        .is_ok_and(|word| KEYWORDS.iter().chain(&LATER).any(|keyword| word == keyword));
    keyword && ahead.peek(Ident)
}

fn statement(input: ParseStream<'_>, name: &mut Option<Ident>, report: &mut Report) -> syn::Result<Statement> {
    let attributes = attributes(input, report)?;
    let start = input.span();
    let keyword = input.call(Ident::parse_any).map_err(|_| {
        syn::Error::new(
            start,
            "expected a statement: `host`, `device`, `param`, `kernel`, `memcpy`, `memset` or `join`",
        )
    })?;
    let word = keyword.to_string();
    if LATER.contains(&word.as_str()) {
        *name = input.parse().ok();
        return Err(syn::Error::new(
            keyword.span(),
            format!("`{word}` statements are not supported yet"),
        ));
    }
    if !KEYWORDS.contains(&word.as_str()) {
        return Err(unknown_keyword(&keyword));
    }
    let declared: Ident = input
        .parse()
        .map_err(|error| expected(error.span(), &format!("a name after `{word}`")))?;
    *name = Some(declared.clone());
    match word.as_str() {
        "host" => resource(input, attributes, Space::Host, declared),
        "device" => resource(input, attributes, Space::Device, declared),
        "param" => param(input, attributes, declared),
        _ => node(input, attributes, &word, declared),
    }
}

fn unknown_keyword(keyword: &Ident) -> syn::Error {
    let word = keyword.to_string();
    let mut text = format!("expected a statement, found `{word}`");
    if let Some(near) = graph_plan::nearest(&word, KEYWORDS) {
        text.push_str(&format!("; did you mean `{near}`?"));
    }
    syn::Error::new(keyword.span(), text)
}

fn expected(span: Span, what: &str) -> syn::Error {
    syn::Error::new(span, format!("expected {what}"))
}

fn resource(input: ParseStream<'_>, attributes: Attributes, space: Space, name: Ident) -> syn::Result<Statement> {
    input
        .parse::<Token![:]>()
        .map_err(|error| expected(error.span(), &format!("`: shape` after `{name}`")))?;
    let shape: Shape = input.parse()?;
    semicolon(input)?;
    Ok(Statement::Resource(Resource {
        attributes,
        space,
        name,
        shape,
    }))
}

fn param(input: ParseStream<'_>, attributes: Attributes, name: Ident) -> syn::Result<Statement> {
    input
        .parse::<Token![:]>()
        .map_err(|error| expected(error.span(), &format!("`: type = value` after `{name}`")))?;
    let ty = input.parse()?;
    input
        .parse::<Token![=]>()
        .map_err(|error| expected(error.span(), "`= value`: a `param` has an initial value"))?;
    let initial = input.parse()?;
    semicolon(input)?;
    Ok(Statement::Param(Param {
        attributes,
        name,
        ty,
        initial,
    }))
}

fn node(input: ParseStream<'_>, attributes: Attributes, keyword: &str, name: Ident) -> syn::Result<Statement> {
    let equals = |input: ParseStream<'_>, form: &str| {
        input
            .parse::<Token![=]>()
            .map_err(|error| expected(error.span(), &format!("`= {form}` after `{name}`")))
    };
    let action = match keyword {
        "kernel" => {
            equals(input, "kernel<<<grid, block>>>(arguments)")?;
            Action::Kernel(launch(input)?)
        }
        "memcpy" => {
            equals(input, "source -> destination")?;
            let from = input.parse()?;
            input
                .parse::<Token![->]>()
                .map_err(|error| expected(error.span(), "`-> destination`"))?;
            Action::Memcpy {
                from,
                to: input.parse()?,
            }
        }
        "memset" => {
            equals(input, "destination <- value")?;
            let to = input.parse()?;
            input
                .parse::<Token![<-]>()
                .map_err(|error| expected(error.span(), "`<- value`"))?;
            Action::Memset {
                to,
                value: input.parse()?,
            }
        }
        _ => Action::Join,
    };
    let after = after(input)?;
    semicolon(input)?;
    Ok(Statement::Node(Node {
        attributes,
        name,
        action,
        after,
    }))
}

fn after(input: ParseStream<'_>) -> syn::Result<Vec<Ident>> {
    if !next_is(input, "after") {
        return Ok(Vec::new());
    }
    input.call(Ident::parse_any)?;
    let mut names = Vec::new();
    loop {
        let name: Ident = input
            .parse()
            .map_err(|error| expected(error.span(), "the name of a node after `after`"))?;
        if name == "programmatic" && input.peek(syn::token::Paren) {
            return Err(syn::Error::new(
                name.span(),
                "`programmatic` edges are not supported yet",
            ));
        }
        names.push(name);
        if !input.peek(Token![,]) {
            return Ok(names);
        }
        input.parse::<Token![,]>()?;
    }
}

fn semicolon(input: ParseStream<'_>) -> syn::Result<()> {
    if input.peek(Token![;]) {
        input.parse::<Token![;]>()?;
        return Ok(());
    }
    Err(expected(input.span(), "`;` at the end of the statement"))
}

fn next_is(input: ParseStream<'_>, word: &str) -> bool {
    input.fork().call(Ident::parse_any).is_ok_and(|next| next == word)
}

/// `unsafe? path<<<grid, block, shared>>>(arguments)`. What stands between the angle brackets is cut out before it is parsed, since
/// Rust's expressions would swallow `>>>`.
fn launch(input: ParseStream<'_>) -> syn::Result<Launch> {
    let unsafety = input.parse()?;
    if input.peek(syn::token::Paren) {
        return Err(syn::Error::new(
            input.span(),
            "kernels from function values are not supported yet",
        ));
    }
    let path: Path = input
        .call(Path::parse_mod_style)
        .map_err(|error| expected(error.span(), "the path of a kernel"))?;
    let opening = input.span();
    for _ in 0..3 {
        input
            .parse::<Token![<]>()
            .map_err(|_| expected(opening, "`<<<grid, block>>>` after the kernel"))?;
    }
    let mut inside: Vec<TokenTree> = Vec::new();
    while !ends_launch(input) {
        if input.is_empty() || input.peek(Token![;]) {
            return Err(expected(opening, "`>>>(arguments)` to close this `<<<`"));
        }
        inside.push(input.parse()?);
    }
    let closing = input.span();
    for _ in 0..3 {
        input.parse::<Token![>]>()?;
    }
    let (grid, block, shared) = dimensions(inside, closing)?;
    let content;
    let parens = parenthesized!(content in input).span.join();
    let arguments = Punctuated::<Argument, Token![,]>::parse_terminated(&content)?
        .into_iter()
        .collect();
    Ok(Launch {
        unsafety,
        path,
        grid,
        block,
        shared,
        arguments,
        parens,
    })
}

/// Three joint `>`, then a parenthesised group, then `;`, `after` or the end.
fn ends_launch(input: ParseStream<'_>) -> bool {
    if !input.peek(Token![>]) {
        return false;
    }
    let ahead = input.fork();
    for last in [false, false, true] {
        match ahead.parse::<TokenTree>() {
            Ok(TokenTree::Punct(punct)) if punct.as_char() == '>' && (last || punct.spacing() == Spacing::Joint) => {}
            _ => return false,
        }
    }
    match ahead.parse::<TokenTree>() {
        Ok(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {}
        _ => return false,
    }
    ahead.is_empty() || ahead.peek(Token![;]) || next_is(&ahead, "after") || starts_statement(&ahead)
}

/// Parses `grid, block, shared`; errors at the end of the tokens point at `closing`.
fn dimensions(inside: Vec<TokenTree>, closing: Span) -> syn::Result<(Extent, Extent, Option<Expr>)> {
    // A `;` at the closing brackets stands for the end, so that an error there has a place.
    let end = proc_macro2::Punct::new(';', Spacing::Alone);
    let mut end = TokenTree::Punct(end);
    end.set_span(closing);
    let tokens: TokenStream = inside.into_iter().chain([end]).collect();
    let parser = |input: ParseStream<'_>| {
        let grid = extent(input)?;
        if !input.peek(Token![,]) {
            return Err(expected(input.span(), "`, block`: a launch is `<<<grid, block>>>`"));
        }
        input.parse::<Token![,]>()?;
        let block = extent(input)?;
        let mut shared = None;
        if input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
            shared = (!input.peek(Token![;])).then(|| expression(input)).transpose()?;
        }
        if !input.peek(Token![;]) {
            return Err(expected(
                input.span(),
                "`>>>`: a launch is `<<<grid, block>>>` or `<<<grid, block, shared bytes>>>`",
            ));
        }
        input.parse::<Token![;]>()?;
        Ok((grid, block, shared))
    };
    parser.parse2(tokens)
}

fn expression(input: ParseStream<'_>) -> syn::Result<Expr> {
    if input.peek(Token![;]) || input.peek(Token![,]) {
        return Err(expected(input.span(), "an expression"));
    }
    input.parse()
}

fn extent(input: ParseStream<'_>) -> syn::Result<Extent> {
    let whole = expression(input)?;
    let parts = match &whole {
        Expr::Tuple(tuple) if (1..=3).contains(&tuple.elems.len()) => tuple.elems.iter().cloned().collect(),
        Expr::Tuple(tuple) => return Err(expected(tuple.span(), "a tuple of one to three dimensions")),
        single => vec![single.clone()],
    };
    Ok(Extent { whole, parts })
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if !input.peek(Token![&]) {
            return Ok(Argument::Value(input.parse()?));
        }
        let argument = Argument::Borrow {
            and: input.parse()?,
            mutable: input.parse()?,
            place: input.parse()?,
        };
        if !input.is_empty() && !input.peek(Token![,]) {
            return Err(expected(
                input.span(),
                "`,`: a borrowed argument is a resource or a part of one",
            ));
        }
        Ok(argument)
    }
}

impl Parse for Place {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name: Ident = input
            .parse()
            .map_err(|error| expected(error.span(), "the name of a resource"))?;
        if !input.peek(syn::token::Bracket) {
            return Ok(Place {
                end: name.span(),
                name,
                part: None,
            });
        }
        let content;
        let brackets = bracketed!(content in input);
        if content.is_empty() {
            return Err(expected(brackets.span.join(), "an index or a range in `[]`"));
        }
        let part = match content.parse::<Expr>()? {
            Expr::Range(ExprRange {
                start: None, end: None, ..
            }) => None,
            Expr::Range(ExprRange { start, end, limits, .. }) => Some(Part::Range {
                start,
                end,
                inclusive: matches!(limits, RangeLimits::Closed(_)),
            }),
            index => Some(Part::Index(Box::new(index))),
        };
        if !content.is_empty() {
            return Err(expected(
                content.span(),
                "`]`: one index or range selects from the outermost dimension",
            ));
        }
        if input.peek(syn::token::Bracket) {
            return Err(syn::Error::new(
                input.span(),
                "one index or range selects from the outermost dimension; a second is not supported",
            ));
        }
        Ok(Place {
            end: brackets.span.close(),
            name,
            part,
        })
    }
}

impl Parse for Shape {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let start = input.span();
        let shape = parse_shape(input)?;
        if shape.lengths.len() > MAX_DIMENSIONS {
            return Err(syn::Error::new(start, "a shape has at most four dimensions"));
        }
        Ok(shape)
    }
}

fn parse_shape(input: ParseStream<'_>) -> syn::Result<Shape> {
    if !input.peek(syn::token::Bracket) {
        let element = input
            .parse()
            .map_err(|error: syn::Error| expected(error.span(), "a type such as `f32` or `[f32; 1024]`"))?;
        return Ok(Shape {
            element,
            lengths: Vec::new(),
        });
    }
    let content;
    let brackets = bracketed!(content in input);
    let mut shape = parse_shape(&content)?;
    if content.is_empty() {
        return Err(expected(
            brackets.span.close(),
            "`; length`: the length is part of a shape",
        ));
    }
    content.parse::<Token![;]>()?;
    shape.lengths.insert(0, content.parse()?);
    if !content.is_empty() {
        return Err(expected(content.span(), "`]`"));
    }
    Ok(shape)
}

/// Documentation and `#[allow(rule)]`; others are reported.
fn attributes(input: ParseStream<'_>, report: &mut Report) -> syn::Result<Attributes> {
    let mut found = Attributes::default();
    for attribute in input.call(Attribute::parse_outer)? {
        if attribute.path().is_ident("doc") {
            found.docs.push(attribute);
        } else if attribute.path().is_ident("allow") {
            allow(&attribute, &mut found, report)?;
        } else {
            let name = attribute.path().to_token_stream().to_string();
            report.syntax(
                attribute.path().span(),
                format!("`#[{name}]` is not supported here: use `///` or `#[allow(rule)]`"),
            );
        }
    }
    Ok(found)
}

fn allow(attribute: &Attribute, found: &mut Attributes, report: &mut Report) -> syn::Result<()> {
    // A rule is written `unused-resource`, as in messages, or `unused_resource`.
    let rule =
        |input: ParseStream<'_>| Punctuated::<Ident, Token![-]>::parse_separated_nonempty_with(input, Ident::parse_any);
    let rules = attribute
        .parse_args_with(|input: ParseStream<'_>| Punctuated::<_, Token![,]>::parse_terminated_with(input, rule))?;
    for rule in rules {
        let words: Vec<String> = rule.iter().map(|word| word.to_string().replace('_', "-")).collect();
        let text = words.join("-");
        if Code::ALL.iter().any(|code| code.is_warning() && code.as_str() == text) {
            found.allowed.push(text);
        } else {
            let warnings: Vec<&str> = Code::ALL
                .iter()
                .filter(|code| code.is_warning())
                .map(|code| code.as_str())
                .collect();
            report.syntax(
                rule.span(),
                format!("no warning is named `{text}`; there are {}", warnings.join(", ")),
            );
        }
    }
    Ok(())
}

/// The value of an integer literal.
pub(crate) fn integer(expr: &Expr) -> Option<i128> {
    match expr {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(int) => int.base10_parse().ok(),
            _ => None,
        },
        _ => None,
    }
}
