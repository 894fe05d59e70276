//! The longest path of a plan, by the times of its nodes.

use graph_plan::{NodeKind, Plan};

/// The length of the longest path in microseconds, and its nodes, in the order in which they run. Nodes run after those
/// in `after`, which their levels in the plan allow. A node with bodies adds its own time to that of its bodies: of one
/// of them, if the others do not run in the same launch.
pub(super) fn longest(plan: &Plan, after: &[Vec<usize>], times: &[f64], measured: bool) -> (f64, Vec<usize>) {
    let mut members = vec![Vec::new(); plan.bodies.len()];
    for (index, node) in plan.nodes.iter().enumerate() {
        members[node.body].push(index);
    }
    for body in &mut members {
        body.sort_by_key(|&node| plan.nodes[node].level);
    }
    let mut bodies = vec![Vec::new(); plan.nodes.len()];
    for (index, body) in plan.bodies.iter().enumerate() {
        if let Some(node) = body.node {
            bodies[node].push(index);
        }
    }
    Search {
        plan,
        after,
        times,
        measured,
        members,
        bodies,
    }
    .body(0)
}

struct Search<'a> {
    plan: &'a Plan,
    after: &'a [Vec<usize>],
    times: &'a [f64],
    measured: bool,
    /// The nodes of each body, each after those that it runs after.
    members: Vec<Vec<usize>>,
    /// The bodies of each node.
    bodies: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn body(&self, body: usize) -> (f64, Vec<usize>) {
        let count = self.plan.nodes.len();
        let mut ends = vec![0.0_f64; count];
        let mut paths: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut before: Vec<Option<usize>> = vec![None; count];
        for &node in &self.members[body] {
            let last = self.after[node]
                .iter()
                .copied()
                .max_by(|&one, &other| ends[one].total_cmp(&ends[other]));
            let (time, path) = self.node(node);
            ends[node] = last.map_or(0.0, |last| ends[last]) + time;
            (paths[node], before[node]) = (path, last);
        }
        let longest = self.members[body]
            .iter()
            .max_by(|&&one, &&other| ends[one].total_cmp(&ends[other]));
        let Some(&last) = longest else {
            return (0.0, Vec::new());
        };
        let mut path: Vec<usize> = std::iter::successors(Some(last), |&node| before[node]).collect();
        path.reverse();
        (
            ends[last],
            path.into_iter()
                .flat_map(|node| std::mem::take(&mut paths[node]))
                .collect(),
        )
    }

    /// The time of a node with its bodies, and the nodes that make it.
    fn node(&self, node: usize) -> (f64, Vec<usize>) {
        let own = self.times[node];
        if self.bodies[node].is_empty() {
            return (own, vec![node]);
        }
        let inner = self.bodies[node].iter().map(|&body| self.body(body));
        let chooses = matches!(self.plan.nodes[node].kind, NodeKind::If | NodeKind::Switch);
        let (time, path) = if chooses && !self.measured {
            let longest = inner.max_by(|(one, _), (other, _)| one.total_cmp(other));
            longest.unwrap_or_default()
        } else {
            inner.fold((0.0, Vec::new()), |(time, mut path), (more, nodes)| {
                path.extend(nodes);
                (time + more, path)
            })
        };
        (own + time, [vec![node], path].concat())
    }
}
