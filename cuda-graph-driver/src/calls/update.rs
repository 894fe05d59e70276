//! Giving an executable graph the nodes of another graph of the same shape.

use super::calls;
use super::executable::{check_copy, check_fill};
use crate::argument::Out;
use crate::code::{UPDATE_FAILURE, fail};
use crate::graph::{Body, places};
use crate::handle::Handle;
use crate::state::{State, state};
use crate::work::Work;
use std::collections::HashMap;
use std::sync::Arc;

/// `CUgraphExecUpdateResultInfo`: the reason, the node at fault, and the node before its edge.
const NODE: usize = 8;
const FROM: usize = 16;

/// The reasons: `CUgraphExecUpdateResult`.
const TOPOLOGY: u32 = 2;
const KIND: u32 = 3;
const PARAMETERS: u32 = 5;
const ATTRIBUTES: u32 = 8;

/// The reason that an update is refused, and the node of the new graph.
type Refusal = (u32, Handle);

/// Pairs the nodes of a graph and those of an executable graph: the ones that were added at the same time. The steps
/// with the new work are added to `all`.
fn pair(
    state: &State,
    (old_bodies, old): (&HashMap<Handle, Arc<Body>>, Handle),
    (new_bodies, new): (&HashMap<Handle, Arc<Body>>, Handle),
    all: &mut HashMap<Handle, Arc<Body>>,
) -> Result<(), Refusal> {
    let (Some(before), Some(after)) = (old_bodies.get(&old), new_bodies.get(&new)) else {
        return Err((TOPOLOGY, 0));
    };
    if before.nodes.len() != after.nodes.len() {
        return Err((
            TOPOLOGY,
            after.nodes.get(before.nodes.len()).map_or(0, |step| step.node),
        ));
    }
    let mut body = Body::clone(before);
    for (step, other) in body.nodes.iter_mut().zip(&after.nodes) {
        if step.work.node_type() != other.work.node_type() {
            return Err((KIND, other.node));
        }
        let sorted = |after: &[usize]| {
            let mut after = after.to_vec();
            after.sort_unstable();
            after
        };
        if sorted(&step.after) != sorted(&other.after) {
            return Err((TOPOLOGY, other.node));
        }
        if step.attributes != other.attributes {
            return Err((ATTRIBUTES, other.node));
        }
        step.work = match (&step.work, &other.work) {
            (Work::Child(child), Work::Child(new_child)) => {
                pair(state, (old_bodies, *child), (new_bodies, *new_child), all)?;
                Work::Child(*child)
            }
            (Work::Conditional(one), Work::Conditional(two)) => {
                if one.kind != two.kind || one.bodies.len() != two.bodies.len() {
                    return Err((PARAMETERS, other.node));
                }
                for (body, new_body) in one.bodies.iter().zip(two.bodies.iter()) {
                    pair(state, (old_bodies, *body), (new_bodies, *new_body), all)?;
                }
                let mut changed = one.clone();
                changed.handle = two.handle;
                Work::Conditional(changed)
            }
            (Work::Copy(one), Work::Copy(two)) if one.words != two.words => {
                check_copy(state, one, two).map_err(|_| (PARAMETERS, other.node))?;
                other.work.clone()
            }
            (Work::Fill(one), Work::Fill(two)) if one != two => {
                check_fill(one, two).map_err(|_| (PARAMETERS, other.node))?;
                other.work.clone()
            }
            (_, work) => work.clone(),
        };
    }
    all.insert(old, Arc::new(body));
    Ok(())
}

calls! {
    Context cuGraphExecUpdate_v2(exec: Handle, graph: Handle, info: Out<u32>) {
        let mut state = state();
        let (mut new, mut all) = (HashMap::new(), HashMap::new());
        state.graph(graph)?;
        let root = state.exec(exec)?.root;
        let old = state.exec(exec)?.bodies.clone();
        let paired = match state.bodies(graph, &mut new) {
            Ok(()) => pair(&state, (&old, root), (&new, graph), &mut all),
            Err((node, _)) => Err((TOPOLOGY, node)),
        };
        let defaults = state.handles(graph).into_iter().filter_map(|(handle, value)| Some((handle, value?)));
        let defaults: Vec<(u64, u32)> = defaults.collect();
        if !info.is_null() {
            let (reason, node) = paired.err().unwrap_or((0, 0));
            info.put(reason)?;
            info.at::<Handle>(NODE).put(node)?;
            info.at::<Handle>(FROM).put(0)?;
        }
        if let Err((reason, node)) = paired {
            return fail(UPDATE_FAILURE, format!("the graphs differ: reason {reason} at node {node:#x}"));
        }
        let changed = state.exec_mut(exec)?;
        changed.places = places(&all);
        changed.bodies = Arc::new(all);
        changed.defaults = defaults;
        Ok(())
    }
}
