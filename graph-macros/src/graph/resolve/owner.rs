//! Who has each name of the one namespace.

use crate::report::{Report, error};
use crate::span::on_line;
use graph_plan::{Code, Diagnostic};
use proc_macro2::Ident;
use std::collections::HashMap;
use syn::ext::IdentExt;

/// The owner of each name.
pub(super) type Owners<'a> = HashMap<String, Owner<'a>>;

/// Who has a name.
#[derive(Clone, Copy)]
pub(super) enum Owner<'a> {
    /// A method of every graph.
    Method,
    /// A statement, or (`true`) an accessor made for it.
    Statement(&'a Ident, bool),
    /// A `for`, whose variable it is.
    Variable(&'a Ident, usize),
}

/// Gives `name` its own and its accessors' names; says whether one of them is taken, which is reported.
pub(super) fn enter<'a>(owners: &mut Owners<'a>, name: &'a Ident, accessors: Vec<String>, report: &mut Report) -> bool {
    if name.unraw().to_string().starts_with("__") {
        let message = format!("`{name}` begins with `__`, as the names do that the expansion makes up");
        report.push(
            name.span(),
            &error(Code::DuplicateName, message).help("choose a name without the underscores"),
        );
        return true;
    }
    let own = (name.unraw().to_string(), false);
    let taken: Vec<(String, bool)> = [own]
        .into_iter()
        .chain(accessors.into_iter().map(|accessor| (accessor, true)))
        .collect();
    let clash = taken
        .iter()
        .find_map(|(taken, _)| owners.get(taken).map(|owner| clashing(name, taken, *owner)));
    match &clash {
        Some(diagnostic) => report.push(name.span(), diagnostic),
        None => owners.extend(
            taken
                .into_iter()
                .map(|(taken, accessor)| (taken, Owner::Statement(name, accessor))),
        ),
    }
    clash.is_some()
}

/// `name` cannot have `taken` (itself, or an accessor), since `owner` has it.
fn clashing(name: &Ident, taken: &str, owner: Owner<'_>) -> Diagnostic {
    let own = name.unraw() == taken;
    let subject = if own {
        format!("`{name}`")
    } else {
        format!("the accessor `{taken}` of `{name}`")
    };
    let duplicate = |message: String| {
        error(Code::DuplicateName, message)
            .help("nodes, resources, params, build arguments and the accessors made for them share one namespace: choose another name")
    };
    let first = match owner {
        Owner::Method if taken == "PLAN" => {
            return duplicate(format!("{subject} has the name of a constant of every graph"));
        }
        Owner::Method => return duplicate(format!("{subject} has the name of a method of every graph")),
        Owner::Statement(first, _) | Owner::Variable(first, _) => first,
    };
    let declared = format!("`{first}` is declared {}", on_line(first.span()));
    match owner {
        Owner::Statement(_, false) | Owner::Variable(..) if own => {
            duplicate(format!("the name `{name}` is declared twice"))
        }
        Owner::Statement(_, true) => duplicate(format!("{subject} has the name of an accessor of `{first}`")),
        _ => duplicate(format!("{subject} has the name of another declaration")),
    }
    .note(declared)
}
