//! Branches, calls and returns.

use graph_ptx::ast::{Operand, Type};

use super::Result;
use super::layout::Place;
use super::reader::Reader;
use crate::code::{Call, Callee, Jump, Op, Role};

/// Instructions that change the flow of control.
pub(super) fn control(reader: &mut Reader<'_, '_>) -> Result<Op> {
    reader.take("uni");
    let jump = match reader.opcode {
        "bra" => match reader.operand(0)? {
            Operand::Label(name) | Operand::Symbol(name, 0) => Jump::Branch(reader.scope.label(name)?),
            _ => return Err("a label is expected".to_owned()),
        },
        "brx" => {
            reader.expect("idx")?;
            branch_indexed(reader)?
        }
        "call" => call(reader)?,
        "ret" => Jump::Return,
        "exit" => Jump::Exit,
        _ => Jump::Trap,
    };
    Ok(jump.into())
}

fn branch_indexed(reader: &mut Reader<'_, '_>) -> Result<Jump> {
    let index = reader.source32(0)?;
    let (Operand::Label(list) | Operand::Symbol(list, 0)) = reader.operand(1)? else {
        return Err("a list of targets is expected".to_owned());
    };
    let labels = reader.scope.target_list(list)?.iter();
    let targets: Result<Vec<u32>> = labels.map(|label| reader.scope.label(label)).collect();
    let targets = targets?.into();
    Ok(Jump::Indexed { index, targets })
}

/// `call (result), function, (arguments)`, where the function may be in a register.
fn call(reader: &mut Reader<'_, '_>) -> Result<Jump> {
    let (results, rest) = match reader.operands {
        [Operand::Vector(results), rest @ ..] => (results.as_slice(), rest),
        rest => (&[][..], rest),
    };
    let (target, rest) = rest.split_first().ok_or("the function is missing")?;
    let arguments = match rest.first() {
        Some(Operand::Vector(arguments)) => arguments.as_slice(),
        _ => &[],
    };
    let target = match target {
        Operand::Register(_) => Callee::Indirect(reader.scope.source(target, Type::U64)?),
        Operand::Symbol(name, 0) | Operand::Label(name) => match reader.scope.find(name) {
            Ok(Place::Function(index)) => Callee::Function(index),
            Ok(Place::Builtin(builtin)) => Callee::Builtin(builtin),
            _ => return Err(format!("call of the unknown function `{name}`")),
        },
        _ => return Err("a function is expected".to_owned()),
    };
    Ok(Jump::Call(Box::new(Call {
        target,
        arguments: reader.scope.all_passed(arguments, Role::Source)?,
        results: reader.scope.all_passed(results, Role::Target)?,
    })))
}
