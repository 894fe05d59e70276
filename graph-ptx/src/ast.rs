//! PTX as data: what [`parse`](crate::parse) returns. Nothing here interprets an instruction: operands are resolved
//! to registers, variables and labels of the function, opcodes and modifiers stay text.

use crate::error::ParseError;

/// A PTX translation unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// `.version major.minor`.
    pub version: (u32, u32),
    /// The architecture of `.target`, for example `sm_70` or `sm_90a`.
    pub target: String,
    /// `.address_size` in bits (32 or 64; 64 if the directive is missing).
    pub address_size: u32,
    /// Module-scope variables of all state spaces, and the `.global` and `.const` variables of functions.
    pub variables: Vec<Variable>,
    /// `.entry` and `.func`, definitions and declarations, in order of appearance.
    pub functions: Vec<Function>,
    /// `.file` directives: index and path, for `.loc`.
    pub files: Vec<(u32, String)>,
    /// `.alias` directives: the other name, and the function that it names.
    pub aliases: Vec<(String, String)>,
}

/// State spaces of variables, parameters and memory instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// Device memory (`.global`).
    Global,
    /// Read-only tables (`.const`).
    Const,
    /// Memory of a block (`.shared`).
    Shared,
    /// Memory of a thread (`.local`).
    Local,
    /// Parameters of kernels and functions (`.param`).
    Param,
    /// Registers (`.reg`): parameters and results of old-style functions.
    Reg,
}

/// The fundamental types of PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the variants are PTX's own type names")]
pub enum Type {
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    BF16,
    BF16x2,
    F32,
    F64,
    Pred,
    /// `.texref`, `.samplerref`, `.surfref`
    Opaque,
}

impl Type {
    /// Whether compilers also write it for other types of its size: `st.global.u32` stores a constant `float`.
    pub(crate) const fn is_untyped(self) -> bool {
        matches!(
            self,
            Type::B8 | Type::B16 | Type::B32 | Type::B64 | Type::B128 | Type::U8 | Type::U16 | Type::U32 | Type::U64
        )
    }

    /// The type of this name, without its dot: `f32`.
    pub fn named(name: &str) -> Option<Type> {
        Some(match name {
            "b8" => Type::B8,
            "b16" => Type::B16,
            "b32" => Type::B32,
            "b64" => Type::B64,
            "b128" => Type::B128,
            "u8" => Type::U8,
            "u16" => Type::U16,
            "u32" => Type::U32,
            "u64" => Type::U64,
            "s8" => Type::S8,
            "s16" => Type::S16,
            "s32" => Type::S32,
            "s64" => Type::S64,
            "f16" => Type::F16,
            "f16x2" => Type::F16x2,
            "bf16" => Type::BF16,
            "bf16x2" => Type::BF16x2,
            "f32" => Type::F32,
            "f64" => Type::F64,
            "pred" => Type::Pred,
            "texref" | "samplerref" | "surfref" => Type::Opaque,
            _ => return None,
        })
    }

    /// The type of Rust's numbers that has the same values, and its name in Rust. Rust has no halves of its own: their
    /// bits are `u16`.
    pub const fn in_rust(self) -> Option<(Type, &'static str)> {
        Some(match self {
            Type::B8 | Type::U8 => (Type::U8, "u8"),
            Type::B16 | Type::U16 | Type::F16 | Type::BF16 => (Type::U16, "u16"),
            Type::B32 | Type::U32 | Type::F16x2 | Type::BF16x2 => (Type::U32, "u32"),
            Type::B64 | Type::U64 => (Type::U64, "u64"),
            Type::S8 => (Type::S8, "i8"),
            Type::S16 => (Type::S16, "i16"),
            Type::S32 => (Type::S32, "i32"),
            Type::S64 => (Type::S64, "i64"),
            Type::F32 => (Type::F32, "f32"),
            Type::F64 => (Type::F64, "f64"),
            Type::B128 | Type::Pred | Type::Opaque => return None,
        })
    }

    /// Size in bytes; 1 for predicates, 8 for opaque references.
    pub const fn size(self) -> usize {
        match self {
            Type::B8 | Type::U8 | Type::S8 | Type::Pred => 1,
            Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::BF16 => 2,
            Type::B32 | Type::U32 | Type::S32 | Type::F16x2 | Type::BF16x2 | Type::F32 => 4,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 | Type::Opaque => 8,
            Type::B128 => 16,
        }
    }
}

/// A declared variable or parameter: `.param .align 8 .b8 name[24]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name, unique within its scope.
    pub name: String,
    /// The state space that it is in.
    pub space: Space,
    /// The element type.
    pub ty: Type,
    /// `.v2`/`.v4` vector length, 1 without.
    pub vector: u32,
    /// `.align`, or the natural alignment of the type.
    pub align: u32,
    /// Total size in bytes; 0 for `extern .shared x[]`.
    pub size: u64,
    /// Whether it is `.extern`: defined elsewhere, or dynamic shared memory.
    pub external: bool,
    /// `.ptr`, if the parameter is declared to be a pointer, with its space and alignment.
    pub pointer: Option<PointerAttribute>,
    /// The initial bytes; shorter than `size` if the rest is zero.
    pub initial: Vec<u8>,
    /// Addresses in the initialiser: byte offset, the symbol whose address it is, and an addend.
    pub relocations: Vec<(u64, String, i64)>,
    /// Line in the PTX text, from 1.
    pub line: u32,
}

