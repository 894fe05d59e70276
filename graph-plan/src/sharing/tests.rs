//! Sharing compared with simulated launches: a read must find the bytes that it would find in memory of its own.

mod launch;
mod random;

use super::*;
use crate::{Memory, NodeKind, Role, check, pack};
use proptest::prelude::*;
use random::Random;

/// The pairs that may share, by name.
fn shared(draft: &Draft) -> Vec<(String, String)> {
    assert_eq!(check(draft).errors, [], "the graph is right");
    shared_unchecked(draft)
}

/// [`shared`] for a graph that reads memory which nothing has written.
fn shared_unchecked(draft: &Draft) -> Vec<(String, String)> {
    let sharing = Sharing::of(draft, &check(draft).order);
    let name = |buffer: usize| draft.resources[sharing.resources()[buffer]].name.to_string();
    let mut pairs = Vec::new();
    for (later, apart) in sharing.apart().iter().enumerate() {
        for earlier in (0..later).filter(|earlier| !apart.contains(earlier)) {
            pairs.push((name(earlier), name(later)));
        }
    }
    pairs
}

fn pair(a: &str, b: &str) -> (String, String) {
    (a.to_owned(), b.to_owned())
}

/// A node that reads all of some resources and writes all of others; how much a kernel writes is not known.
fn node(draft: &mut Draft, body: usize, name: &str, kind: NodeKind, reads: &[usize], writes: &[usize]) -> usize {
    let node = draft.node_in(body, name.to_owned(), kind);
    let mode = if kind == NodeKind::Kernel {
        Mode::ReadWrite
    } else {
        Mode::Write
    };
    reads.iter().for_each(|&resource| {
        draft.access(node, resource, Region::Whole, Mode::Read);
    });
    writes.iter().for_each(|&resource| {
        draft.access(node, resource, Region::Whole, mode);
    });
    node
}

fn chain(draft: &mut Draft, nodes: &[usize]) {
    nodes.windows(2).for_each(|pair| {
        draft.edge(pair[0], pair[1]);
    });
}

/// `layers` layers of four temporaries each: `x -> q -> s -> c -> h -> x`, as kernels.
fn layers(layers: usize) -> Draft {
    let mut draft = Draft::new("Layers");
    let x = draft.resource("x", Memory::Device);
    let mut nodes = Vec::new();
    for layer in 0..layers {
        let [q, s, c, h] = ["q", "s", "c", "h"].map(|name| draft.resource(format!("{name}{layer}"), Memory::Scratch));
        for (name, from, to) in [("a", x, q), ("b", q, s), ("d", s, c), ("e", c, h), ("f", h, x)] {
            let name = format!("{name}{layer}");
            nodes.push(node(&mut draft, 0, &name, NodeKind::Kernel, &[from], &[to]));
        }
    }
    chain(&mut draft, &nodes);
    draft
}

#[test]
fn an_arena_of_24_layers_is_as_large_as_the_widest_point() {
    let draft = layers(24);
    let outcome = check(&draft);
    let sharing = Sharing::of(&draft, &outcome.order);
    for sizes in [
        [4096; 4],
        [3 << 12, 2 << 12, 1 << 12, 4 << 12],
        [768, 512, 768, 1024],
        [300, 5000, 20, 70_000],
    ] {
        let aligned = sizes.map(|size: usize| size.next_multiple_of(256));
        let widest = (0..3).map(|at| aligned[at] + aligned[at + 1]).max().unwrap();
        let all: Vec<usize> = sizes.iter().copied().cycle().take(96).collect();
        assert_eq!(pack(&all, &sharing.apart()).1, widest, "{sizes:?}");
    }
}

