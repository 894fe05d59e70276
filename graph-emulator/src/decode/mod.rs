//! From the syntax tree to flat code. Registers and literals become slots, modifiers become numbers, and an instruction
//! that the emulator cannot execute exactly becomes a [`LoadError`], for which its function is refused. So execution
//! never looks at a string.

mod arithmetic;
mod convert;
mod bits;
mod control;
mod matrix;
mod memory;
mod mbarrier;
mod texture;
mod mov;
mod warp_primitives;
mod float;
mod video;
mod compare;
mod reader;
mod operand;
mod hoist;
mod scope;
mod unassigned;
mod layout;
mod reach;

use std::sync::Arc;

use graph_ptx::ast;

use crate::code::{Code, Function, Guard, Instruction, Jump, Line, Op, Operand, Register, Role, Wait};
use crate::fault::LoadError;
pub(crate) use layout::Symbols;
use reader::Reader;
use scope::Scope;

/// The error says why an instruction cannot be decoded; the caller adds its place.
type Result<T> = std::result::Result<T, String>;

/// Decodes functions of a module: those of which `is_wanted` says so, by their index among those with a body. With a
/// function, all that it may call is wanted. A function that cannot be decoded is refused, and so are those that may
/// call it, and those that are not wanted.
pub(crate) fn decode(module: &ast::Module, symbols: &Symbols, is_wanted: impl Fn(usize) -> bool) -> Code {
    let mut code = Code {
        files: module.files.clone(),
        ..Code::default()
    };
    let defined = || {
        module
            .functions
            .iter()
            .filter(|function| function.body.is_some())
            .enumerate()
    };
    for (index, function) in defined() {
        if !is_wanted(index) {
            code.functions.push(Function::default());
        } else if let Err(error) = decode_function(function, symbols, &mut code) {
            code.functions.push(refused(function, error));
        }
    }
    for (caller, error) in reach::refused_calls(module, &code.functions) {
        code.functions[caller].refused = Some(error);
    }
    for (index, function) in defined().filter(|(index, _)| !is_wanted(*index)) {
        code.functions[index] = refused(function, unwanted(function));
    }
    code
}

/// A function that cannot be decoded. Nothing runs it.
fn refused(function: &ast::Function, error: LoadError) -> Function {
    Function {
        name: function.name.as_str().into(),
        refused: Some(Arc::new(error)),
        ..Function::default()
    }
}

/// The reason that a function was not decoded.
fn unwanted(function: &ast::Function) -> LoadError {
    LoadError {
        function: Some(function.name.clone()),
        line: function.line,
        message: "it was not asked for when the module was loaded".to_owned(),
        instruction: None,
    }
}

fn decode_function(function: &ast::Function, symbols: &Symbols, code: &mut Code) -> std::result::Result<(), LoadError> {
    let body = match &function.body {
        None => return Ok(()),
        Some(Ok(body)) => body,
        Some(Err(fault)) => {
            return Err(LoadError {
                function: Some(function.name.clone()),
                line: fault.line,
                message: fault.message.clone(),
                instruction: None,
            });
        }
    };
    let at = |line: u32, instruction: Option<String>| {
        let function = Some(function.name.clone());
        move |message| LoadError {
            function,
            line,
            message,
            instruction,
        }
    };
    if let Some(reason) = symbols.refusal(&function.name) {
        return Err(at(function.line, None)(reason.to_owned()));
    }
    let start = code.instructions.len() as u32;
    let mut scope = Scope::new(function, body, symbols, start).map_err(at(function.line, None))?;
    let mut all = Vec::with_capacity(body.instructions.len() + 1);
    for instruction in &body.instructions {
        let decoded = decode_instruction(instruction, &mut scope)
            .map_err(|message| at(instruction.line, Some(text(instruction)))(message))?;
        all.push(decoded);
    }
    // A thread that runs off the end returns.
    let mut end = Decoded::default();
    end.instruction.op = Jump::Return.into();
    end.line.line = body.instructions.last().map_or(function.line, |last| last.line);
    all.push(end);
    let mut constants = scope.constants();
    let mut prologue = Vec::new();
    if function.entry {
        prologue = hoist::hoist(&mut all, start, scope.frame, &mut constants, scope.parameters);
    }
    let computed = prologue.iter().flat_map(Decoded::targets);
    let filled = constants
        .keys()
        .copied()
        .chain(scope.parameter_registers())
        .chain(computed);
    let unassigned = unassigned::unassigned(&all, start, scope.frame, filled);
    for decoded in all {
        code.instructions.push(decoded.instruction);
        code.lines.push(decoded.line);
        code.operands.push(&decoded.operands);
    }
    code.functions.push(Function {
        prologue: prologue.into_iter().map(|decoded| decoded.instruction).collect(),
        unassigned,
        ..scope.finish(start, &constants)
    });
    Ok(())
}

/// A decoded instruction, its place, and the registers that it uses besides its guard.
#[derive(Default)]
struct Decoded {
    instruction: Instruction,
    line: Line,
    operands: Box<[Operand]>,
}

impl Decoded {
    /// The registers that it writes.
    fn targets(&self) -> impl Iterator<Item = Register> {
        self.registers(Role::Target)
    }

    /// The registers that it reads, besides its guard.
    fn sources(&self) -> impl Iterator<Item = Register> {
        self.registers(Role::Source)
    }

