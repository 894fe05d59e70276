//! Lines of PTX as lines of the source, if the PTX has a line table.

use std::collections::HashMap;

use graph_ptx::ast::{Function, Module};

/// The places in sources that lines of a PTX text come from.
pub(super) struct Lines<'m> {
    /// For each line of PTX, the file and the line.
    places: HashMap<u32, (u32, u32)>,
    files: HashMap<u32, &'m str>,
    /// The file that most lines are in.
    main: Option<u32>,
}

impl<'m> Lines<'m> {
    pub(super) fn new(module: &'m Module) -> Self {
        let bodies = module.functions.iter().filter_map(Function::code);
        let instructions = bodies.flat_map(|body| &body.instructions);
        let places: HashMap<u32, (u32, u32)> = instructions
            .filter_map(|instruction| Some((instruction.line, instruction.source?)))
            .collect();
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for (file, _) in places.values() {
            *counts.entry(*file).or_default() += 1;
        }
        let main = counts
            .into_iter()
            .max_by_key(|&(file, count)| (count, std::cmp::Reverse(file)));
        Self {
            places,
            files: module
                .files
                .iter()
                .map(|(index, path)| (*index, path.as_str()))
                .collect(),
            main: main.map(|(file, _)| file),
        }
    }

    /// `line 12`, `cuda_fp16.hpp:12`, or `PTX line 40`
    pub(super) fn shown(&self, line: u32) -> String {
        match self.places.get(&line) {
            Some((file, line)) if Some(*file) == self.main => format!("line {line}"),
            Some((file, line)) => match self.files.get(file) {
                Some(path) => format!("{path}:{line}"),
                None => format!("line {line}"),
            },
            None => format!("PTX line {line}"),
        }
    }
}
