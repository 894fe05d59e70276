//! Branches, calls and returns.

use graph_ptx::ast::{Operand, Type};

use super::Result;
use super::layout::Place;
use super::modifiers::Modifiers;
use super::operand::operand;
use super::scope::Scope;
use crate::code::{Call, Callee, Op};

/// Instructions that change the flow of control.
pub(super) fn control(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    modifiers.take("uni");
    match modifiers.opcode {
        "bra" => match operand(operands, 0)? {
            Operand::Label(name) | Operand::Symbol(name, 0) => Ok(Op::Branch(scope.label(name)?)),
            _ => Err("a label is expected".to_owned()),
        },
        "brx" => {
            modifiers.expect("idx")?;
            branch_indexed(operands, scope)
        }
        "call" => call(operands, scope),
        "ret" => Ok(Op::Return),
        "exit" => Ok(Op::Exit),
        _ => Ok(Op::Trap),
    }
}

fn branch_indexed(operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let index = scope.source32(operand(operands, 0)?)?;
    let (Operand::Label(list) | Operand::Symbol(list, 0)) = operand(operands, 1)? else {
        return Err("a list of targets is expected".to_owned());
    };
    let targets: Result<Vec<u32>> = scope
        .target_list(list)?
        .iter()
        .map(|label| scope.label(label))
        .collect();
    Ok(Op::BranchIndexed {
        index,
        targets: targets?.into(),
    })
}

/// `call (result), function, (arguments)`, where the function may be in a register.
fn call(operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let (results, rest) = match operands {
        [Operand::Vector(results), rest @ ..] => (results.as_slice(), rest),
        rest => (&[][..], rest),
    };
    let (target, rest) = rest.split_first().ok_or("the function is missing")?;
    let arguments = match rest.first() {
        Some(Operand::Vector(arguments)) => arguments.as_slice(),
        _ => &[],
    };
    let target = match target {
        Operand::Register(_) => Callee::Indirect(scope.source(target, Type::U64)?),
        Operand::Symbol(name, 0) | Operand::Label(name) => match scope.find(name) {
            Ok(Place::Function(index)) => Callee::Function(index),
            Ok(Place::Builtin(builtin)) => Callee::Builtin(builtin),
            _ => return Err(format!("call of the unknown function `{name}`")),
        },
        _ => return Err("a function is expected".to_owned()),
    };
    let (arguments, results) = (scope.all_passed(arguments)?, scope.all_passed(results)?);
    Ok(Op::Call(Box::new(Call {
        target,
        arguments,
        results,
    })))
}
