//! Facts about a kernel that the rules need, and the rule of its launches. They are `const fn`s, since only rustc can
//! evaluate sizes.

use crate::text::same;
use crate::{Argument, Contract, KernelLimits, LaunchConfig, Mode, Param, ParamKind, Scalar, Text, Verdict};

/// A kernel, as far as the rules of graphs need to know it: facts that its PTX and its declaration tell.
#[derive(Clone, Copy, Debug)]
pub struct KernelCode<'a> {
    /// The name that the author gave it.
    pub name: &'a str,
    /// The file of its code; `None` if others loaded it, so that nothing is known of its code.
    pub file: Option<&'a str>,
    /// Whether `file` is a CUDA source, and the lines below are those of the PTX that it was compiled to.
    pub compiled: bool,
    /// The places in the source that are known, by line of the PTX. A place is written as in messages: `` `x.cu:12` ``.
    pub places: &'a [(u32, &'a str)],
    /// Its parameters.
    pub params: &'a [Param],
    /// The requirements of its author on arguments and launches.
    pub contracts: &'a [Contract],
    /// Its own limits on launches.
    pub limits: KernelLimits,
    /// The module-scope variables it touches.
    pub variables: &'a [(&'a str, Mode)],
    /// The `&mut` parameters that it may load through, by index, and the line of the load; those of `MaybeUninit` are
    /// not among them.
    pub loads: &'a [(usize, u32)],
    /// The facts that decide whether it can be launched before the kernel that it waits for has ended.
    pub dependency: &'a GridDependency,
}

/// The lines where a kernel executes `griddepcontrol`, and the accesses that it may make before it has waited. Lines
/// are lines of its PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridDependency {
    /// The line of `griddepcontrol.launch_dependents`, which lets kernels after it start.
    pub triggers: Option<u32>,
    /// The line of `griddepcontrol.wait`, which waits for the end of the kernels before it.
    pub waits: Option<u32>,
    /// The line of an exit that a thread may take without having waited.
    pub early_exit: Option<u32>,
    /// The memory that it may touch before it has waited. Empty if it never waits: that itself is a mistake then.
    pub early: &'static [(Touched, u32)],
    /// The memory that it loads, at any time, through caches that may still hold the values from before its launch.
    pub noncoherent: &'static [(Touched, u32)],
}

impl GridDependency {
    /// A kernel without `griddepcontrol`.
    pub const NONE: Self = Self {
        triggers: None,
        waits: None,
        early_exit: None,
        early: &[],
        noncoherent: &[],
    };
}

/// Memory that a kernel touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touched {
    /// The memory that a parameter points to, by the parameter's index.
    Param(usize),
    /// A module-scope variable.
    Variable(&'static str),
    /// Memory that the analysis cannot name.
    Unknown,
}

impl KernelCode<'_> {
    /// Whether the code of both is in one file, so that their variables are the same.
    pub(crate) const fn shares_module(&self, other: &KernelCode<'_>) -> bool {
        match (self.file, other.file) {
            (Some(file), Some(other)) => same(file, other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    /// Whether it writes this variable of its module.
    pub(crate) const fn writes_variable(&self, name: &str) -> bool {
        let mut rest = self.variables;
        while let [(variable, mode), next @ ..] = rest {
            if mode.writes() && same(variable, name) {
                return true;
            }
            rest = next;
        }
        false
    }

    /// Appends the beginning of a note on the kernel.
    pub(crate) const fn note(&self, text: Text) -> Text {
        text.str("\nnote: its kernel `").str(self.name).str("`")
    }

    /// Appends memory that the kernel touches, in words.
    pub(crate) const fn memory(&self, text: Text, touched: Touched) -> Text {
        match touched {
            Touched::Param(index) if index < self.params.len() => text.str("`").str(self.params[index].name).str("`"),
            Touched::Variable(name) => text.str("the variable `").str(name).str("`"),
            Touched::Param(_) | Touched::Unknown => text.str("memory of unknown origin"),
        }
    }

    /// Appends a place in the kernel's code: a line of its PTX, and the place in the source if that is known; of a CUDA
    /// source that was compiled, the latter alone.
    pub(crate) const fn at(&self, text: Text, line: u32) -> Text {
        let place = self.place(line);
        let text = match (place, self.compiled) {
            (Some(place), true) => return text.str(", at ").str(place),
            (None, true) => text.str(", on line ").int(line as i128).str(" of the PTX of `"),
            (_, false) => text.str(", on line ").int(line as i128).str(" of `"),
        };
        let text = match self.file {
            Some(file) => text.str(file).str("`"),
            None => text.str("`"),
        };
        match place {
            Some(place) => text.str(" (").str(place).str(")"),
            None => text,
        }
    }

    /// The place in the source of a line of the PTX, if it is known.
    const fn place(&self, line: u32) -> Option<&str> {
        let mut rest = self.places;
        while let [(of, place), next @ ..] = rest {
            if *of == line {
                return Some(place);
            }
            rest = next;
        }
        None
    }
}

/// The dimensions of a launch as they are written in `<<<grid, block, shared>>>`, not yet checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchRequest {
    /// Blocks of the grid.
    pub grid: [i128; 3],
    /// Threads of a block.
    pub block: [i128; 3],
    /// Dynamic shared memory of each block, in bytes.
    pub shared: i128,
    /// Blocks of a cluster, if the launch says them.
    pub cluster: Option<[i128; 3]>,
}

impl LaunchRequest {
    /// The dimensions, if they are within CUDA's limits. All `nodes` launch their kernel in this way.
    ///
    /// # Errors
    /// A message about the first of `nodes`, which [`Diagnostic::parse`](crate::Diagnostic::parse) reads.
    #[expect(
        clippy::result_large_err,
        reason = "a `const fn` cannot allocate, and the text is made only once, on failure"
    )]
    pub const fn config(&self, nodes: &[&str]) -> Result<LaunchConfig, Text> {
        match LaunchConfig::new(self.grid, self.block, self.shared) {
            Ok(config) => Ok(config),
            Err(fault) => {
                let text = fault.describe(of_node(nodes[0])).str(" [launch-config]");
                Err(other_nodes(text, nodes).str("\nhelp: ").str(fault.help()))
            }
        }
    }

    /// The cluster as `u32`s; values out of range become ones that validation rejects.
    pub const fn cluster_blocks(&self) -> Option<[u32; 3]> {
        let Some(sides) = self.cluster else { return None };
        let mut blocks = [0; 3];
        let mut axis = 0;
        while axis < 3 {
            if sides[axis] > u32::MAX as i128 {
                blocks[axis] = u32::MAX;
            } else if sides[axis] > 0 {
                blocks[axis] = sides[axis] as u32;
            }
            axis += 1;
        }
        Some(blocks)
    }
}