#[test]
fn temporaries_of_a_for_share_where_each_iteration_renews_them() {
    for (kind, expected) in [(NodeKind::Memcpy, 3), (NodeKind::Kernel, 0)] {
        let mut draft = Draft::new("Loop");
        let x = draft.resource("x", Memory::Device);
        let [q, s, c, h] = ["q", "s", "c", "h"].map(|name| draft.resource(name, Memory::Scratch));
        draft.for_loop("i", None);
        let mut nodes = Vec::new();
        for (name, from, to) in [("a", x, q), ("b", q, s), ("c1", s, c), ("d", c, h), ("e", h, x)] {
            nodes.push(node(&mut draft, 0, name, kind, &[from], &[to]));
        }
        chain(&mut draft, &nodes);
        draft.nodes.iter_mut().for_each(|node| node.in_loop = Some(0));
        // The part that a kernel leaves unwritten is of the iteration before.
        assert_eq!(shared(&draft).len(), expected);
        draft.nodes.iter_mut().for_each(|node| node.in_loop = None);
        assert_eq!(shared(&draft), [pair("q", "c"), pair("q", "h"), pair("s", "h")]);
    }
}

/// `a -> b` in a `while` whose condition is `flag`; `a` is written by a node of this kind, before the loop or in it.
fn repeated(kind: NodeKind, before: bool) -> Draft {
    let mut draft = Draft::new("While");
    let flag = draft.resource("flag", Memory::Device);
    let out = draft.resource("out", Memory::Device);
    let a = draft.resource("a", Memory::Scratch);
    let b = draft.resource("b", Memory::Scratch);
    let written = if before { a } else { flag };
    let first = node(&mut draft, 0, "first", NodeKind::Memset, &[], &[written]);
    let repeat = node(&mut draft, 0, "repeat", NodeKind::While, &[flag], &[]);
    draft.edge(first, repeat);
    let body = draft.body(repeat, Role::While);
    let writer = (!before).then(|| node(&mut draft, body, "writer", kind, &[], &[a]));
    let user = node(&mut draft, body, "user", NodeKind::Kernel, &[a], &[out]);
    let other = node(&mut draft, body, "other", NodeKind::Memset, &[], &[b]);
    let last = node(&mut draft, body, "last", NodeKind::Kernel, &[b], &[flag]);
    let nodes: Vec<usize> = writer.into_iter().chain([user, other, last]).collect();
    chain(&mut draft, &nodes);
    draft
}

#[test]
fn what_enters_a_while_or_crosses_its_iterations_lives_for_all_of_it() {
    assert_eq!(shared(&repeated(NodeKind::Memset, false)), [pair("a", "b")]);
    assert_eq!(shared(&repeated(NodeKind::Kernel, false)), []);
    assert_eq!(shared(&repeated(NodeKind::Memset, true)), []);
}

#[test]
fn a_condition_is_read_at_the_end_of_every_iteration() {
    let mut draft = Draft::new("While");
    let flag = draft.resource("flag", Memory::Scratch);
    let a = draft.resource("a", Memory::Scratch);
    let set = node(&mut draft, 0, "set", NodeKind::Memset, &[], &[flag]);
    let repeat = node(&mut draft, 0, "repeat", NodeKind::While, &[flag], &[]);
    let body = draft.body(repeat, Role::While);
    let reset = node(&mut draft, body, "reset", NodeKind::Memset, &[], &[flag]);
    let clear = node(&mut draft, body, "clear", NodeKind::Memset, &[], &[a]);
    draft.edge(set, repeat);
    draft.edge(clear, reset);
    assert_eq!(shared(&draft), []);
}

