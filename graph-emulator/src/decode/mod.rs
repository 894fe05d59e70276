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
mod operand;
mod scope;
mod hoist;
mod unassigned;
mod layout;
mod modifiers;
mod reach;

use std::sync::Arc;

use graph_ptx::ast;

use crate::code::{Code, Function, Guard, Instruction, Line, Op, Role};
use crate::fault::LoadError;
pub(crate) use layout::Symbols;
use modifiers::Modifiers;
use scope::Scope;

/// The error says why an instruction cannot be decoded; the caller adds its place.
type Result<T> = std::result::Result<T, String>;

/// Decodes all functions of a module. A function that cannot be decoded is refused, and so are those that may call it.
pub(crate) fn decode(module: &ast::Module, symbols: &Symbols) -> Code {
    let mut code = Code {
        files: module.files.clone(),
        ..Code::default()
    };
    for function in module.functions.iter().filter(|function| function.body.is_some()) {
        if let Err(error) = decode_function(function, symbols, &mut code) {
            code.functions.push(refused(function, error));
        }
    }
    for (caller, error) in reach::refused_calls(module, &code.functions) {
        code.functions[caller].refused = Some(error);
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
    let (mut instructions, mut lines) = (Vec::with_capacity(body.instructions.len() + 1), Vec::new());
    for instruction in &body.instructions {
        let decoded = decode_instruction(instruction, &mut scope)
            .map_err(|message| at(instruction.line, Some(text(instruction)))(message))?;
        instructions.push(decoded);
        lines.push(Line {
            line: instruction.line,
            source: instruction.source,
            inlined_at: instruction.inlined_at,
        });
    }
    // A thread that runs off the end returns.
    instructions.push(Instruction {
        guard: None,
        op: Op::Return,
    });
    lines.push(Line {
        line: body.instructions.last().map_or(function.line, |last| last.line),
        source: None,
        inlined_at: None,
    });
    let mut prologue = Vec::new();
    if function.entry {
        let mut body = scope.body(instructions, lines, start);
        prologue = hoist::hoist(&mut body);
        (instructions, lines) = (body.instructions, body.lines);
    }
    let mut filled = scope.filled();
    for instruction in &mut prologue {
        instruction.op.visit(|file, role, slot| {
            if role == Role::Target {
                filled.push((file, *slot));
            }
        });
    }
    let unassigned = unassigned::unassigned(&mut instructions, start, filled);
    for instruction in &mut instructions {
        code.operands.push(instruction);
    }
    code.instructions.append(&mut instructions);
    code.lines.append(&mut lines);
    code.functions.push(Function {
        prologue,
        unassigned,
        ..scope.finish(start)
    });
    Ok(())
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

fn decode_instruction(instruction: &ast::Instruction, scope: &mut Scope<'_>) -> Result<Instruction> {
    let guard = match instruction.guard {
        None => None,
        Some((register, negated)) => {
            let predicate = scope.predicate_register(register)?;
            Some(Guard {
                predicate,
                flip: if negated { u32::MAX } else { 0 },
            })
        }
    };
    let mut modifiers = Modifiers::new(instruction);
    let op = decode_op(instruction, &mut modifiers, scope)?;
    modifiers.finish()?;
    Ok(Instruction { guard, op })
}

fn decode_op(instruction: &ast::Instruction, modifiers: &mut Modifiers<'_>, scope: &mut Scope<'_>) -> Result<Op> {
    let operands = instruction.operands.as_slice();
    match modifiers.opcode {
        "add" | "sub" | "mul" | "mad" | "div" | "min" | "max" | "abs" | "neg" => {
            arithmetic::arithmetic(modifiers, operands, scope)
        }
        "rem" | "sad" | "mul24" | "mad24" | "and" | "or" | "xor" | "not" | "cnot" | "shl" | "shr" => {
            arithmetic::integer(modifiers, operands, scope)
        }
        "vadd" | "vsub" | "vabsdiff" | "vmin" | "vmax" | "vset" | "vshl" | "vshr" | "vmad" | "vadd2" | "vsub2"
        | "vavrg2" | "vabsdiff2" | "vmin2" | "vmax2" | "vset2" | "vadd4" | "vsub4" | "vavrg4" | "vabsdiff4"
        | "vmin4" | "vmax4" | "vset4" => video::video(modifiers, operands, scope),
        "addc" | "subc" | "madc" => arithmetic::carry(modifiers, operands, scope),
        "popc" | "clz" | "brev" | "bfind" | "bfe" | "bfi" | "lop3" | "shf" | "prmt" | "fns" | "dp4a" | "dp2a"
        | "bmsk" | "szext" => bits::bits(modifiers, operands, scope),
        "fma" | "sqrt" | "copysign" | "rcp" | "rsqrt" | "ex2" | "lg2" | "sin" | "cos" | "tanh" => {
            float::float(modifiers, operands, scope)
        }
        "setp" | "set" => compare::compare(modifiers, operands, scope),
        "testp" => compare::testp(modifiers, operands, scope),
        "selp" | "slct" => compare::select(modifiers, operands, scope),
        "mov" => mov::mov(modifiers, operands, scope),
        "cvt" => convert::cvt(modifiers, operands, scope),
        "cvta" => mov::cvta(modifiers, operands, scope),
        "isspacep" => mov::isspacep(modifiers, operands, scope),
        "ld" | "ldu" => memory::load(modifiers, operands, scope),
        "st" => memory::store(modifiers, operands, scope),
        "atom" | "red" => memory::atomic(modifiers, operands, scope),
        "cp" if modifiers.has("bulk") => mbarrier::bulk(modifiers, operands, scope),
        "cp" if modifiers.has("mbarrier") => mbarrier::copied(modifiers, operands, scope),
        "cp" => memory::async_copy(modifiers, operands, scope),
        "createpolicy" => memory::create_policy(modifiers, operands, scope),
        "discard" => memory::discard(modifiers, operands, scope),
        "mbarrier" => mbarrier::mbarrier(modifiers, operands, scope),
        "tex" | "tld4" => texture::fetch(modifiers, operands, scope),
        "suld" | "sust" => texture::surface(modifiers, operands, scope),
        "txq" => texture::query(modifiers, operands, scope),
        "mapa" => mbarrier::map_address(modifiers, operands, scope),
        "getctarank" => mbarrier::block_of_address(modifiers, operands, scope),
        "barrier" if modifiers.has("cluster") => mbarrier::cluster_barrier(modifiers, operands),
        "bar" | "barrier" => warp_primitives::barrier(modifiers, operands, scope),
        "shfl" => warp_primitives::shuffle(modifiers, operands, scope),
        "vote" => warp_primitives::vote(modifiers, operands, scope),
        "match" => warp_primitives::matching(modifiers, operands, scope),
        "redux" => warp_primitives::reduce(modifiers, operands, scope),
        "activemask" => warp_primitives::active_mask(modifiers, operands, scope),
        "elect" => warp_primitives::elect(modifiers, operands, scope),
        "mma" | "wmma" | "ldmatrix" | "stmatrix" | "movmatrix" => matrix::matrix(modifiers, operands, scope),
        "bra" | "brx" | "call" | "ret" | "exit" | "trap" | "brkpt" => control::control(modifiers, operands, scope),
        "membar" | "fence" => {
            modifiers.ignore(&[
                "cta",
                "gl",
                "sys",
                "gpu",
                "cluster",
                "sc",
                "acq_rel",
                "acquire",
                "release",
                "mbarrier_init",
                "proxy",
                "async",
                "alias",
                "global",
                "shared::cta",
                "shared::cluster",
            ]);
            Ok(Op::Fence)
        }
        "nanosleep" => {
            modifiers.expect("u32")?;
            Ok(Op::NanoSleep)
        }
        "griddepcontrol" => {
            modifiers.ignore(&["wait", "launch_dependents"]);
            Ok(Op::Nop)
        }
        // Hints, without effect on results.
        "prefetch" | "prefetchu" | "applypriority" | "pmevent" | "setmaxnreg" => {
            modifiers.ignore_all();
            Ok(Op::Nop)
        }
        _ => Err("unknown instruction".to_owned()),
    }
}
