//! The rules of bodies: the nodes that CUDA allows in them, edges between them, and whether a `while` can end.

use crate::{Access, Code, Diagnostic, Draft, NodeKind, Role, Subject};

/// The mistake that `to` runs after `from`, which is in another body. The help names nodes that can be ordered: the
/// two, or the nodes around them that are in one body.
pub fn other_body(draft: &Draft, from: usize, to: usize, subject: Subject) -> Diagnostic {
    let name = |node: usize| format!("`{}`", draft.nodes[node].name);
    let owner = |node: usize| draft.bodies[draft.nodes[node].body].node;
    let place = |node: usize| match owner(node) {
        Some(owner) => format!("{} is in a body of {}", name(node), name(owner)),
        None => format!("{} is in no body", name(node)),
    };
    let siblings = siblings(draft, from, to);
    let [before, after] = [from, to].map(name);
    let (which, note) = match siblings {
        Some((common, _)) if owner(from) == owner(to) => {
            let note = format!(
                "they are in different bodies of {}, of which only one runs",
                name(common)
            );
            ("which is in another body", note)
        }
        Some(_) => ("which is in another body", format!("{}, {}", place(from), place(to))),
        None if around(draft, to).contains(&from) => {
            ("in a body of which it is", format!("{after} runs while {before} does"))
        }
        None => (
            "which is in a body of its own",
            format!("{before} runs while {after} does"),
        ),
    };
    let message = format!("node {after} cannot run after {before}, {which}");
    let help = match siblings {
        Some((earlier, later)) if earlier == from && later != from => {
            let later = name(later);
            format!("move {before} from the `after` list of {after} to the `after` list of {later}")
        }
        Some((earlier, later)) if later == to && earlier != to => {
            let earlier = name(earlier);
            format!("name {earlier} instead of {before} in the `after` list of {after}")
        }
        Some((earlier, later)) if earlier != later => {
            let add = format!("add {} to the `after` list of {}", name(earlier), name(later));
            format!("remove {before} from the `after` list of {after}, and {add}")
        }
        Some(_) | None => {
            format!("remove {before} from the `after` list of {after}, or the whole `after` if it names nothing else")
        }
    };
    Diagnostic::new(Code::UnknownNode, subject, message)
        .note(note)
        .note("`after` orders nodes of one body, each with all that is in its own bodies")
        .help(help)
}

/// For each of two nodes, the node of their innermost common body that it is or is inside. If the two are in different
/// bodies of one node, both are that node. `None` if one of the two is around the other.
pub fn siblings(draft: &Draft, first: usize, second: usize) -> Option<(usize, usize)> {
    let (firsts, seconds) = (around(draft, first), around(draft, second));
    if firsts.contains(&second) || seconds.contains(&first) {
        return None;
    }
    let pairs = firsts.iter().flat_map(|&a| seconds.iter().map(move |&b| (a, b)));
    let mut pairs = pairs.filter(|&(a, b)| draft.nodes[a].body == draft.nodes[b].body);
    pairs.next()
}

/// A node and those around it, from the inside to the outside.
fn around(draft: &Draft, node: usize) -> Vec<usize> {
    let owner = |&node: &usize| draft.bodies[draft.nodes[node].body].node;
    std::iter::successors(Some(node), owner).collect()
}

/// Reports nodes, however deep in a conditional body, that CUDA does not allow there.
pub(super) fn forbidden_nodes(draft: &Draft, errors: &mut Vec<Diagnostic>) {
    if draft.bodies.len() == 1 {
        return; // that of the graph
    }
    for (index, node) in draft.nodes.iter().enumerate() {
        if node.kind.may_be_conditional() {
            continue;
        }
        let (keyword, name) = (node.kind.keyword(), &node.name);
        errors.extend(forbidden(draft, index, ONLY, |innermost| {
            format!("{keyword} node `{name}` cannot be in the body of `{innermost}`")
        }));
    }
    let of_array = |access: &&Access| {
        !draft.resources[access.resource].memory.is_copied_in_conditionals()
            && draft.nodes[access.node].kind == NodeKind::Memcpy
    };
    let mut copies: Vec<&Access> = draft.accesses.iter().filter(of_array).collect();
    copies.dedup_by_key(|access| access.node);
    for Access { node, resource, .. } in copies {
        let (name, array) = (&draft.nodes[*node].name, &draft.resources[*resource].name);
        errors.extend(forbidden(draft, *node, NO_ARRAYS, |innermost| {
            format!("memcpy node `{name}`, which copies the array `{array}`, cannot be in the body of `{innermost}`")
        }));
    }
}

const ONLY: &str = "CUDA runs kernels, copies, memsets, joins, captures, child graphs and conditionals in conditional \
                    bodies, and nothing else";
const NO_ARRAYS: &str = "CUDA copies no arrays in conditional bodies; kernels there may access them as `Texel`s and \
                         `Surfel`s";

/// Returns the mistake of a node that is in a conditional body, however deep, and captured `what`, which CUDA runs in
/// none. Returns `None` for a node in no such body.
pub fn forbidden_capture(draft: &Draft, capture: usize, what: &str) -> Option<Diagnostic> {
    let node = &draft.nodes[capture];
    let (kind, name) = (node.kind.keyword(), &node.name);
    forbidden(draft, capture, ONLY, |innermost| {
        format!("{kind} node `{name}` captured {what}, which cannot be in the body of `{innermost}`")
    })
}

