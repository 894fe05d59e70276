//! Sharing compared with simulated launches: a read must find the bytes that it would find in memory of its own.

mod launch;
mod random;

use super::*;
use crate::test_draft::draft_of;
use crate::{check, pack};
use proptest::prelude::*;
use random::Random;
use std::fmt::Write;

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

/// `layers` layers of four temporaries each: `x -> q -> s -> c -> h -> x`, as kernels.
fn layers(layers: usize) -> Draft {
    let mut text = "device x;".to_owned();
    for n in 0..layers {
        let _ = write!(
            text,
            "scratch q{n}, s{n}, c{n}, h{n}; then kernel a{n}: x, q{n}*; then kernel b{n}: q{n}, s{n}*;
             then kernel d{n}: s{n}, c{n}*; then kernel e{n}: c{n}, h{n}*; then kernel f{n}: h{n}, x*;"
        );
    }
    draft_of(&text)
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
    for (kind, mode, expected) in [("memcpy", "=", 3), ("kernel", "*", 0)] {
        let mut draft = draft_of(&format!(
            "device x; scratch q, s, c, h;
             for i {{
                 {kind} a: x, q{mode}; then {kind} b: q, s{mode}; then {kind} c1: s, c{mode};
                 then {kind} d: c, h{mode}; then {kind} e: h, x{mode};
             }}"
        ));
        // The part that a kernel leaves unwritten is of the iteration before.
        assert_eq!(shared(&draft).len(), expected);
        draft.nodes.iter_mut().for_each(|node| node.in_loop = None);
        assert_eq!(shared(&draft), [pair("q", "c"), pair("q", "h"), pair("s", "h")]);
    }
}

/// `a -> b` in a `while` whose condition is `flag`; `a` is written before the loop, or by this node in it.
fn repeated(writer: Option<&str>) -> Draft {
    let first = if writer.is_none() { "a" } else { "flag" };
    let writer = writer.unwrap_or_default();
    draft_of(&format!(
        "device flag, out; scratch a, b;
         memset first: {first}=;
         while repeat: flag after first {{
             {writer}
             then kernel user: a, out*; then memset other: b=; then kernel last: b, flag*;
         }}"
    ))
}

#[test]
fn what_enters_a_while_or_crosses_its_iterations_lives_for_all_of_it() {
    assert_eq!(shared(&repeated(Some("memset writer: a=;"))), [pair("a", "b")]);
    assert_eq!(shared(&repeated(Some("kernel writer: a*;"))), []);
    assert_eq!(shared(&repeated(None)), []);
}

#[test]
fn a_condition_is_read_at_the_end_of_every_iteration() {
    let draft = draft_of(
        "scratch flag, a; memset set: flag=;
         while repeat: flag after set { memset reset: flag= after clear; memset clear: a=; }",
    );
    assert_eq!(shared(&draft), []);
}

#[test]
fn bodies_of_which_one_runs_share() {
    let bodies = "if choice: flag {
            kernel then_: a*; then kernel then_read: a, out*;
        } else {
            kernel otherwise: b*; then kernel otherwise_read: b, out*;
        }";
    let draft = |before: &str, after: &str| {
        draft_of(&format!(
            "device flag, out; scratch a, b; {before} then {bodies} {after}"
        ))
    };
    assert_eq!(shared(&draft("", "")), [pair("a", "b")]);
    let after = "then kernel after_: a, out*;";
    let expected = [pair("a", "b")];
    assert_eq!(
        shared_unchecked(&draft("", after)),
        expected,
        "b is written only where a is not"
    );
    let found = shared(&draft("kernel before: a*;", after));
    assert_eq!(found, [], "a then lives on beyond the node in which b does");
}

#[test]
fn a_copy_over_all_of_it_ends_a_range() {
    let shared = |again: &str| {
        shared(&draft_of(&format!(
            "device out; scratch a, b;
             then memset a1: a=; then kernel a1_read: a, out*;
             then memset b1: b=; then kernel b1_read: b, out*;
             then {again}; then kernel a2_read: a, out*;"
        )))
    };
    assert_eq!(
        shared("memset a2: a="),
        [pair("a", "b")],
        "b lies between the two ranges of a"
    );
    assert_eq!(shared("kernel a2: a*"), [], "a kernel may leave some of it as it was");
}

#[test]
fn a_copy_that_need_not_run_ends_none() {
    let shared = |choice: &str| {
        shared(&draft_of(&format!(
            "device flag, out; scratch a, b;
             memset first: a=; then memset other: b=;
             then {choice} {{ memset again: a=; }}
             then kernel last: a, out*;"
        )))
    };
    assert_eq!(shared("if choice: flag"), []);
    assert_eq!(shared("graph choice: flag"), [pair("a", "b")], "a child graph runs");
}

#[test]
fn buffers_come_in_order_of_first_use() {
    let draft = draft_of("scratch unused, late, early; memset first: early=; then memset second: late=;");
    let sharing = Sharing::of(&draft, &check(&draft).order);
    assert_eq!(sharing.resources(), [2, 1, 0]);
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
    let mut draft = draft_of(
        "device x; scratch a, b;
         memset first: a=; then kernel use_a: a, x*;
         then memset between: b=; then kernel use_b: b, x*;
         then memset again: a=; then kernel last: a, x*;",
    );
    assert_eq!(shared(&draft), [pair("a", "b")]);
    draft.nodes[4].disabled = true;
    assert_eq!(shared(&draft), [], "`last` reads what `first` wrote");
}

/// Two kernels that read `a` at the same time, and a use of `b` that only one of them is ordered with: it comes after
/// that reader, or before it.
fn readers_at_once(readers_first: bool, ordered: usize) -> Draft {
    let mut draft = draft_of(
        "host out; scratch a, b;
         kernel one: a; kernel two: a; memset write: b=; memcpy read: b, out= after write;",
    );
    if readers_first {
        draft.edge(ordered, 2);
    } else {
        draft.edge(3, ordered);
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

#[test]
fn one_range_that_enters_a_while_keeps_the_memory_for_all_of_it() {
    let shared = |first: &str, used: &str| {
        shared(&draft_of(&format!(
            "device flag, out; scratch a, b;
             memset first: {first}=;
             while repeat: flag after first {{
                 kernel use_first: {used}, out*; then memset again: a=; then kernel use_again: a, out*;
                 then memset other: b=; then kernel use_other: b, flag*;
             }}"
        )))
    };
    assert_eq!(
        shared("a", "a"),
        [],
        "`use_first` reads what `again` wrote an iteration before"
    );
    let expected = [pair("a", "b")];
    assert_eq!(
        shared("flag", "flag"),
        expected,
        "`again` alone renews it in each iteration"
    );
}

#[test]
fn each_of_two_whiles_has_its_own_answer() {
    let other = "then memset other: b=; then kernel use_other: b, out*;";
    for (one, two) in [(other, ""), ("", other)] {
        let draft = draft_of(&format!(
            "device flag, out; scratch a, b;
             memset first: a=;
             then while one: flag {{ kernel one_reads: a, out*; {one} then kernel one_ends: flag*; }}
             then while two: flag {{ kernel two_reads: a, out*; {two} then kernel two_ends: flag*; }}"
        ));
        assert_eq!(shared(&draft), [], "both iterate over what `first` wrote: {one}");
    }
}
