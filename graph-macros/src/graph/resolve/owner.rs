//! The owners of the names in the one namespace.

use crate::report::{Report, error};
use crate::span::on_line;
use graph_plan::{Code, Diagnostic};
use proc_macro2::Ident;
use std::collections::HashMap;
use syn::ext::IdentExt;

/// The owner of each name.
pub(super) type Owners<'a> = HashMap<String, Owner<'a>>;

/// The owner of a name.
#[derive(Clone, Copy)]
pub(super) enum Owner<'a> {
    /// A method of every graph.
    Method,
    /// A declaration.
    Declaration(Declared<'a>),
    /// An accessor that is made for a declaration.
    Accessor(&'a Ident),
    /// A `for`, by its index: the name is its variable.
    Variable(&'a Ident, usize),
}

/// A name and the kind of statement that declares it.
#[derive(Clone, Copy)]
pub(super) struct Declared<'a> {
    pub(super) name: &'a Ident,
    /// The kind, as messages call it: `node`.
    pub(super) kind: &'static str,
    /// The declaration that may have the same name.
    pub(super) sharing: Sharing,
}

/// A declaration that may share its name with another one. Places and the names in `after` are never confused, but
/// the accessors of memory and the handles of nodes would be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharing {
    /// A node, with memory that has no accessor.
    Node,
    /// Such memory, with a node.
    Memory,
    /// None.
    Nothing,
}

impl<'a> Declared<'a> {
    pub(super) fn new(name: &'a Ident, kind: &'static str) -> Self {
        let sharing = Sharing::Nothing;
        Self { name, kind, sharing }
    }

    /// The declaration, which may share its name.
    pub(super) fn sharing(self, sharing: Sharing) -> Self {
        Self { sharing, ..self }
    }

    /// Whether both may have one name.
    fn shares(self, other: Self) -> bool {
        matches!(
            (self.sharing, other.sharing),
            (Sharing::Node, Sharing::Memory) | (Sharing::Memory, Sharing::Node)
        )
    }
}

/// Gives a declaration its own name and those of its accessors. Reports if one of them is taken, and returns whether
/// one is.
pub(super) fn enter<'a>(
    owners: &mut Owners<'a>,
    declared: Declared<'a>,
    accessors: Vec<String>,
    report: &mut Report,
) -> bool {
    let name = declared.name;
    let own = name.unraw().to_string();
    if own.starts_with("__") {
        let message = format!("`{name}` begins with `__`: such names are reserved for the expansion");
        report.push(
            name.span(),
            &error(Code::DuplicateName, message).help("choose a name without the underscores"),
        );
        return true;
    }
    if let Some(Owner::Declaration(first)) = owners.get(&own)
        && first.shares(declared)
    {
        // No third declaration may have the name.
        owners.insert(own, Owner::Declaration(declared.sharing(Sharing::Nothing)));
        return false;
    }
    let clash = [&own]
        .into_iter()
        .chain(&accessors)
        .find_map(|taken| owners.get(taken).map(|owner| clashing(declared, taken, *owner)));
    if let Some(diagnostic) = clash {
        report.push(name.span(), &diagnostic);
        return true;
    }
    owners.insert(own, Owner::Declaration(declared));
    owners.extend(accessors.into_iter().map(|accessor| (accessor, Owner::Accessor(name))));
    false
}

/// A declaration cannot have the name `taken` (its own, or that of an accessor), since `owner` has it.
fn clashing(declared: Declared<'_>, taken: &str, owner: Owner<'_>) -> Diagnostic {
    let Declared { name, kind, .. } = declared;
    let own = name.unraw() == taken;
    let subject = match own {
        true => format!("`{name}`"),
        false => format!("the accessor `{taken}` of `{name}`"),
    };
    let duplicate = |message: String| {
        error(Code::DuplicateName, message)
            .help("nodes, resources, params, build arguments and the accessors made for them share one namespace: choose another name")
    };
    let (message, first) = match owner {
        Owner::Method => {
            let what = if taken == "PLAN" { "constant" } else { "method" };
            return duplicate(format!("{subject} has the name of a {what} of every graph"));
        }
        Owner::Declaration(first) if own && first.kind == kind => {
            (format!("the name `{name}` is declared twice"), first.name)
        }
        Owner::Declaration(first) if own => (
            format!("{kind} `{name}` has the name of {} `{name}`", first.kind),
            first.name,
        ),
        Owner::Declaration(first) => (
            format!("{subject} has the name of {} `{}`", first.kind, first.name),
            first.name,
        ),
        Owner::Accessor(first) => (format!("{subject} has the name of an accessor of `{first}`"), first),
        Owner::Variable(first, _) if own && kind == VARIABLE => (format!("the name `{name}` is declared twice"), first),
        Owner::Variable(first, _) if own => (format!("{kind} `{name}` has the name of {VARIABLE} `{name}`"), first),
        Owner::Variable(first, _) => (format!("{subject} has the name of {VARIABLE} `{first}`"), first),
    };
    duplicate(message).note(format!("`{first}` is declared {}", on_line(first.span())))
}

/// The kind of the name that counts the iterations of a `for`.
pub(super) const VARIABLE: &str = "the variable";
