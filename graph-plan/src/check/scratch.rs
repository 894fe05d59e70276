//! Scratch memory that is read before it is written.

use super::advice::name_in_after;
use crate::{Access, Code, Diagnostic, Draft, Memory, Mode, Nest, NodeKind, Region, Subject};

/// The findings about the accesses of scratch memory.
#[derive(Default)]
pub(super) struct Scratch {
    /// Reads of memory that nothing has written.
    pub(super) errors: Vec<Diagnostic>,
    /// See [`Outcome::first_writes`](super::Outcome::first_writes).
    pub(super) first_writes: Vec<usize>,
}

/// Finds the first reads of scratch memory that nothing before them has written, and the first writes that may read.
pub(super) fn uninitialized(draft: &Draft, order: &Nest, broken: &[bool]) -> Scratch {
    let mut found = Scratch::default();
    if !draft.has(Memory::Scratch) {
        return found;
    }
    let mut of_resources = vec![Vec::new(); draft.resources.len()];
    for (index, access) in draft.accesses.iter().enumerate() {
        if draft.is_scratch(access.resource) && !access.region.is_empty() {
            of_resources[access.resource].push(index);
        }
    }
    let culprits: Vec<usize> = (0..broken.len()).filter(|&node| broken[node]).collect();
    let uncertain = |node: usize| {
        culprits
            .iter()
            .any(|&culprit| culprit == node || order.before(culprit, node))
    };
    for accesses in of_resources {
        let writers: Vec<&Access> = accesses
            .iter()
            .map(|&index| &draft.accesses[index])
            .filter(|access| initializes(access.mode))
            .collect();
        let memory = ScratchUse { draft, order, writers };
        let unwritten = accesses
            .into_iter()
            .filter(|&index| !memory.is_written(index) && !uncertain(draft.accesses[index].node));
        let (reads, writes): (Vec<usize>, Vec<usize>) = unwritten
            .filter(|&index| draft.accesses[index].reads())
            .partition(|&index| memory.certainly_reads(&draft.accesses[index]));
        let alone = writes.into_iter().filter(|&index| !memory.is_race(index));
        found.first_writes.extend(alone);
        found.errors.extend(memory.errors(&reads));
    }
    found.first_writes.sort_unstable();
    found
}

/// Whether an access leaves the memory initialised in any case. Atomic operations do not: they start from the previous
/// contents.
const fn initializes(mode: Mode) -> bool {
    match mode {
        Mode::Write | Mode::ReadWrite => true,
        Mode::Read | Mode::Atomic | Mode::Mapped => false,
    }
}

/// The accesses of a scratch resource.
struct ScratchUse<'a> {
    draft: &'a Draft,
    order: &'a Nest,
    writers: Vec<&'a Access>,
}

