//! The order in which blocks are run, the joins, and the loops.
//!
//! A loop is run several times. In the trial runs, registers that it changes are symbols at its beginning; the values
//! at its end show which of them grow by a constant amount. Those are their first value plus so many times the amount
//! as the loop has been through. The others are any numbers of their type. Facts about an iteration that hold whenever
//! the loop goes on, and that would hold before the first one, hold at the beginning of each: that bounds the counter.

use super::Gap;
use super::facts::{Meaning, Place};
use super::flow::End;
use super::hash::Map;
use super::machine::{Guess, Machine, State, Step, TooLarge, Way};
use super::poly::{Poly, Symbol};
use super::value::{Condition, Value};
use crate::ast::{Operand, Reg};
use std::rc::Rc;

/// The most trial runs of a loop.
const MAX_TRIALS: usize = 5;

/// The values of registers on an edge between blocks.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    place: Place,
    state: State,
}

/// The edges out of a part of the kernel, by the block that they lead to.
type Edges = Vec<(usize, Edge)>;

/// The plan for a loop.
struct Plan {
    steps: Map<Reg, Step>,
    /// Registers of any value that are not above their first value.
    falling: Vec<Reg>,
    /// Facts at the beginning of each iteration: about the counter, and about symbols that do not change.
    facts: Vec<Poly>,
    /// Facts at the beginning of each iteration about registers of any value, which `any` stands for.
    bounds: Vec<(Reg, Poly)>,
    any: Symbol,
    /// Registers that would grow if they did not wrap around.
    hoped: Vec<Reg>,
    /// The registers of `hoped` that do wrap around.
    doubted: Vec<Reg>,
    /// Whether the facts were found under the hope that registers do not wrap around, which has to be confirmed.
    is_tentative: bool,
    /// The number of the iteration, from 0.
    counter: Symbol,
    /// The first symbol that may be another number in each iteration.
    old: Symbol,
}

impl Plan {
    fn step(&self, register: Reg) -> &Step {
        self.steps.get(&register).unwrap_or(&Step::Any)
    }

    /// Drops all facts: an assumption that they were found under was wrong.
    fn forget_facts(&mut self) {
        self.facts.clear();
        self.bounds.clear();
        self.is_tentative = false;
    }

    /// Takes registers that may wrap around for any numbers.
    fn give_up_hope(&mut self) {
        for register in std::mem::take(&mut self.hoped) {
            self.steps.insert(register, Step::Any);
            self.doubted.push(register);
        }
        self.forget_facts();
    }

    /// Takes the registers that the loop changes for any bits: that always holds.
    fn lose(&mut self, changed: &[Reg]) {
        self.steps
            .extend(changed.iter().map(|&register| (register, Step::Lost)));
        self.forget_facts();
    }
}

