//! The namespace of a graph: the owner and the meaning of each name.

use super::loops::{self, Around};
use super::owner::{Declared, Owner, Owners, Sharing, enter};
use super::{Entity, Graph, Value};
use crate::graph::ast::{BuildArgument, GroupArgument, Item, Let, Node, Resource, ResourceKind, Statement};
use crate::graph::constant::value;
use crate::report::{Report, error};
use crate::text::plain;
use graph_plan::{Accessors, Code, Origin};
use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::{Expr, Type};

/// The methods that every graph has, and its constant, whose names nothing else may take.
const METHODS: [&str; 10] = [
    "build",
    "define",
    "launch",
    "launch_on",
    "launch_async",
    "synchronize",
    "edit",
    "memory_mut",
    "raw",
    "PLAN",
];

/// The further methods of graphs that are expressions.
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

/// Reports variables that have the name of a const generic: rustc would take the name for a pattern.
fn const_generics(graph: &mut Graph<'_>, report: &mut Report) {
    for generic in graph.item.generics.const_params() {
        let params = graph.params.iter().map(|param| &param.name);
        let values = graph.values.iter().map(|value| value.name);
        let variables = graph.loops.iter().map(|for_loop| for_loop.variable());
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
        let declared = Declared::new(argument.name(), "build argument");
        let accessors = match argument {
            BuildArgument::Memory(resource) => accessors(resource),
            BuildArgument::Group(group) => accessors_of_group(group),
            BuildArgument::Value { .. } | BuildArgument::Communicator { .. } | BuildArgument::Unknown(_) => Vec::new(),
        };
        let clash = enter(owners, declared, accessors, report);
        let entity = match argument {
            _ if clash => Entity::Broken,
            BuildArgument::Value { name, ty } => graph.value(name, ty, None),
            BuildArgument::Communicator { name, ty } => {
                graph.draft.communicator(name.to_string());
                graph.value(name, ty, None)
            }
            BuildArgument::Memory(resource) => graph.memory(resource),
            BuildArgument::Group(group) => {
                for field in &group.fields {
                    let resource = graph.memory(field);
                    graph.name(&field.name, resource);
                }
                graph.groups.push(group);
                Entity::Group(graph.groups.len() - 1)
            }
            BuildArgument::Unknown(_) => Entity::Broken,
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
        match statement {
            Statement::Resource(resource) => {
                let sharing = match resource.kind {
                    ResourceKind::Own(memory) if memory.may_share_name() => Sharing::Memory,
                    _ => Sharing::Nothing,
                };
                let declared = Declared::new(&resource.name, "resource").sharing(sharing);
                let entity = match enter(owners, declared, accessors(resource), report) {
                    true => Entity::Broken,
                    false => graph.memory(resource),
                };
                // A node that is written before the memory may have its name.
                if let (Some(Entity::Node(node)), Entity::Resource(_)) = (graph.entity(&resource.name), entity) {
                    let name = Ident::to_string(&resource.name);
                    graph.names.remove(&name);
                    graph.namesakes.insert(name, node);
                }
                graph.name(&resource.name, entity);
            }
            Statement::Param(param) => {
                let declared = Declared::new(&param.name, "param");
                let setter = format!("set_{}", param.name.unraw());
                let entity = match enter(owners, declared, vec![setter], report) {
                    true => Entity::Broken,
                    false => {
                        graph.params.push(param);
                        Entity::Param(graph.params.len() - 1)
                    }
                };
                graph.name(&param.name, entity);
            }
            Statement::Let(found) => computed(graph, found, owners, report),
            Statement::Node(node) => self::node(graph, node, around, owners, report),
            Statement::For(for_loop) => {
                let inside = loops::declare(graph, for_loop, around, owners, report);
                statements(graph, &for_loop.statements, inside, owners, report);
            }
        }
    }
}

/// Enters a `let`.
fn computed<'a>(graph: &mut Graph<'a>, found: &'a Let, owners: &mut Owners<'a>, report: &mut Report) {
    let clash = enter(owners, Declared::new(&found.name, "value"), Vec::new(), report);
    if graph.is_expression() {
        let message = format!(
            "`{}` is declared in an expression, which sees the locals around it",
            found.name
        );
        let help = "write it as a local before `cuda_graph!`";
        report.push(found.name.span(), &error(Code::Syntax, message).help(help));
    }
    let entity = match &found.ty {
        Some(ty) if !clash && !graph.is_expression() => graph.value(&found.name, ty, Some(&found.value)),
        _ => Entity::Broken,
    };
    graph.name(&found.name, entity);
}

