//! The choice between the two forms of bodies: conditional nodes, or predicated kernels.
//!
//! A conditional node costs much, whatever its body. A predicated kernel costs a little more than the kernel if it
//! runs, and about as much as an empty kernel if it does not; so it is cheaper for small bodies. All outcomes of a
//! choice are taken to be equally likely, and a `while` to make some tens of iterations.

use super::passes::{Seen, is_one_block};
use super::prices::{Predicated, Prices};
use crate::devices::bodies::{Bodies, BodyForm};
use crate::ownership::blueprint::Blueprint;
use crate::program::{
    Argument, Code, Conditional, ConditionalKind, External, KernelOp, MemcpyOp, MemsetOp, Op, Structure, Work,
};
use crate::shape::part::ByteRectangle;
use graph_ptx::GuardForm;
use std::collections::{BTreeMap, BTreeSet};

/// The most tests of a kernel.
const MAX_TESTS: usize = 8;
/// The most bytes of a copy or a memset that is a kernel.
pub(super) const MAX_BYTES: usize = 1 << 20;
/// The most nodes of all passes of a `while` together.
const MAX_PASS_NODES: usize = 64;
/// The iterations that a `while` is expected to make.
const ITERATIONS: f64 = 64.0;
/// The bytes that a block of a copy or a memset is taken to move.
const BLOCK_BYTES: f64 = 1024.0;

/// The kernels that cannot be predicated, by function, each with the reason.
pub(super) type Refused = BTreeMap<u32, String>;

/// The chosen forms of a graph.
#[derive(Default)]
pub(super) struct Forms {
    chosen: BTreeMap<usize, Chosen>,
    /// The nodes in predicated bodies, and copies that are kernels elsewhere: the forms of the guards that kernels of
    /// each have.
    members: BTreeMap<usize, BTreeSet<GuardForm>>,
    /// The nodes whose predicated kernels wait for the kernels before them.
    waiting: BTreeSet<usize>,
    /// The number of copies of conditions, and of tickets.
    pub(super) copies: usize,
}

/// The form of a conditional.
pub(super) struct Chosen {
    pub(super) predicated: bool,
    pub(super) passes: usize,
    /// Whether the bodies of an `if` or a `switch`, if they are predicated, test a copy of the condition.
    pub(super) latched: bool,
    /// The words that the nodes of a `while` test.
    pub(super) seen: Seen,
    /// The price of a copy of its condition, if its predicated kernels need one for each time that they run or rest.
    latch: f64,
    reason: String,
}

impl Chosen {
    /// A conditional node.
    fn node(latched: bool, reason: String) -> Self {
        Self {
            predicated: false,
            passes: 1,
            latched,
            seen: Seen::default(),
            latch: 0.0,
            reason,
        }
    }

    /// Whether its bodies have predicated kernels.
    fn has_tests(&self) -> bool {
        self.predicated || self.passes > 1
    }
}

impl Forms {
    /// Chooses the form of each conditional of a graph. Predicated kernels of the nodes in `waiting` wait for
    /// the kernels before them.
    pub(super) fn choose(
        blueprint: &Blueprint<'_>,
        refused: &Refused,
        prices: &Prices,
        waiting: &BTreeSet<usize>,
    ) -> Self {
        let mut chooser = Chooser {
            blueprint,
            refused,
            prices,
            waiting,
            chosen: BTreeMap::new(),
        };
        chooser.body(0, false);
        let mut forms = Self {
            chosen: chooser.chosen,
            waiting: waiting.clone(),
            ..Self::default()
        };
        forms.place(blueprint, 0, None, None);
        forms
    }

    /// Makes a kernel of a copy that runs alone.
    pub(super) fn add_kernel(&mut self, node: usize) {
        self.members.entry(node).or_default().insert(GuardForm::default());
    }

    /// The form of a conditional; `None` if nothing was chosen, so that it is a conditional node.
    pub(super) fn of(&self, node: usize) -> Option<&Chosen> {
        self.chosen.get(&node)
    }

    /// The microseconds that a copy of the condition of a conditional costs, if its predicated kernels need one.
    pub(super) fn latch_price(&self, node: usize) -> f64 {
        self.of(node).map_or(0.0, |chosen| chosen.latch)
    }

    /// Whether the conditional is predicated as a whole.
    pub(super) fn is_predicated(&self, node: usize) -> bool {
        self.of(node).is_some_and(|chosen| chosen.predicated)
    }

