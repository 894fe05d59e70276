//! The needs of a launch of a kernel besides its grid and its block.

use graph_ptx::ast::{Base, Function, Module, Operand, Space, Variable, each_leaf};

/// The needs of a kernel, and of the functions that it calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// Whether it uses shared memory whose size the launch gives.
    pub(super) dynamic_shared: bool,
    /// Whether its blocks wait for each other by the workspace of a cooperative launch.
    pub(super) cooperative: bool,
}

impl Needs {
    /// The needs of the kernel of this name.
    pub(super) fn of(entry: &str, module: &Module) -> Self {
        let mut needs = Self::default();
        let mut names = vec![entry];
        let mut index = 0;
        while let Some(&name) = names.get(index) {
            index += 1;
            for function in module.functions.iter().filter(|function| function.name == name) {
                for called in needs.add(function, module) {
                    if !names.contains(&called) {
                        names.push(called);
                    }
                }
            }
        }
        needs
    }

    /// Adds the needs of one function, and returns the names that it mentions.
    fn add<'m>(&mut self, function: &'m Function, module: &'m Module) -> Vec<&'m str> {
        let mut names = Vec::new();
        let Some(body) = function.code() else { return names };
        for instruction in &body.instructions {
            each_leaf(&instruction.operands, &mut |operand| match operand {
                Operand::Symbol(name, _) | Operand::Address(Base::Symbol(name), _) => names.push(name.as_str()),
                Operand::Special(name) => self.cooperative |= name == "%envreg1" || name == "%envreg2",
                _ => {}
            });
        }
        let is_dynamic = |variable: &&Variable| variable.space == Space::Shared && variable.external;
        let mut dynamic = module.variables.iter().chain(&body.variables).filter(is_dynamic);
        self.dynamic_shared |= dynamic.any(|variable| names.contains(&variable.name.as_str()));
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_of_called_functions_count() {
        let ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.extern .shared .align 16 .b8 cells[];\n\
                   .func meet() {\n.reg .b32 %r<3>;\nmov.u32 %r1, %envreg2;\nret;\n}\n\
                   .visible .entry plain() {\nret;\n}\n\
                   .visible .entry sums() {\n.reg .b32 %r<3>;\nmov.u32 %r1, cells;\nld.shared.u32 %r2, [%r1];\nret;\n}\n\
                   .visible .entry waits() {\ncall meet, ();\nret;\n}\n";
        let module = graph_ptx::parse(ptx).unwrap();
        let needs = |dynamic_shared, cooperative| Needs {
            dynamic_shared,
            cooperative,
        };
        assert_eq!(Needs::of("plain", &module), needs(false, false));
        assert_eq!(Needs::of("sums", &module), needs(true, false));
        assert_eq!(Needs::of("waits", &module), needs(false, true));
    }
}
