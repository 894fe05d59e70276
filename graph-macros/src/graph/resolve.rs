//! Names to indices: an [`Item`] to a [`Graph`] whose nodes, edges and accesses are a [`Draft`].

mod child;
mod repeat;
mod rng;
mod scalar;

pub(crate) use repeat::Repeated;
pub(crate) use scalar::{Scalar, Value, added, added_scalars, expressions, mentioned, params, scalars};

use super::ast::{
    Action, Argument, Attributes, BuildArgument, CallParameter, Dependency, Form, Function, Item, Launch, Node, Param,
    Part, Place, Resource, ResourceKind, Statement,
};
use super::constant::{Variables, mentions};
use crate::report::{Report, error, line, on_line};
use graph_plan::{Bound, Code, Draft, Mode, NodeKind, Region, Subject, nearest, other_body, siblings};
use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::{Expr, Type};

/// The methods that every graph has, whose names nothing else may take.
const METHODS: [&str; 6] = ["build", "launch", "launch_on", "synchronize", "memory_mut", "raw"];

/// Those of graphs that are expressions, besides.
const METHODS_OF_EXPRESSIONS: [&str; 2] = ["into_parts", "plan"];

/// A graph whose names are resolved. Statements whose names clash with earlier ones are left out, other than in the draft.
#[derive(Debug)]
pub(crate) struct Graph<'a> {
    pub(crate) item: &'a Item,
    pub(crate) resources: Vec<&'a Resource>,
    pub(crate) params: Vec<&'a Param>,
    /// Build arguments that are plain values.
    pub(crate) values: Vec<Value<'a>>,
    pub(crate) nodes: Vec<&'a Node>,
    /// The `for`s, as in the draft.
    pub(crate) loops: Vec<Repeated<'a>>,
    /// Nodes whose name an earlier statement has: no handle is emitted for them.
    pub(crate) nameless: Vec<usize>,
    pub(crate) draft: Draft,
    /// For each access of the draft, the place and its first token.
    pub(crate) accesses: Vec<(&'a Place, Span)>,
    /// For each edge of the draft, the name in `after`.
    pub(crate) edges: Vec<&'a Ident>,
    /// What each name of the one namespace stands for.
    names: HashMap<String, Entity>,
}

/// What a name stands for: an index into the lists of [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entity {
    Resource(usize),
    Param(usize),
    Value(usize),
    Node(usize),
    /// What counts the iterations of one or several `for`s.
    Variable,
    /// A statement that could not be parsed, or whose name was taken.
    Broken,
}

impl Graph<'_> {
    /// What `name` stands for.
    pub(crate) fn entity(&self, name: &Ident) -> Option<Entity> {
        self.names.get(&name.to_string()).copied()
    }

    /// The resource a place is in, once the graph is known to be right.
    pub(crate) fn resource(&self, place: &Place) -> Option<usize> {
        match self.entity(&place.name) {
            Some(Entity::Resource(index)) => Some(index),
            _ => None,
        }
    }

    /// Do expressions mention a name of which nobody can say what it stands for?
    pub(crate) fn mentions_broken(&self, tokens: TokenStream) -> bool {
        let broken = self.names.iter().filter(|(_, entity)| **entity == Entity::Broken);
        mentions(tokens, &broken.map(|(name, _)| name.clone()).collect::<Vec<_>>())
    }

    /// The names of all params.
    pub(crate) fn param_names(&self) -> Vec<String> {
        self.params.iter().map(|param| param.name.to_string()).collect()
    }

    /// The names that stand for no constants.
    pub(crate) fn variables(&self) -> Variables {
        let values = self.values.iter().map(|value| value.name.to_string());
        let loops = self.loops.iter().map(|repeated| repeated.variable().to_string());
        Variables {
            names: self.param_names().into_iter().chain(values).chain(loops).collect(),
            locals: self.is_expression(),
        }
    }

    /// Is the outermost length of the resource known only when the graph is built?
    pub(crate) fn is_dynamic(&self, resource: &Resource) -> bool {
        let length = resource.shape.lengths.first();
        length.is_some_and(|length| self.is_variable(length))
    }

    /// Is the value of a length known only when the graph is built?
    pub(crate) fn is_variable(&self, length: &Expr) -> bool {
        self.variables().mentioned(length.to_token_stream())
    }

    /// Does the graph, once built, count its nodes otherwise than they are declared?
    pub(crate) fn is_translated(&self) -> bool {
        let child = |node: &&Node| matches!(node.action, Action::Graph(_));
        !self.loops.is_empty() || self.nodes.iter().any(child)
    }

    /// Does it stand where local variables are in scope?
    pub(crate) fn is_expression(&self) -> bool {
        matches!(self.item.form, Form::Expression(..))
    }
}

