//! Two graphs that share memory, and what they should have done.

use super::build::{Built, Options};
use super::memory::Shared;
use super::model::{World, is_initialised};
use super::order::{all_ordered, conflicts};
use super::program::{Action, FLAGS, MEMORIES, Program, Space, VARIABLE, Window};
use super::programs;
use crate::common::random::Random;
use crate::common::*;

/// The graphs, their programs, and their memory.
pub(super) struct Pair {
    programs: [Program; 2],
    built: [Built; 2],
    shared: Shared,
    world: World,
    random: Random,
    apart: bool,
    /// Whether profiles launch the graphs, too.
    profiled: bool,
    /// How often memory was given or taken, and how often nothing would have ordered it.
    pub(super) given: [usize; 2],
}

impl Pair {
    pub(super) fn new(device: &Device, seed: u64, apart: bool, auto: bool) -> Result<Self> {
        let programs = programs(seed);
        let device = match seed % 3 {
            1 => device.with_pool(&device.pool()),
            _ => device.clone(),
        };
        let shared = Shared::new(&device)?;
        let options = Options {
            apart,
            auto,
            old: seed.is_multiple_of(2),
            ..Options::default()
        };
        let mut built = [
            Built::new(&device, &programs[0], &shared, options)?,
            Built::new(&device, &programs[1], &shared, options)?,
        ];
        // Conditions that nothing has computed are 0: a `while` must end. So is the variable at first.
        let world = World::new(&programs, |graph, memory, byte| {
            if FLAGS.contains(&memory) || memory == VARIABLE {
                return 0;
            }
            Random(seed ^ (graph << 20 | memory << 10 | byte) as u64).below(256) as u8
        });
        for (graph, built) in built.iter_mut().enumerate() {
            for memory in lasting() {
                let bytes = world.memory(graph, memory);
                built.handles.write(&mut built.graph, &shared, memory, bytes)?;
            }
        }
        Ok(Self {
            programs,
            built,
            shared,
            world,
            random: Random(seed ^ 0xface),
            apart,
            profiled: seed.is_multiple_of(3),
            given: [0, 0],
        })
    }

    /// The number of conditionals that are predicated.
    pub(super) fn predicated(&self) -> usize {
        let forms = self.built.iter().flat_map(|built| built.graph.body_forms());
        forms.filter(|form| form.predicated).count()
    }

    fn launch(&mut self, graph: usize) -> Result<()> {
        self.built[graph].graph.launch()?;
        self.world.launch(graph, &self.programs[graph]);
        Ok(())
    }

    /// Whether all memory is as the model says.
    fn compare(&self, what: &str) -> Result<()> {
        for (graph, built) in self.built.iter().enumerate() {
            built.graph.synchronize()?;
            for memory in lasting() {
                let found = built.handles.read(&built.graph, &self.shared, memory)?;
                let expected = self.world.memory(graph, memory);
                assert_eq!(found, expected, "{what}: memory {memory} of graph {graph}");
            }
        }
        Ok(())
    }