impl ScratchUse<'_> {
    /// Whether earlier nodes have certainly written the memory that the access touches. An access that only reads needs
    /// all of it, as far as the ends of all parts are known; other accesses need some of it.
    fn is_written(&self, index: usize) -> bool {
        let access = &self.draft.accesses[index];
        let mut earlier = self.earlier_writers(access).peekable();
        let is_enough = !self.certainly_reads(access) || self.gap(access).is_none();
        earlier.peek().is_some() && is_enough
    }

    /// Whether an access needs all of what the memory held before. Others may write it first: of kernels, only the PTX
    /// tells.
    fn certainly_reads(&self, access: &Access) -> bool {
        !initializes(access.mode) || access.reads() && self.draft.nodes[access.node].kind.is_collective()
    }

    /// The writes that certainly run before an access and may touch the same memory.
    fn earlier_writers<'s>(&'s self, access: &'s Access) -> impl Iterator<Item = &'s Access> {
        self.writers.iter().copied().filter(|writer| {
            writer.region.overlaps_in_some_iterations(&access.region)
                && self.draft.nodes[writer.node].is_certain()
                && self.order.before(writer.node, access.node)
                && self.condition(writer.node, access.node).is_none()
        })
    }

    /// The first part of an access that certainly none of the earlier writes touches.
    fn gap(&self, access: &Access) -> Option<Region> {
        let earlier = || self.earlier_writers(access).map(|writer| &writer.region);
        if earlier().any(|written| written.covers(&access.region)) {
            return None;
        }
        access
            .region
            .first_gap(earlier(), self.draft.resources[access.resource].extent)
    }

    /// The node that decides whether `first` runs before `second` does.
    fn condition(&self, first: usize, second: usize) -> Option<usize> {
        let around = |body: usize| self.draft.bodies_around(second).any(|around| around == body);
        let mut only_around_first = self.draft.bodies_around(first).take_while(|&body| !around(body));
        only_around_first
            .find(|&body| self.draft.bodies[body].role.is_conditional())
            .and_then(|body| self.draft.bodies[body].node)
    }

    /// One error for each read that no other such read comes before; a single error if nothing writes the memory.
    fn errors(&self, reads: &[usize]) -> Vec<Diagnostic> {
        let node = |index: usize| self.draft.accesses[index].node;
        let first = |&&index: &&usize| {
            !reads.iter().any(|&other| {
                self.order.before(node(other), node(index)) || other < index && node(other) == node(index)
            })
        };
        let mut firsts = reads.iter().filter(first).copied();
        if self.writers.is_empty() {
            return firsts.next().map(|index| self.error(index)).into_iter().collect();
        }
        firsts
            .filter(|&index| !self.is_race(index))
            .map(|index| self.error(index))
            .collect()
    }

    /// Whether the only mistake is that nothing orders the access and another node's write. That is reported as a race.
    fn is_race(&self, index: usize) -> bool {
        let access = &self.draft.accesses[index];
        self.writers.iter().any(|writer| {
            writer.node != access.node
                && writer.region.overlaps(&access.region)
                && !self.order.ordered(writer.node, access.node)
                && self.condition(writer.node, access.node).is_none()
        })
    }

    fn error(&self, index: usize) -> Diagnostic {
        let access = &self.draft.accesses[index];
        let (reader, part) = (&self.draft.nodes[access.node].name, &access.region);
        let resource = &self.draft.resources[access.resource];
        let (memory, zero) = (&resource.name, resource.zero);
        if self.earlier_writers(access).next().is_some() {
            return self.written_in_part(index);
        }
        let message = format!("node `{reader}` reads `{memory}`, which no node before it has written");
        let error = Diagnostic::new(Code::Uninitialized, Subject::Access(index), message);
        let Some(write) = self.likeliest(access) else {
            let order = name_in_after(self.draft, "zero", access.node);
            let updates = match access.mode {
                Mode::Atomic => ", so that updates add to those of earlier launches",
                _ => "",
            };
            // The declaration of the kernel, which is not in the text, says whether the kernel writes the memory.
            let is_kernel = self.draft.nodes[access.node].kind == NodeKind::Kernel;
            let lend = match access.mode {
                Mode::Read if self.draft.is_text && is_kernel => {
                    format!("lend it as `&mut {memory}{part}` if the kernel takes `&mut`; else ")
                }
                _ => String::new(),
            };
            return error
                .note("scratch memory keeps nothing from one launch to the next")
                .help(format!(
                    "{lend}write `{memory}` before, for example by `memset zero = {memory} <- {zero};` ({order}); or declare \
                     `{memory}` as `device`: that is zeroed when the graph is built and keeps its contents{updates}"
                ));
        };
        let writer = &self.draft.nodes[write.node].name;
        let is_before = self.order.before(write.node, access.node);
        let another = format!("in another node that `{reader}` names in its `after` list");
        let (note, help) = if !write.region.overlaps_in_some_iterations(part) {
            let written = &write.region;
            (
                format!("`{writer}` writes `{memory}{written}`, `{reader}` reads `{memory}{part}`"),
                format!("write `{memory}{part}` in a node that `{reader}` names in its `after` list"),
            )
        } else if let Some(condition) = self.condition(write.node, access.node) {
            let owner = &self.draft.nodes[condition].name;
            (
                format!("`{writer}` writes `{memory}`, but in the body of `{owner}`, which need not run"),
                format!(
                    "write `{memory}` also in a node that `{owner}` names in its `after` list, for example a `memset`"
                ),
            )
        } else if is_before && self.draft.nodes[write.node].partial {
            (
                format!("`{writer}` writes a part of `{memory}` that updates choose, perhaps nothing"),
                format!("write `{memory}` also {another}, for example a `memset`"),
            )
        } else if is_before {
            (
                format!("`{writer}` writes `{memory}`, but is disabled"),
                format!("remove `#[disabled]` from `{writer}`, or write `{memory}` {another}"),
            )
        } else if self.writes_earlier(write.node, access.node) {
            (
                format!(
                    "`{reader}` runs after the `{writer}` of another iteration, which some iteration does not have"
                ),
                format!("write `{memory}` also before the loop, for example by a `memset` that `{reader}` runs after"),
            )
        } else {
            (
                format!("`{writer}` writes `{memory}`, but runs after `{reader}`"),
                format!("let `{reader}` run after `{writer}`, not before it"),
            )
        };
        error.note(note).help(help)
    }

    /// The mistake of an access to memory that earlier nodes have written, but not all of it.
    fn written_in_part(&self, index: usize) -> Diagnostic {
        let access = &self.draft.accesses[index];
        let (reader, part) = (&self.draft.nodes[access.node].name, &access.region);
        let memory = &self.draft.resources[access.resource].name;
        let message = format!("node `{reader}` reads `{memory}{part}`, which is written only in part");
        let gap = self.gap(access).unwrap_or(Region::Whole);
        Diagnostic::new(Code::Uninitialized, Subject::Access(index), message)
            .note(format!("no node before `{reader}` writes `{memory}{gap}`"))
            .note("scratch memory keeps nothing from one launch to the next, and may hold data of other graphs")
            .help(format!(
                "write all of it in nodes that `{reader}` runs after, for example by a `memset` of `{memory}`; or let \
                 `{reader}` take only the part that is written"
            ))
    }

    /// Whether an edge between iterations leads from one node to the other.
    fn writes_earlier(&self, writer: usize, reader: usize) -> bool {
        let mut shifts = self.draft.shifts.iter();
        shifts.any(|shift| shift.from == writer && shift.to == reader)
    }

    /// The write that was most likely meant to come before: one that does, else one of the same part, else any.
    fn likeliest(&self, access: &Access) -> Option<&Access> {
        let others = || self.writers.iter().copied().filter(|writer| writer.node != access.node);
        let before = |writer: &&Access| self.order.before(writer.node, access.node);
        let meets = |writer: &&Access| writer.region.overlaps_in_some_iterations(&access.region);
        others()
            .find(|writer| before(writer) && meets(writer))
            .or_else(|| others().find(before))
            .or_else(|| others().find(meets))
            .or_else(|| others().next())
    }
}