/// Resolves every name; reports clashes and names that stand for nothing, or for the wrong thing.
pub(crate) fn resolve<'a>(item: &'a Item, report: &mut Report) -> Graph<'a> {
    let mut graph = Graph {
        item,
        resources: Vec::new(),
        params: Vec::new(),
        values: Vec::new(),
        nodes: Vec::new(),
        loops: Vec::new(),
        nameless: Vec::new(),
        draft: Draft::new(item.name.to_string()),
        accesses: Vec::new(),
        edges: Vec::new(),
        names: item
            .unparsed
            .iter()
            .map(|name| (name.to_string(), Entity::Broken))
            .collect(),
    };
    let more = METHODS_OF_EXPRESSIONS.iter().filter(|_| graph.is_expression());
    let mut owners: Owners<'a> = METHODS
        .iter()
        .chain(more)
        .map(|&method| (method.to_owned(), Owner::Method))
        .collect();
    arguments(&mut graph, &mut owners, report);
    declare(&mut graph, &item.statements, Around::GRAPH, &mut owners, report);
    repeat::fixed_ranges(&graph, report);
    graph
        .resources
        .iter()
        .for_each(|resource| rng::fixed(&graph, resource, report));
    for index in 0..graph.nodes.len() {
        let node = graph.nodes[index];
        after(&mut graph, index, node, report);
        match &node.action {
            Action::Kernel(launch) => {
                fixed_function(&graph, launch, report);
                graph.draft.nodes[index].opaque = launch.unsafety.is_some();
                for argument in &launch.arguments {
                    argument_access(&mut graph, index, argument, report);
                }
            }
            Action::Memcpy { from, to } => {
                access(&mut graph, index, from, from.name.span(), Mode::Read, report);
                access(&mut graph, index, to, to.name.span(), Mode::Write, report);
            }
            Action::Memset { to, .. } => access(&mut graph, index, to, to.name.span(), Mode::Write, report),
            Action::Call(call) => {
                for CallParameter { and, mutable, place } in &call.parameters {
                    borrow(&mut graph, index, place, and.span, mutable.is_some(), report);
                }
            }
            Action::Capture(capture) => library_access(&mut graph, index, &capture.arguments, report),
            Action::Raw(raw) => library_access(&mut graph, index, &raw.arguments, report),
            Action::Graph(child) => child::accesses(&mut graph, index, child, report),
            other => {
                if let Some(flag) = other.condition() {
                    access(&mut graph, index, flag, flag.name.span(), Mode::Read, report);
                }
            }
        }
    }
    graph
}

/// Enters the names of the build arguments, and of their accessors, into the one namespace.
fn arguments<'a>(graph: &mut Graph<'a>, owners: &mut Owners<'a>, report: &mut Report) {
    for argument in &graph.item.arguments {
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
fn declare<'a>(
    graph: &mut Graph<'a>,
    statements: &'a [Statement],
    around: Around,
    owners: &mut Owners<'a>,
    report: &mut Report,
) {
    for statement in statements {
        if let Statement::For(repeated) = statement {
            let inside = repeat::declare(graph, repeated, around, owners, report);
            declare(graph, &repeated.statements, inside, owners, report);
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
                let around = Around { body, repeated: None };
                declare(graph, &inner.statements, around, owners, report);
            }
        }
    }
}

/// Gives `name` its own and its accessors' names; says whether one of them is taken, which is reported.
fn enter<'a>(owners: &mut Owners<'a>, name: &'a Ident, accessors: Vec<String>, report: &mut Report) -> bool {
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
    fn name(&mut self, name: &Ident, entity: Entity) {
        let known = self.names.entry(name.to_string()).or_insert(entity);
        if *known != entity {
            *known = Entity::Broken;
        }
    }
}

/// Where a statement stands.
#[derive(Clone, Copy)]
struct Around {
    body: usize,
    /// The innermost `for` in that body.
    repeated: Option<usize>,
}

impl Around {
    const GRAPH: Self = Self {
        body: 0,
        repeated: None,
    };
}

/// Who has each name.
type Owners<'a> = HashMap<String, Owner<'a>>;

/// Who has a name.
#[derive(Clone, Copy)]
enum Owner<'a> {
    /// A method of every graph.
    Method,
    /// A statement, or (`true`) an accessor made for it.
    Statement(&'a Ident, bool),
    /// A `for`, whose variable it is.
    Variable(&'a Ident, usize),
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
        BuildArgument::Value { .. } => Vec::new(),
        BuildArgument::Memory(memory) if memory.is_mutable() => vec![format!("{name}_mut"), format!("rebind_{name}")],
        BuildArgument::Memory(_) => vec![format!("rebind_{name}")],
    }
}

