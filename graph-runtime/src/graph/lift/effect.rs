//! Kernels of which the PTX is known: the arguments that they access.

use super::fatbin::{File, Member, for_each};
use crate::error::{Error, Result, Site};
use graph_plan::Mode;
use graph_ptx::ast::{Function, Module, Operand, Type, each_leaf};
use graph_ptx::{Access, Elements, KernelSummary, ParamSummary};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The kernels by name, each with the sizes of its parameters.
type Known = HashMap<String, Vec<(Vec<usize>, Effect)>>;

/// The kernels of which there is PTX.
#[derive(Debug, Default)]
pub(super) struct Kernels {
    /// The kernels of the PTX that was given.
    given: Known,
    binaries: Vec<Text>,
}

/// PTX in a fat binary, which is read when a kernel of its architecture is not given, and parsed if it names that.
#[derive(Debug)]
struct Text {
    file: Arc<File>,
    member: Member,
    text: OnceLock<String>,
    /// The names of its kernels.
    names: OnceLock<HashSet<String>>,
    kernels: OnceLock<Known>,
}

/// The effect of a kernel on memory.
#[derive(Clone, Debug)]
pub(super) struct Effect {
    pub(super) params: Vec<Param>,
    /// The variables of its module that it accesses, those in constant memory among them.
    pub(super) variables: Vec<(String, Mode)>,
    /// The reason why it may have other effects, if it may.
    pub(super) unknown: Option<&'static str>,
    /// Whether it touches memory only after all kernels before it have ended, also if it starts earlier.
    pub(super) waits: bool,
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Param {
    /// The way in which the kernel accesses memory through it, if it does.
    pub(super) mode: Option<Mode>,
    /// Its type in the PTX, and whether it is a struct or an array.
    pub(super) ty: Type,
    pub(super) is_struct: bool,
    /// The type of the elements that it points to, if all accesses agree.
    pub(super) element: Option<Type>,
}

impl Param {
    /// A parameter of which nothing is known.
    pub(super) const UNKNOWN: Self = Self {
        mode: Some(Mode::ReadWrite),
        ty: Type::B8,
        is_struct: true,
        element: None,
    };
}

impl Kernels {
    /// Adds the kernels of a module.
    pub(super) fn add(&mut self, text: &str) -> Result<()> {
        let module = graph_ptx::parse(text).map_err(|error| Error::Module {
            site: Site::graph("Lifted"),
            path: "the PTX that was given for a lift",
            message: error.to_string(),
        })?;
        add_kernels(&mut self.given, &module);
        Ok(())
    }

    /// Adds the PTX in the fat binaries of files. Returns the number of texts.
    pub(super) fn add_binaries(&mut self, files: Vec<File>) -> usize {
        let files: Vec<(Arc<File>, OnceLock<Vec<Member>>)> = files
            .into_iter()
            .map(|file| (Arc::new(file), OnceLock::new()))
            .collect();
        for_each(&files, |(file, members)| {
            members.get_or_init(|| file.members());
        });
        let before = self.binaries.len();
        for (file, members) in files {
            let members = members.into_inner().unwrap_or_default().into_iter();
            self.binaries.extend(members.map(|member| Text {
                file: file.clone(),
                member,
                text: OnceLock::new(),
                names: OnceLock::new(),
                kernels: OnceLock::new(),
            }));
        }
        self.binaries.len() - before
    }

    /// The effect of the kernel of this name with parameters of these sizes, if its PTX is known: if it was given, or
    /// is in a fat binary and of the architecture of which the kernel's code was compiled.
    pub(super) fn effect(&self, name: &str, sizes: &[usize], architecture: Option<u32>) -> Option<Effect> {
        let fitting = |known: &Known| {
            let mut fitting = known.get(name)?.iter().filter(|(own, _)| own == sizes);
            let mut effect = fitting.next()?.1.clone();
            fitting.for_each(|(_, other)| effect.join(other));
            Some(effect)
        };
        let given = fitting(&self.given);
        given.or_else(|| {
            let texts = self.binaries.iter();
            let texts = texts.filter(|text| Some(text.member.architecture) == architecture);
            let texts: Vec<&Text> = texts.collect();
            let unread = texts.iter().copied().filter(|text| text.names.get().is_none());
            let mut unread: Vec<&Text> = unread.collect();
            // The longest first, so that no thread has one of them left at the end.
            unread.sort_by_key(|text| Reverse(text.member.length));
            for_each(&unread, |text| {
                text.names();
            });
            let mut found = texts.into_iter().filter_map(|text| fitting(text.kernels(name)?));
            let mut effect = found.next()?;
            found.for_each(|other| effect.join(&other));
            Some(effect)
        })
    }
}

impl Text {
    fn text(&self) -> &str {
        self.text
            .get_or_init(|| self.file.text(&self.member).unwrap_or_default())
    }