impl Module {
    /// The variables that hosts can find by name: those in global and in constant memory that the module defines.
    pub fn variables(&self) -> impl Iterator<Item = &Variable> {
        let variables = self.variables.iter();
        variables.filter(|variable| matches!(variable.space, Space::Global | Space::Const) && !variable.external)
    }

    /// Whether the module has code for a function of this name.
    pub(crate) fn defines(&self, name: &str) -> bool {
        let mut functions = self.functions.iter();
        functions.any(|function| function.name == name && function.body.is_some())
            || self.aliases.iter().any(|(alias, _)| alias == name)
    }
}

impl Variable {
    /// Bytes of one element, all parts of a vector together.
    pub const fn element_size(&self) -> u64 {
        self.ty.size() as u64 * self.vector as u64
    }

    /// The names of the registers of a parameter or result in the space [`Space::Reg`]: its own, or those of the parts
    /// of a vector.
    pub fn registers(&self) -> impl Iterator<Item = String> {
        let parts = match self.vector {
            1 => vec![self.name.clone()],
            parts => components(parts).map(|part| format!("{}.{part}", self.name)).collect(),
        };
        parts.into_iter()
    }
}

/// The names of the parts of a vector, of 8 parts at most.
pub(crate) fn components(parts: u32) -> impl Iterator<Item = &'static str> {
    ["x", "y", "z", "w", "e4", "e5", "e6", "e7"]
        .into_iter()
        .take(parts as usize)
}

/// `.ptr .space .align n` of a kernel parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointerAttribute {
    /// The space it points to; generic if `None`.
    pub space: Option<Space>,
    /// The alignment of what it points to, in bytes.
    pub align: u32,
}

/// An `.entry` or a `.func`.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its (mangled) name.
    pub name: String,
    /// Whether it is a kernel (`.entry`).
    pub entry: bool,
    /// Results of a `.func`.
    pub results: Vec<Variable>,
    /// Parameters, in order.
    pub params: Vec<Variable>,
    /// `.reqntid x, y, z` (missing ones are 1).
    pub required_block: Option<[u32; 3]>,
    /// `.maxntid x, y, z` (missing ones are 1).
    pub max_block: Option<[u32; 3]>,
    /// The demands on the thread block clusters that it is launched in.
    pub cluster: Cluster,
    /// The code, or the reason why it cannot be read; `None` for a declaration.
    pub body: Option<Result<Body, ParseError>>,
    /// Line in the PTX text, from 1.
    pub line: u32,
}

impl Function {
    /// The code, if there is some that can be read.
    pub fn code(&self) -> Option<&Body> {
        self.body.as_ref()?.as_ref().ok()
    }

    /// The reason why the code cannot be read: its own first mistake, or that of a function that it names.
    pub fn fault(&self) -> Option<&ParseError> {
        self.body.as_ref()?.as_ref().err()
    }
}

/// The directives of an `.entry` about the clusters of blocks that it is launched in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cluster {
    /// `.reqnctapercluster x, y, z`: the only cluster it may be launched in (missing ones are 1).
    pub required: Option<[u32; 3]>,
    /// `.maxclusterrank n`: the most blocks of a cluster.
    pub max_blocks: Option<u32>,
    /// `.explicitcluster`: a launch must name the cluster, unless `.reqnctapercluster` does.
    pub explicit: bool,
    /// `.blocksareclusters`: the grid of a launch counts clusters rather than blocks.
    pub counts_grid: bool,
}

/// The code of a function. Nested `{ }` scopes are flattened; registers, variables and labels of inner scopes are
/// renamed if they would clash.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// All registers, indexed by [`Reg`].
    pub registers: Vec<Register>,
    /// `.shared`, `.local` and `.param` variables declared in the body. Its `.global` and `.const` variables are among
    /// those of the module, with the function's name before their own: `function@name`.
    pub variables: Vec<Variable>,
    /// Instructions in order.
    pub instructions: Vec<Instruction>,
    /// Label names, and the index of the instruction after each (may equal the number of instructions).
    pub labels: Vec<(String, usize)>,
    /// `.branchtargets` and `.calltargets` lists: name, then label or function names.
    pub target_lists: Vec<(String, Vec<String>)>,
    /// `.callprototype` declarations, by label.
    pub prototypes: Vec<Function>,
}

/// Index into [`Body::registers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u32);

