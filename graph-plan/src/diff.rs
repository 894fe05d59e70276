//! The differences of two plans.

use crate::draw::verb;
use crate::{LaunchConfig, Plan, PlanLaunch, PlanNode, PlanResource};
use std::collections::HashMap;
use std::fmt;

/// The differences of two plans: [`Plan::diff`] returns them. Shown as text, they are a line each, with
/// `+` before what was added, `-` before what was removed, and `~` before what is now otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanDiff {
    /// The nodes, by name, with their kinds, the bodies that they are in, and the memory that they touch.
    pub nodes: Changes,
    /// The edges, as `from -> to`; of one between iterations of a loop, `from -> to (i - 1)`.
    pub edges: Changes,
    /// The kernels of nodes and their launch dimensions, by the node's name. Plans of built graphs have them.
    pub launches: Changes,
    /// The memory, by name, with its kind and size.
    pub memory: Changes,
}

/// Things that were added, removed and changed, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changes {
    /// The names of things that only the other plan has, with a description.
    pub added: Vec<(String, String)>,
    /// The names of things that only the first plan has, with a description.
    pub removed: Vec<(String, String)>,
    /// The names of things that both have, with the description in the first plan and that in the other one.
    pub changed: Vec<(String, String, String)>,
}

impl Changes {
    /// Compares two lists of names and descriptions. A name that a list has several times counts once.
    fn of(before: Vec<(String, String)>, after: Vec<(String, String)>) -> Self {
        let known = |list: &[(String, String)]| -> HashMap<String, String> { list.iter().cloned().collect() };
        let (old, new) = (known(&before), known(&after));
        let mut changes = Self::default();
        for (name, text) in after {
            match old.get(&name) {
                None => changes.added.push((name, text)),
                Some(earlier) if *earlier != text => changes.changed.push((name, earlier.clone(), text)),
                Some(_) => {}
            }
        }
        changes
            .removed
            .extend(before.into_iter().filter(|(name, _)| !new.contains_key(name)));
        for list in [&mut changes.added, &mut changes.removed] {
            list.dedup();
        }
        changes.changed.dedup();
        changes
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

impl PlanDiff {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        [&self.nodes, &self.edges, &self.launches, &self.memory]
            .iter()
            .all(|changes| changes.is_empty())
    }
}

impl Plan {
    /// Compares this plan with another one by the names of nodes, edges and memory, launch dimensions included: the
    /// other one is taken to be the later. The order of declaration, levels and places in the arena are not compared.
    ///
    /// ```
    /// use graph_plan::{Draft, Memory, Mode, NodeKind, Plan, Region, check};
    ///
    /// let plan = |kernels: &[&'static str]| {
    ///     let mut draft = Draft::new("Example");
    ///     let data = draft.resource("data", Memory::Device);
    ///     let mut last = draft.node("clear", NodeKind::Memset);
    ///     draft.access(last, data, Region::Whole, Mode::Write);
    ///     for &kernel in kernels {
    ///         let node = draft.node(kernel, NodeKind::Kernel);
    ///         draft.access(node, data, Region::Whole, Mode::ReadWrite);
    ///         draft.edge(last, node);
    ///         last = node;
    ///     }
    ///     Plan::of(&draft, &check(&draft), |_| 64)
    /// };
    /// let diff = plan(&["scale"]).diff(&plan(&["shift", "scale"]));
    /// assert_eq!(
    ///     diff.to_string(),
    ///     "+ node `shift`: kernel, writes data\n\
    ///      + edge clear -> shift\n\
    ///      + edge shift -> scale\n\
    ///      - edge clear -> scale",
    /// );
    /// assert!(plan(&["scale"]).diff(&plan(&["scale"])).is_empty());
    /// ```
    pub fn diff(&self, other: &Plan) -> PlanDiff {
        let compare = |list: fn(&Plan) -> Vec<(String, String)>| Changes::of(list(self), list(other));
        PlanDiff {
            nodes: compare(nodes),
            edges: compare(edges),
            launches: launches(self, other),
            memory: compare(memory),
        }
    }
}

fn nodes(plan: &Plan) -> Vec<(String, String)> {
    let describe = |node: &PlanNode| {
        let mut text = node.kind.keyword().to_owned();
        if plan.bodies[node.body].node.is_some() {
            text.push_str(&format!(" in `{}`", plan.title(node.body)));
        }
        for access in node.accesses.iter() {
            text.push_str(&format!(
                ", {} {}",
                verb(access.mode),
                plan.resources[access.resource].name
            ));
        }
        (node.name.to_string(), text)
    };
    plan.nodes.iter().map(describe).collect()
}

fn edges(plan: &Plan) -> Vec<(String, String)> {
    let name = |from: usize, to: usize| format!("{} -> {}", plan.nodes[from].name, plan.nodes[to].name);
    let kind = |programmatic: bool| if programmatic { "programmatic" } else { "" }.to_owned();
    let nodes = plan.nodes.iter().enumerate();
    let mut edges: Vec<(String, String)> = nodes
        .flat_map(|(to, node)| {
            let edges = node.after.iter();
            edges.map(move |&from| (name(from, to), kind(node.programmatic.contains(&from))))
        })
        .collect();
    edges.extend(plan.shifts.iter().map(|shift| {
        let iteration = plan.iteration(shift);
        (
            format!("{} ({iteration})", name(shift.from, shift.to)),
            kind(shift.programmatic),
        )
    }));
    edges
}

/// The launches of nodes that both plans have.
fn launches(before: &Plan, after: &Plan) -> Changes {
    let of = |plan: &Plan, other: &Plan| -> Vec<(String, String)> {
        let names: HashMap<&str, &PlanNode> = other.nodes.iter().map(|node| (&*node.name, node)).collect();
        let both = plan.nodes.iter().filter(|node| names.contains_key(&*node.name));
        both.filter_map(|node| Some((node.name.to_string(), node.launch.as_ref()?.to_string())))
            .collect()
    };
    Changes::of(of(before, after), of(after, before))
}

fn memory(plan: &Plan) -> Vec<(String, String)> {
    let describe = |resource: &PlanResource| {
        let mut text = resource.memory.keyword().to_owned();
        if resource.bytes > 0 {
            text.push_str(&format!(", {} bytes", resource.bytes));
        }
        (resource.name.to_string(), text)
    };
    plan.resources.iter().map(describe).collect()
}

impl fmt::Display for PlanLaunch {
    /// As in a graph: `scale<<<4, (16, 16), 512>>>`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LaunchConfig { grid, block, shared } = self.config;
        write!(f, "{}<<<{}, {}", self.kernel, Sides(grid), Sides(block))?;
        if shared > 0 {
            write!(f, ", {shared}")?;
        }
        write!(f, ">>>")
    }
}

