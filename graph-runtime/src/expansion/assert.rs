//! Compile-time assertions in expansions of `cuda_graph!`, about values that only rustc can compute. A failure is a
//! compile error at the user's tokens. `build` checks all of this again: assertions only report it earlier.

use crate::kernel::atomic::Atomic;
use crate::kernel::integer::{Integer, widened};
use crate::kernel::programmatic_edge::{ProgrammaticEdge, reads_uninitialized};
use crate::kernel::texture::{Texel, Texture};
use crate::kernel::{Kernel, KernelFacts};
use crate::shape::Element;
use graph_plan::{
    Argument, Constant, LaunchRequest, Mode, ModuleVariables, ParamKind, SharedParam, Text, variable_race,
};
use std::marker::PhantomData;

/// Asserts, for nodes that launch `K` in the same way, that the launch is within its limits and keeps the kernel's
/// contracts. `memory` names the memory that the first node passes as each argument; the name of a value is empty.
/// `dimensions` are grid, block and, for nodes with `#[cluster(..)]`, cluster.
#[track_caller]
pub const fn check_launch<K: Kernel>(
    nodes: &[&str],
    memory: &[&str],
    dimensions: &[[i128; 3]],
    shared: i128,
    arguments: &[Argument],
) {
    let (grid, block, cluster) = match *dimensions {
        [grid, block] => (grid, block, None),
        [grid, block, cluster] => (grid, block, Some(cluster)),
        _ => return,
    };
    let launch = LaunchRequest {
        grid,
        block,
        shared,
        cluster,
    };
    let mut variant = 0;
    while variant < K::FACTS.variants() {
        let facts = K::FACTS.variant(variant);
        if let Err(text) = facts.code().check_launch(nodes, &launch, arguments, memory, false) {
            let text = match variant {
                0 => text,
                _ => text.str("\nnote: this is so in `").str(facts.source.path()).str("`"),
            };
            panic!("{}", text.as_str());
        }
        variant += 1;
    }
}

/// Asserts that a grid, or a block, is within CUDA's limits. It says of constants what [`check_launch`] would say, at
/// the tokens of the one that is wrong.
#[track_caller]
pub const fn check_extent(nodes: &[&str], is_block: bool, extent: Option<[i128; 3]>) {
    let Some(extent) = extent else { return };
    let launch = LaunchRequest {
        grid: if is_block { [1; 3] } else { extent },
        block: if is_block { extent } else { [1; 3] },
        shared: 0,
        cluster: None,
    };
    if let Err(text) = launch.config(nodes) {
        panic!("{}", text.as_str());
    }
}

/// As [`check_launch`], for nodes with dimensions that may be of any type. If one is unknown, only `build` checks
/// the launch.
#[track_caller]
pub const fn check_dimensions<K: Kernel>(
    nodes: &[&str],
    memory: &[&str],
    dimensions: &[Option<[i128; 3]>],
    shared: i128,
    arguments: &[Argument],
) {
    match *dimensions {
        [Some(grid), Some(block)] => check_launch::<K>(nodes, memory, &[grid, block], shared, arguments),
        [Some(grid), Some(block), Some(cluster)] => {
            check_launch::<K>(nodes, memory, &[grid, block, cluster], shared, arguments);
        }
        _ => {}
    }
}

/// Checks of nodes that launch `K`.
pub struct KernelChecks<K>(PhantomData<K>);

// Each function has the bound, rather than the `impl`: so rustc says of a type that is no kernel that there is no such
// kernel, rather than that a function is missing.
impl<K> KernelChecks<K> {
    /// Asserts that two nodes can launch `K` and `B` at the same time: both read every module-scope variable that both
    /// touch.
    #[track_caller]
    pub const fn variable_race<B: Kernel>(first: &str, second: &str)
    where
        K: Kernel,
    {
        let mut pair = 0;
        while pair < K::FACTS.variants() * B::FACTS.variants() {
            let a = K::FACTS.variant(pair / B::FACTS.variants()).code();
            let b = B::FACTS.variant(pair % B::FACTS.variants()).code();
            if let Some(text) = variable_race(first, &a, second, &b) {
                panic!("{}", text.as_str());
            }
            pair += 1;
        }
    }