    /// The names of its kernels.
    fn names(&self) -> &HashSet<String> {
        self.names
            .get_or_init(|| entries(self.text()).map(str::to_owned).collect())
    }

    /// Its kernels, if this is one of them.
    fn kernels(&self, name: &str) -> Option<&Known> {
        self.names().contains(name).then(|| {
            self.kernels.get_or_init(|| {
                let mut known = Known::new();
                if let Ok(module) = graph_ptx::parse(self.text()) {
                    add_kernels(&mut known, &module);
                }
                known
            })
        })
    }
}

/// The names of the kernels of a text: whoever looks for many kernels in many texts need not read each text for each.
fn entries(text: &str) -> impl Iterator<Item = &str> {
    let after = text.split(".entry").skip(1);
    after.filter_map(|rest| rest.trim_start().split(|c: char| c == '(' || c.is_whitespace()).next())
}

fn add_kernels(known: &mut Known, module: &Module) {
    let setters = setters(module);
    for summary in graph_ptx::kernel_summaries(module) {
        let effect = Effect::of(&summary, setters.contains(&*summary.name));
        let sizes = summary.params.iter().map(|param| param.size as usize).collect();
        known.entry(summary.name).or_default().push((sizes, effect));
    }
}

/// The kernels that may set the condition of a conditional node, by the function that CUDA has for that.
fn setters(module: &Module) -> HashSet<&str> {
    const SETTER: &str = "cudaGraphSetConditional";
    let sets = |function: &Function| {
        let instructions = function.code().map_or(&[][..], |body| &body.instructions);
        instructions.iter().any(|instruction| {
            let mut found = false;
            each_leaf(&instruction.operands, &mut |leaf| {
                found |= matches!(leaf, Operand::Symbol(name, _) if name == SETTER);
            });
            found
        })
    };
    let functions = module.functions.iter().enumerate();
    let mut open: Vec<usize> = functions
        .filter(|(_, function)| sets(function))
        .map(|(index, _)| index)
        .collect();
    let callers = graph_ptx::callers(module);
    let mut found: HashSet<usize> = HashSet::new();
    while let Some(function) = open.pop() {
        if found.insert(function) {
            open.extend(callers.get(&function).into_iter().flatten());
        }
    }
    found.into_iter().map(|index| &*module.functions[index].name).collect()
}

impl Effect {
    fn of(summary: &KernelSummary, is_setter: bool) -> Self {
        let is_packed = |param: &ParamSummary| param.array && param.align < 8 && param.address.is_some();
        let is_map = |param: &ParamSummary| param.size == 128 && param.align >= 64 && param.address.is_some();
        let unknown = match (summary.unknown_load, summary.unknown_store) {
            _ if is_setter => Some("it sets the condition of a conditional node"),
            _ if summary.params.iter().any(is_map) => Some("it accesses memory by a tensor map"),
            _ if summary.params.iter().any(is_packed) => Some("it accesses memory by a pointer in a packed struct"),
            (_, Some(_)) => Some("its PTX stores to memory that no argument shows"),
            (Some(_), None) => Some("its PTX loads from memory that no argument shows"),
            (None, None) => None,
        };
        let variables = summary.variables.iter();
        let variables = variables.filter_map(|known| Some((known.name.clone(), mode(&known.access)?)));
        let constants = summary.constants.iter().map(|name| (name.clone(), Mode::Read));
        let is_late = summary.dependency_wait.is_some() && summary.early_exit.is_none();
        Self {
            params: summary.params.iter().map(param).collect(),
            variables: variables.chain(constants).collect(),
            unknown,
            waits: is_late && summary.early().is_empty(),
        }
    }

    /// An effect of which nothing is known, of a kernel with so many parameters.
    pub(super) fn unknown(params: usize) -> Self {
        Self {
            params: vec![Param::UNKNOWN; params],
            variables: Vec::new(),
            unknown: Some("its PTX is not known"),
            waits: false,
        }
    }