    /// Whether all nodes are what they seem, and no kernel has a guard.
    pub(super) fn is_empty(&self) -> bool {
        self.chosen.is_empty() && self.members.is_empty() && self.waiting.is_empty()
    }

    /// Whether the node is a kernel though it is a copy or a memset: it is in a predicated body, or was chosen so.
    pub(super) fn has(&self, node: usize) -> bool {
        self.members.contains_key(&node)
    }

    /// Whether the predicated kernels of a node wait for the kernels before them.
    pub(super) fn waits(&self, node: usize) -> bool {
        self.waiting.contains(&node)
    }

    /// Whether any predicated kernels may wait for those before them.
    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether a kernel of the node in a predicated body has a guard of this form. A node that runs alone has none.
    pub(super) fn has_guard(&self, node: usize, guard: GuardForm) -> bool {
        self.members.get(&node).is_some_and(|known| known.contains(&guard))
    }

    /// The forms of the guards that kernels of a node have; none if it is in no predicated body.
    pub(super) fn guards(&self, node: usize) -> Vec<GuardForm> {
        self.members.get(&node).into_iter().flatten().copied().collect()
    }

    /// The nodes in predicated bodies, each with the forms of the guards of its kernels.
    pub(super) fn members(&self) -> impl Iterator<Item = (usize, &BTreeSet<GuardForm>)> {
        self.members.iter().map(|(&node, guards)| (node, guards))
    }

    /// The forms for a reader.
    pub(super) fn report(&self, blueprint: &Blueprint<'_>) -> Vec<BodyForm> {
        let forms = self.chosen.iter().map(|(&node, chosen)| BodyForm {
            node: blueprint.draft.nodes[node].name.to_string(),
            predicated: chosen.has_tests(),
            passes: chosen.passes,
            reason: chosen.reason.clone(),
        });
        forms.collect()
    }

    /// Notes the nodes of a body, and counts copies of conditions. `tests` is the number of tests of its kernels, if it
    /// is predicated; `seen` is given for a pass after the first one.
    fn place(&mut self, blueprint: &Blueprint<'_>, body: usize, tests: Option<usize>, seen: Option<&Seen>) {
        for node in blueprint.order.sequence(body) {
            match &blueprint.program.ops[node] {
                Op::Structure(Structure::Conditional(conditional)) => {
                    let Some(Chosen {
                        predicated,
                        passes,
                        latched,
                        seen,
                        ..
                    }) = self.chosen.get(&node)
                    else {
                        continue;
                    };
                    let (predicated, passes, seen) = (*predicated, *passes, seen.clone());
                    self.copies += usize::from(predicated && *latched) + (passes - 1) * seen.copies();
                    for &body in &conditional.bodies {
                        if predicated {
                            self.place(blueprint, body, Some(tests.unwrap_or(0) + 1), None);
                            continue;
                        }
                        self.place(blueprint, body, tests.or((passes > 1).then_some(0)), None);
                        if passes > 1 {
                            self.place(blueprint, body, Some(1), Some(&seen));
                        }
                    }
                }
                Op::Structure(Structure::Child(body)) => self.place(blueprint, *body, tests, None),
                Op::Work(_) => {
                    if let Some(tests) = tests {
                        let guard = seen.map_or(GuardForm::tests(tests), |seen| seen.guard(node, tests));
                        let waits = tests > 0 && self.waits(node);
                        self.members
                            .entry(node)
                            .or_default()
                            .insert(GuardForm { waits, ..guard });
                    }
                }
                Op::External(_) => {}
            }
        }
    }
}

/// The price of a body that is predicated.
#[derive(Clone, Copy, Debug, Default)]
struct Price {
    /// More than its kernels, if it runs.
    runs: f64,
    /// If it does not run.
    rests: f64,
    nodes: usize,
}

struct Chooser<'a> {
    blueprint: &'a Blueprint<'a>,
    refused: &'a Refused,
    prices: &'a Prices,
    /// As in [`Forms`].
    waiting: &'a BTreeSet<usize>,
    chosen: BTreeMap<usize, Chosen>,
}

