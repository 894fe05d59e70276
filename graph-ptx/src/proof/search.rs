//! The decision procedure: whether a polynomial is at least 0 for all integers that satisfy the facts of a place.
//!
//! A proof is a sum. Each step cancels the highest monomial of the goal by a fact that is at least 0, times symbols
//! that are at least 0, and what is left must be at least 0 too: `goal = c * m * fact + rest`. The highest monomial has
//! the newest symbols, which depend on the others, so each step replaces a value by its bound in older ones. At the
//! end there are numbers. If the facts know nothing of a choice, each of its options must have a proof.
//!
//! Where the goal has to be multiplied to cancel a monomial, the rest may be short of 0 by less than the factor, since
//! the goal is an integer.
//!
//! Steps never lose soundness: `fact >= 0`, `m >= 0` and `c > 0` are each known, and arithmetic that does not fit is no
//! step. They may miss proofs, and they are counted, so that every answer comes soon.

use super::facts::{Facts, Meaning, Place, View};
use super::hash::{Map, Seen};
use super::poly::{Monomial, Poly, Symbol};
use std::borrow::Cow;
use std::rc::Rc;

/// The most steps of one search.
const MAX_STEPS: usize = 300;
/// The most steps of a search for what is simple to see.
const FEW_STEPS: usize = 60;
/// The longest sum.
const MAX_DEPTH: usize = 24;
/// The most choices that one proof looks into.
const MAX_CHOICES: usize = 4;

impl Facts {
    /// Whether the polynomial is certainly at least 0 at this place.
    pub(super) fn proves(&mut self, place: Place, goal: &Poly) -> bool {
        let goal = goal.clone().tightened();
        if let Some(value) = goal.value() {
            return value >= 0;
        }
        if self.is_positive_by_range(&goal) {
            return true;
        }
        let key = (place, goal);
        if let Some(&decided) = self.decided.get(&key) {
            return decided;
        }
        let view = self.view(place);
        let proved = self.proves_from(&view, &key.1, MAX_CHOICES, MAX_STEPS);
        self.decided.insert(key, proved);
        proved
    }

    /// The same, with the facts of another place.
    pub(super) fn proves_also(&mut self, place: Place, also: Option<Place>, goal: &Poly) -> bool {
        if self.proves(place, goal) {
            return true;
        }
        let Some(also) = also else { return false };
        let view = self.view(place);
        let view = self.with_place(&view, also);
        self.proves_from(&view, &goal.clone().tightened(), MAX_CHOICES, MAX_STEPS)
    }

    /// Whether the sum of a polynomial and a number is at least 0, if that is simple to see.
    pub(super) fn shows(&mut self, place: Place, poly: Option<Poly>, number: i128) -> bool {
        let goal = poly.and_then(|poly| poly.plus_constant(number)).map(Poly::tightened);
        let Some(goal) = goal else { return false };
        if let Some(value) = goal.value() {
            return value >= 0;
        }
        if self.is_positive_by_range(&goal) {
            return true;
        }
        let key = (place, goal);
        if let Some(&decided) = self.decided.get(&key) {
            return decided;
        }
        let view = self.view(place);
        let proved = self.proves_from(&view, &key.1, 1, FEW_STEPS);
        if proved {
            self.decided.insert(key, true);
        }
        proved
    }

    /// Whether the sum of a polynomial and a number is certainly at least 0.
    pub(super) fn proves_sum(&mut self, place: Place, poly: Option<Poly>, number: i128) -> bool {
        let goal = poly.and_then(|poly| poly.plus_constant(number));
        goal.is_some_and(|goal| self.proves(place, &goal))
    }

    fn proves_from(&mut self, view: &View, goal: &Poly, choices: usize, steps: usize) -> bool {
        let mut search = Search::new(self, view);
        search.left = search.left.min(steps);
        let given = search.left;
        let proved = search.proves(goal, MAX_DEPTH);
        let used = given - search.left + 1;
        self.steps = self.steps.saturating_sub(used);
        if proved || choices == 0 || self.steps == 0 {
            return proved;
        }
        let Some(choice) = self.choice_of(view, goal) else {
            return false;
        };
        let choice = Rc::clone(&self.choices[choice]);
        choice.options.iter().all(|(place, values)| {
            let with = |symbol: Symbol| {
                let index = choice.symbols.iter().position(|&known| known == symbol)?;
                values.get(index).cloned()
            };
            let Some(goal) = goal.replace(&with) else { return false };
            let mut here = self.with_place(view, *place);
            // The facts about what is chosen, with the values that are chosen here.
            let chosen = choice.symbols.iter().flat_map(|&symbol| self.about(view, symbol));
            let facts = chosen.map(|(_, fact)| fact).chain(view.more.iter().map(|fact| &**fact));
            let mut replaced = Vec::new();
            for fact in facts.filter(|fact| choice.symbols.iter().any(|&symbol| fact.has(symbol))) {
                if let Some(fact) = fact.replace(&with)
                    && !replaced.iter().any(|known: &Rc<Poly>| **known == fact)
                {
                    replaced.push(Rc::new(fact));
                }
            }
            let contradicting = self
                .nearest(&here, 3)
                .into_iter()
                .chain(replaced.iter().take(3).cloned());
            let contradicting: Vec<Rc<Poly>> = contradicting.collect();
            here.more.extend(replaced);
            self.proves_from(&here, &goal, choices - 1, steps) || self.contradicts(&here, &contradicting)
        })
    }

