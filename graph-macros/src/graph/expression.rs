//! The expression form as an item. A place whose name no statement declares is a local, which is moved into the graph.

use super::ast::{Attributes, Expression, Form, Item, Resource, ResourceKind, Shape, Statement};
use graph_plan::{NodeKind, Space};
use proc_macro2::{Ident, Span};
use std::collections::HashSet;
use syn::{Generics, Visibility, parse_quote_spanned};

/// The item that the rest of the macro works on.
pub(crate) fn item(mut graph: Expression) -> Item {
    let mut declared: HashSet<String> = graph.unparsed.iter().map(ToString::to_string).collect();
    let mut places: Vec<Mentioned> = Vec::new();
    walk(&graph.statements, &mut declared, &mut places);
    let mut moved: Vec<Statement> = Vec::new();
    for place in &places {
        if declared.insert(place.name.to_string()) {
            let on_host = |other: &&Mentioned| other.name == place.name && other.space == Space::Host;
            let space = places.iter().find(on_host).map_or(Space::Device, |other| other.space);
            moved.push(Statement::Resource(local(place.name.clone(), space)));
        }
    }
    moved.append(&mut graph.statements);
    Item {
        attributes: Attributes {
            visibility: Some(Visibility::Public(syn::token::Pub(Span::mixed_site()))),
            ..Attributes::default()
        },
        name: Ident::new("Expression", Span::mixed_site()),
        generics: Generics::default(),
        arguments: Vec::new(),
        auto: graph.auto,
        statements: moved,
        unparsed: graph.unparsed,
        kernels: graph.kernels,
        form: Form::Expression(Box::new(graph.device), graph.arrow),
    }
}

/// The name of a place, and the space that a node which mentions it needs.
struct Mentioned {
    name: Ident,
    space: Space,
}

/// A local. Only its type tells what memory it is.
fn local(name: Ident, space: Space) -> Resource {
    let (span, shape) = (name.span(), Shape::scalar(parse_quote_spanned!(name.span()=> _)));
    Resource::new(Attributes::default(), span, ResourceKind::Moved(space), name, shape)
}

/// Collects the names that statements declare, and those of the places that they mention.
fn walk(statements: &[Statement], declared: &mut HashSet<String>, places: &mut Vec<Mentioned>) {
    Statement::visit(statements, &mut |statement| {
        declared.insert(statement.name().to_string());
        let Statement::Node(node) = statement else { return };
        let unparsed = node.action.bodies().iter().flat_map(|(_, body)| &body.unparsed);
        declared.extend(unparsed.map(ToString::to_string));
        let space = match node.kind {
            NodeKind::Call => Space::Host,
            _ => Space::Device,
        };
        let whole = node
            .action
            .places()
            .into_iter()
            .filter(|place| place.name.path().is_none());
        let mentioned = whole.map(|place| Mentioned {
            name: Ident::clone(&place.name),
            space,
        });
        places.extend(mentioned);
    });
}