impl Chooser<'_> {
    /// Chooses for the conditionals in a body and in the bodies of its nodes. `predicated` says that the body is, so
    /// that all that is in it must be.
    fn body(&mut self, body: usize, predicated: bool) {
        let blueprint = self.blueprint;
        for node in blueprint.order.sequence(body) {
            match &blueprint.program.ops[node] {
                Op::Structure(Structure::Conditional(conditional)) => self.conditional(node, conditional, predicated),
                Op::Structure(Structure::Child(body)) => self.body(*body, predicated),
                Op::Work(_) | Op::External(_) => {}
            }
        }
    }

    fn conditional(&mut self, node: usize, conditional: &Conditional, around: bool) {
        let mut chosen = match conditional.kind {
            _ if self.blueprint.bodies == Bodies::Nodes => Chosen::node(false, "the device asks for it".to_owned()),
            ConditionalKind::While => self.repeated(node, conditional),
            ConditionalKind::If | ConditionalKind::Switch => self.choice(node, conditional),
        };
        if around {
            chosen.predicated = true;
            chosen.reason = "it is in a body that is".to_owned();
        }
        let has_tests = chosen.has_tests();
        self.chosen.insert(node, chosen);
        conditional.bodies.iter().for_each(|&body| self.body(body, has_tests));
    }

    /// The form of an `if` or a `switch`.
    fn choice(&self, node: usize, conditional: &Conditional) -> Chosen {
        let latched = self.is_written(node, conditional);
        let prices = match self.prices_of(node, conditional, 0) {
            Ok(prices) => prices,
            Err(reason) => return Chosen::node(latched, reason),
        };
        let latch = if latched { self.prices.latch } else { 0.0 };
        let rest: f64 = prices.iter().map(|price| price.rests).sum();
        let mut predicated: Vec<f64> = prices
            .iter()
            .map(|price| latch + rest - price.rests + price.runs)
            .collect();
        let mut as_node = vec![self.prices.taken; prices.len()];
        if has_none(conditional) {
            predicated.push(latch + rest);
            as_node.push(self.prices.skipped);
        }
        let average = |prices: &[f64]| prices.iter().sum::<f64>() / prices.len().max(1) as f64;
        let (predicated, as_node) = (average(&predicated), average(&as_node));
        let nodes: usize = prices.iter().map(|price| price.nodes).sum();
        let reason = format!(
            "its {} about {} predicated, and {as_node:.1} us more in a conditional node (prices of {})",
            if nodes == 1 {
                "kernel costs".to_owned()
            } else {
                format!("{nodes} kernels cost")
            },
            more(predicated),
            self.prices.device
        );
        Chosen {
            predicated: self.blueprint.bodies == Bodies::Predicated || predicated <= as_node,
            latch,
            ..Chosen::node(latched, reason)
        }
    }

    /// The form of a `while`: the number of times that one iteration of its node repeats the body.
    fn repeated(&self, node: usize, conditional: &Conditional) -> Chosen {
        let once = |reason| Chosen::node(true, reason);
        let price = match self.prices_of(node, conditional, 0).as_deref() {
            Ok([price]) => *price,
            Ok(_) => return once("it has no body".to_owned()),
            Err(reason) => return once(reason.clone()),
        };
        let writers: BTreeSet<usize> = self.writers(node, conditional).collect();
        let seen = Seen::of(self.blueprint, conditional.bodies[0], &writers);
        let latch = match (seen.copied, seen.direct.is_empty()) {
            (false, _) => 0.0,
            (true, true) => self.prices.latch,
            (true, false) => self.prices.beside,
        };
        let how = if seen.copied {
            "; a kernel copies its flag for each repetition"
        } else {
            ""
        };
        // Most kernels of the body itself test the condition while they load memory, or are one block that writes it.
        let nodes = self.blueprint.order.sequence(conditional.bodies[0]);
        let beside = nodes.filter(|&node| self.tests_beside(&seen, node));
        let saved = beside
            .map(|node| self.predicated(node))
            .map(|price| price.test - price.test_beside);
        let saved: f64 = saved.sum();
        let ticket = if seen.writer.is_some_and(|node| !is_one_block(self.blueprint, node)) {
            self.prices.ticket
        } else {
            0.0
        };
        let runs = latch + ticket + price.runs - saved;
        let an_iteration = |passes: usize| (self.prices.iteration + (passes as f64 - 1.0) * runs) / passes as f64;
        // On average, the condition is 0 after half of the passes.
        let end = |passes: usize| (passes as f64 - 1.0) / 2.0 * (latch + price.rests);
        let total = |passes: usize| an_iteration(passes) + end(passes) / ITERATIONS;
        let fits = |passes: &usize| *passes == 1 || passes * price.nodes <= MAX_PASS_NODES;
        let least = if self.blueprint.bodies == Bodies::Predicated {
            2
        } else {
            1
        };
        let candidates = [1, 2, 4, 8, 16]
            .into_iter()
            .filter(|passes| *passes >= least && fits(passes));
        let Some(passes) = candidates.min_by(|one, other| total(*one).total_cmp(&total(*other))) else {
            return once(format!("its body has {} nodes", price.nodes));
        };
        Chosen {
            predicated: false,
            passes,
            latched: true,
            seen,
            latch,
            reason: format!(
                "an iteration costs about {} than its kernels, and {:.1} us more if the body is not repeated; \
                 repetitions after the last one cost about {:.1} us (prices of {}){how}",
                more(an_iteration(passes)),
                self.prices.iteration,
                end(passes),
                self.prices.device
            ),
        }
    }

    /// Whether the test of the kernel of a node of the body of a `while` costs next to nothing: the kernel loads memory
    /// meanwhile, or it is one block that writes the condition.
    fn tests_beside(&self, seen: &Seen, node: usize) -> bool {
        matches!(&self.blueprint.program.ops[node], Op::Work(work) if !matches!(work, Work::Join))
            && (seen.guard(node, 1).loads_first || (seen.writer == Some(node) && is_one_block(self.blueprint, node)))
    }

    /// The price of each body as predicated kernels, which have `tests` tests besides that of this conditional; or what
    /// stands in the way.
    fn prices_of(&self, node: usize, conditional: &Conditional, tests: usize) -> Result<Vec<Price>, String> {
        let draft = self.blueprint.draft;
        let name = &draft.nodes[node].name;
        let condition = conditional.condition();
        if !draft.resources[condition.resource as usize].memory.is_plain_device() {
            return Err(format!("the condition of `{name}` is not in device memory"));
        }
        if tests == MAX_TESTS {
            return Err(format!("`{name}` is in {MAX_TESTS} others"));
        }
        let bodies = conditional.bodies.iter();
        bodies.map(|&body| self.price_of(body, tests + 1)).collect()
    }

    fn price_of(&self, body: usize, tests: usize) -> Result<Price, String> {
        let mut sum = Price::default();
        for node in self.blueprint.order.sequence(body) {
            let name = &self.blueprint.draft.nodes[node].name;
            let price = match &self.blueprint.program.ops[node] {
                Op::Work(Work::Kernel(kernel)) => self.kernel(name, node, kernel, tests)?,
                Op::Work(Work::Memset(set)) => self.memset(name, node, set)?,
                Op::Work(Work::Memcpy(copy)) => self.memcpy(name, node, copy)?,
                Op::Work(Work::Join) => Price::default(),
                Op::Structure(Structure::Conditional(inner)) => self.inner(name, node, inner, tests)?,
                Op::Structure(Structure::Child(_)) => return Err(format!("`{name}` is a child graph")),
                Op::External(external) => return Err(format!("`{name}` {}", described(external))),
            };
            sum.runs += price.runs;
            sum.rests += price.rests;
            sum.nodes += price.nodes;
        }
        Ok(sum)
    }

    /// The prices of the predicated kernels of a node.
    fn predicated(&self, node: usize) -> &Predicated {
        self.prices.predicated(self.waiting.contains(&node))
    }

    /// The price of a node as a kernel with this many blocks.
    fn of_blocks(&self, node: usize, blocks: f64) -> Price {
        let prices = self.predicated(node);
        Price {
            runs: prices.test,
            rests: prices.rests(blocks),
            nodes: 1,
        }
    }

    fn kernel(&self, name: &str, node: usize, kernel: &KernelOp, tests: usize) -> Result<Price, String> {
        let program = self.blueprint.program;
        if matches!(program.functions[kernel.function as usize].code, Code::Loaded(_)) {
            return Err(format!("the kernel of `{name}` was loaded elsewhere"));
        }
        if !program.is_ptx(kernel.function) {
            return Err(format!("the kernel of `{name}` is machine code, of a cubin"));
        }
        if let Some(reason) = self.refused.get(&kernel.function) {
            return Err(format!("the kernel of `{name}` {reason}"));
        }
        let bytes = Argument::total(program.arguments(kernel));
        let largest = GuardForm {
            tests,
            ticket: true,
            keeps: true,
            loads_first: false,
            waits: false,
        };
        if bytes + largest.bytes() > Argument::MAX_BYTES {
            return Err(format!("the kernel of `{name}` takes {bytes} bytes of arguments"));
        }
        Ok(self.of_blocks(node, kernel.config.blocks() as f64))
    }

    /// The bytes that a copy or a memset may touch on one side, if a kernel can do that.
    fn bytes(&self, name: &str, side: &ByteRectangle) -> Result<usize, String> {
        let resource = &self.blueprint.draft.resources[side.part().resource as usize];
        if !resource.memory.is_plain_device() {
            return Err(format!(
                "`{name}` accesses `{}`, which is {}",
                resource.name,
                resource.memory.described()
            ));
        }
        let bytes = side.part().bytes;
        if bytes > MAX_BYTES {
            return Err(format!("`{name}` has {bytes} bytes"));
        }
        Ok(bytes)
    }

    fn memset(&self, name: &str, node: usize, set: &MemsetOp) -> Result<Price, String> {
        let reach = self.blueprint.program.reach(node);
        let bytes = self.bytes(name, reach.map_or(&set.to, |reach| &reach.to))?;
        Ok(self.of_blocks(node, bytes as f64 / BLOCK_BYTES))
    }

    fn memcpy(&self, name: &str, node: usize, copy: &MemcpyOp) -> Result<Price, String> {
        let reach = self.blueprint.program.reach(node);
        let from = reach.and_then(|reach| reach.from.as_ref()).unwrap_or(&copy.from);
        self.bytes(name, from)?;
        let bytes = self.bytes(name, reach.map_or(&copy.to, |reach| &reach.to))?;
        Ok(self.of_blocks(node, bytes as f64 / BLOCK_BYTES))
    }

    /// The price of a conditional in a predicated body.
    fn inner(&self, name: &str, node: usize, inner: &Conditional, tests: usize) -> Result<Price, String> {
        if inner.kind == ConditionalKind::While {
            return Err(format!("`{name}` is a `while`"));
        }
        let prices = self.prices_of(node, inner, tests)?;
        let latch = if self.is_written(node, inner) {
            self.prices.latch
        } else {
            0.0
        };
        let rests: f64 = prices.iter().map(|price| price.rests).sum();
        let more: f64 = prices.iter().map(|price| price.runs - price.rests).sum();
        let outcomes = prices.len() + usize::from(has_none(inner));
        Ok(Price {
            runs: latch + rests + more / outcomes.max(1) as f64,
            rests: latch + rests,
            nodes: prices.iter().map(|price| price.nodes).sum::<usize>() + usize::from(latch > 0.0),
        })
    }

    /// Whether any node in the bodies of a conditional writes its condition.
    fn is_written(&self, node: usize, conditional: &Conditional) -> bool {
        self.writers(node, conditional).next().is_some()
    }

    /// The nodes in the bodies of a conditional, at any depth, that write its condition.
    fn writers(&self, node: usize, conditional: &Conditional) -> impl Iterator<Item = usize> {
        let draft = self.blueprint.draft;
        let resource = conditional.condition().resource as usize;
        let own = move || draft.accesses.iter().filter(move |access| access.node == node);
        let writes = draft.accesses.iter().filter(move |access| {
            access.resource == resource
                && access.mode.writes()
                && self.is_inside(access.node, node)
                && own().any(|own| own.aliases(access))
        });
        writes.map(|access| access.node)
    }

    /// Whether a node is in a body of another one, at any depth.
    fn is_inside(&self, node: usize, around: usize) -> bool {
        let draft = self.blueprint.draft;
        draft
            .bodies_around(node)
            .any(|body| draft.bodies[body].node == Some(around))
    }
}

/// Microseconds more, or less.
fn more(microseconds: f64) -> String {
    let what = if microseconds < 0.0 { "less" } else { "more" };
    format!("{:.1} us {what}", microseconds.abs())
}

/// Whether a choice may run no body.
fn has_none(conditional: &Conditional) -> bool {
    conditional.kind != ConditionalKind::If || conditional.bodies.len() < 2
}

fn described(external: &External) -> &'static str {
    match external {
        External::Call(_) => "is a function of the host",
        External::Record(_) | External::Wait(_) => "is an event",
        External::Capture(_) => "is captured",
        External::Raw(_) => "is a raw node",
        External::Collective(_) => "is a collective",
    }
}
