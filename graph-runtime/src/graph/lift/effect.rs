//! Kernels of which the PTX is known: the arguments that they access.

use crate::error::{Error, Result, Site};
use graph_plan::Mode;
use graph_ptx::{Access, KernelSummary};
use std::collections::HashMap;

/// The kernels by name.
#[derive(Debug, Default)]
pub(super) struct Kernels {
    known: HashMap<String, Vec<KernelSummary>>,
}

/// The effect of a kernel on memory.
pub(super) struct Effect {
    /// The way in which it accesses memory through each parameter, if it does.
    pub(super) params: Vec<Option<Mode>>,
    /// The variables of its module that it accesses.
    pub(super) variables: Vec<(String, Mode)>,
    /// The reason why it may access other memory, if it may.
    pub(super) unknown: Option<&'static str>,
}

impl Kernels {
    /// Adds the kernels of a module.
    pub(super) fn add(&mut self, text: &str) -> Result<()> {
        let module = graph_ptx::parse(text).map_err(|error| Error::Module {
            site: Site::graph("Lifted"),
            path: "the PTX that was given for a lift",
            message: error.to_string(),
        })?;
        for summary in graph_ptx::kernel_summaries(&module) {
            self.known.entry(summary.name.clone()).or_default().push(summary);
        }
        Ok(())
    }

    /// The effect of the kernel of this name with parameters of these sizes, if its PTX is known.
    pub(super) fn effect(&self, name: &str, sizes: &[usize]) -> Option<Effect> {
        let fits = |summary: &&KernelSummary| {
            let own = summary.params.iter().map(|param| param.size);
            own.eq(sizes.iter().map(|&size| size as u64))
        };
        let mut summaries = self.known.get(name)?.iter().filter(fits);
        let mut effect = Effect::of(summaries.next()?);
        for other in summaries {
            effect.join(Effect::of(other));
        }
        Some(effect)
    }
}

impl Effect {
    fn of(summary: &KernelSummary) -> Self {
        let unknown = match (summary.unknown_load, summary.unknown_store) {
            (_, Some(_)) => Some("its PTX stores to memory that no argument shows"),
            (Some(_), None) => Some("its PTX loads from memory that no argument shows"),
            (None, None) => None,
        };
        let variables = summary.variables.iter();
        let variables = variables.filter_map(|known| Some((known.name.clone(), mode(&known.access)?)));
        Self {
            params: summary.params.iter().map(|param| mode(&param.access)).collect(),
            variables: variables.collect(),
            unknown,
        }
    }

    /// The effect of one of two kernels.
    fn join(&mut self, other: Self) {
        for (own, other) in self.params.iter_mut().zip(other.params) {
            *own = match (*own, other) {
                (Some(one), Some(two)) if one != two => Some(Mode::ReadWrite),
                (one, two) => one.or(two),
            };
        }
        self.variables.extend(other.variables);
        self.unknown = self.unknown.or(other.unknown);
    }
}

/// The way in which memory is accessed; `None` if it is not.
fn mode(access: &Access) -> Option<Mode> {
    let through = access.through().next().is_some();
    match (access.loaded, access.stored, access.atomic, access.plain) {
        (None, None, None, None) if !through => None,
        _ if through => Some(Mode::ReadWrite),
        (_, _, Some(_), None) if access.narrow.is_none() => Some(Mode::Atomic),
        (_, None, None, _) => Some(Mode::Read),
        _ => Some(Mode::ReadWrite),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_are_those_of_the_ptx() {
        let mut kernels = Kernels::default();
        kernels
            .add(include_str!("../../../tests/kernels/conditionals.ptx"))
            .expect("it is PTX");
        let error = kernels
            .add(".version 8.0 nonsense")
            .expect_err("it is none")
            .to_string();
        assert!(error.contains("the PTX that was given for a lift"), "{error}");
        let effect = kernels.effect("add_to", &[8, 4]).expect("a kernel");
        assert_eq!(effect.params, [Some(Mode::ReadWrite), None]);
        assert!(effect.unknown.is_none() && kernels.effect("add_to", &[4]).is_none());
    }
}