    /// Asserts that `programmatic(upstream)` orders the two nodes, which launch `K` after `U`. `memory` says for each
    /// buffer of the downstream node how other nodes use it; `all` has the kernels of all nodes.
    #[track_caller]
    pub const fn programmatic<U: Kernel>(downstream: &str, upstream: &str, memory: &[SharedParam], all: &[&KernelFacts])
    where
        K: Kernel,
    {
        if let Some(text) = fault::<K>(downstream, upstream, memory, all) {
            panic!("{}", text.as_str());
        }
    }

    /// Whether [`KernelChecks::programmatic`] finds no mistake.
    pub const fn is_programmatic<U: Kernel>(
        downstream: &str,
        upstream: &str,
        memory: &[SharedParam],
        all: &[&KernelFacts],
    ) -> bool
    where
        K: Kernel,
    {
        fault::<K>(downstream, upstream, memory, all).is_none()
    }

    /// Asserts that `K` only writes through its `&mut` parameter `param`. `node` launches it, and is the first to use
    /// `memory`, which it passes there.
    #[track_caller]
    pub const fn initializes(node: &str, memory: &str, param: usize)
    where
        K: Kernel,
    {
        if let Some(text) = reads_uninitialized(node, memory, K::FACTS, param) {
            panic!("{}", text.as_str());
        }
    }

    /// Whether `K` accesses the memory of a parameter by atomic operations alone.
    pub const fn is_atomic(param: usize) -> bool
    where
        K: Kernel,
    {
        let params = K::FACTS.params;
        param < params.len() && matches!(params[param].kind, ParamKind::Buffer { mode: Mode::Atomic, .. })
    }

    /// The variables of the module of `K`; `None` if they are not known at compile time.
    pub const fn variables() -> Option<ModuleVariables<'static>>
    where
        K: Kernel,
    {
        match K::VARIABLES {
            Some(variables) => Some(ModuleVariables {
                file: K::FACTS.source.path(),
                variables,
            }),
            None => None,
        }
    }

    /// Checks two nodes that can run at the same time: `launch` launches `K`, and `node` copies or sets the variable
    /// `symbol`, which is the memory `name`. It is a mistake if both touch it and one writes it. `first` says whether
    /// `node` is declared first.
    #[track_caller]
    pub const fn constant_race(
        name: &str,
        symbol: &str,
        node: &str,
        writes: bool,
        launch: &str,
        first: bool,
        ordered: bool,
    ) where
        K: Kernel,
    {
        let constant = Constant {
            name,
            symbol,
            bytes: 0,
            align: 0,
        };
        let mut variant = 0;
        while variant < K::FACTS.variants() {
            let code = K::FACTS.variant(variant).code();
            if let Some(text) = constant.race(node, writes, launch, &code, first, ordered) {
                panic!("{}", text.as_str());
            }
            variant += 1;
        }
    }
}

const fn fault<D: Kernel>(
    downstream: &str,
    upstream: &str,
    memory: &[SharedParam],
    all: &[&KernelFacts],
) -> Option<Text> {
    if D::FACTS.source.is_cuda() {
        return None; // `build` checks this again, when the PTX is known
    }
    ProgrammaticEdge { upstream, downstream }.fault(D::FACTS, memory, all)
}