    fn registers(&self, wanted: Role) -> impl Iterator<Item = Register> {
        let operands = self.operands.iter().filter(move |(_, role, _)| *role == wanted);
        operands.map(|&(file, _, slot)| (file, slot))
    }

    fn has_effect(&self) -> bool {
        !matches!(self.instruction.op, Op::Nop)
    }
}

/// An instruction's opcode and modifiers, as written.
fn text(instruction: &ast::Instruction) -> String {
    let mut text = instruction.opcode.clone();
    for modifier in &instruction.modifiers {
        text.push('.');
        text.push_str(modifier);
    }
    text
}

fn decode_instruction(instruction: &ast::Instruction, scope: &mut Scope<'_>) -> Result<Decoded> {
    let guard = match instruction.guard {
        None => None,
        Some((register, negated)) => Some(Guard::new(scope.predicate_register(register)?, negated)),
    };
    scope.operands.clear();
    let mut reader = Reader::new(instruction, scope);
    let op = decode_op(&mut reader)?;
    reader.finish()?;
    Ok(Decoded {
        instruction: Instruction { guard, op },
        line: Line {
            line: instruction.line,
            source: instruction.source,
            inlined_at: instruction.inlined_at,
        },
        operands: scope.operands.as_slice().into(),
    })
}

fn decode_op(reader: &mut Reader<'_, '_>) -> Result<Op> {
    match reader.opcode {
        "add" | "sub" | "mul" | "mad" | "div" | "min" | "max" | "abs" | "neg" => arithmetic::arithmetic(reader),
        "rem" | "sad" | "mul24" | "mad24" | "and" | "or" | "xor" | "not" | "cnot" | "shl" | "shr" => {
            arithmetic::integer(reader)
        }
        "vadd" | "vsub" | "vabsdiff" | "vmin" | "vmax" | "vset" | "vshl" | "vshr" | "vmad" | "vadd2" | "vsub2"
        | "vavrg2" | "vabsdiff2" | "vmin2" | "vmax2" | "vset2" | "vadd4" | "vsub4" | "vavrg4" | "vabsdiff4"
        | "vmin4" | "vmax4" | "vset4" => video::video(reader),
        "addc" | "subc" | "madc" => arithmetic::carry(reader),
        "popc" | "clz" | "brev" | "bfind" | "bfe" | "bfi" | "lop3" | "shf" | "prmt" | "fns" | "dp4a" | "dp2a"
        | "bmsk" | "szext" => bits::bits(reader),
        "fma" | "sqrt" | "copysign" | "rcp" | "rsqrt" | "ex2" | "lg2" | "sin" | "cos" | "tanh" => float::float(reader),
        "setp" | "set" => compare::compare(reader),
        "testp" => compare::testp(reader),
        "selp" | "slct" => compare::select(reader),
        "mov" => mov::mov(reader),
        "cvt" => convert::cvt(reader),
        "cvta" => mov::cvta(reader),
        "isspacep" => mov::isspacep(reader),
        "st" if reader.has("async") => memory::async_store(reader),
        "ld" | "ldu" | "st" => memory::transfer(reader),
        "atom" | "red" => memory::atomic(reader),
        "cp" if reader.has("bulk") => mbarrier::bulk(reader),
        "cp" if reader.has("mbarrier") => mbarrier::copied(reader),
        "cp" => memory::async_copy(reader),
        "createpolicy" => memory::create_policy(reader),
        "discard" => memory::discard(reader),
        "mbarrier" => mbarrier::mbarrier(reader),
        "tex" | "tld4" => texture::fetch(reader),
        "suld" | "sust" => texture::surface(reader),
        "txq" => texture::query(reader),
        "mapa" | "getctarank" => mbarrier::cluster_address(reader),
        "barrier" if reader.has("cluster") => mbarrier::cluster_barrier(reader),
        "bar" | "barrier" => warp_primitives::barrier(reader),
        "shfl" => warp_primitives::shuffle(reader),
        "vote" => warp_primitives::vote(reader),
        "match" => warp_primitives::matching(reader),
        "redux" => warp_primitives::reduce(reader),
        "activemask" => warp_primitives::active_mask(reader),
        "elect" => warp_primitives::elect(reader),
        "mma" | "wmma" | "ldmatrix" | "stmatrix" | "movmatrix" => matrix::matrix(reader),
        "bra" | "brx" | "call" | "ret" | "exit" | "trap" | "brkpt" => control::control(reader),
        "membar" | "fence" => {
            reader.ignore(&[
                "cta", "gl", "sys", "gpu", "cluster", "sc", "acq_rel", "acquire", "release",
            ]);
            reader.ignore(&[
                "mbarrier_init",
                "proxy",
                "async",
                "alias",
                "global",
                "shared::cta",
                "shared::cluster",
            ]);
            Ok(Wait::Fence.into())
        }
        "nanosleep" => {
            reader.expect("u32")?;
            Ok(Wait::NanoSleep.into())
        }
        "griddepcontrol" => {
            reader.ignore(&["wait", "launch_dependents"]);
            Ok(Op::Nop)
        }
        // Hints, without effect on results.
        "prefetch" | "prefetchu" | "applypriority" | "pmevent" | "setmaxnreg" => {
            reader.ignore_all();
            Ok(Op::Nop)
        }
        _ => Err("unknown instruction".to_owned()),
    }
}
