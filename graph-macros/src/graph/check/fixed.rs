//! Params where values are fixed when the graph is built: in shapes, ranges of loops, attributes and generators.

use crate::graph::ast::{Action, Function};
use crate::graph::constant::mentions;
use crate::graph::resolve::Graph;
use crate::report::{Report, error};
use graph_plan::Code;
use quote::ToTokens;
use syn::Expr;

const INSTEAD: &str = "use a build argument, a literal, a constant or a const generic";

/// Reports all params in such expressions. (Places in memory are looked at where accesses are.)
pub(super) fn params(graph: &Graph<'_>, report: &mut Report) {
    let params = graph.param_names();
    let mut check = |expr: &Expr, message: String, fact: &str, help: &str| {
        if mentions(expr.to_token_stream(), &params) {
            let note = format!("{fact}; params change between launches");
            report.push_at(expr, &error(Code::Syntax, message).note(note).help(help));
        }
    };
    for for_loop in &graph.loops {
        let message = format!("a `param` is in the range of `{}`", for_loop.variable());
        let fact = "the nodes of a graph are fixed when it is built";
        check(&for_loop.statement.range, message, fact, INSTEAD);
    }
    for (name, _, value) in graph.computed_in_order() {
        let message = format!("a `param` is in the value of `{name}`");
        check(value, message, "a `let` is fixed when the graph is built", INSTEAD);
    }
    for resource in &graph.resources {
        let name = &resource.name;
        for length in &resource.shape.lengths {
            let message = format!("a `param` gives a length of `{name}`");
            check(length, message, "memory is allocated when the graph is built", INSTEAD);
        }
        for expr in resource.random.iter().flat_map(|random| [&random.seed, &random.draws]) {
            let message = format!("a `param` says how the `rng` `{name}` begins");
            let help = format!("use a build argument, or `graph.{name}().reseed(seed)`");
            check(expr, message, "it is fixed when the graph is built", &help);
        }
    }
    for node in &graph.nodes {
        let attributes = &node.attributes.node;
        let priority = attributes
            .priority
            .iter()
            .map(|(_, priority)| ("the priority", priority));
        let clusters = attributes.cluster.iter().flat_map(|(_, cluster)| &cluster.parts);
        for (what, expr) in priority.chain(clusters.map(|part| ("the clusters", part))) {
            let message = format!("a `param` gives {what} of `{}`", node.name);
            let fact = "attributes of nodes are fixed when the graph is built";
            check(expr, message, fact, INSTEAD);
        }
        if let Action::Collective(collective) = &node.action {
            for peer in collective.moves.iter().filter_map(|one| one.peer.as_ref()) {
                let message = format!("a `param` gives a rank of `{}`", node.name);
                let fact = "the ranks that a node sends to and receives from are fixed when the graph is built";
                check(peer, message, fact, INSTEAD);
            }
        }
        if let Some(Function::Value(function)) = node.action.launch().map(|launch| &launch.function) {
            let message = "a `param` chooses what a node launches".to_owned();
            let fact = "the kernel of a node is fixed when the graph is built";
            check(&Expr::Paren(function.clone()), message, fact, "use a build argument");
        }
    }
}