/// Checks `param` of the kernel `kernel`, whose type `written` has elements `Atomic<T>`. The PTX at `path` updates
/// elements of these sizes, on these lines.
#[track_caller]
pub const fn check_atomic<T: Element>(
    _: PhantomData<Atomic<T>>,
    [kernel, param, written, path]: [&str; 4],
    updates: &[(usize, u32)],
) {
    let size = size_of::<T>();
    // An array is as large as a number, but less aligned. Operations on its elements and on all of it would not be
    // atomic to each other.
    if !matches!(size, 2 | 4 | 8 | 16) || align_of::<T>() != size {
        let template = "parameter `{0}` of kernel `{1}` is `{2}`, whose elements have {3} bytes, aligned to {4} [signature]\n\
                        note: PTX has atomic operations on numbers of 2, 4, 8 and 16 bytes\n\
                        help: use `u32`, `i32`, `u64`, `i64`, `f32` or `f64`";
        let (size, align) = (Text::number(size), Text::number(align_of::<T>()));
        let text = Text::filled(template, &[param, kernel, written, size.as_str(), align.as_str()]);
        panic!("{}", text.as_str());
    }
    let mut index = 0;
    while index < updates.len() {
        let (actual, line) = updates[index];
        if actual != size {
            let template = "the kernel `{0}` updates {1} bytes at once of `{2}`, whose elements have {3} bytes [access]\n\
                            note: the access is on line {4} of `{5}`\n\
                            help: declare it with elements of {1} bytes, or without `Atomic` as `&mut`";
            let (actual, size, line) = (Text::number(actual), Text::number(size), Text::number(line as usize));
            let parts = &[kernel, actual.as_str(), param, size.as_str(), line.as_str(), path];
            panic!("{}", Text::filled(template, parts).as_str());
        }
        index += 1;
    }
}

/// Checks `param` of the kernel `kernel`, whose type `written` has elements `Texel<T, S>`: its texture is that of
/// parameter `index` among `textures`. (`T` has no bound here: if it is no texel, `Texture::of` tells.)
#[track_caller]
pub const fn check_texture<T, S>(
    _: PhantomData<Texel<T, S>>,
    [kernel, param, written]: [&str; 3],
    textures: &[Texture],
    index: usize,
) {
    let mut at = 0;
    while at < textures.len() {
        if textures[at].param == index
            && let Some((mistake, help)) = textures[at].mistake()
        {
            let template = "parameter `{0}` of kernel `{1}` is `{2}`, but {3} [signature]\nhelp: {4}";
            panic!(
                "{}",
                Text::filled(template, &[param, kernel, written, mistake, help]).as_str()
            );
        }
        at += 1;
    }
}

/// The accesses of a graph to memory that no node writes by its text. `reads` says whether an access certainly reads,
/// and `atomic` whether each of the others is atomic.
pub const fn usage(reads: bool, atomic: &[bool]) -> Mode {
    let (mut reads, mut updates, mut index) = (reads, false, 0);
    while index < atomic.len() {
        if atomic[index] {
            updates = true;
        } else {
            reads = true;
        }
        index += 1;
    }
    match (reads, updates) {
        (_, false) => Mode::Read,
        (false, true) => Mode::Atomic,
        (true, true) => Mode::ReadWrite,
    }
}

/// Checks that both of two accesses are atomic, or neither is. `texts` are the mistakes if only the first is, and if
/// only the second is.
#[track_caller]
pub const fn check_clash(atomic: [bool; 2], texts: [&str; 2]) {
    match atomic {
        [true, false] => panic!("{}", texts[0]),
        [false, true] => panic!("{}", texts[1]),
        [true, true] | [false, false] => {}
    }
}

/// Whether one of the kernels initialises memory that it gets as `&mut`.
pub const fn overwrites(kernels: &[&KernelFacts]) -> bool {
    let mut index = 0;
    while index < kernels.len() {
        if kernels[index].has_memory(Mode::Write) {
            return true;
        }
        index += 1;
    }
    false
}

