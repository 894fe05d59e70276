//! Collectives that nothing orders: ranks may run them in different orders, and then wait for each other for ever.
//!
//! All collectives of a graph are in one order, also those over different communicators: two communicators that share
//! two ranks can block each other as one can.

use super::advice::{iteration, name_in_after, on_line, run_after};
use super::body::siblings;
use crate::parallel::concurrent;
use crate::{Code, Diagnostic, Draft, Nest, Subject};

/// Reports collectives that two ranks may run in different orders.
pub(super) fn unordered(draft: &Draft, order: &Nest, broken: &[bool], errors: &mut Vec<Diagnostic>) {
    if draft.collectives.is_empty() {
        return;
    }
    let culprits: Vec<usize> = (0..broken.len()).filter(|&node| broken[node]).collect();
    let is_certain = |&node: &usize| {
        let mut culprits = culprits.iter();
        !culprits.any(|&culprit| culprit == node || order.before(culprit, node))
    };
    let sequence: Vec<usize> = sequence(draft, order).into_iter().filter(is_certain).collect();
    // If each is ordered with the next in one order that the edges allow, all are.
    let mut told: Vec<(&str, &str)> = Vec::new();
    for pair in sequence.windows(2) {
        let &[first, second] = pair else { continue };
        let names = (draft.name_and_numbers(first).0, draft.name_and_numbers(second).0);
        if !order.ordered(first, second) && !told.contains(&names) {
            errors.push(of_pair(draft, order, first, second));
            told.push(names);
        }
    }
    let may_meet = concurrent(draft, order);
    for around in (0..draft.loops.len()).filter(|&around| draft.loops[around].parallel) {
        let inside = |node: &&usize| {
            draft
                .loops_around(draft.loop_around(**node))
                .any(|other| other == around)
        };
        let members: Vec<usize> = sequence.iter().filter(inside).copied().collect();
        let (Some(&first), Some(&last)) = (members.first(), members.last()) else {
            continue;
        };
        // A loop around it that is parallel, too, has been reported.
        let outer = draft.loops_around(draft.loops[around].parent);
        let is_outermost = !outer.into_iter().any(|outer| draft.loops[outer].parallel);
        let neighbours = members.windows(2).map(|pair| (pair[0], pair[1]));
        let mut pairs = neighbours.chain([(first, first), (first, last)]);
        let is_new = pairs.any(|(first, second)| order.ordered(first, second) && may_meet(first, second));
        if is_outermost && is_new {
            errors.push(of_iterations(draft, around, first, last));
        }
    }
}

/// The nodes in which all ranks of a communicator take part, each once, in an order that the edges allow.
fn sequence(draft: &Draft, order: &Nest) -> Vec<usize> {
    let mut is_collective = vec![false; draft.nodes.len()];
    draft
        .collectives
        .iter()
        .for_each(|collective| is_collective[collective.node] = true);
    let mut bodies = vec![Vec::new(); draft.nodes.len()];
    for (body, declared) in draft.bodies.iter().enumerate() {
        if let Some(owner) = declared.node {
            bodies[owner].push(body);
        }
    }
    let mut found = Vec::new();
    let mut left: Vec<usize> = order.sequence(0).rev().collect();
    while let Some(node) = left.pop() {
        if is_collective[node] {
            found.push(node);
        }
        let inner = bodies[node].iter().rev();
        left.extend(inner.flat_map(|&body| order.sequence(body).rev()));
    }
    found
}

/// The line of a node, if it is known.
fn line(draft: &Draft, node: usize) -> Option<u32> {
    let mut accesses = draft.accesses.iter().filter(|access| access.node == node);
    accesses.find_map(|access| access.line)
}

/// A collective and its communicators, in words: `` `sum` is over `world` (line 3)``.
fn place(draft: &Draft, node: usize) -> String {
    let over = draft.collectives.iter().filter(|collective| collective.node == node);
    let mut names: Vec<String> = over
        .map(|collective| format!("`{}`", draft.communicators[collective.communicator]))
        .collect();
    names.dedup();
    let line = on_line(line(draft, node));
    format!("`{}` is over {}{line}", draft.nodes[node].name, names.join(" and "))
}

const FOR_EVER: &str = "two ranks that run them in different orders wait for each other for ever";

fn of_pair(draft: &Draft, order: &Nest, first: usize, second: usize) -> Diagnostic {
    let over = |node: usize| {
        let mut own = draft
            .collectives
            .iter()
            .filter(move |collective| collective.node == node);
        own.next().map(|collective| collective.communicator)
    };
    let [one, other] = [first, second].map(|node| &draft.nodes[node].name);
    let message = format!("nothing orders the collectives `{one}` and `{other}`");
    let places = format!("{}, {}", place(draft, first), place(draft, second));
    let error = Diagnostic::new(Code::CollectiveOrder, Subject::Node(second), message)
        .note(places)
        .note(FOR_EVER);
    let error = match over(first) == over(second) {
        true => error,
        false => error.note("collectives over two communicators are taken in one order, too"),
    };
    let (first_base, second_base) = (draft.name_and_numbers(first).0, draft.name_and_numbers(second).0);
    if first_base == second_base && !draft.name_and_numbers(first).1.is_empty() {
        return error.help("order one iteration after the other with `after_iteration`");
    }
    let (first, second) = siblings(draft, first, second).unwrap_or((first, second));
    error.help(run_after(draft, order, first, second))
}