#[test]
fn bodies_of_which_one_runs_share() {
    let mut draft = Draft::new("If");
    let flag = draft.resource("flag", Memory::Device);
    let out = draft.resource("out", Memory::Device);
    let a = draft.resource("a", Memory::Scratch);
    let b = draft.resource("b", Memory::Scratch);
    let choice = node(&mut draft, 0, "choice", NodeKind::If, &[flag], &[]);
    for (role, name, memory) in [(Role::Then, "then", a), (Role::Else, "otherwise", b)] {
        let body = draft.body(choice, role);
        let write = node(&mut draft, body, name, NodeKind::Kernel, &[], &[memory]);
        let name = format!("{name}_read");
        let read = node(&mut draft, body, &name, NodeKind::Kernel, &[memory], &[out]);
        draft.edge(write, read);
    }
    assert_eq!(shared(&draft), [pair("a", "b")]);
    let after = node(&mut draft, 0, "after", NodeKind::Kernel, &[a], &[out]);
    draft.edge(choice, after);
    let expected = [pair("a", "b")];
    assert_eq!(shared_unchecked(&draft), expected, "b is written only where a is not");
    let before = node(&mut draft, 0, "before", NodeKind::Kernel, &[], &[a]);
    draft.edge(before, choice);
    assert_eq!(shared(&draft), [], "a then lives on beyond the node in which b does");
}

#[test]
fn a_copy_over_all_of_it_ends_a_range() {
    let mut draft = Draft::new("Gap");
    let out = draft.resource("out", Memory::Device);
    let a = draft.resource("a", Memory::Scratch);
    let b = draft.resource("b", Memory::Scratch);
    let mut nodes = Vec::new();
    for (name, memory) in [("a1", a), ("b", b), ("a2", a)] {
        nodes.push(node(&mut draft, 0, name, NodeKind::Memset, &[], &[memory]));
        nodes.push(node(
            &mut draft,
            0,
            &format!("{name}_read"),
            NodeKind::Kernel,
            &[memory],
            &[out],
        ));
    }
    chain(&mut draft, &nodes);
    assert_eq!(shared(&draft), [pair("a", "b")], "b lies between the two ranges of a");
    draft.nodes[4].kind = NodeKind::Kernel;
    draft.accesses.iter_mut().find(|access| access.node == 4).unwrap().mode = Mode::ReadWrite;
    assert_eq!(shared(&draft), [], "a kernel may leave some of it as it was");
}

#[test]
fn a_copy_that_need_not_run_ends_none() {
    let mut draft = Draft::new("Gap");
    let flag = draft.resource("flag", Memory::Device);
    let out = draft.resource("out", Memory::Device);
    let a = draft.resource("a", Memory::Scratch);
    let b = draft.resource("b", Memory::Scratch);
    let first = node(&mut draft, 0, "first", NodeKind::Memset, &[], &[a]);
    let other = node(&mut draft, 0, "other", NodeKind::Memset, &[], &[b]);
    let choice = node(&mut draft, 0, "choice", NodeKind::If, &[flag], &[]);
    let then = draft.body(choice, Role::Then);
    node(&mut draft, then, "again", NodeKind::Memset, &[], &[a]);
    let last = node(&mut draft, 0, "last", NodeKind::Kernel, &[a], &[out]);
    chain(&mut draft, &[first, other, choice, last]);
    assert_eq!(shared(&draft), []);
    draft.nodes[choice].kind = NodeKind::Graph;
    draft.bodies[then].role = Role::Child;
    assert_eq!(shared(&draft), [pair("a", "b")], "a child graph runs");
}