    /// Whether the opposite of one of these facts of a view follows from the others: then the option is not taken.
    fn contradicts(&mut self, view: &View, facts: &[Rc<Poly>]) -> bool {
        let opposites: Vec<Poly> = facts
            .iter()
            .filter_map(|fact| fact.negated()?.plus_constant(-1))
            .collect();
        opposites.iter().any(|opposite| {
            let mut search = Search::new(self, view);
            let given = search.left;
            let proved = search.proves(opposite, MAX_DEPTH);
            let used = given - search.left;
            self.steps = self.steps.saturating_sub(used);
            proved
        })
    }

    /// The newest choice that the goal depends on: by its own symbols, else by those of facts about them.
    fn choice_of(&self, view: &View, goal: &Poly) -> Option<usize> {
        let choice = |symbol: Symbol| match self.info(symbol).meaning {
            Meaning::Chosen { choice, .. } => Some(choice),
            _ => None,
        };
        let own = goal.symbols();
        if let Some(choice) = own.iter().find_map(|&symbol| choice(symbol)) {
            return Some(choice);
        }
        let mut newest: Option<(Symbol, usize)> = None;
        let mut look = |fact: &Poly| {
            for (monomial, _) in fact.terms() {
                for symbol in monomial.symbols() {
                    if newest.is_none_or(|(known, _)| known < symbol)
                        && let Some(choice) = choice(symbol)
                    {
                        newest = Some((symbol, choice));
                    }
                }
            }
        };
        for &symbol in &own {
            self.info(symbol).facts.iter().for_each(&mut look);
            self.about(view, symbol).for_each(|(_, fact)| look(fact));
            view.more
                .iter()
                .filter(|fact| fact.has(symbol))
                .for_each(|fact| look(fact));
        }
        newest.map(|(_, choice)| choice)
    }
}

impl Facts {
    /// Polynomials in symbols below `limit` alone that would have to be at least 0 for the goal to be so.
    pub(super) fn residues(&mut self, place: Place, also: Option<Place>, goal: &Poly, limit: Symbol) -> Vec<Poly> {
        let mut view = self.view(place);
        if let Some(also) = also {
            view = self.with_place(&view, also);
        }
        let mut search = Search::new(self, &view);
        search.limit = limit;
        search.proves(&goal.clone().tightened(), MAX_DEPTH);
        search.residues
    }
}

struct Search<'a> {
    known: &'a Facts,
    /// Goals with no other symbols than those below it are collected rather than proved.
    limit: Symbol,
    residues: Vec<Poly>,
    view: &'a View,
    /// The fingerprints of goals that were tried.
    tried: Seen,
    /// Whether a symbol is at least 0, and those that are being asked about.
    signs: Map<Symbol, bool>,
    left: usize,
}

impl<'a> Search<'a> {
    fn new(known: &'a Facts, view: &'a View) -> Self {
        Self {
            known,
            limit: 0,
            residues: Vec::new(),
            view,
            tried: Seen::default(),
            signs: Map::default(),
            left: MAX_STEPS.min(known.steps),
        }
    }

    fn proves(&mut self, goal: &Poly, depth: usize) -> bool {
        if self.known.is_positive_by_range(goal) {
            return true;
        }
        let Some((top, coefficient)) = goal.top() else {
            return goal.value().is_some_and(|value| value >= 0);
        };
        if depth == 0 || self.left == 0 || !self.tried.insert(goal.fingerprint()) {
            return false;
        }
        // Only facts that contradict each other would prove it.
        if self.known.is_negative_by_range(goal) {
            return false;
        }
        self.left -= 1;
        if top.highest() < self.limit {
            self.residues.push(goal.clone());
            return false;
        }
        // A product with a plus is most often not needed.
        if coefficient > 0 && self.cancels_at_ends(goal, (top, coefficient), depth) {
            return true;
        }
        let (known, view) = (self.known, self.view);
        // A product with several symbols has facts that are about more than one of them.
        let is_single = top.single().is_some();
        let mut tried: Vec<usize> = Vec::new();
        // The newest symbol first: to replace it is what a step is for.
        for symbol in top.symbols() {
            for fact in &known.info(symbol).facts {
                if self.cancels_by(goal, (top, coefficient), fact, symbol, depth) {
                    return true;
                }
            }
            for fact in &view.more {
                if fact.has(symbol) && self.cancels_by(goal, (top, coefficient), fact, symbol, depth) {
                    return true;
                }
            }
            for (number, fact) in known.about(view, symbol) {
                if !is_single {
                    if tried.contains(&number) {
                        continue;
                    }
                    tried.push(number);
                }
                if self.cancels_by(goal, (top, coefficient), fact, symbol, depth) {
                    return true;
                }
            }
        }
        coefficient < 0 && self.cancels_at_ends(goal, (top, coefficient), depth)
    }