/// Returns the mistake of a node that CUDA does not run in the conditional bodies around it, if there are any.
/// `message` gets the name of the innermost conditional, and `note` says what CUDA runs.
fn forbidden(
    draft: &Draft,
    node: usize,
    note: &'static str,
    message: impl FnOnce(&str) -> String,
) -> Option<Diagnostic> {
    let owner = |body: usize| draft.bodies[body].node.map_or("", |owner| &draft.nodes[owner].name);
    let conditional = |&body: &usize| draft.bodies[body].role.is_conditional();
    let mut conditional = draft.bodies_around(node).filter(conditional).map(owner);
    let innermost = conditional.next()?;
    let outermost = conditional.last().unwrap_or(innermost);
    let name = &draft.nodes[node].name;
    let empty = match is_alone(draft, node) {
        true => format!(", and remove `{innermost}`, which then runs nothing"),
        false => String::new(),
    };
    let of_call = of_call(draft, node);
    let help = format!(
        "move `{name}` out of the body, before or after `{outermost}`, where it runs whatever the condition \
         is{empty}{of_call}"
    );
    let mistake = Diagnostic::new(Code::ConditionalBody, Subject::Node(node), message(innermost));
    Some(mistake.note(note).help(help))
}

/// The ways to mend a host function in a conditional body that keep its meaning, for a help; nothing for other nodes.
fn of_call(draft: &Draft, node: usize) -> String {
    if draft.nodes[node].kind != NodeKind::Call {
        return String::new();
    }
    let mapped = "; or let a kernel of the body store to `mapped` memory, which the host loads meanwhile";
    let body = &draft.bodies[draft.nodes[node].body];
    let condition = draft.accesses.iter().find(|access| Some(access.node) == body.node);
    match (body.role, condition) {
        (Role::Then | Role::Else | Role::Case, Some(condition)) => format!(
            "; or keep the condition: `memcpy` `{}{}` to `host` memory, which `{}` takes outside of the body and tests \
             itself{mapped}",
            draft.resources[condition.resource].name, condition.region, draft.nodes[node].name
        ),
        _ => mapped.to_owned(),
    }
}

/// Whether the node is the only one in the bodies of the node that it is in.
fn is_alone(draft: &Draft, node: usize) -> bool {
    let owner = |node: usize| draft.bodies[draft.nodes[node].body].node;
    let broken = draft.bodies.iter().any(|body| body.node == owner(node) && body.broken);
    !broken && (0..draft.nodes.len()).all(|other| other == node || owner(other) != owner(node))
}

/// Reports `while`s whose condition nothing in their body writes.
pub(super) fn endless_whiles(draft: &Draft, errors: &mut Vec<Diagnostic>) {
    for (body, declared) in draft.bodies.iter().enumerate() {
        let (Role::While, Some(node)) = (declared.role, declared.node) else {
            continue;
        };
        let Some(condition) = draft.accesses.iter().find(|access| access.node == node) else {
            continue; // its name is wrong, which is told elsewhere
        };
        if condition.region.is_empty() {
            continue; // nodes cannot have such a condition, which is told elsewhere
        }
        let mut writers = condition_writers(draft, body).peekable();
        let uncertain = writers.peek().copied();
        if doubtful(draft, body) || writers.any(|writer| draft.nodes[writer].is_certain()) {
            continue;
        }
        let name = &draft.nodes[node].name;
        let flag = format!("{}{}", draft.resources[condition.resource].name, condition.region);
        let message = format!("no node in the body of `{name}` writes its condition `{flag}`");
        let error = Diagnostic::new(Code::EndlessWhile, Subject::Node(node), message)
            .note("once it has begun, it would never end");
        errors.push(match uncertain {
            None => error.help(format!(
                "let a kernel, a copy or a memset of the body write `{flag}`, where 0 ends the loop, for example \
                 `memset stop = {flag} <- 0;`; or use `if` to run the body once"
            )),
            Some(writer) if draft.nodes[writer].partial => {
                let writer = &draft.nodes[writer].name;
                let error = error.note(format!("`{writer}` writes a part that updates choose, perhaps nothing"));
                error.help(format!(
                    "write `{flag}` in another node of the body, or in `{writer}` without a `param`"
                ))
            }
            Some(writer) => {
                let writer = &draft.nodes[writer].name;
                let error = error.note(format!("`{writer}` writes it, but is disabled"));
                error.help(format!("remove `#[disabled]` from `{writer}`"))
            }
        });
    }
}

/// Whether a mistake was reported in a body, however deep, that may change what the body writes.
fn doubtful(draft: &Draft, body: usize) -> bool {
    let around = |inner: usize| std::iter::successors(Some(inner), |&inner| draft.enclosing(inner));
    let inside = |inner: usize| around(inner).any(|around| around == body);
    let nodes = draft.nodes.iter().filter(|node| node.broken).map(|node| node.body);
    let bodies = (0..draft.bodies.len()).filter(|&inner| draft.bodies[inner].broken);
    nodes.chain(bodies).any(inside)
}

/// The nodes in the body of a `while`, however deep, that write its condition. A node with two such accesses comes
/// twice.
pub fn condition_writers(draft: &Draft, body: usize) -> impl Iterator<Item = usize> + '_ {
    let accesses = condition_accesses(draft, body).map(|index| &draft.accesses[index]);
    accesses.filter(|access| access.mode.writes()).map(|access| access.node)
}

/// The accesses, by index, of nodes in the body of a `while`, however deep, to its condition.
pub fn condition_accesses(draft: &Draft, body: usize) -> impl Iterator<Item = usize> + '_ {
    let owner = draft.bodies[body].node;
    let condition = draft.accesses.iter().find(move |access| Some(access.node) == owner);
    let accesses = draft.accesses.iter().enumerate();
    accesses.filter_map(move |(index, access)| {
        let condition = condition?;
        let touches = access.resource == condition.resource
            && access.region.overlaps(&condition.region)
            && draft.bodies_around(access.node).any(|around| around == body);
        touches.then_some(index)
    })
}
