//! The one namespace: who has each name, and what it stands for.

use super::loops::{self, Around};
use super::owner::{Owner, Owners, enter};
use super::{Entity, Graph, Value};
use crate::graph::ast::{Action, BuildArgument, Item, Resource, ResourceKind, Statement};
use crate::report::{Report, error};
use graph_plan::{Code, NodeKind};
use proc_macro2::Ident;
use syn::Type;
use syn::ext::IdentExt;

/// The methods that every graph has, and its constant, whose names nothing else may take.
const METHODS: [&str; 7] = [
    "build",
    "launch",
    "launch_on",
    "synchronize",
    "memory_mut",
    "raw",
    "PLAN",
];

/// Those of graphs that are expressions, besides.
const METHODS_OF_EXPRESSIONS: [&str; 2] = ["into_parts", "plan"];

/// Enters all names of a graph.
pub(super) fn declare(graph: &mut Graph<'_>, report: &mut Report) {
    let item: &Item = graph.item;
    let more = METHODS_OF_EXPRESSIONS.iter().filter(|_| graph.is_expression());
    let mut owners: Owners<'_> = METHODS
        .iter()
        .chain(more)
        .map(|&method| (method.to_owned(), Owner::Method))
        .collect();
    arguments(graph, &mut owners, report);
    statements(graph, &item.statements, Around::GRAPH, &mut owners, report);
    const_generics(graph, report);
}

/// Reports variables with the names of const generics, which rustc would take for patterns.
fn const_generics(graph: &mut Graph<'_>, report: &mut Report) {
    for generic in graph.item.generics.const_params() {
        let params = graph.params.iter().map(|param| &param.name);
        let values = graph.values.iter().map(|value| value.name);
        let variables = graph.loops.iter().map(|repeated| repeated.variable());
        let mut all = params.chain(values).chain(variables);
        if let Some(name) = all.find(|name| **name == generic.ident) {
            let message = format!("`{name}` has the name of a const generic of the graph");
            report.push(
                name.span(),
                &error(Code::DuplicateName, message).help("choose another name"),
            );
            graph.names.insert(name.to_string(), Entity::Broken);
        }
    }
}

/// Enters the names of the build arguments, and of their accessors, into the one namespace.
fn arguments<'a>(graph: &mut Graph<'a>, owners: &mut Owners<'a>, report: &mut Report) {
    for argument in &graph.item.arguments {
        if let BuildArgument::Unknown(_) = argument {
            continue;
        }
        let clash = enter(owners, argument.name(), accessors(argument), report);
        let entity = match argument {
            BuildArgument::Value { name, ty } if !clash => graph.value(name, ty),
            BuildArgument::Memory(resource) if !clash => graph.memory(resource),
            _ => Entity::Broken,
        };
        graph.name(argument.name(), entity);
    }
}

/// Enters the names of a body's statements, of those in their bodies, and of their accessors into the one namespace.
fn statements<'a>(
    graph: &mut Graph<'a>,
    found: &'a [Statement],
    around: Around,
    owners: &mut Owners<'a>,
    report: &mut Report,
) {
    for statement in found {
        if let Statement::For(repeated) = statement {
            let inside = loops::declare(graph, repeated, around, owners, report);
            statements(graph, &repeated.statements, inside, owners, report);
            continue;
        }
        let name = statement.name();
        let clash = enter(owners, name, taken(statement), report);
        let entity = match statement {
            Statement::Resource(resource) if !clash => graph.memory(resource),
            Statement::Param(param) if !clash => {
                graph.params.push(param);
                Entity::Param(graph.params.len() - 1)
            }
            Statement::Node(node) => {
                graph.nodes.push(node);
                let index = graph.draft.node_in(around.body, name.to_string(), kind(&node.action));
                graph.draft.nodes[index].repeated = around.repeated;
                graph.draft.nodes[index].broken = around.astray || node.attributes.astray;
                graph.draft.nodes[index].disabled = node.attributes.node.disabled.is_some();
                if clash {
                    graph.draft.nodes[index].broken = true;
                    graph.nameless.push(index);
                }
                Entity::Node(index)
            }
            _ => Entity::Broken,
        };
        graph.name(name, entity);
        if let Statement::Node(node) = statement {
            let index = graph.nodes.len() - 1;
            for (role, inner) in node.action.bodies() {
                let body = graph.draft.body(index, role);
                graph.draft.bodies[body].broken = !inner.unparsed.is_empty();
                let around = Around {
                    body,
                    repeated: None,
                    ..around
                };
                statements(graph, &inner.statements, around, owners, report);
            }
        }
    }
}

impl<'a> Graph<'a> {
    fn memory(&mut self, resource: &'a Resource) -> Entity {
        self.resources.push(resource);
        let index = self.draft.resource(resource.name.to_string(), resource.space());
        self.draft.resources[index].scratch = resource.kind == ResourceKind::Scratch;
        Entity::Resource(index)
    }

    fn value(&mut self, name: &'a Ident, ty: &'a Type) -> Entity {
        self.values.push(Value { name, ty });
        Entity::Value(self.values.len() - 1)
    }

    /// Of a name that is declared twice nobody can say what it means.
    pub(super) fn name(&mut self, name: &Ident, entity: Entity) {
        let known = self.names.entry(name.to_string()).or_insert(entity);
        if *known != entity {
            *known = Entity::Broken;
        }
    }
}

fn kind(action: &Action) -> NodeKind {
    match action {
        Action::Kernel(_) => NodeKind::Kernel,
        Action::Memcpy { .. } => NodeKind::Memcpy,
        Action::Memset { .. } => NodeKind::Memset,
        Action::Call(_) => NodeKind::Call,
        Action::Capture(_) => NodeKind::Capture,
        Action::Raw(_) => NodeKind::Raw,
        Action::Record(_) => NodeKind::Record,
        Action::Wait(_) => NodeKind::Wait,
        Action::If(_) => NodeKind::If,
        Action::While(_) => NodeKind::While,
        Action::Switch(_) => NodeKind::Switch,
        Action::Graph(_) => NodeKind::Graph,
        Action::Join => NodeKind::Join,
    }
}

/// The names of a statement's accessors.
fn taken(statement: &Statement) -> Vec<String> {
    let name = statement.name().unraw();
    match statement {
        Statement::Resource(resource) if resource.kind == ResourceKind::Scratch || resource.random.is_some() => {
            Vec::new()
        }
        Statement::Resource(_) => vec![format!("{name}_mut")],
        Statement::Param(_) => vec![format!("set_{name}")],
        Statement::Node(_) | Statement::For(_) => Vec::new(),
    }
}

/// The names of a build argument's accessors.
fn accessors(argument: &BuildArgument) -> Vec<String> {
    let name = argument.name().unraw();
    match argument {
        BuildArgument::Value { .. } | BuildArgument::Unknown(_) => Vec::new(),
        BuildArgument::Memory(memory) if memory.is_mutable() => vec![format!("{name}_mut"), format!("rebind_{name}")],
        BuildArgument::Memory(_) => vec![format!("rebind_{name}")],
    }
}
