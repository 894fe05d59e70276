//! Operations among the lanes of a warp: shuffles, votes, matches, reductions, `bar.warp.sync`.

use super::update::apply;
use super::{Environment, Flow};
use crate::code::{Collective, DISCARD, Match, Reduce, Shuffle, ShuffleMode, Vote, VoteOp};
use crate::fault::{FaultKind, LaneFault};
use crate::state::{LANES, Registers, Warp, all_if, each, first, lanes, lanes_where};

impl Warp {
    /// Executes an operation in the lanes whose partners have all arrived; the others wait.
    pub(crate) fn collective(
        &mut self,
        op: &Collective,
        mask: u32,
        pc: u32,
        env: &Environment<'_>,
    ) -> Result<Flow, LaneFault> {
        let members = *self.registers.get32(op.members());
        let outside = lanes_where(mask, |lane| members[lane] >> lane & 1 == 0);
        if outside != 0 {
            let lane = first(outside);
            let members = members[lane];
            let message =
                format!("lane {lane} takes part in an operation of the warp whose mask {members:#x} leaves it out");
            return Err(LaneFault::new(lane, FaultKind::DivergentBarrier(message.into())));
        }
        let ready = self.ready(&members, mask);
        for set in sets(&members, ready) {
            if env.context.options.check_divergence {
                check_sources(&self.registers, op, set)?;
            }
            execute(&mut self.registers, op, set);
        }
        let blocked = mask & !ready;
        if blocked == 0 {
            return Ok(Flow::Next);
        }
        self.set_pcs(ready, pc + 1);
        self.set_pcs(blocked, pc);
        self.waiting |= blocked;
        Ok(Flow::Split)
    }

    /// The lanes of `mask` whose partners are all in `mask` too, or have exited.
    pub(crate) fn ready(&self, members: &[u32; LANES], mask: u32) -> u32 {
        let live = self.live();
        let ready = sets(members, mask).filter(|&set| members[first(set)] & live & !set == 0);
        ready.fold(0, |all, set| all | set)
    }
}

/// Splits a mask into the sets of lanes that name the same members.
pub(crate) fn sets(members: &[u32; LANES], mask: u32) -> impl Iterator<Item = u32> {
    let mut left = mask;
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let wanted = members[first(left)];
        let set = lanes_where(left, |lane| members[lane] == wanted);
        left &= !set;
        Some(set)
    })
}

/// Executes an operation among the lanes of a set.
pub(crate) fn execute(registers: &mut Registers, op: &Collective, set: u32) {
    match op {
        Collective::Shuffle(op) => shuffle(registers, set, op),
        Collective::Vote(op) => vote(registers, set, op),
        Collective::Match(op) => matching(registers, set, op),
        Collective::Reduce(op) => reduce(registers, set, op),
        Collective::Elect { d, p, .. } => {
            if *d != DISCARD {
                registers.set(*d, set, [set.trailing_zeros(); LANES]);
            }
            if *p != DISCARD {
                registers.set_predicate(*p, set, 1 << (set.trailing_zeros() % 32));
            }
        }
        // A barrier has no other effect than that the lanes have arrived.
        Collective::Barrier { .. } => {}
    }
}

/// Faults if a lane of the set reads the value of a lane that is not in it.
fn check_sources(registers: &Registers, op: &Collective, set: u32) -> Result<(), LaneFault> {
    let Collective::Shuffle(op) = op else { return Ok(()) };
    let sources = sources(registers, op);
    let missing = lanes(set).find_map(|lane| Some((lane, sources[lane].filter(|&source| set >> source & 1 == 0)?)));
    let Some((lane, source)) = missing else { return Ok(()) };
    let message = format!(
        "lane {lane} reads the value of lane {source}, which takes no part in the shuffle: what it gets is undefined"
    );
    Err(LaneFault::new(lane, FaultKind::DivergentBarrier(message.into())))
}

/// The lane whose value each lane gets by `shfl.sync`, as in the PTX manual's pseudocode; `None` if it keeps its own,
/// because the other one is out of range.
fn sources(registers: &Registers, op: &Shuffle) -> [Option<usize>; LANES] {
    let (b, c) = (registers.get32(op.b), registers.get32(op.c));
    each(|at| {
        let lane = at as u32;
        let (b, clamp, segment) = (b[at] & 0x1f, c[at] & 0x1f, c[at] >> 8 & 0x1f);
        let max = (lane & segment) | (clamp & !segment);
        let (source, inside) = match op.mode {
            ShuffleMode::Up => (lane.wrapping_sub(b), lane as i32 - b as i32 >= max as i32),
            ShuffleMode::Down => (lane + b, lane + b <= max),
            ShuffleMode::Butterfly => (lane ^ b, lane ^ b <= max),
            ShuffleMode::Index => {
                let source = (lane & segment) | (b & !segment);
                (source, source <= max)
            }
        };
        inside.then_some(source as usize % LANES)
    })
}

/// `shfl.sync`
fn shuffle(registers: &mut Registers, set: u32, op: &Shuffle) {
    let (a, sources) = (*registers.get32(op.a), sources(registers, op));
    if op.d != DISCARD {
        registers.set::<u32>(op.d, set, each(|lane| a[sources[lane].unwrap_or(lane)]));
    }
    if op.p != DISCARD {
        registers.set_predicate(op.p, set, lanes_where(set, |lane| sources[lane].is_some()));
    }
}

fn vote(registers: &mut Registers, set: u32, op: &Vote) {
    let ballot = registers.guard(op.p) & set;
    let holds = match op.op {
        VoteOp::Ballot => return registers.set(op.d, set, [ballot; LANES]),
        VoteOp::All => ballot == set,
        VoteOp::Any => ballot != 0,
        VoteOp::Uniform => ballot == set || ballot == 0,
    };
    registers.set_predicate(op.d, set, all_if(holds));
}

fn matching(registers: &mut Registers, set: u32, op: &Match) {
    let values = registers.read(op.wide, op.a);
    let same = |lane: usize| lanes_where(set, |other| values[other] == values[lane]);
    if op.all {
        let agree = same(first(set)) == set;
        if op.d != DISCARD {
            registers.set(op.d, set, [if agree { set } else { 0 }; LANES]);
        }
        if op.p != DISCARD {
            registers.set_predicate(op.p, set, all_if(agree));
        }
        return;
    }
    let mut result: [u32; LANES] = [0; LANES];
    for lane in lanes(set) {
        result[lane] = same(lane);
    }
    registers.set(op.d, set, result);
}

fn reduce(registers: &mut Registers, set: u32, op: &Reduce) {
    let values = *registers.get32(op.a);
    let combine = |a: u32, b: u32| apply(op.op, op.ty, a.into(), b.into(), 0) as u32;
    let result = lanes(set).map(|lane| values[lane]).reduce(combine).unwrap_or(0);
    registers.set(op.d, set, [result; LANES]);
}