    /// The effect of one of two kernels.
    fn join(&mut self, other: &Self) {
        for (own, other) in self.params.iter_mut().zip(&other.params) {
            own.mode = match (own.mode, other.mode) {
                (Some(one), Some(two)) if one != two => Some(Mode::ReadWrite),
                (one, two) => one.or(two),
            };
            own.is_struct |= other.is_struct || own.ty != other.ty;
            own.element = own.element.filter(|_| own.element == other.element);
        }
        self.variables.extend(other.variables.iter().cloned());
        self.unknown = self.unknown.or(other.unknown);
        self.waits &= other.waits;
    }
}

/// A parameter. Of a struct it is known that its pointers are used, and not how.
fn param(summary: &ParamSummary) -> Param {
    let by_value = summary.address.map(|_| Mode::ReadWrite);
    Param {
        mode: mode(&summary.access).or(by_value),
        ty: summary.ty,
        is_struct: summary.array,
        element: match summary.access.elements {
            Elements::One(ty) => Some(ty),
            Elements::Unknown | Elements::Mixed => None,
        },
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

/// The bytes that are in both ranges; empty if there are none.
pub(super) fn common(one: &Range<u64>, other: &Range<u64>) -> Range<u64> {
    one.start.max(other.start)..one.end.min(other.end)
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
        let effect = kernels.effect("add_to", &[8, 4], None).expect("a kernel");
        let modes: Vec<Option<Mode>> = effect.params.iter().map(|param| param.mode).collect();
        assert_eq!(modes, [Some(Mode::ReadWrite), None]);
        assert_eq!(effect.params[0].element, Some(Type::U32));
        assert!(effect.unknown.is_none() && kernels.effect("add_to", &[4], None).is_none());
    }

    #[test]
    fn fat_binaries_count_for_code_that_was_compiled_of_them() {
        let mut kernels = Kernels::default();
        let bytes = include_bytes!("../../../tests/kernels/zstd.fatbin");
        assert_eq!(kernels.add_binaries(vec![File::of_bytes(bytes)]), 1);
        assert_eq!(kernels.add_binaries(vec![File::of_bytes(b"nothing")]), 0);
        let found = |name, architecture| kernels.effect(name, &[8, 4], architecture).is_some();
        assert!(found("add_to", Some(70)) && !found("add_to", Some(80)) && !found("add_to", None));
        assert!(!found("nobody", Some(70)));
    }

    #[test]
    fn kernels_are_named_after_entries() {
        let text =
            ".visible .entry one(.param .u32 n) { ret; } .func two() { ret; } .weak .entry\n three\n( ) { ret; }";
        assert_eq!(entries(text).collect::<Vec<_>>(), ["one", "three"]);
    }

    /// The mode of each parameter, and the reason why more is unknown, of the kernel `k` with one parameter.
    fn effect(param: &str, size: usize, body: &str) -> (Option<Mode>, Option<&'static str>) {
        let mut kernels = Kernels::default();
        let text = format!(
            ".version 7.8\n.target sm_90\n.address_size 64\n\
             .extern .func cudaGraphSetConditional (.param .b64 a, .param .b32 b);\n\
             .func sets() {{ .param .b64 p; .param .b32 q; call cudaGraphSetConditional, (p, q); ret; }}\n\
             .visible .entry k({param}) {{ .reg .b64 %rd<9>; .reg .b32 %r<9>; {body} ret; }}"
        );
        kernels.add(&text).expect("it is PTX");
        let effect = kernels.effect("k", &[size], None).expect("a kernel");
        (effect.params[0].mode, effect.unknown)
    }

    #[test]
    fn pointers_in_structs_are_accessed() {
        let body = "ld.param.b64 %rd1, [s+8]; st.global.b32 [%rd1], %r1;";
        assert_eq!(
            effect(".param .align 8 .b8 s[16]", 16, body),
            (Some(Mode::ReadWrite), None)
        );
        let packed = (
            Some(Mode::ReadWrite),
            Some("it accesses memory by a pointer in a packed struct"),
        );
        assert_eq!(effect(".param .align 4 .b8 s[16]", 16, body), packed);
        let body = "ld.param.b32 %r1, [s+8];";
        assert_eq!(effect(".param .align 8 .b8 s[16]", 16, body), (None, None));
    }

    #[test]
    fn kernels_that_set_conditions_do_more_than_access_memory() {
        let expected = (None, Some("it sets the condition of a conditional node"));
        assert_eq!(effect(".param .b32 n", 4, "call sets;"), expected);
        assert_eq!(effect(".param .b32 n", 4, ""), (None, None));
    }
}