impl Machine<'_> {
    /// Runs the whole kernel.
    pub(super) fn run_kernel(&mut self) -> Result<(), TooLarge> {
        let Some(&entry) = self.flow.order.first() else {
            return Ok(());
        };
        let edge = Edge {
            place: self.place,
            state: State::default(),
        };
        self.run_part(None, entry, edge)?;
        Ok(())
    }

    /// Runs the blocks of a loop, or of the kernel, from the first one on. Returns the edges out of it; those to its
    /// own beginning are among them.
    fn run_part(&mut self, header: Option<usize>, first: usize, edge: Edge) -> Result<Edges, TooLarge> {
        let flow = Rc::clone(&self.flow);
        let mut arriving: Map<usize, Vec<Edge>> = Map::default();
        arriving.insert(first, vec![edge]);
        let mut leaving = Vec::new();
        for &block in &flow.order {
            let Some(edges) = arriving.remove(&block) else { continue };
            let edge = self.join(block, edges)?;
            let inside = flow.blocks[block].inside;
            let outgoing = if inside == header {
                self.run_block(block, edge)?
            } else {
                self.run_loop(block, edge)?
            };
            for (target, edge) in outgoing {
                if Some(target) == header || !flow.is_in(target, header) {
                    leaving.push((target, edge));
                } else {
                    arriving.entry(target).or_default().push(edge);
                }
            }
        }
        Ok(leaving)
    }

    /// A new place, and the way to it.
    fn enter(&mut self, above: Place, way: Way) -> Place {
        let place = self.facts.below(above);
        self.ways.insert(place, way);
        place
    }

    /// The edge that several edges to a block become.
    fn join(&mut self, block: usize, mut edges: Vec<Edge>) -> Result<Edge, TooLarge> {
        if edges.len() == 1
            && let Some(Edge { place, state }) = edges.pop()
        {
            return Ok(Edge {
                place: self.enter(place, Way::Block(block)),
                state,
            });
        }
        let common = edges
            .iter()
            .map(|edge| edge.place)
            .reduce(|a, b| self.facts.common(a, b));
        let place = self.enter(common.unwrap_or(0), Way::Block(block));
        let flow = Rc::clone(&self.flow);
        let mut registers: Vec<Reg> = flow.blocks[block].live.iter().copied().collect();
        registers.sort_unstable();
        registers.retain(|register| edges.iter().all(|edge| edge.state.contains_key(register)));
        let options: Vec<(Place, Vec<Value>)> = edges
            .into_iter()
            .map(|edge| {
                (
                    edge.place,
                    registers.iter().map(|register| edge.state[register].clone()).collect(),
                )
            })
            .collect();
        let values = self.choose(&options)?;
        Ok(Edge {
            place,
            state: registers.into_iter().zip(values).collect(),
        })
    }

    /// Runs one block.
    fn run_block(&mut self, block: usize, edge: Edge) -> Result<Edges, TooLarge> {
        let flow = Rc::clone(&self.flow);
        let (first, end) = (flow.blocks[block].first, flow.blocks[block].end);
        self.place = edge.place;
        self.state = edge.state;
        for index in first..end - 1 {
            self.step(index)?;
        }
        let last = self.instruction(end - 1);
        let targets = match flow.end(last, self.body) {
            End::Jump(targets) if last.opcode == "brx" => {
                self.check_target(end - 1, targets.len())?;
                targets
            }
            End::Next => {
                self.step(end - 1)?;
                Vec::new()
            }
            End::Jump(targets) => targets,
            End::Leave | End::Unknown => Vec::new(),
        };
        let is_plain = matches!(flow.end(last, self.body), End::Next);
        let mut edges = Vec::new();
        let condition = match last.guard {
            Some((register, negated)) if !is_plain => {
                let condition = self.condition(&Operand::Register(register))?;
                Some(if negated { condition.not() } else { condition })
            }
            _ => None,
        };
        let is_sole = targets.len() == 1;
        let targets = targets.into_iter().filter_map(|target| flow.block_at(target));
        for target in targets {
            self.leave(target, condition.as_ref(), true, &mut edges);
        }
        // The index that chooses one of several targets is no condition.
        for (target, edge) in edges.iter().filter(|_| !is_sole) {
            let way = Way::Edge(*target, Some((Rc::new(Condition::Unknown), true)));
            self.ways.insert(edge.place, way);
        }
        if (is_plain || condition.is_some())
            && let Some(next) = flow.block_at(end)
        {
            self.leave(next, condition.as_ref(), false, &mut edges);
        }
        Ok(edges)
    }

    /// Checks that the index of `brx.idx` is that of one of its targets: a branch to none may go anywhere.
    fn check_target(&mut self, index: usize, targets: usize) -> Result<(), TooLarge> {
        let bound = match self.instruction(index).operands.first() {
            Some(operand) => {
                let number = self.number(operand, 32)?;
                self.facts.unsigned(self.place, &number, 32)
            }
            None => None,
        };
        let last = targets as i128 - 1;
        if !self
            .facts
            .proves_sum(self.place, bound.and_then(|bound| bound.negated()), last)
        {
            self.leave_open(index, Gap::Branches);
        }
        Ok(())
    }

    /// Adds an edge, if it can be taken.
    fn leave(&mut self, target: usize, condition: Option<&Rc<Condition>>, holds: bool, edges: &mut Edges) {
        let taken = condition.map(|condition| (Rc::clone(condition), holds));
        let place = self.enter(self.place, Way::Edge(target, taken));
        if let Some(condition) = condition
            && !self.facts.assume(place, condition, holds)
        {
            return;
        }
        let flow = Rc::clone(&self.flow);
        let live = &flow.blocks[target].live;
        let kept = self.state.iter().filter(|(register, _)| live.contains(register));
        let state = kept.map(|(register, value)| (*register, value.clone())).collect();
        edges.push((target, Edge { place, state }));
    }

    /// Runs a loop. Returns the edges out of it.
    fn run_loop(&mut self, header: usize, edge: Edge) -> Result<Edges, TooLarge> {
        let flow = Rc::clone(&self.flow);
        let mut changed: Vec<Reg> = Vec::new();
        if let Some(known) = flow.loops.get(&header) {
            changed.extend(
                known
                    .written
                    .iter()
                    .filter(|register| edge.state.contains_key(register)),
            );
        }
        changed.sort_unstable();
        let old = self.facts.next().ok_or(TooLarge)?;
        // The plan of the last time is most often right again; it is tried like any other.
        let guess = self.guesses.remove(&header);
        let guess = guess.unwrap_or_else(|| Guess {
            steps: Map::default(),
            falling: changed.clone(),
        });
        let mut plan = Plan {
            steps: guess.steps,
            falling: guess.falling,
            facts: Vec::new(),
            bounds: Vec::new(),
            any: self.facts.free(None, None).ok_or(TooLarge)?,
            hoped: Vec::new(),
            doubted: Vec::new(),
            is_tentative: false,
            counter: self.facts.free(Some(0), None).ok_or(TooLarge)?,
            old,
        };
        plan.steps
            .retain(|register, step| *step != Step::Lost && changed.contains(register));
        plan.falling.retain(|register| changed.contains(register));
        let checks = std::mem::replace(&mut self.checks, false);
        let mut confirmed = Ok(None);
        for trial in 0..MAX_TRIALS {
            confirmed = self.try_loop(header, &edge, &changed, &mut plan, trial == MAX_TRIALS - 1);
            if !matches!(confirmed, Ok(None)) {
                break;
            }
        }
        self.checks = checks;
        let confirmed = confirmed?;
        let edges = match confirmed {
            // The run would be the same again.
            Some(edges) if !checks => edges,
            _ => {
                let begin = self.begin_loop(&edge, &changed, &plan)?;
                let edges = self.run_part(Some(header), header, begin)?;
                edges.into_iter().filter(|(target, _)| *target != header).collect()
            }
        };
        let Plan { steps, falling, .. } = plan;
        self.guesses.insert(header, Guess { steps, falling });
        Ok(edges)
    }

    /// The beginning of an iteration, by the plan.
    fn begin_loop(&mut self, edge: &Edge, changed: &[Reg], plan: &Plan) -> Result<Edge, TooLarge> {
        let counter = plan.counter;
        let place = self.enter(edge.place, Way::Loop);
        for fact in &plan.facts {
            self.facts.at_least_0(place, Some(fact.clone()));
        }
        let mut state = edge.state.clone();
        for &register in changed {
            let first = edge.state[&register].clone();
            let step = plan.step(register);
            let value = match (step, &first) {
                (Step::Kept, _) => first,
                (Step::Lost, _) => Value::Unknown,
                (Step::Grows(by), Value::Number(poly)) => {
                    let poly = by.times(&Poly::symbol(counter)).and_then(|product| poly.plus(&product));
                    let bits = self.bits(register);
                    let poly = poly.and_then(|poly| self.facts.unsigned(place, &poly, bits));
                    self.number_or_any(poly, register)?
                }
                (Step::Grows(by), Value::Address(memory, poly)) => {
                    match by.times(&Poly::symbol(counter)).and_then(|product| poly.plus(&product)) {
                        Some(poly) => Value::Address(memory.clone(), Rc::new(poly)),
                        None => Value::Unknown,
                    }
                }
                (Step::Any, Value::Address(memory, _)) => {
                    let any = self.facts.free(None, None).ok_or(TooLarge)?;
                    Value::Address(memory.clone(), Rc::new(Poly::symbol(any)))
                }
                (_, Value::Number(poly)) => {
                    let bits = self.bits(register);
                    let any = self.any(bits, false)?;
                    if plan.falling.contains(&register)
                        && let Some(first) = self.facts.unsigned(edge.place, poly, bits)
                    {
                        self.facts.at_least_0(place, first.minus(&any));
                    }
                    for (_, bound) in plan.bounds.iter().filter(|(known, _)| *known == register) {
                        let bound = bound.replace(&|symbol| (symbol == plan.any).then(|| any.clone()));
                        self.facts.at_least_0(place, bound);
                    }
                    Value::Number(Rc::new(any))
                }
                _ => Value::Unknown,
            };
            state.insert(register, value);
        }
        Ok(Edge { place, state })
    }

    fn number_or_any(&mut self, poly: Option<Poly>, register: Reg) -> Result<Value, TooLarge> {
        let poly = match poly {
            Some(poly) => poly,
            None => self.any(self.bits(register), false)?,
        };
        Ok(Value::Number(Rc::new(poly)))
    }

    /// Runs an iteration by the plan, and makes the plan better. Returns the edges out of the loop if the plan holds
    /// and is as good as it gets. The plan always holds after the last trial.
    fn try_loop(
        &mut self,
        header: usize,
        edge: &Edge,
        changed: &[Reg],
        plan: &mut Plan,
        is_last: bool,
    ) -> Result<Option<Edges>, TooLarge> {
        let begin = self.begin_loop(edge, changed, plan)?;
        let (place, state) = (begin.place, begin.state.clone());
        let edges = self.run_part(Some(header), header, begin)?;
        let (back, leaving): (Edges, Edges) = edges.into_iter().partition(|(target, _)| *target == header);
        let back: Vec<Edge> = back.into_iter().map(|(_, edge)| edge).collect();
        if back.is_empty() {
            return Ok(Some(leaving));
        }
        let end = self.join(header, back)?;
        let mut holds = true;
        let (mut improves, mut hopes) = (false, false);
        for &register in changed {
            let step = plan.step(register).clone();
            let (before, after) = (&state[&register], end.state.get(&register));
            let found = self.growth(before, after, plan.old);
            if found.is_none()
                && !is_last
                && !plan.doubted.contains(&register)
                && let Some(by) = self.wrapped_growth(before, after, plan.old)
            {
                let grows = Step::Grows(by);
                if step == grows {
                    hopes = true;
                    plan.hoped.push(register);
                    continue;
                }
                if step == Step::Any {
                    improves = true;
                    plan.steps.insert(register, grows);
                    continue;
                }
            }
            let better = match (&step, found) {
                (Step::Any, Some(found)) => found,
                (Step::Kept, Some(Step::Kept)) => continue,
                (Step::Grows(by), Some(Step::Grows(found))) if *by == found => continue,
                (Step::Lost, _) => continue,
                (Step::Any, None) if matches!(state[&register], Value::Address(..)) => {
                    // It stays an address of its memory, or is nothing that is known.
                    let is_same = match (&state[&register], end.state.get(&register)) {
                        (Value::Address(first, _), Some(Value::Address(second, _))) => first == second,
                        _ => false,
                    };
                    if !is_same {
                        holds = false;
                        plan.forget_facts();
                        plan.steps.insert(register, Step::Lost);
                    }
                    continue;
                }
                (Step::Any, None) => {
                    holds &= self.still_falls(register, &state, &end, edge, plan);
                    continue;
                }
                // The plan was wrong: the register is any number.
                (Step::Kept | Step::Grows(_), _) => {
                    holds = false;
                    plan.forget_facts();
                    plan.steps.insert(register, Step::Any);
                    continue;
                }
            };
            improves = true;
            plan.steps.insert(register, better);
        }
        if !holds || improves {
            if is_last {
                plan.lose(changed);
            }
            return Ok(None);
        }
        if hopes || plan.is_tentative {
            let found = self.bounds(edge.place, place, end.place, plan);
            if hopes && !plan.is_tentative {
                // Induction over the registers and the facts at once: the next trial has to find both again.
                plan.facts = found;
                plan.is_tentative = true;
                return Ok(None);
            }
            if hopes || !plan.facts.iter().all(|fact| found.contains(fact)) {
                plan.give_up_hope();
                if is_last {
                    plan.lose(changed);
                }
                return Ok(None);
            }
            plan.is_tentative = false;
        }
        if is_last {
            return Ok(Some(leaving));
        }
        let found = self.bounds(edge.place, place, end.place, plan);
        let new: Vec<Poly> = found.into_iter().filter(|fact| !plan.facts.contains(fact)).collect();
        let mut bounds: Vec<(Reg, Poly)> = Vec::new();
        for &register in changed.iter().filter(|&&register| *plan.step(register) == Step::Any) {
            let found = self
                .bounds_of_any(register, edge, place, &end, plan)
                .unwrap_or_default();
            let found = found.into_iter().map(|bound| (register, bound));
            bounds.extend(found.filter(|bound| !plan.bounds.contains(bound)));
        }
        let is_done = new.is_empty() && bounds.is_empty();
        plan.facts.extend(new);
        plan.bounds.extend(bounds);
        Ok(is_done.then_some(leaving))
    }

    /// The way in which a register changes in an iteration.
    fn growth(&self, before: &Value, after: Option<&Value>, old: Symbol) -> Option<Step> {
        let (before, after) = match (before, after?) {
            (Value::Number(before), Value::Number(after)) => (before, after),
            (Value::Address(first, before), Value::Address(second, after)) if first == second => (before, after),
            _ => return None,
        };
        if before == after {
            return Some(Step::Kept);
        }
        let by = after.minus(before)?;
        let is_constant = by.symbols().iter().all(|&symbol| self.is_constant(symbol, old));
        is_constant.then_some(Step::Grows(by))
    }

    /// The amount by which a register grows in an iteration but for wrapping around.
    fn wrapped_growth(&self, before: &Value, after: Option<&Value>, old: Symbol) -> Option<Poly> {
        let (Value::Number(before), Value::Number(after)) = (before, after?) else {
            return None;
        };
        let Meaning::Wrapped { value, bits, .. } = &self.facts.info(after.as_symbol()?).meaning else {
            return None;
        };
        let by = value.minus(&self.facts.unwrapped(before, *bits))?.reduced(*bits);
        let is_constant = by.symbols().iter().all(|&symbol| self.is_constant(symbol, old));
        (is_constant && by.value() != Some(0)).then_some(by)
    }

    /// Whether a symbol is the same number in each iteration: it is older than the loop, or follows from such ones.
    fn is_constant(&self, symbol: Symbol, old: Symbol) -> bool {
        let all = |poly: &Poly| poly.symbols().iter().all(|&symbol| self.is_constant(symbol, old));
        symbol < old
            || match &self.facts.info(symbol).meaning {
                Meaning::Wrapped { value, .. } => all(value),
                Meaning::Quotient { value, divisor } => all(value) && all(divisor),
                Meaning::Free | Meaning::Chosen { .. } => false,
            }
    }

    /// Whether a register of any value is still not above its first value; else it is taken from the plan.
    fn still_falls(&mut self, register: Reg, state: &State, end: &Edge, edge: &Edge, plan: &mut Plan) -> bool {
        if !plan.falling.contains(&register) {
            return true;
        }
        let bits = self.bits(register);
        let falls = match (&state[&register], end.state.get(&register), &edge.state[&register]) {
            (Value::Number(_), Some(Value::Number(after)), Value::Number(first)) => {
                let first = self.facts.unsigned(edge.place, first, bits);
                let after = self.facts.unsigned(end.place, after, bits);
                let difference = first.zip(after).and_then(|(first, after)| first.minus(&after));
                difference.is_some_and(|difference| self.facts.proves(end.place, &difference))
            }
            // Nothing was assumed of it.
            (Value::Number(_), _, Value::Number(_)) => false,
            _ => return true,
        };
        if !falls {
            plan.falling.retain(|&known| known != register);
            plan.forget_facts();
        }
        falls
    }

    /// The facts at the beginning of each iteration that follow from those at the end of the one before it: those that
    /// would hold at the end of an iteration before the first one.
    fn bounds(&mut self, before: Place, begin: Place, end: Place, plan: &Plan) -> Vec<Poly> {
        let mut found = Vec::new();
        let Some(previous) = Poly::symbol(plan.counter).plus_constant(-1) else {
            return found;
        };
        let since = self.facts.since(end, Some(begin));
        let mut candidates: Vec<Poly> = since.map(|fact| (**fact).clone()).collect();
        for poly in self.facts.nonzero_since(end, Some(begin)) {
            candidates.extend(self.falling_by_one(&poly, plan));
        }
        for fact in candidates {
            if fact.symbols().iter().all(|&symbol| self.is_constant(symbol, plan.old)) {
                continue;
            }
            let first = self.moved(before, &fact, &Poly::constant(-1), plan);
            if !first.is_some_and(|first| self.facts.proves(before, &first)) {
                continue;
            }
            found.extend(self.moved(begin, &fact, &previous, plan).map(Poly::tightened));
        }
        found
    }

    /// The bounds of a register of any value at the beginning of each iteration: facts about its value at the end of
    /// an iteration that hold for its first value too. `plan.any` stands for the register.
    fn bounds_of_any(
        &mut self,
        register: Reg,
        edge: &Edge,
        begin: Place,
        end: &Edge,
        plan: &Plan,
    ) -> Option<Vec<Poly>> {
        let bits = self.bits(register);
        let (Value::Number(first), Value::Number(after)) = (&edge.state[&register], end.state.get(&register)?) else {
            return None;
        };
        let first = self.facts.unsigned(edge.place, first, bits)?;
        let after = self.facts.unsigned(end.place, after, bits)?;
        // The value is a symbol and what does not change.
        let symbol = *after.symbols().first()?;
        let rest = after.minus(&Poly::symbol(symbol))?;
        let is_constant = |symbol: &Symbol| self.is_constant(*symbol, plan.old);
        if is_constant(&symbol) || !rest.symbols().iter().all(is_constant) {
            return None;
        }
        let since = self.facts.since(end.place, Some(begin));
        let facts = since.filter(|fact| {
            fact.has(symbol)
                && fact
                    .symbols()
                    .iter()
                    .all(|other| *other == symbol || is_constant(other))
        });
        let facts: Vec<Poly> = facts.map(|fact| (**fact).clone()).collect();
        let mut bounds = Vec::new();
        for fact in facts {
            let of = |value: &Poly| fact.replace(&|known| (known == symbol).then(|| value.minus(&rest)).flatten());
            let at_first = of(&first).filter(|fact| !fact.has(symbol));
            if at_first.is_some_and(|fact| self.facts.proves(edge.place, &fact)) {
                bounds.extend(of(&Poly::symbol(plan.any)).filter(|bound| !bound.has(symbol)));
            }
        }
        Some(bounds)
    }

    /// The polynomial for another iteration; `None` if it has values of this iteration that no polynomial tells.
    fn moved(&mut self, place: Place, poly: &Poly, to: &Poly, plan: &Plan) -> Option<Poly> {
        let mut moved: Map<Symbol, Poly> = Map::default();
        for symbol in poly.symbols() {
            if symbol == plan.counter {
                moved.insert(symbol, to.clone());
            } else if !self.is_constant(symbol, plan.old) {
                let value = match self.facts.info(symbol).meaning.clone() {
                    Meaning::Wrapped { value, bits, signed } => {
                        let value = self.moved(place, &value, to, plan)?;
                        self.facts.number(place, &value, bits, signed)?
                    }
                    Meaning::Quotient { value, divisor } if divisor.value().is_some() => {
                        let value = self.moved(place, &value, to, plan)?;
                        self.facts.quotient(&value, &divisor)?
                    }
                    _ => return None,
                };
                moved.insert(symbol, value);
            }
        }
        poly.replace(&|symbol| moved.get(&symbol).cloned())
    }

    /// The fact that a number is at least 1, for a polynomial that is not 0 at the end of an iteration: a number that
    /// falls by one in each, and has been at least 1 before, is at least 0, and so at least 1.
    fn falling_by_one(&self, poly: &Poly, plan: &Plan) -> Option<Poly> {
        let poly = poly.divided(poly.content())?;
        let mut by = 0;
        for (monomial, coefficient) in poly.terms() {
            let mut symbols = monomial.symbols();
            match (symbols.next(), symbols.next()) {
                (Some(symbol), None) if symbol == plan.counter => by = *coefficient,
                _ if monomial.symbols().all(|symbol| self.is_constant(symbol, plan.old)) => {}
                _ => return None,
            }
        }
        match by {
            1 => poly.negated()?.plus_constant(-1),
            -1 => poly.plus_constant(-1),
            _ => None,
        }
    }
}