#[test]
fn buffers_come_in_order_of_first_use() {
    let mut draft = Draft::new("Order");
    let [unused, late, early] = ["unused", "late", "early"].map(|name| draft.resource(name, Memory::Scratch));
    let nodes = [("first", early), ("second", late)]
        .map(|(name, memory)| node(&mut draft, 0, name, NodeKind::Memset, &[], &[memory]));
    chain(&mut draft, &nodes);
    let sharing = Sharing::of(&draft, &check(&draft).order);
    assert_eq!(sharing.resources(), [early, late, unused]);
    let none: &[usize] = &[];
    assert_eq!(sharing.apart(), [none, none, none]);
    assert_eq!(Sharing::none(&draft).apart(), [&[1, 2][..], &[0, 2], &[0, 1]]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn sharing_never_shows_in_what_is_read(seed: u64) {
        let mut random = Random(seed);
        let draft = random::draft(&mut random, true);
        let outcome = check(&draft);
        let racy = outcome.errors.iter().find(|error| error.code == crate::Code::Race);
        prop_assert!(racy.is_none(), "{racy:?}");
        let sharing = Sharing::of(&draft, &outcome.order);
        for _ in 0..8 {
            let launch = launch::launch(&draft, &mut random);
            for (later, apart) in sharing.apart().iter().enumerate() {
                for earlier in (0..later).filter(|earlier| !apart.contains(earlier)) {
                    let pair = [earlier, later].map(|buffer| sharing.resources()[buffer]);
                    let wrong = launch::disturbed(&draft, &launch, pair);
                    prop_assert!(wrong.is_none(), "{:?} of {pair:?} in {draft:#?}", wrong.map(|node| &draft.nodes[node].name));
                }
            }
        }
    }

    #[test]
    fn whatever_is_over_before_the_other_begins_shares(seed: u64) {
        let draft = random::draft(&mut Random(seed), false);
        let order = check(&draft).order;
        let sharing = Sharing::of(&draft, &order);
        let nodes = |buffer: usize| -> Vec<usize> {
            let resource = sharing.resources()[buffer];
            draft.accesses.iter().filter(|access| access.resource == resource).map(|access| access.node).collect()
        };
        for (later, apart) in sharing.apart().iter().enumerate() {
            prop_assert!(apart.is_sorted() && apart.iter().all(|&other| sharing.apart()[other].contains(&later)));
            for earlier in 0..later {
                let over = |a: usize, b: usize| nodes(a).iter().all(|&a| nodes(b).iter().all(|&b| order.before(a, b)));
                if over(earlier, later) || over(later, earlier) {
                    prop_assert!(!apart.contains(&earlier));
                }
            }
        }
    }
}

#[test]
fn a_disabled_node_renews_nothing() {
    let mut draft = Draft::new("Disabled");
    let x = draft.resource("x", Memory::Device);
    let a = draft.resource("a", Memory::Scratch);
    let b = draft.resource("b", Memory::Scratch);
    let nodes = [
        node(&mut draft, 0, "first", NodeKind::Memset, &[], &[a]),
        node(&mut draft, 0, "use_a", NodeKind::Kernel, &[a], &[x]),
        node(&mut draft, 0, "between", NodeKind::Memset, &[], &[b]),
        node(&mut draft, 0, "use_b", NodeKind::Kernel, &[b], &[x]),
        node(&mut draft, 0, "again", NodeKind::Memset, &[], &[a]),
        node(&mut draft, 0, "last", NodeKind::Kernel, &[a], &[x]),
    ];
    chain(&mut draft, &nodes);
    assert_eq!(shared(&draft), [pair("a", "b")]);
    draft.nodes[nodes[4]].disabled = true;
    assert_eq!(shared(&draft), [], "`last` reads what `first` wrote");
}

/// Two kernels that read `a` at the same time, and a use of `b` that only one of them is ordered with: it comes after
/// that reader, or before it.
fn readers_at_once(readers_first: bool, ordered: usize) -> Draft {
    let mut draft = Draft::new("Unordered");
    let out = draft.resource("out", Memory::Host);
    let [a, b] = ["a", "b"].map(|name| draft.resource(name, Memory::Scratch));
    let readers = ["one", "two"].map(|name| {
        let reader = draft.node(name, NodeKind::Kernel);
        draft.access(reader, a, Region::Whole, Mode::Read);
        reader
    });
    let write = node(&mut draft, 0, "write", NodeKind::Memset, &[], &[b]);
    let read = node(&mut draft, 0, "read", NodeKind::Memcpy, &[b], &[out]);
    draft.edge(write, read);
    if readers_first {
        draft.edge(readers[ordered], write);
    } else {
        draft.edge(read, readers[ordered]);
    }
    draft
}

#[test]
fn memory_is_in_use_until_the_last_of_unordered_nodes_and_from_the_first() {
    for readers_first in [true, false] {
        for ordered in [0, 1] {
            let mut draft = readers_at_once(readers_first, ordered);
            assert_eq!(shared_unchecked(&draft), [], "{readers_first} {ordered}");
            if readers_first {
                draft.edge(1 - ordered, 2);
            } else {
                draft.edge(3, 1 - ordered);
            }
            assert_eq!(shared_unchecked(&draft).len(), 1, "{readers_first} {ordered}");
        }
    }
}

/// A `while` that runs after the node `before`; returns the node and its body.
fn a_while(draft: &mut Draft, flag: usize, before: usize, name: &'static str) -> (usize, usize) {
    let repeat = node(draft, 0, name, NodeKind::While, &[flag], &[]);
    draft.edge(before, repeat);
    (repeat, draft.body(repeat, Role::While))
}

#[test]
fn one_range_that_enters_a_while_keeps_the_memory_for_all_of_it() {
    let mut draft = Draft::new("While");
    let [flag, out] = ["flag", "out"].map(|name| draft.resource(name, Memory::Device));
    let [a, b] = ["a", "b"].map(|name| draft.resource(name, Memory::Scratch));
    let first = node(&mut draft, 0, "first", NodeKind::Memset, &[], &[a]);
    let (_, body) = a_while(&mut draft, flag, first, "repeat");
    let nodes = [
        node(&mut draft, body, "use_first", NodeKind::Kernel, &[a], &[out]),
        node(&mut draft, body, "again", NodeKind::Memset, &[], &[a]),
        node(&mut draft, body, "use_again", NodeKind::Kernel, &[a], &[out]),
        node(&mut draft, body, "other", NodeKind::Memset, &[], &[b]),
        node(&mut draft, body, "use_other", NodeKind::Kernel, &[b], &[flag]),
    ];
    chain(&mut draft, &nodes);
    assert_eq!(
        shared(&draft),
        [],
        "`use_first` reads what `again` wrote an iteration before"
    );
    let at = draft
        .accesses
        .iter()
        .position(|access| access.node == nodes[0] && access.resource == a);
    draft.accesses[at.unwrap()].resource = flag;
    draft.accesses[0].resource = flag;
    assert_eq!(
        shared(&draft),
        [pair("a", "b")],
        "`again` alone renews it in each iteration"
    );
}

#[test]
fn each_of_two_whiles_has_its_own_answer() {
    for place in [0, 1] {
        let mut draft = Draft::new("Whiles");
        let [flag, out] = ["flag", "out"].map(|name| draft.resource(name, Memory::Device));
        let [a, b] = ["a", "b"].map(|name| draft.resource(name, Memory::Scratch));
        let mut before = node(&mut draft, 0, "first", NodeKind::Memset, &[], &[a]);
        for (index, name) in ["one", "two"].into_iter().enumerate() {
            let (repeat, body) = a_while(&mut draft, flag, before, name);
            let reader = node(
                &mut draft,
                body,
                &format!("{name}_reads"),
                NodeKind::Kernel,
                &[a],
                &[out],
            );
            let mut nodes = vec![reader];
            if index == place {
                nodes.push(node(&mut draft, body, "other", NodeKind::Memset, &[], &[b]));
                nodes.push(node(&mut draft, body, "use_other", NodeKind::Kernel, &[b], &[out]));
            }
            nodes.push(node(
                &mut draft,
                body,
                &format!("{name}_ends"),
                NodeKind::Kernel,
                &[],
                &[flag],
            ));
            chain(&mut draft, &nodes);
            before = repeat;
        }
        assert_eq!(shared(&draft), [], "both iterate over what `first` wrote, {place}");
    }
}