impl KernelCode<'_> {
    /// Checks a launch against CUDA's limits, and the kernel's limits and contracts, and returns its dimensions. All
    /// `nodes` launch the kernel in this way. If all is known (`strict`), a contract that cannot be decided fails.
    ///
    /// # Errors
    /// A message about the first of `nodes`, which [`Diagnostic::parse`](crate::Diagnostic::parse) reads.
    #[expect(
        clippy::result_large_err,
        reason = "a `const fn` cannot allocate, and the text is made only once, on failure"
    )]
    pub const fn check_launch(
        &self,
        nodes: &[&str],
        launch: &LaunchRequest,
        arguments: &[Argument],
        memory: &[&str],
        strict: bool,
    ) -> Result<LaunchConfig, Text> {
        let config = match launch.config(nodes) {
            Ok(config) => config,
            Err(text) => return Err(text),
        };
        let cluster = config.check_cluster(launch.cluster_blocks(), &self.limits);
        if let (Err(fault), _) | (Ok(()), Err(fault)) = (config.check_kernel(&self.limits), cluster) {
            let text = fault.describe(of_node(nodes[0])).str(" [launch-config]");
            let text = text.str("\nnote: the kernel is `").str(self.name).str("`");
            return Err(other_nodes(text, nodes));
        }
        if let Some(text) = self.misfit(nodes, arguments, strict) {
            return Err(text);
        }
        let mut rest = self.contracts;
        while let [contract, next @ ..] = rest {
            rest = next;
            let verdict = contract.evaluate(&config, self.params, arguments);
            if matches!(verdict, Verdict::Fails) || strict && !matches!(verdict, Verdict::Holds) {
                let failing = contract.failing(&config, self.params, arguments);
                let text = of_node(nodes[0]).str("kernel `").str(self.name).str("` requires `");
                let text = text.str(failing.text).str("` [contract]\nnote: here ");
                let text = failing.describe(text, &config, self.params, arguments);
                let text = other_nodes(failing.name_memory(text, self.params, memory), nodes);
                return Err(failing.help(text, &config, self.params, arguments));
            }
        }
        Ok(config)
    }

    /// The mistake of the nodes if an integer argument does not fit its parameter. If all is known (`strict`), one that
    /// fits is passed by its bytes, so that any other is a mistake.
    const fn misfit(&self, nodes: &[&str], arguments: &[Argument], strict: bool) -> Option<Text> {
        let mut index = 0;
        while index < arguments.len() {
            if let Argument::Int(value) = arguments[index] {
                let (name, scalar) = self.value_param(index);
                match scalar.range() {
                    Some((least, greatest)) if strict || value < least || value > greatest => {
                        let text = of_node(nodes[0]).str("`").str(name).str("` of `").str(self.name);
                        let text = text.str("` is ").str(scalar.described()).str(", and ").int(value);
                        let text = other_nodes(text.str(" does not fit [contract]"), nodes);
                        let text = text.str("\nhelp: pass a value from ");
                        return Some(text.int(least).str(" to ").int(greatest));
                    }
                    None if strict => {
                        let text = of_node(nodes[0]).str("argument ").int(index as i128 + 1);
                        let text = text.str(" of `").str(self.name).str("` is no integer [contract]");
                        return Some(text.str("\nhelp: pass a value of the parameter's type"));
                    }
                    // rustc tells of a literal for a parameter that is no integer.
                    Some(_) | None => {}
                }
            }
            index += 1;
        }
        None
    }

    /// The name and the type of a by-value parameter.
    const fn value_param(&self, index: usize) -> (&str, Scalar) {
        if index < self.params.len()
            && let Param {
                name,
                kind: ParamKind::Value(scalar),
            } = self.params[index]
        {
            return (name, scalar);
        }
        ("", Scalar::Other)
    }

    /// The mistake of `node`, the first node to get the scratch memory `memory`, if the kernel loads through `param`,
    /// the `&mut` parameter that the memory is passed as. `None` if the kernel only writes there.
    pub const fn reads_uninitialized(&self, node: &str, memory: &str, param: usize) -> Option<Text> {
        let mut rest = self.loads;
        while let [(loaded, line), next @ ..] = rest {
            rest = next;
            if *loaded == param {
                let text = Text::new().str("node `").str(node).str("` reads `").str(memory);
                let text = text.str("`, which no node before it has written [uninitialized]");
                let text = self.memory(self.note(text).str(" loads from "), Touched::Param(param));
                let text = self.at(text, *line).str("\nhelp: write `").str(memory);
                let text = text.str("` in a node that it names in its `after` list, for example a `memset`");
                let text = text.str("; or, if the kernel writes each element before it reads it, declare `");
                let named = param < self.params.len();
                let name = if named { self.params[param].name } else { "" };
                return Some(text.str(name).str(": &mut [MaybeUninit<..>]`"));
            }
        }
        None
    }
}