/// A declared register. `.reg .b32 %r<5>` declares five; the body lists only those that its code names. A vector
/// register, `.reg .v2 .f32 v`, is listed as its parts `v.x` and `v.y`, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Register {
    /// Its name, for example `%r4`.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// One instruction: `@!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+8];`
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// The predicate register of `@%p`, and whether it is negated (`@!%p`).
    pub guard: Option<(Reg, bool)>,
    /// The first word: `ld`.
    pub opcode: String,
    /// The rest without dots, in order: `["global", "v2", "f32"]`.
    pub modifiers: Vec<String>,
    /// Operands as written, destination first.
    pub operands: Vec<Operand>,
    /// Line in the PTX text, from 1.
    pub line: u32,
    /// The file index and the line in the source, from the `.loc` before the instruction.
    pub source: Option<(u32, u32)>,
    /// The file index and the line of the call, if that place in the source was inlined there.
    pub inlined_at: Option<(u32, u32)>,
}

impl Instruction {
    /// Whether it has the modifier.
    pub(crate) fn has(&self, modifier: &str) -> bool {
        self.modifiers.iter().any(|given| given == modifier)
    }

    /// Whether it is an access that is ordered with those of other threads.
    pub(crate) fn is_ordered(&self) -> bool {
        let mut orders = ["volatile", "relaxed", "acquire", "release", "mmio"].iter();
        orders.any(|order| self.has(order))
    }

    /// The elements that a load or a store accesses: 4 for `ld.v4.f32`.
    pub(crate) fn parts(&self) -> u64 {
        let count = |modifier: &String| match modifier.as_str() {
            "v2" => Some(2),
            "v4" => Some(4),
            "v8" => Some(8),
            _ => None,
        };
        self.modifiers.iter().find_map(count).unwrap_or(1)
    }

    /// The bytes of one element that it accesses, from the last type of the modifiers.
    pub(crate) fn element_bytes(&self) -> Option<u64> {
        let mut types = self.modifiers.iter().filter_map(|modifier| Type::named(modifier));
        types.next_back().map(|ty| ty.size() as u64)
    }

    /// The bytes that a load, a store, an atomic operation or a `cp.async` accesses at once: their address is a
    /// multiple of them. `None` if it does not say, and for other instructions.
    pub(crate) fn bytes_at_once(&self) -> Option<u64> {
        match &*self.opcode {
            "ld" | "ldu" | "st" | "atom" | "red" => Some(self.element_bytes()? * self.parts()),
            "cp" if self.has("ca") || self.has("cg") => self.operands.iter().find_map(|operand| match operand {
                Operand::Integer(bytes) => u64::try_from(*bytes).ok(),
                _ => None,
            }),
            _ => None,
        }
    }

    /// The state spaces that it names, in order: one for most; for copies, destination and source.
    pub(crate) fn spaces(&self) -> impl Iterator<Item = Space> {
        self.modifiers.iter().filter_map(|modifier| {
            Some(match modifier.split("::").next()? {
                "global" => Space::Global,
                "shared" => Space::Shared,
                "local" => Space::Local,
                "const" => Space::Const,
                "param" => Space::Param,
                _ => return None,
            })
        })
    }
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// `%r1`
    Register(Reg),
    /// `%r1.b0`: bytes or halves of a register, in video instructions; the selection without its dot.
    Part(Reg, String),
    /// `!%p1`: a predicate, negated.
    NotPredicate(Reg),
    /// `%p1|%p2` or `%r1|%p1`: two destinations.
    Pair(Box<Operand>, Box<Operand>),
    /// A special register, with its component: `%tid.x`, `%laneid`, `%clock64`.
    Special(String),
    /// An integer literal, or the constant `WARP_SZ`; negative ones are sign-extended.
    Integer(i128),
    /// A single-precision literal, `0f3F800000`, as bits.
    F32(u32),
    /// A double-precision literal, `0d3FF0000000000000` or decimal, as bits.
    F64(u64),
    /// `[base+offset]`
    Address(Base, i64),
    /// `{%f1, %f2, _}`, or the arguments `(a, b)` of `call`. The operand `[tensor, {%r1, %r2}]` of texture and tensor
    /// instructions is the vector of its parts, the address first.
    Vector(Vec<Operand>),
    /// The address of a variable or a function, with an addend: `mov.u64 %rd1, table+8`.
    Symbol(String, i64),
    /// A label of this function, or a target list or prototype.
    Label(String),
    /// `_`: the value is dropped.
    Discard,
}

/// Calls `visit` on each operand that is no vector or pair, and on each part of those that are.
pub fn each_leaf<'o>(operands: &'o [Operand], visit: &mut impl FnMut(&'o Operand)) {
    for operand in operands {
        match operand {
            Operand::Vector(parts) => each_leaf(parts, visit),
            Operand::Pair(first, second) => {
                each_leaf(std::slice::from_ref(&**first), visit);
                each_leaf(std::slice::from_ref(&**second), visit);
            }
            leaf => visit(leaf),
        }
    }
}

/// The base that an address is relative to.
#[derive(Clone, Debug, PartialEq)]
pub enum Base {
    /// A register.
    Register(Reg),
    /// A variable or a parameter.
    Symbol(String),
    /// Nothing: an absolute address.
    Absolute,
}