    /// Whether the goal follows from a fact about this symbol.
    fn cancels_by(
        &mut self,
        goal: &Poly,
        (top, coefficient): (Monomial, i128),
        fact: &'a Poly,
        symbol: Symbol,
        depth: usize,
    ) -> bool {
        for &(monomial, factor) in fact.terms() {
            if (factor < 0) == (coefficient < 0)
                && monomial.has(symbol)
                && self.cancels(goal, (top, coefficient), fact, (monomial, factor), depth)
            {
                return true;
            }
        }
        false
    }

    /// Whether the goal follows if a symbol of its highest monomial is at the end of its range.
    fn cancels_at_ends(&mut self, goal: &Poly, (top, coefficient): (Monomial, i128), depth: usize) -> bool {
        for symbol in top.symbols() {
            let info = self.known.info(symbol);
            let (sign, constant) = if coefficient > 0 {
                (1, info.low.and_then(i128::checked_neg))
            } else {
                (-1, info.high)
            };
            let Some(constant) = constant else { continue };
            let end = Poly::linear(symbol, sign, constant);
            let term = (Monomial::of(symbol), sign);
            if self.cancels(goal, (top, coefficient), &end, term, depth) {
                return true;
            }
        }
        false
    }

    /// Whether the goal follows from a fact whose `term` cancels the highest monomial of the goal.
    fn cancels(
        &mut self,
        goal: &Poly,
        (top, coefficient): (Monomial, i128),
        fact: &Poly,
        (monomial, factor): (Monomial, i128),
        depth: usize,
    ) -> bool {
        let (others, missing) = top.without_common(&monomial);
        if others == top || !self.are_positive(others, 0) {
            return false;
        }
        let mut goal = Cow::Borrowed(goal);
        if missing != Monomial::ONE {
            // A greater product stands for the one that is subtracted: its other factors are at least 1.
            if coefficient > 0 || !self.are_positive(top, 0) || !self.are_positive(missing, 1) {
                return false;
            }
            let Some(product) = top.times(&missing) else {
                return false;
            };
            let one = Poly::constant(1);
            let replaced = goal
                .combine(1, &one, &top, -coefficient)
                .and_then(|goal| goal.combine(1, &one, &product, coefficient));
            let Some(replaced) = replaced else { return false };
            // The product may have been in the goal already.
            let now = replaced.terms().iter().find(|(term, _)| *term == product);
            if now.is_none_or(|now| now.1 != coefficient) {
                return self.proves(&replaced.tightened(), depth - 1);
            }
            goal = Cow::Owned(replaced);
        }
        let (Some(own), Some(subtracted)) = (factor.checked_abs(), coefficient.checked_abs()) else {
            return false;
        };
        let divisor = if own == 1 { 1 } else { super::poly::gcd(own, subtracted) };
        let (own, subtracted) = if divisor == 1 {
            (own, subtracted)
        } else {
            (own / divisor, subtracted / divisor)
        };
        // A multiple of `own` that is above `-own` is at least 0.
        let Some(mut rest) = goal.combine(own, fact, &others, -subtracted) else {
            return false;
        };
        if own != 1 {
            let Some(sum) = rest.plus_constant(own - 1) else {
                return false;
            };
            rest = sum;
        }
        let rest = rest.tightened();
        // Older symbols take the place of newer ones, or what is left needs no more steps.
        match rest.top() {
            Some((highest, _)) if highest >= top => self.known.is_positive_by_range(&rest),
            _ => self.proves(&rest, depth - 1),
        }
    }

    /// Whether each symbol of a monomial is certainly at least `least`, which is 0 or 1.
    fn are_positive(&mut self, monomial: Monomial, least: i128) -> bool {
        for symbol in monomial.symbols() {
            if !self.is_positive(symbol, least) {
                return false;
            }
        }
        true
    }

    /// Whether a symbol is certainly at least `least`, which is 0 or 1.
    fn is_positive(&mut self, symbol: Symbol, least: i128) -> bool {
        let info = self.known.info(symbol);
        if info.low.is_some_and(|low| low >= least) {
            return true;
        }
        if least > 0 {
            return false;
        }
        if let Some(&sign) = self.signs.get(&symbol) {
            return sign;
        }
        self.signs.insert(symbol, false);
        let (tried, left) = (std::mem::take(&mut self.tried), self.left);
        self.left = left.min(40);
        let given = self.left;
        let sign = self.proves(&Poly::symbol(symbol), 6);
        let used = given - self.left;
        self.tried = tried;
        self.left = left - used;
        self.signs.insert(symbol, sign);
        sign
    }
}