/// Appends the other nodes that a message is about.
const fn other_nodes(mut text: Text, nodes: &[&str]) -> Text {
    let [_, second, others @ ..] = nodes else { return text };
    text = text.str("\nnote: the same launch: `").str(second);
    let mut rest = others;
    while let [node, next @ ..] = rest {
        text = text.str("`, `").str(node);
        rest = next;
    }
    text.str("`")
}

/// The beginning of a message about a node.
const fn of_node(node: &str) -> Text {
    Text::new().str("node `").str(node).str("`: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAUNCH: LaunchRequest = LaunchRequest {
        grid: [1; 3],
        block: [1; 3],
        shared: 0,
        cluster: None,
    };

    /// The mistake of a launch with one integer for a parameter of this kind.
    fn mistake(kind: ParamKind, value: i128, strict: bool) -> Option<String> {
        let params = [Param { name: "n", kind }];
        let code = KernelCode {
            name: "fill",
            file: None,
            compiled: false,
            places: &[],
            params: &params,
            contracts: &[],
            limits: KernelLimits::NONE,
            variables: &[],
            loads: &[],
            dependency: &GridDependency::NONE,
        };
        let checked = code.check_launch(&["k", "l"], &LAUNCH, &[Argument::Int(value)], &[], strict);
        checked.err().map(|text| text.as_str().to_owned())
    }

    #[test]
    fn places_in_the_source_are_told() {
        let code = KernelCode {
            name: "fill",
            file: Some("k.ptx"),
            compiled: false,
            places: &[(12, "`k.cu:3`")],
            params: &[],
            contracts: &[],
            limits: KernelLimits::NONE,
            variables: &[],
            loads: &[],
            dependency: &GridDependency::NONE,
        };
        let at = |code: &KernelCode<'_>, line| code.at(Text::new(), line).as_str().to_owned();
        assert_eq!(at(&code, 12), ", on line 12 of `k.ptx` (`k.cu:3`)");
        assert_eq!(at(&code, 13), ", on line 13 of `k.ptx`");
        let compiled = KernelCode {
            file: Some("k.cu"),
            compiled: true,
            ..code
        };
        assert_eq!(at(&compiled, 12), ", at `k.cu:3`");
        assert_eq!(at(&compiled, 13), ", on line 13 of the PTX of `k.cu`");
    }

    #[test]
    fn an_integer_fits_its_parameter() {
        let value = |scalar, value| mistake(ParamKind::Value(scalar), value, false);
        assert_eq!(value(Scalar::U32, u32::MAX.into()), None);
        assert_eq!(value(Scalar::I8, -128), None);
        let expected = Some(
            "node `k`: `n` of `fill` is a `u32`, and 4294967296 does not fit [contract]\n\
                 note: the same launch: `l`\nhelp: pass a value from 0 to 4294967295",
        );
        assert_eq!(value(Scalar::U32, 1 << 32).as_deref(), expected);
        let text = value(Scalar::I8, -129).expect("it does not fit");
        assert!(text.contains("is an `i8`, and -129 does not fit [contract]"), "{text}");
        // rustc tells of these; where all is known, no such argument is passed.
        for kind in [
            ParamKind::Value(Scalar::F32),
            ParamKind::Value(Scalar::Other),
            ParamKind::Buffer {
                unit: 4,
                mode: Mode::ReadWrite,
            },
        ] {
            assert_eq!(mistake(kind, 7, false), None);
            assert!(mistake(kind, 7, true).is_some());
        }
        assert!(mistake(ParamKind::Value(Scalar::U32), 7, true).is_some());
    }
}