fn of_iterations(draft: &Draft, around: usize, first: usize, last: usize) -> Diagnostic {
    let variable = &draft.loops[around].variable.name;
    let (one, other) = (&draft.nodes[first].name, &draft.nodes[last].name);
    let what = match first == last {
        true => format!("the iterations of the collective `{one}`"),
        false => format!("the iterations of the collectives from `{one}` to `{other}`"),
    };
    let error = Diagnostic::new(
        Code::CollectiveOrder,
        Subject::Node(first),
        format!("nothing orders {what} in the `each` over `{variable}`"),
    )
    .note(match first == last {
        true => place(draft, first),
        false => format!("{}, {}", place(draft, first), place(draft, last)),
    })
    .note(FOR_EVER);
    let (last, first) = siblings(draft, last, first).unwrap_or((last, first));
    let loops = draft.loops_from_outermost(draft.loop_around(first));
    let steps = loops.iter().map(|&inner| (inner, if inner == around { -1 } else { 0 }));
    error.help(format!(
        "{}; or use `for`, whose iterations run one after the other",
        name_in_after(draft, &iteration(draft, last, steps), first)
    ))
}

#[cfg(test)]
mod tests {
    use crate::test_draft::draft_of;
    use crate::{Code, Draft, check};

    /// Collectives over one communicator, each on memory of its own.
    const THREE: &str = "communicator world, row; device x, y, z;
        all_reduce a: x* over world; all_reduce b: y* over world; all_reduce c: z* over world;";

    fn errors(draft: &Draft) -> Vec<String> {
        let errors = check(draft).errors;
        assert!(errors.iter().all(|error| error.code == Code::CollectiveOrder));
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn two_collectives_need_an_order() {
        let mut draft = draft_of(THREE);
        assert_eq!(errors(&draft).len(), 2, "one for each edge that is missing");
        draft.edge(0, 1);
        assert_eq!(
            errors(&draft),
            ["nothing orders the collectives `b` and `c` [collective-order]\n\
             note: `b` is over `world`, `c` is over `world`\n\
             note: two ranks that run them in different orders wait for each other for ever\n\
             help: add `b` to the `after` list of `c`"]
        );
        draft.edge(0, 2);
        assert_eq!(errors(&draft).len(), 1);
        draft.edge(1, 2);
        assert_eq!(errors(&draft), [""; 0]);
    }

    #[test]
    fn two_communicators_have_one_order() {
        let draft =
            draft_of("communicator world, row; device x, y; all_reduce a: x* over world; all_reduce b: y* over row;");
        let error = errors(&draft).remove(0);
        assert!(error.contains("`a` is over `world`, `b` is over `row`"), "{error}");
        assert!(error.contains("over two communicators"), "{error}");
    }

    #[test]
    fn bodies_that_exclude_each_other_are_ordered() {
        let errors = |last: &str| {
            errors(&draft_of(&format!(
                "communicator world; device flag, x, y;
                 if choice: flag {{ broadcast one: x* over world; }} else {{ broadcast other: y* over world; }} {last}"
            )))
        };
        assert_eq!(errors(""), [""; 0]);
        let found = errors("exchange last over world;");
        assert_eq!(found.len(), 1);
        assert!(
            found[0].ends_with("help: add `choice` to the `after` list of `last`"),
            "{}",
            found[0]
        );
        assert_eq!(errors("exchange last over world after choice;"), [""; 0]);
    }

    #[test]
    fn iterations_of_an_each_need_an_order() {
        // They only read: no race hides the order.
        let mut draft = draft_of(
            "communicator world; device x, y;
             each i { all_reduce a: x over world; then all_reduce b: y over world; }",
        );
        let found = errors(&draft);
        assert_eq!(found.len(), 1);
        assert!(
            found[0]
                .starts_with("nothing orders the iterations of the collectives from `a` to `b` in the `each` over `i`"),
            "{}",
            found[0]
        );
        assert!(
            found[0].contains("add `b(i - 1)` to the `after` list of `a`"),
            "{}",
            found[0]
        );
        draft.shift(1, 0, [-1]);
        assert_eq!(errors(&draft), [""; 0]);
    }

    #[test]
    fn iterations_of_a_for_are_ordered() {
        let draft = draft_of("communicator world; device x; for i { all_reduce a: x* over world; }");
        assert_eq!(errors(&draft), [""; 0]);
    }
}