/// `name` cannot have `taken` (itself, or an accessor), since `owner` has it.
fn clashing(name: &Ident, taken: &str, owner: Owner<'_>) -> graph_plan::Diagnostic {
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

/// The edges of a node.
fn after<'a>(graph: &mut Graph<'a>, index: usize, node: &'a Node, report: &mut Report) {
    for Dependency { name, programmatic } in &node.after {
        match graph.entity(name) {
            Some(Entity::Node(before)) if graph.draft.nodes[before].body == graph.draft.nodes[index].body => {
                match programmatic {
                    Some(_) => graph.draft.programmatic_edge(before, index),
                    None => graph.draft.edge(before, index),
                };
                graph.edges.push(name);
                continue;
            }
            Some(Entity::Node(before)) => {
                let subject = Subject::Node(index);
                report.push(name.span(), &other_body(&graph.draft, before, index, subject));
                if let Some((_, later)) = siblings(&graph.draft, before, index) {
                    graph.draft.nodes[later].broken = true; // its order is not what was meant either
                }
            }
            Some(Entity::Broken) => {}
            Some(Entity::Resource(_) | Entity::Param(_) | Entity::Value(_) | Entity::Variable) => {
                let message = format!("`{name}` is no node, so `{}` cannot run after it", node.name);
                report.push(
                    name.span(),
                    &error(Code::UnknownNode, message).help("name the node that uses it"),
                );
            }
            None => {
                let message = format!("no node is named `{name}`");
                let others = graph.nodes.iter().filter(|other| other.name != node.name);
                let nodes: Vec<String> = others.map(|other| other.name.to_string()).collect();
                report.push(name.span(), &suggest(error(Code::UnknownNode, message), name, &nodes));
            }
        }
        graph.draft.nodes[index].broken = true;
    }
}

fn suggest(diagnostic: graph_plan::Diagnostic, name: &Ident, candidates: &[String]) -> graph_plan::Diagnostic {
    match nearest(&name.to_string(), candidates.iter().map(String::as_str)) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None if candidates.is_empty() && diagnostic.code == Code::UnknownResource => {
            diagnostic.help(format!("declare it: `device {name}: [f32; 1024];`"))
        }
        None if candidates.is_empty() => diagnostic,
        None => {
            let listed: Vec<String> = candidates.iter().take(8).map(|name| format!("`{name}`")).collect();
            let more = if candidates.len() > listed.len() { ", ..." } else { "" };
            diagnostic.note(format!("declared are {}{more}", listed.join(", ")))
        }
    }
}

/// The accesses of a node that may do more than they tell.
fn library_access<'a>(graph: &mut Graph<'a>, node: usize, arguments: &'a [Argument], report: &mut Report) {
    graph.draft.nodes[node].opaque = true;
    for argument in arguments {
        argument_access(graph, node, argument, report);
    }
}

/// A node's access to a place as `&` or `&mut`.
fn borrow<'a>(graph: &mut Graph<'a>, node: usize, place: &'a Place, start: Span, mutable: bool, report: &mut Report) {
    let mode = if mutable { Mode::ReadWrite } else { Mode::Read };
    access(graph, node, place, start, mode, report);
}

fn argument_access<'a>(graph: &mut Graph<'a>, node: usize, argument: &'a Argument, report: &mut Report) {
    match argument {
        Argument::Borrow { and, mutable, place } => {
            borrow(graph, node, place, and.span, mutable.is_some(), report);
        }
        Argument::Value(value) => {
            if let Some(name) = resource_by_value(graph, value) {
                let user = match graph.draft.nodes[node].kind {
                    NodeKind::Kernel => "kernel",
                    _ => "node",
                };
                let diagnostic = error(Code::Syntax, format!("resource `{name}` is passed by value")).help(format!(
                    "borrow it: `&{name}` if the {user} only reads it, `&mut {name}` if it writes"
                ));
                report.push(name.span(), &diagnostic);
            }
        }
    }
}

/// The resource that a by-value argument names, if it is nothing but that.
fn resource_by_value<'e>(graph: &Graph<'_>, value: &'e Expr) -> Option<&'e Ident> {
    let Expr::Path(path) = value else { return None };
    let name = path.path.get_ident()?;
    matches!(graph.entity(name), Some(Entity::Resource(_))).then_some(name)
}

