//! The critical path of a profile.

use super::Profile;
use std::collections::HashMap;

/// The path that determines how long a launch takes: its length in nanoseconds, and its nodes without bodies.
pub(super) fn critical(profile: &Profile) -> (u64, Vec<usize>) {
    in_place(profile).unwrap_or_else(|| longest(profile))
}

/// The path to the node that ends last, if launches in place say when nodes end: to each node of it from the one that
/// ends last of those before.
fn in_place(profile: &Profile) -> Option<(u64, Vec<usize>)> {
    let end = |&node: &usize| profile.ends[node];
    let last = (0..profile.shape.len()).max_by_key(end)?;
    let time = end(&last)?;
    let before = |&node: &usize| profile.shape[node].after.iter().copied().max_by_key(end);
    let mut path: Vec<usize> = std::iter::successors(Some(last), before).collect();
    path.reverse();
    path.retain(|&node| profile.nodes[node].calls > 0);
    Some((time, path))
}

/// The longest path along the graph's edges, by the times of one launch.
fn longest(profile: &Profile) -> (u64, Vec<usize>) {
    let mut members = vec![Vec::new(); profile.bodies];
    for (index, node) in profile.shape.iter().enumerate() {
        members[node.body].push(index);
    }
    for body in &mut members {
        body.sort_by_key(|&node| profile.shape[node].level);
    }
    let count = profile.shape.len();
    let mut search = Search {
        profile,
        members,
        ends: vec![0; count],
        before: vec![None; count],
    };
    search.body(0)
}

struct Search<'a> {
    profile: &'a Profile,
    /// The nodes of each body, each after those that it runs after.
    members: Vec<Vec<usize>>,
    /// For each node, the length of the longest path of its body that ends there.
    ends: Vec<u64>,
    /// For each node, the node before it on that path.
    before: Vec<Option<usize>>,
}

impl Search<'_> {
    /// The longest path through a body.
    fn body(&mut self, body: usize) -> (u64, Vec<usize>) {
        let profile = self.profile;
        let members = std::mem::take(&mut self.members[body]);
        let mut inner: HashMap<usize, Vec<usize>> = HashMap::new();
        for &node in &members {
            let shape = &profile.shape[node];
            let last = shape.after.iter().copied().max_by_key(|&before| self.ends[before]);
            let mut time = profile.nodes[node].launch.as_nanos() as u64;
            if !shape.bodies.is_empty() {
                let (times, paths): (Vec<u64>, Vec<Vec<usize>>) =
                    shape.bodies.iter().map(|&body| self.body(body)).unzip();
                time = profile.own[node] + times.iter().sum::<u64>();
                inner.insert(node, paths.concat());
            }
            self.ends[node] = last.map_or(0, |last| self.ends[last]) + time;
            self.before[node] = last;
        }
        let Some(&last) = members.iter().max_by_key(|&&node| self.ends[node]) else {
            return (0, Vec::new());
        };
        let mut path: Vec<usize> = std::iter::successors(Some(last), |&node| self.before[node]).collect();
        path.reverse();
        let nodes = path
            .into_iter()
            .flat_map(|node| inner.remove(&node).unwrap_or_else(|| vec![node]));
        let ran = |node: &usize| profile.nodes[*node].calls > 0;
        (self.ends[last], nodes.filter(ran).collect())
    }
}
