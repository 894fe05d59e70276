//! Groups of memory as build arguments: `layers: [Layer; n]` takes the group `Layer` of the same macro call.
//!
//! A field of a group is shared memory of the graph with one more dimension, the outermost, which counts the groups. So
//! all rules about places hold for it, `layers[i].q` being row `i` of `layers.q`. Only the expansion knows that each
//! row is memory of its own.

use super::ast::{BuildArgument, Group, GroupArgument, Item, Items, Name, Resource};
use super::constant::mentions;
use super::resolve::Graph;
use crate::report::{Report, error};
use crate::span::on_line;
use graph_plan::Code;
use proc_macro2::Ident;
use quote::ToTokens;
use syn::{GenericParam, Type};

/// Makes each argument that has the type of a group one of that group, and returns the groups. Reports groups whose
/// name an item has already, and leaves them out.
pub(super) fn taken(items: &mut Items, report: &mut Report) -> Vec<Group> {
    let groups = distinct(std::mem::take(&mut items.groups), &items.graphs, report);
    for graph in &mut items.graphs {
        let mut arguments = std::mem::take(&mut graph.arguments);
        for argument in &mut arguments {
            take(argument, graph, &groups, report);
        }
        graph.arguments = arguments;
    }
    groups
}

fn distinct(groups: Vec<Group>, graphs: &[Item], report: &mut Report) -> Vec<Group> {
    let mut kept: Vec<Group> = Vec::new();
    for group in groups {
        let graphs = graphs.iter().map(|graph| ("graph", &graph.name));
        let mut earlier = graphs.chain(kept.iter().map(|group| ("group", &group.name)));
        match earlier.find(|(_, name)| **name == group.name) {
            Some((kind, first)) => {
                let message = format!("the group `{}` has the name of a {kind}", group.name);
                let note = format!("the {kind} `{first}` is declared {}", on_line(first.span()));
                let diagnostic = error(Code::DuplicateName, message).note(note);
                report.push(group.name.span(), &diagnostic.help("choose another name"));
            }
            None => kept.push(group),
        }
    }
    kept
}

/// Makes a value an argument of a group, if it has the type of one.
fn take(argument: &mut BuildArgument, graph: &Item, groups: &[Group], report: &mut Report) {
    let BuildArgument::Value { name, ty } = argument else {
        return;
    };
    let of = |ty: &Type| groups.iter().find(|group| is_name(ty, &group.name));
    let length = match &**ty {
        Type::Array(array) => of(&array.elem).map(|group| (group, array.len.clone())),
        Type::Slice(slice) => {
            let element = slice.elem.clone();
            if missing_length(name, of(&element), ty, report) {
                *ty = element; // so that rustc does not say as well that slices have no size
            }
            return;
        }
        ty => {
            missing_length(name, of(ty), ty, report);
            return;
        }
    };
    let Some((group, length)) = length else { return };
    generics(graph, group, report);
    let fields = group.fields.iter().map(|field| {
        let mut field = field.clone();
        field.name = Name::of_field(name, &field.name);
        let bracket = field.shape.brackets.first().copied();
        field.shape.lengths.insert(0, length.clone());
        field.shape.brackets.insert(0, bracket.unwrap_or_else(|| name.span()));
        // Another graph may use the field.
        field.attributes.allowed.push(Code::UnusedResource.as_str().to_owned());
        field
    });
    *argument = BuildArgument::Group(Box::new(GroupArgument {
        name: name.clone(),
        group: group.name.clone(),
        fields: fields.collect(),
        length,
    }));
}

/// Whether a type is this name.
fn is_name(ty: &Type, name: &Ident) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident(name))
}

/// Reports an argument that does not say how many groups it has. Returns whether it is one.
fn missing_length(name: &Ident, group: Option<&Group>, ty: &impl ToTokens, report: &mut Report) -> bool {
    let Some(Group { name: group, .. }) = group else {
        return false;
    };
    let message = format!("expected `{name}: [{group}; n]`, the groups and their number");
    let diagnostic = error(Code::Syntax, message).help(format!("`[{group}; 1]` is a single group"));
    report.push_at(ty, &diagnostic);
    true
}

/// Reports fields whose shapes mention generics of the graph, which the group's type does not have.
fn generics(graph: &Item, group: &Group, report: &mut Report) {
    let name = |param: &GenericParam| match param {
        GenericParam::Type(param) => Some(param.ident.to_string()),
        GenericParam::Const(param) => Some(param.ident.to_string()),
        GenericParam::Lifetime(_) => None,
    };
    let generics = graph.generics.params.iter().filter_map(name);
    for generic in generics {
        let mentioned = |field: &&Resource| mentions(field.shape.to_token_stream(), std::slice::from_ref(&generic));
        if let Some(field) = group.fields.iter().find(mentioned) {
            let message = format!(
                "`{generic}` is generic in graph `{}`, and unknown in group `{}`",
                graph.name, group.name
            );
            let help = format!(
                "give `{}` constant lengths, or lengths that the graphs take as build arguments",
                field.name
            );
            report.push_at(&field.shape, &error(Code::Syntax, message).help(help));
        }
    }
}

/// Reports fields of which only build knows a length in one graph, but not in another: the type of the group is one.
pub(super) fn shapes(groups: &[Group], graphs: &[Graph<'_>], report: &mut Report) {
    for group in groups {
        let mut takers = takers(group, graphs);
        let Some((first, one)) = takers.next() else { continue };
        for (other, fields) in takers {
            let mut pairs = one.iter().zip(fields).zip(&group.fields);
            let differ = |((one, other_field), _): &((&Resource, &Resource), &Resource)| {
                let lengths = [(first, one), (other, other_field)];
                let [one, other] = lengths.map(|(graph, field)| graph.variable_lengths_of_row(field));
                one != other
            };
            if let Some((_, field)) = pairs.find(differ) {
                let message = format!(
                    "a length of `{}` is a build argument in only one of the graphs `{}` and `{}`, which both take `{}`",
                    field.name, first.item.name, other.item.name, group.name
                );
                let help = "let both take it as a build argument, or none";
                report.push_at(&field.shape, &error(Code::ShapeMismatch, message).help(help));
            }
        }
    }
}

/// The graphs that take a group, each with the fields of its first argument of that group.
pub(super) fn takers<'g, 'a>(
    group: &'g Group,
    graphs: &'g [Graph<'a>],
) -> impl Iterator<Item = (&'g Graph<'a>, &'a [Resource])> + use<'g, 'a> {
    let fields = |graph: &'g Graph<'a>| {
        let item: &'a Item = graph.item;
        item.arguments.iter().find_map(|argument| match argument {
            BuildArgument::Group(argument) if argument.group == group.name => Some(&argument.fields[..]),
            _ => None,
        })
    };
    graphs.iter().filter_map(move |graph| Some((graph, fields(graph)?)))
}