/// Checks that one of the modules has the variable `symbol`, which is declared as memory `name` of shape `S`. If `all`
/// is false, the graph may have other modules.
#[track_caller]
pub const fn check_constant<S>(name: &str, symbol: &str, modules: &[Option<ModuleVariables<'_>>], all: bool) {
    let constant = Constant {
        name,
        symbol,
        bytes: size_of::<S>() as u64,
        align: align_of::<S>() as u64,
    };
    let (mut index, mut known) = (0, all);
    while index < modules.len() {
        known = known && modules[index].is_some();
        index += 1;
    }
    match constant.find(modules, false) {
        Ok(None) if known => panic!("{}", constant.missing(modules).as_str()),
        Ok(_) => {}
        Err(text) => panic!("{}", text.as_str()),
    }
}

/// Checks of parts of memory against its lengths, as functions.
pub struct Bounds;

impl Bounds {
    /// Asserts that `resource[index]` is one of `length` elements.
    #[track_caller]
    pub const fn check_index(resource: &str, index: usize, length: usize) {
        if index < length {
            return;
        }
        let template = "index {0} is out of bounds of `{1}`, which has {2} element{3} [out-of-bounds]\n\
                        help: use an index below {2}";
        let plural = if length == 1 { "" } else { "s" };
        let (index, length) = (Text::number(index), Text::number(length));
        panic!(
            "{}",
            Text::filled(template, &[index.as_str(), resource, length.as_str(), plural]).as_str()
        );
    }

    /// Asserts that `resource[start..end]` lies within `length` elements.
    #[track_caller]
    pub const fn check_range(resource: &str, start: usize, end: usize, length: usize) {
        if start <= end && end <= length {
            return;
        }
        let template = "range {0}..{1} is out of bounds of `{2}`, which has {3} element{4} [out-of-bounds]\n\
                        help: use a range within 0..{3}";
        let plural = if length == 1 { "" } else { "s" };
        let (start, end, length) = (Text::number(start), Text::number(end), Text::number(length));
        let text = Text::filled(
            template,
            &[start.as_str(), end.as_str(), resource, length.as_str(), plural],
        );
        panic!("{}", text.as_str());
    }

    /// The end of a range that includes `last`. If `last` is the greatest number, no memory has it: the end, which is
    /// less than it should be, is then outside, too.
    pub const fn after(last: usize) -> usize {
        last.saturating_add(1)
    }

    /// The length of a range; 0 if it is reversed, which [`Bounds::check_range`] reports.
    pub const fn distance(start: usize, end: usize) -> usize {
        end.saturating_sub(start)
    }
}

/// Memory of `rows` elements of type `R` as an argument of a launch. The size saturates: so many rows are out of
/// bounds.
pub const fn buffer<R>(rows: usize) -> Argument {
    Argument::Buffer(rows.saturating_mul(size_of::<R>()) as u64)
}

/// A constant as an argument of a contract: its bytes, all of which are initialised, since [`Element`]s have no
/// padding.
pub const fn constant<T: Element>(value: T) -> Argument {
    const SIZE: usize = 16;
    if size_of::<T>() > SIZE {
        return Argument::Unknown;
    }
    #[repr(C)] // both fields begin at the union's first byte
    union Bytes<T: Copy> {
        value: T,
        bytes: [u8; SIZE],
    }
    let mut bits = Bytes { bytes: [0; SIZE] };
    bits.value = value;
    // SAFETY: all 16 bytes were initialised as `bytes`; `value` then replaced the first `size_of::<T>()` of them by
    // initialised ones, since `Element: Pod` rules out padding.
    Argument::Bytes(unsafe { bits.bytes }, size_of::<T>())
}

/// The type of a constant in a `#[requires]`.
#[diagnostic::on_unimplemented(
    message = "a constant in a contract is an integer, but this is `{Self}` [contract]",
    label = "not an integer"
)]
pub trait ContractConstant: Integer + Element {}

#[diagnostic::do_not_recommend]
impl<T: Integer + Element> ContractConstant for T {}

/// The value of a constant in a contract, saturating at `i128::MAX`.
pub const fn integer<T: ContractConstant>(value: T) -> i128 {
    extended(value, T::SIGNED)
}

/// The value of an integer of any type. A `u128` that no `i128` can hold becomes `i128::MAX`: "very large".
pub(super) const fn extended<T: Element>(value: T, signed: bool) -> i128 {
    let Argument::Bytes(bytes, len) = constant(value) else {
        return 0;
    };
    widened(bytes, len, signed)
}

#[cfg(test)]
mod tests {
    use super::integer;

    #[test]
    fn integers_keep_their_value() {
        const CONSTANTS: [i128; 5] = [
            integer(-3_i8),
            integer(u32::MAX),
            integer(i64::MIN),
            integer(7_usize),
            integer(i128::MIN),
        ];
        assert_eq!(CONSTANTS, [-3, u32::MAX.into(), i64::MIN.into(), 7, i128::MIN]);
    }
}