    /// Changes values of some nodes, and enables or disables others: in the first graph one after the other, in the
    /// second some of them in one edit.
    fn edit(&mut self, graph: usize) -> Result<()> {
        let (random, built) = (&mut self.random, &mut self.built[graph]);
        let mut changed = Vec::new();
        self.programs[graph].body.each_node_mut(&mut |node| {
            if let Action::CopyPart { to, part, .. } | Action::SetPart { to, part, .. } = &mut node.action
                && random.chance(80)
            {
                *part = Window::of(random, to);
                changed.push(node.clone());
            }
            if let Action::Bump { by: value, .. } | Action::Set { value, .. } = &mut node.action
                && random.chance(50)
            {
                *value = random.below(1 << 30) as u32;
                changed.push(node.clone());
            }
        });
        let mut together = graph == 1;
        if !together {
            built.change(&changed)?;
        }
        let mut all = Vec::new();
        self.programs[graph]
            .body
            .each_node_mut(&mut |node| all.push(node.clone()));
        all.retain(|node| node.action.can_be_disabled());
        for _ in 0..12 {
            let node = &all[random.below(all.len())];
            let mut edited = self.programs[graph].clone();
            let mut enabled = false;
            edited.body.each_node_mut(&mut |other| {
                if other.id == node.id {
                    other.enabled ^= true;
                    enabled = other.enabled;
                }
            });
            if !is_initialised(&edited) {
                continue;
            }
            let switched = match together {
                true => built.change_together(&changed, Some((node, enabled)))?,
                false => built.enable(node, enabled)?,
            };
            together &= !switched;
            if switched {
                self.programs[graph] = edited;
            } else {
                assert!(
                    !self.apart,
                    "but for places in the arena, this node can be disabled: {node:?}"
                );
            }
        }
        if together {
            assert!(built.change_together(&changed, None)?, "values can always be changed");
        }
        Ok(())
    }

    /// Gives memory to nodes that have none, or takes it, where the edges that are there order it.
    fn give(&mut self, graph: usize) -> Result<()> {
        let mut all = Vec::new();
        self.programs[graph]
            .body
            .each_node_mut(&mut |node| all.push(node.clone()));
        all.retain(|node| matches!(node.action, Action::StepWith { .. }));
        for mut node in all {
            if !self.random.chance(60) {
                continue;
            }
            let Action::StepWith { given, .. } = &mut node.action else {
                continue;
            };
            *given ^= true;
            let mut edited = self.programs[graph].clone();
            edited.body.each_node_mut(&mut |other| {
                if other.id == node.id {
                    other.action = node.action.clone();
                }
            });
            let mut is_ordered = true;
            edited.body.each(&mut |body| {
                // Edges that accesses imply are those of the program as it was built.
                is_ordered &= all_ordered(body, &body.edges, &conflicts(body));
            });
            let built = &mut self.built[graph];
            let nodes = std::slice::from_ref(&node);
            let changed = match graph {
                0 => built.change(nodes),
                _ => built.change_together(nodes, None).map(|changed| assert!(changed)),
            };
            match changed {
                Ok(()) => {
                    assert!(is_ordered, "nothing orders what is given: {node:?}");
                    self.programs[graph] = edited;
                    self.given[0] += 1;
                }
                Err(Error::Invalid { diagnostics, .. }) if !is_ordered => {
                    let is_race = |found: &Diagnostic| found.code == Code::Race;
                    assert!(diagnostics.iter().all(is_race), "{diagnostics:?}");
                    self.given[1] += 1;
                }
                Err(error) => panic!("{node:?}: {error}"),
            }
        }
        Ok(())
    }

    /// Launches, edits, launches, profiles; the size of both arenas.
    pub(super) fn run(&mut self, what: &str) -> Result<usize> {
        [0, 1, 0].into_iter().try_for_each(|graph| self.launch(graph))?;
        self.compare(what)?;
        [0, 1].into_iter().try_for_each(|graph| self.edit(graph))?;
        [0, 1, 0].into_iter().try_for_each(|graph| self.give(graph))?;
        self.built[0].reseed()?;
        self.world.reseed(0);
        [1, 0, 0].into_iter().try_for_each(|graph| self.launch(graph))?;
        self.compare(&format!("{what}, edited"))?;
        if self.profiled {
            for graph in [1, 0] {
                self.built[graph].graph.profile(1)?;
                self.world.launch(graph, &self.programs[graph]);
            }
            self.compare(&format!("{what}, profiled"))?;
        }
        Ok(self
            .built
            .iter()
            .map(|built| built.graph.plan().arena().bytes().unwrap_or(0))
            .sum())
    }
}

/// All memory that has a name, but scratch.
pub(super) fn lasting() -> impl Iterator<Item = usize> {
    (0..VARIABLE).filter(|&memory| MEMORIES[memory].space != Space::Scratch)
}
