//! Variables of the kernels' modules that a graph declares as memory: `constant table: [f32; 64] = "table";`. They are
//! `const fn`s, since only rustc can evaluate the sizes of types.

use crate::parallel::concurrent;
use crate::text::same;
use crate::{Draft, KernelCode, Nest, Text};
use std::collections::HashSet;

/// A variable of a module, as its PTX declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleVariable<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its alignment in bytes.
    pub align: u64,
}

/// The variables of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleVariables<'a> {
    /// The file of the module.
    pub file: &'a str,
    /// Its variables.
    pub variables: &'a [ModuleVariable<'a>],
}

/// A variable of a module that a graph declares as memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant<'a> {
    /// The name of the memory.
    pub name: &'a str,
    /// The name of the variable in the PTX.
    pub symbol: &'a str,
    /// The size of the declared shape in bytes.
    pub bytes: u64,
    /// The alignment of the declared shape in bytes.
    pub align: u64,
}

impl ModuleVariables<'_> {
    const fn find(&self, symbol: &str) -> Option<&ModuleVariable<'_>> {
        let mut rest = self.variables;
        while let [variable, next @ ..] = rest {
            if same(variable.name, symbol) {
                return Some(variable);
            }
            rest = next;
        }
        None
    }
}

impl Constant<'_> {
    /// The index of the module that has the variable; `None` if no module has it. In `modules`, a module whose
    /// variables are not known is `None`. If `distinct`, modules with the same path are different modules, else one.
    ///
    /// # Errors
    /// A text for [`Diagnostic::parse`](crate::Diagnostic::parse) if several modules have the variable, or if the
    /// variable has another size, or less alignment, than is declared.
    #[expect(
        clippy::result_large_err,
        reason = "a `const fn` cannot allocate, and the text is made only once, on failure"
    )]
    pub const fn find(&self, modules: &[Option<ModuleVariables<'_>>], distinct: bool) -> Result<Option<usize>, Text> {
        let mut index = 0;
        let mut found: Option<(usize, &str, &ModuleVariable<'_>)> = None;
        while index < modules.len() {
            if let Some(module) = &modules[index]
                && let Some(variable) = module.find(self.symbol)
            {
                match found {
                    Some((_, first, _)) if distinct || !same(first, module.file) => {
                        return Err(self.ambiguous(first, module.file));
                    }
                    Some(_) => {}
                    None => found = Some((index, module.file, variable)),
                }
            }
            index += 1;
        }
        match found {
            Some((_, file, variable)) if variable.bytes != self.bytes => Err(self.other_size(file, variable.bytes)),
            Some((_, file, variable)) if variable.align < self.align => Err(self.other_alignment(file, variable.align)),
            Some((index, _, _)) => Ok(Some(index)),
            None => Ok(None),
        }
    }

    /// The beginning of messages about a variable that is not as it is declared.
    const fn begin(&self, but: &str) -> Text {
        let text = Text::new().str("`").str(self.name).str("` is the variable `");
        text.str(self.symbol).str("`, ").str(but)
    }

    const fn ambiguous(&self, first: &str, second: &str) -> Text {
        let text = self.begin("which two modules have [duplicate-name]\nnote: it is in `");
        let text = text.str(first).str("` and in `").str(second);
        text.str("`\nhelp: give one of the two variables another name in its CUDA source")
    }

    const fn other_size(&self, file: &str, bytes: u64) -> Text {
        let text = self.begin("but is declared with ").int(self.bytes as i128);
        let text = text.str(if self.bytes == 1 { " byte" } else { " bytes" });
        let text = text.str(" [shape-mismatch]\nnote: the variable has ");
        let text = text.int(bytes as i128).str(" in `").str(file);
        text.str("`\nhelp: declare it with the shape that it has in the CUDA source")
    }

    const fn other_alignment(&self, file: &str, align: u64) -> Text {
        let text = self.begin("but is declared aligned to ").int(self.align as i128);
        let text = text.str(" bytes [shape-mismatch]\nnote: the variable is aligned to ");
        let text = text.int(align as i128).str(" in `").str(file);
        text.str("`\nhelp: declare it with the element type that it has in the CUDA source")
    }

    /// The text about a variable that no module has. `modules` are those of all kernels.
    pub const fn missing(&self, modules: &[Option<ModuleVariables<'_>>]) -> Text {
        let mut text = self.begin("which no kernel of this graph has in its module [unknown-resource]");
        let mut index = 0;
        while index < modules.len() {
            if let Some(module) = &modules[index]
                && !is_repeated(modules, index)
            {
                text = text.str("\nnote: `").str(module.file).str("` has ");
                text = list(text, module.variables);
            }
            index += 1;
        }
        if modules.is_empty() {
            text = text.str("\nnote: the graph launches no kernels");
        }
        text.str("\nhelp: name a `__constant__` or `__device__` variable of a kernel's module, as its PTX does")
    }

    /// The text about the race of two nodes that can run at the same time: `launch` launches `kernel`, and `node`
    /// copies or sets the variable. `writes` says whether `node` writes it. `None` if the kernel does not touch the
    /// variable, or if both read it. `node_first` says whether `node` is declared before `launch`,
    /// and `ordered` whether the two are ordered in one iteration, so that only different iterations meet.
    pub const fn race(
        &self,
        node: &str,
        writes: bool,
        launch: &str,
        kernel: &KernelCode<'_>,
        node_first: bool,
        ordered: bool,
    ) -> Option<Text> {
        let mut rest = kernel.variables;
        while let [(variable, mode), next @ ..] = rest {
            rest = next;
            if same(variable, self.symbol) && (writes || mode.writes()) {
                let (first, second) = if node_first { (node, launch) } else { (launch, node) };
                let text = Text::new().str("nodes `").str(first).str("` and `").str(second);
                let text = text.str(if ordered {
                    "` of different iterations can run at the same time and both access `"
                } else {
                    "` can run at the same time and both access `"
                });
                let text = text.str(self.name);
                let text = text.str("` [race]\nnote: `").str(node);
                let text = text.str(if writes { "` writes `" } else { "` reads `" }).str(self.name);
                let text = text.str("`, and kernel `").str(kernel.name).str("` of `").str(launch);
                let text = text.str(if mode.writes() { "` writes it" } else { "` reads it" });
                let text = text
                    .str(": it is the variable `")
                    .str(self.symbol)
                    .str("` of its module");
                if ordered {
                    return Some(text.str("\nhelp: order the iterations, with a `for` or an `after` that names both"));
                }
                let text = text.str("\nhelp: write `after ").str(first);
                return Some(text.str("` before the `;` of `").str(second).str("`"));
            }
        }
        None
    }
}

/// Whether a module has the same file as an earlier one.
const fn is_repeated(modules: &[Option<ModuleVariables<'_>>], index: usize) -> bool {
    let mut earlier = 0;
    while earlier < index {
        if let (Some(first), Some(second)) = (&modules[earlier], &modules[index])
            && same(first.file, second.file)
        {
            return true;
        }
        earlier += 1;
    }
    false
}

/// Appends the first names of variables.
const fn list(text: Text, variables: &[ModuleVariable<'_>]) -> Text {
    const MAX_SHOWN: usize = 6;
    let [first, others @ ..] = variables else {
        return text.str("no variables");
    };
    let mut text = text.str("`").str(first.name).str("`");
    let mut index = 0;
    while index < others.len() && index + 1 < MAX_SHOWN {
        text = text.str(", `").str(others[index].name).str("`");
        index += 1;
    }
    text.str(if variables.len() > MAX_SHOWN { ", .." } else { "" })
}

/// An access of a node to a variable that a graph declares as memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstantAccess {
    /// The node.
    pub node: usize,
    /// The variable, by any number that tells variables apart.
    pub constant: usize,
    /// Whether the node writes it.
    pub writes: bool,
}

/// The pairs that [`Constant::race`] must look at: for each variable and each kernel, the first access and the first
/// launch that can run at the same time. `launches` has nodes with the kernels that they launch, in order. A pair has
/// an index into `accesses` and one into `launches`.
pub fn unordered_accesses(
    draft: &Draft,
    order: &Nest,
    launches: &[(usize, impl AsRef<str>)],
    accesses: &[ConstantAccess],
) -> Vec<(usize, usize)> {
    let concurrent = concurrent(draft, order);
    let (mut known, mut found) = (HashSet::new(), Vec::new());
    for (access, touched) in accesses.iter().enumerate() {
        for (launch, (node, kernel)) in launches.iter().enumerate() {
            let pair = (touched.constant, touched.writes, kernel.as_ref());
            if !known.contains(&pair) && concurrent(touched.node, *node) {
                known.insert(pair);
                found.push((access, launch));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GridDependency;
    use crate::test_draft::draft_of;
    use crate::{Code, Diagnostic, Mode, Subject, check};

    const TABLE: Constant<'_> = Constant {
        name: "t",
        symbol: "table",
        bytes: 16,
        align: 4,
    };

    fn module<'a>(file: &'a str, variables: &'a [ModuleVariable<'a>]) -> Option<ModuleVariables<'a>> {
        Some(ModuleVariables { file, variables })
    }

    fn variable(name: &str, bytes: u64, align: u64) -> ModuleVariable<'_> {
        ModuleVariable { name, bytes, align }
    }

    #[test]
    fn the_only_module_with_the_variable_is_meant() {
        let (other, table) = ([variable("other", 4, 4)], [variable("table", 16, 4)]);
        let modules = [module("a.ptx", &other), None, module("b.ptx", &table)];
        assert_eq!(TABLE.find(&modules, true).ok(), Some(Some(2)));
        assert_eq!(TABLE.find(&modules[..2], true).ok(), Some(None));
        let twice = [module("b.ptx", &table), module("b.ptx", &table)];
        assert_eq!(TABLE.find(&twice, false).ok(), Some(Some(0)));
        assert!(TABLE.find(&twice, true).is_err());
    }

    fn told(text: Text) -> (Code, String) {
        let diagnostic = Diagnostic::parse(Subject::Resource(0), text.as_str());
        (diagnostic.code, diagnostic.to_string())
    }

    #[test]
    fn messages_say_what_is_there() {
        let (table, small, bytes) = (
            [variable("table", 16, 4)],
            [variable("table", 8, 4)],
            [variable("table", 16, 1)],
        );
        let two = [module("a.ptx", &table), module("b.ptx", &table)];
        let (code, text) = told(TABLE.find(&two, false).unwrap_err());
        assert_eq!(code, Code::DuplicateName);
        assert!(text.contains("it is in `a.ptx` and in `b.ptx`"), "{text}");
        let (code, text) = told(TABLE.find(&[module("a.ptx", &small)], false).unwrap_err());
        assert_eq!(code, Code::ShapeMismatch);
        let expected = "`t` is the variable `table`, but is declared with 16 bytes [shape-mismatch]\nnote: the variable has 8 in `a.ptx`\n\
             help: declare it with the shape that it has in the CUDA source";
        assert_eq!(text, expected);
        let (code, text) = told(TABLE.find(&[module("a.ptx", &bytes)], false).unwrap_err());
        assert!(code == Code::ShapeMismatch, "{text}");
        assert!(text.contains("aligned to 4 bytes"), "{text}");
        let others = [module("a.ptx", &[]), module("a.ptx", &[]), module("b.ptx", &small)];
        let (code, text) = told(TABLE.missing(&others));
        assert_eq!(code, Code::UnknownResource);
        let part = "note: `a.ptx` has no variables\nnote: `b.ptx` has `table`";
        assert!(text.contains(part), "{text}");
    }

    #[test]
    fn races_are_pairs_of_an_access_and_a_kernel() {
        let draft = draft_of("memcpy up; then kernel a; kernel b; kernel c;");
        let order = check(&draft).order;
        let launches = [(1, "k"), (2, "k"), (3, "k")];
        let access = ConstantAccess {
            node: 0,
            constant: 0,
            writes: true,
        };
        assert_eq!(unordered_accesses(&draft, &order, &launches, &[access]), [(0, 1)]);
        let kernel = |mode| KernelCode {
            name: "k",
            file: Some("a.ptx"),
            compiled: false,
            places: &[],
            params: &[],
            contracts: &[],
            limits: crate::KernelLimits::NONE,
            variables: mode,
            loads: &[],
            dependency: &GridDependency::NONE,
        };
        let reads = [("table", Mode::Read)];
        let text = TABLE.race("up", true, "b", &kernel(&reads), true, false);
        assert_eq!(told(text.expect("a race")).0, Code::Race);
        assert!(TABLE.race("down", false, "b", &kernel(&reads), true, false).is_none());
        let other = kernel(&[("other", Mode::Write)]);
        assert!(TABLE.race("up", true, "b", &other, true, false).is_none());
    }
}