#[cfg(test)]
mod tests {
    use crate::test_draft::draft_of;
    use crate::{Bound, Code, Draft, Mode, NodeKind, Region, Role, Subject, check};

    fn found(draft: &Draft) -> Vec<(Code, Subject)> {
        let errors = check(draft).errors;
        errors.iter().map(|error| (error.code, error.subject)).collect()
    }

    #[test]
    fn atomic_updates_start_from_what_was_there() {
        let mut draft = draft_of("scratch tmp; then kernel count: tmp+; then kernel use: tmp;");
        assert_eq!(found(&draft).len(), 1, "and what was updated is not told again");
        let other = draft.node("other", NodeKind::Kernel);
        draft.access(other, 0, Region::Whole, Mode::Atomic);
        draft.edge(other, 1);
        assert_eq!(found(&draft).len(), 1, "unordered updates are no race");
        let help = check(&draft).errors.remove(0).help.unwrap_or_default();
        assert!(
            help.ends_with("keeps its contents, so that updates add to those of earlier launches"),
            "{help}"
        );
        let cleared = draft_of("scratch tmp; then kernel clear: tmp=; then kernel count: tmp+; then kernel use: tmp;");
        assert_eq!(found(&cleared), []);
    }

    #[test]
    fn the_first_reader_of_what_nothing_writes_is_told_so() {
        let draft = draft_of("scratch tmp; then kernel use: tmp; then kernel again: tmp;");
        let errors = check(&draft).errors;
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].subject, Subject::Access(0));
        let expected = "node `use` reads `tmp`, which no node before it has written [uninitialized]\n\
             note: scratch memory keeps nothing from one launch to the next\n\
             help: write `tmp` before, for example by `memset zero = tmp <- 0;` (add `zero` to the `after` list of \
             `use`); or declare `tmp` as `device`: that is zeroed when the graph is built and keeps its contents";
        assert_eq!(errors[0].to_string(), expected);
    }

    #[test]
    fn the_first_of_two_reads_of_one_node_is_told() {
        let draft = draft_of("scratch tmp; kernel use: tmp[0..2], tmp[2..4]; then kernel fill: tmp=;");
        assert_eq!(found(&draft), [(Code::Uninitialized, Subject::Access(0))]);
    }

    #[test]
    fn an_unordered_write_of_another_part_is_no_race() {
        let draft = draft_of("scratch tmp; kernel fill: tmp[0..4]=; kernel use: tmp[4..8];");
        assert_eq!(found(&draft), [(Code::Uninitialized, Subject::Access(1))]);
    }

    #[test]
    fn the_write_of_an_earlier_iteration_is_told_of_its_own_edge_alone() {
        let note = |from: usize, to: usize| {
            let mut draft =
                draft_of("scratch tmp; each i { kernel use: tmp; then kernel fill: tmp=; then kernel other: tmp; }");
            draft.shift(from, to, [-1]);
            let mut errors = check(&draft).errors;
            errors.retain(|error| error.code == Code::Uninitialized);
            errors.remove(0).notes.remove(0)
        };
        let earlier = "`use` runs after the `fill` of another iteration, which some iteration does not have";
        let later = "`fill` writes `tmp`, but runs after `use`";
        assert_eq!([note(1, 0), note(2, 0), note(1, 2)], [earlier, later, later]);
    }

    #[test]
    fn a_first_use_that_may_write_is_left_to_who_knows() {
        let draft = draft_of("scratch tmp; then kernel first: tmp*; then kernel again: tmp*; then kernel use: tmp;");
        let outcome = check(&draft);
        assert!(outcome.errors.is_empty());
        assert_eq!(outcome.first_writes, [0]);
    }

    #[test]
    fn an_unordered_write_is_a_race_and_nothing_else() {
        let mut draft = draft_of("scratch tmp; kernel fill: tmp=; kernel use: tmp;");
        assert_eq!(found(&draft), [(Code::Race, Subject::Access(1))]);
        draft.accesses[1].mode = Mode::ReadWrite;
        assert_eq!(found(&draft), [(Code::Race, Subject::Access(1))]);
        assert_eq!(check(&draft).first_writes, [0_usize; 0]);
    }

    #[test]
    fn a_write_of_another_part_is_none() {
        let mut draft = draft_of("scratch tmp; kernel fill: tmp[0..4]=; then kernel use: tmp;");
        assert_eq!(found(&draft), [], "the length is not known");
        draft.accesses[1].region = Region::span(4, 8);
        let expected = ["`fill` writes `tmp[0..4]`, `use` reads `tmp[4..8]`"];
        assert_eq!(check(&draft).errors[0].notes, expected);
    }

    #[test]
    fn a_write_of_some_of_the_memory_is_not_enough() {
        let mut draft =
            draft_of("scratch tmp; kernel first: tmp[0..1]=; then kernel second: tmp[5..8]=; then kernel use: tmp;");
        draft.resources[0].extent = Some(8);
        let expected = "node `use` reads `tmp`, which is written only in part [uninitialized]\n\
             note: no node before `use` writes `tmp[1..5]`\n\
             note: scratch memory keeps nothing from one launch to the next, and may hold data of other graphs\n\
             help: write all of it in nodes that `use` runs after, for example by a `memset` of `tmp`; or let `use` \
             take only the part that is written";
        assert_eq!(check(&draft).errors[0].to_string(), expected);
        draft.accesses[1].region = Region::span(1, 8);
        assert_eq!(found(&draft), [], "both together write all of it");
        draft.accesses[1].region = Region::Range(Bound::Known(1), Bound::Symbol("N".to_owned()));
        assert_eq!(found(&draft), [], "N is not known");
        draft.accesses[1].region = Region::span(5, 8);
        draft.accesses[2].region = Region::span(2, 6);
        assert_eq!(found(&draft), [(Code::Uninitialized, Subject::Access(2))]);
        draft.accesses[2].region = Region::span(6, 7);
        assert_eq!(found(&draft), []);
        draft.accesses[2].region = Region::Whole;
        draft.accesses[2].mode = Mode::ReadWrite;
        assert_eq!(found(&draft), [], "it may write the rest");
    }

    #[test]
    fn a_loop_writes_the_parts_of_all_its_iterations() {
        let draft = |part: &str| {
            let text =
                format!("scratch tmp; for i in 0..8 {{ kernel fill: tmp[{part}]=; }} kernel use: tmp after fill;");
            let mut draft = draft_of(&text);
            draft.resources[0].extent = Some(8);
            draft
        };
        assert_eq!(found(&draft("i")), []);
        let notes = check(&draft("2 * i")).errors.swap_remove(0).notes;
        assert_eq!(notes[0], "no node before `use` writes `tmp[1..2]`");
    }

    #[test]
    fn who_reads_nothing_needs_no_write() {
        let draft = draft_of("scratch tmp; kernel copy: tmp[4..4]; then kernel first: tmp[0..0]*;");
        assert_eq!(found(&draft), []);
        assert_eq!(check(&draft).first_writes, [0_usize; 0]);
    }

    #[test]
    fn what_a_condition_decides_initialises_nothing_outside() {
        let mut draft = draft_of(
            "device flag; scratch tmp;
             if choice: flag { memset fill: tmp=; then kernel inside: tmp; } else { kernel other: tmp; }
             then kernel after: tmp;",
        );
        let (in_else, read) = (3, 4);
        let expected = [(Code::Uninitialized, Subject::Access(in_else))];
        assert_eq!(found(&draft), expected, "the reader after it says no more");
        draft.accesses[in_else].mode = Mode::Write;
        let errors = check(&draft).errors;
        assert_eq!(errors[0].subject, Subject::Access(read));
        let expected = ["`fill` writes `tmp`, but in the body of `choice`, which need not run"];
        assert_eq!(errors[0].notes, expected);
        draft.nodes[0].kind = NodeKind::Graph;
        draft.bodies[1].role = Role::Child;
        assert_eq!(found(&draft), [], "a child graph runs");
    }

    #[test]
    fn what_is_disabled_initialises_nothing() {
        let mut draft = draft_of("scratch tmp; then kernel fill: tmp=; then kernel use: tmp; then kernel again: tmp*;");
        draft.nodes[1].disabled = true;
        assert_eq!(found(&draft), []);
        assert_eq!(check(&draft).first_writes, [0_usize; 0]);
        draft.nodes[0].disabled = true;
        let expected = [(Code::Uninitialized, Subject::Access(1))];
        assert_eq!(found(&draft), expected, "it may be enabled");
        assert_eq!(check(&draft).first_writes, [2]);
        let error = &check(&draft).errors[0];
        assert_eq!(error.notes, ["`fill` writes `tmp`, but is disabled"]);
        let help =
            "remove `#[disabled]` from `fill`, or write `tmp` in another node that `use` names in its `after` list";
        assert_eq!(error.help.as_deref(), Some(help));
    }

    #[test]
    fn nothing_is_said_of_what_follows_a_mistake() {
        let mut draft = draft_of("scratch tmp; then kernel broken: tmp; then kernel use: tmp;");
        draft.nodes[0].broken = true;
        let other = draft.node("other", NodeKind::Kernel);
        let read = draft.access(other, 0, Region::Whole, Mode::Read);
        let of_other = [(Code::Uninitialized, Subject::Access(read))];
        assert_eq!(found(&draft), of_other, "it does not follow");
        draft.accesses.remove(0);
        assert_eq!(found(&draft), [(Code::Uninitialized, Subject::Access(read - 1))]);
        draft.accesses.remove(read - 1);
        assert_eq!(found(&draft), []);
    }

    #[test]
    fn an_earlier_write_of_another_part_is_told_before_a_later_one_of_the_same() {
        let draft = draft_of(
            "scratch tmp; kernel late: tmp[4..8]= after use; kernel use: tmp[4..8] after early; kernel early: tmp[0..4]=;",
        );
        assert_eq!(
            check(&draft).errors[0].notes,
            ["`early` writes `tmp[0..4]`, `use` reads `tmp[4..8]`"]
        );
    }
}
