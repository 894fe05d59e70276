//! The expression form as an item. A place whose name no statement declares is a local, which is moved into the graph.

use super::ast::{Action, Attributes, Expression, Form, Item, Node, Resource, ResourceKind, Shape, Statement};
use graph_plan::Space;
use proc_macro2::{Ident, Span};
use std::collections::HashSet;
use syn::{Generics, Visibility, parse_quote_spanned};

/// The item that the rest of the macro works on.
pub(crate) fn item(graph: Expression) -> Item {
    let Expression {
        device,
        arrow,
        mut statements,
        unparsed,
        kernels,
    } = graph;
    let mut declared: HashSet<String> = unparsed.iter().map(ToString::to_string).collect();
    let mut places: Vec<Mentioned> = Vec::new();
    walk(&statements, &mut declared, &mut places);
    let mut moved: Vec<Statement> = Vec::new();
    for place in &places {
        if declared.insert(place.name.to_string()) {
            let on_host = |other: &&Mentioned| other.name == place.name && other.space == Space::Host;
            let space = places.iter().find(on_host).map_or(Space::Device, |other| other.space);
            moved.push(Statement::Resource(local(place.name.clone(), space)));
        }
    }
    moved.append(&mut statements);
    Item {
        attributes: Attributes {
            visibility: Some(Visibility::Public(syn::token::Pub(Span::mixed_site()))),
            ..Attributes::default()
        },
        name: Ident::new("Expression", Span::mixed_site()),
        generics: Generics::default(),
        arguments: Vec::new(),
        statements: moved,
        unparsed,
        kernels,
        form: Form::Expression(Box::new(device), arrow),
    }
}

/// The name of a place, and the space that a node which mentions it needs.
struct Mentioned {
    name: Ident,
    space: Space,
}

/// A local. Only its type tells what memory it is.
fn local(name: Ident, space: Space) -> Resource {
    Resource {
        attributes: Attributes::default(),
        keyword: name.span(),
        kind: ResourceKind::Moved(space),
        shape: Shape {
            element: parse_quote_spanned!(name.span()=> _),
            lengths: Vec::new(),
            brackets: Vec::new(),
        },
        random: None,
        symbol: None,
        name,
    }
}

/// Collects the names that statements declare, and those of the places that they mention.
fn walk(statements: &[Statement], declared: &mut HashSet<String>, places: &mut Vec<Mentioned>) {
    for statement in statements {
        declared.insert(statement.name().to_string());
        match statement {
            Statement::Node(node) => {
                mentioned(node, places);
                for (_, body) in node.action.bodies() {
                    declared.extend(body.unparsed.iter().map(ToString::to_string));
                    walk(&body.statements, declared, places);
                }
            }
            Statement::For(for_loop) => walk(&for_loop.statements, declared, places),
            Statement::Resource(_) | Statement::Param(_) => {}
        }
    }
}

/// The names of the places that a node mentions, other than in its bodies.
fn mentioned(node: &Node, places: &mut Vec<Mentioned>) {
    let space = match matches!(node.action, Action::Call(_)) {
        true => Space::Host,
        false => Space::Device,
    };
    let mentioned = node.action.places().into_iter().map(|place| Mentioned {
        name: place.name.clone(),
        space,
    });
    places.extend(mentioned);
}