/// Dimensions, without those at the end that are 1.
struct Sides([u32; 3]);

impl fmt::Display for Sides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [x, 1, 1] => write!(f, "{x}"),
            [x, y, 1] => write!(f, "({x}, {y})"),
            [x, y, z] => write!(f, "({x}, {y}, {z})"),
        }
    }
}

impl fmt::Display for PlanDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return write!(f, "the plans do not differ");
        }
        let kinds = [
            ("memory", "`", &self.memory),
            ("node", "`", &self.nodes),
            ("edge", "", &self.edges),
            ("launch of", "`", &self.launches),
        ];
        let mut lines = Vec::new();
        for (kind, quote, changes) in kinds {
            let line = |sign: &str, name: &str, text: &str| {
                let colon = if text.is_empty() { "" } else { ": " };
                format!("{sign} {kind} {quote}{name}{quote}{colon}{text}")
            };
            lines.extend(changes.added.iter().map(|(name, text)| line("+", name, text)));
            lines.extend(changes.removed.iter().map(|(name, text)| line("-", name, text)));
            lines.extend(changes.changed.iter().map(|(name, before, after)| {
                let plain = |text: &str| if text.is_empty() { "plain" } else { text }.to_owned();
                line("~", name, &format!("{} => {}", plain(before), plain(after)))
            }));
        }
        write!(f, "{}", lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use crate::test_draft::draft_of;
    use crate::{LaunchConfig, Plan, PlanLaunch, check};

    fn plan(bytes: usize, grid: u32, programmatic: bool) -> Plan {
        let draft = draft_of("device data; kernel write: data=; then kernel read: data;");
        let (write, read) = (0, 1);
        let mut plan = Plan::of(&draft, &check(&draft), |_| bytes);
        if programmatic {
            plan.nodes.to_mut()[read].programmatic = vec![write].into();
        }
        let config = LaunchConfig {
            grid: [grid, 1, 1],
            block: [16, 16, 1],
            shared: 0,
        };
        let kernel = "fill".into();
        plan.with_launches([(write, PlanLaunch { kernel, config })])
    }

    #[test]
    fn sizes_launches_and_kinds_of_edges_are_compared() {
        let diff = plan(64, 1, false).diff(&plan(128, 2, true));
        let expected = "\
~ memory `data`: device, 64 bytes => device, 128 bytes
~ edge write -> read: plain => programmatic
~ launch of `write`: fill<<<1, (16, 16)>>> => fill<<<2, (16, 16)>>>";
        assert_eq!(diff.to_string(), expected);
        assert!(diff.nodes.is_empty() && !diff.is_empty());
        let none = plan(64, 1, true).diff(&plan(64, 1, true));
        assert_eq!((none.is_empty(), &*none.to_string()), (true, "the plans do not differ"));
    }

    #[test]
    fn what_is_removed_is_named_with_its_memory() {
        let draft = draft_of("scratch other;");
        let diff = plan(64, 1, false).diff(&Plan::of(&draft, &check(&draft), |_| 8));
        let expected = "\
+ memory `other`: scratch, 8 bytes
- memory `data`: device, 64 bytes
- node `write`: kernel, writes data
- node `read`: kernel, reads data
- edge write -> read";
        assert_eq!(diff.to_string(), expected);
    }
}