/// Enters a node, then the statements of its bodies.
fn node<'a>(graph: &mut Graph<'a>, node: &'a Node, around: Around, owners: &mut Owners<'a>, report: &mut Report) {
    let declared = Declared::new(&node.name, "node").sharing(Sharing::Node);
    let clash = enter(owners, declared, Vec::new(), report);
    graph.nodes.push(node);
    let index = graph.draft.node_in(around.body, node.name.to_string(), node.kind);
    let drafted = &mut graph.draft.nodes[index];
    drafted.in_loop = around.innermost;
    drafted.broken = around.astray || node.attributes.astray || clash;
    drafted.disabled = node.attributes.node.disabled.is_some();
    if clash {
        graph.nameless.push(index);
    }
    match graph.entity(&node.name) {
        Some(Entity::Resource(_)) if !clash => {
            graph.namesakes.insert(node.name.to_string(), index);
        }
        _ => graph.name(&node.name, Entity::Node(index)),
    }
    for (role, inner) in node.action.bodies() {
        let body = graph.draft.body(index, *role);
        graph.draft.bodies[body].broken = !inner.unparsed.is_empty();
        let around = Around {
            body,
            innermost: None,
            ..around
        };
        statements(graph, &inner.statements, around, owners, report);
    }
}

impl<'a> Graph<'a> {
    fn memory(&mut self, resource: &'a Resource) -> Entity {
        self.resources.push(resource);
        let index = self.draft.resource(resource.name.to_string(), resource.memory());
        let length = resource.shape.lengths.first().and_then(value);
        self.draft.resources[index].extent = length.and_then(|length| u64::try_from(length).ok());
        self.draft.resources[index].origin = match resource.kind {
            _ if resource.uniform.is_some() => Origin::Uniform,
            ResourceKind::Shared { .. } | ResourceKind::Moved(_) | ResourceKind::Rng => Origin::Outside,
            ResourceKind::Own(_) => Origin::OfKind,
        };
        if matches!(plain(&resource.shape.element).as_str(), "f32" | "f64") {
            self.draft.resources[index].zero = "0.0";
        }
        Entity::Resource(index)
    }

    fn value(&mut self, name: &'a Ident, ty: &'a Type, computed: Option<&'a Expr>) -> Entity {
        self.values.push(Value { name, ty, computed });
        Entity::Value(self.values.len() - 1)
    }

    /// Gives a name its meaning. A name that is declared twice has none.
    pub(super) fn name(&mut self, name: &Ident, entity: Entity) {
        let known = self.names.entry(name.to_string()).or_insert(entity);
        if *known != entity {
            *known = Entity::Broken;
        }
    }
}

/// The names of the accessors of an argument of groups, other than its own name.
fn accessors_of_group(group: &GroupArgument) -> Vec<String> {
    let name = group.name.unraw();
    let mut accessors = vec![format!("rebind_{name}")];
    if group.is_mutable() {
        accessors.push(format!("{name}_mut"));
    }
    accessors
}

/// The names of the accessors of memory, other than its own name.
fn accessors(resource: &Resource) -> Vec<String> {
    let name = resource.name.unraw();
    match (resource.kind, resource.memory().accessors()) {
        (ResourceKind::Shared { mutable: true, .. }, _) => vec![format!("{name}_mut"), format!("rebind_{name}")],
        (ResourceKind::Shared { mutable: false, .. }, _) => vec![format!("rebind_{name}")],
        (ResourceKind::Rng, _) | (_, Accessors::Handle | Accessors::None) => Vec::new(),
        (_, Accessors::Lent) => vec![format!("{name}_mut")],
    }
}
