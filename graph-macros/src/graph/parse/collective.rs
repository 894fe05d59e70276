//! `all_reduce`, `all_gather`, `reduce_scatter`, `broadcast` and `exchange`.

use super::base::{expected, expression, next_is, present, require, take};
use super::place::place;
use crate::graph::ast::{Action, Collective, Move, Place};
use graph_plan::{Mode, NodeKind};
use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Expr, Ident, Token, parenthesized, parse_quote};

/// The ways in which numbers of several ranks become one, as they are written.
const REDUCTIONS: [&str; 5] = ["sum", "prod", "min", "max", "avg"];

/// The memory, the ranks and the communicator of a collective, and its last token.
pub(super) fn collective(input: ParseStream<'_>, kind: NodeKind) -> syn::Result<(Action, Span)> {
    let (reduction, moves) = match kind {
        NodeKind::AllReduce => reduced(input, |input| Ok(vec![moved(place(input)?, Mode::ReadWrite)]))?,
        NodeKind::ReduceScatter => reduced(input, two_sides)?,
        NodeKind::Broadcast => {
            let mut whole = moved(place(input)?, Mode::ReadWrite);
            whole.peer = Some(rank(input, "from")?);
            (None, vec![whole])
        }
        NodeKind::Exchange => (None, exchanged(input)?),
        _ => (None, two_sides(input)?),
    };
    let form = "`over` and the name of a communicator, as in `over world`";
    require(input, next_is(input, "over"), form)?;
    let word = input.call(Ident::parse_any)?;
    present(input, word.span(), form)?;
    let communicator: Ident = take(input, "the name of a communicator after `over`")?;
    let (over, end) = (parse_quote!(#communicator), communicator.span());
    let collective = Collective {
        reduction,
        moves,
        communicator,
        over,
    };
    Ok((Action::Collective(Box::new(collective)), end))
}

fn moved(place: Place, mode: Mode) -> Move {
    Move {
        place,
        mode,
        peer: None,
    }
}

/// `part -> whole`
fn two_sides(input: ParseStream<'_>) -> syn::Result<Vec<Move>> {
    let from = place(input)?;
    let arrow: Token![->] = take(input, "`-> destination`")?;
    present(input, arrow.spans[1], "`destination` after `->`")?;
    Ok(vec![moved(from, Mode::Read), moved(place(input)?, Mode::Write)])
}

/// Parses by `inner`, perhaps in parentheses after the name of a reduction: `max(x)`.
fn reduced(
    input: ParseStream<'_>,
    inner: impl FnOnce(ParseStream<'_>) -> syn::Result<Vec<Move>>,
) -> syn::Result<(Option<Ident>, Vec<Move>)> {
    if !(input.peek(Ident) && input.peek2(syn::token::Paren)) {
        return Ok((None, inner(input)?));
    }
    let reduction: Ident = input.parse()?;
    if !REDUCTIONS.iter().any(|known| reduction == known) {
        let what = "`sum`, `prod`, `min`, `max` or `avg` before the parentheses";
        return Err(expected(reduction.span(), what));
    }
    let content;
    parenthesized!(content in input);
    let moves = inner(&content)?;
    require(&content, content.is_empty(), "`)`")?;
    Ok((Some(reduction), moves))
}

/// `send a to rank, recv b from rank`
fn exchanged(input: ParseStream<'_>) -> syn::Result<Vec<Move>> {
    let mut moves = Vec::new();
    loop {
        let (mode, word) = if next_is(input, "send") {
            (Mode::Read, "to")
        } else {
            require(
                input,
                next_is(input, "recv"),
                "`send memory to rank` or `recv memory from rank`",
            )?;
            (Mode::Write, "from")
        };
        let first = input.call(Ident::parse_any)?;
        present(input, first.span(), format_args!("memory after `{first}`"))?;
        let mut one = moved(place(input)?, mode);
        one.peer = Some(rank(input, word)?);
        moves.push(one);
        if !input.peek(Token![,]) {
            return Ok(moves);
        }
        input.parse::<Token![,]>()?;
    }
}

/// `from rank` or `to rank`
fn rank(input: ParseStream<'_>, word: &str) -> syn::Result<Expr> {
    let what = format!("`{word}` and a rank, as in `{word} 0`");
    require(input, next_is(input, word), &what)?;
    input.call(Ident::parse_any)?;
    expression(input, &what)
}