/// A node's access to a place.
fn access<'a>(graph: &mut Graph<'a>, node: usize, place: &'a Place, start: Span, mode: Mode, report: &mut Report) {
    let name = &place.name;
    let diagnostic = match graph.entity(name) {
        Some(Entity::Resource(resource)) => {
            if let Some(mistake) = rng::misuse(graph, node, place, resource, mode) {
                report.push_between(start, place.end, &mistake);
                return;
            }
            fixed(graph, place, report);
            let access = graph.draft.access(node, resource, region(graph, node, place), mode);
            graph.draft.accesses[access].line = line(name.span()).and_then(|line| u32::try_from(line).ok());
            graph.accesses.push((place, start));
            return;
        }
        Some(Entity::Broken) => return,
        Some(Entity::Node(_)) => error(Code::UnknownResource, format!("`{name}` is a node, not a resource"))
            .help("name the resource that it writes"),
        Some(Entity::Value(_)) => error(
            Code::UnknownResource,
            format!("`{name}` is a plain value, not a resource"),
        )
        .help(format!(
            "values are passed without `&`; shared memory is declared as `{name}: device [f32; 1024]`"
        )),
        Some(Entity::Param(_)) => {
            let diagnostic = error(Code::UnknownResource, format!("`{name}` is a `param`, not a resource"));
            diagnostic.help(match graph.draft.nodes[node].kind {
                kind if kind.is_conditional() => {
                    format!("set device memory to it, `memset set = ... <- {name}`, and let that be the condition")
                }
                NodeKind::Call => "keep the value in host memory instead, and borrow that".to_owned(),
                _ => format!("params are passed by value: `{name}` without `&`"),
            })
        }
        Some(Entity::Variable) => error(
            Code::UnknownResource,
            format!("`{name}` is the variable of a `for`, not a resource"),
        )
        .help(format!("it is passed by value: `{name} as u32` without `&`")),
        None => {
            let resources: Vec<String> = graph
                .resources
                .iter()
                .map(|resource| resource.name.to_string())
                .collect();
            suggest(
                error(Code::UnknownResource, format!("no resource is named `{name}`")),
                name,
                &resources,
            )
        }
    };
    report.push(name.span(), &diagnostic);
}

/// Places are fixed when the graph is built, so a param cannot select one.
fn fixed(graph: &Graph<'_>, place: &Place, report: &mut Report) {
    if mentions(scalar::bounds(place), &graph.param_names()) {
        let message = format!("a `param` selects a part of `{}`", place.name);
        let diagnostic = error(Code::Syntax, message)
            .note("the memory a node touches is fixed when the graph is built; params change between launches")
            .help("use a literal, a constant or a const generic");
        report.push_between(place.name.span(), place.end, &diagnostic);
    }
}

/// What a node launches is fixed when the graph is built, so a param cannot choose it.
fn fixed_function(graph: &Graph<'_>, launch: &Launch, report: &mut Report) {
    let Function::Value(value) = &launch.function else {
        return;
    };
    if mentions(value.expr.to_token_stream(), &graph.param_names()) {
        let diagnostic = error(Code::Syntax, "a `param` chooses what a node launches")
            .note("the kernel of a node is fixed when the graph is built; params change between launches")
            .help("use a build argument");
        let (open, close) = (value.paren_token.span.open(), value.paren_token.span.close());
        report.push_between(open, close, &diagnostic);
    }
}

/// The part of the resource that a place is, as far as the text tells.
fn region(graph: &Graph<'_>, node: usize, place: &Place) -> Region {
    match &place.parts[..] {
        [] => Region::Whole,
        [part] => selected(graph, node, part),
        [part, inner, ..] => Region::Parts(Box::new([part, inner].map(|part| selected(graph, node, part)))),
    }
}

/// What a part selects from its dimension.
fn selected(graph: &Graph<'_>, node: usize, part: &Part) -> Region {
    let bound = |expr: &Expr| graph.bound(node, expr);
    match part {
        Part::Index(index) => Region::Index(bound(index)),
        Part::Range {
            start: None, end: None, ..
        } => Region::Whole,
        Part::Range { start, end, inclusive } => {
            let start = start.as_ref().map_or(Bound::Known(0), |start| bound(start));
            let end = match end.as_ref().map_or(Bound::End, |end| bound(end)) {
                Bound::Known(last) if *inclusive => Bound::Known(last.saturating_add(1)),
                Bound::Symbol(_) | Bound::Iteration(..) if *inclusive => Bound::Unknown,
                end => end,
            };
            Region::Range(start, end)
        }
    }
}

impl Attributes {
    /// Does an `#[allow(rule)]` silence the rule?
    pub(crate) fn allow(&self, code: Code) -> bool {
        self.allowed.iter().any(|allowed| allowed == code.as_str())
    }
}
