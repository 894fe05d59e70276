//! Tests of contracts.

use super::*;

const CONFIG: LaunchConfig = LaunchConfig {
    grid: [4, 2, 1],
    block: [128, 1, 1],
    shared: 64,
};
const THREADS_FIT: Contract = Contract {
    text: "threads <= data.len()",
    code: &[Op::Threads, Op::Len(0), Op::Le],
};

const DATA: &[Param] = &[Param {
    name: "data",
    kind: ParamKind::Buffer {
        unit: 4,
        mode: Mode::ReadWrite,
    },
}];

#[test]
fn the_usual_contract_is_decided_at_compile_time() {
    const HOLDS: Verdict = THREADS_FIT.evaluate(&CONFIG, DATA, &[Argument::Buffer(4096)]);
    const FAILS: Verdict = THREADS_FIT.evaluate(&CONFIG, DATA, &[Argument::Buffer(4092)]);
    assert_eq!((HOLDS, FAILS), (Verdict::Holds, Verdict::Fails));
    let expected = Verdict::Unknown;
    assert_eq!(THREADS_FIT.evaluate(&CONFIG, DATA, &[Argument::Unknown]), expected);
    let text = THREADS_FIT.describe(Text::new(), &CONFIG, DATA, &[Argument::Buffer(4092)]);
    assert_eq!(text.as_str(), "threads = 1024, data.len() = 1023");
}

fn run(code: &'static [Op], types: &[Scalar], arguments: &[Argument]) -> Verdict {
    let param = |scalar: &Scalar| Param {
        name: "n",
        kind: ParamKind::Value(*scalar),
    };
    let params: Vec<Param> = types.iter().map(param).collect();
    Contract { text: "", code }.evaluate(&CONFIG, &params, arguments)
}

#[test]
fn the_half_that_fails_is_told_with_each_value_once() {
    const BUFFERS: &[Param] = &[
        Param {
            name: "n",
            kind: ParamKind::Value(Scalar::U32),
        },
        DATA[0],
    ];
    let both = Contract {
        text: "(n > 0 && n < 500) && n <= data.len()",
        code: &[
            Op::Value(0),
            Op::Int(0),
            Op::Gt,
            Op::Value(0),
            Op::Int(500),
            Op::Lt,
            Op::And,
            Op::Value(0),
            Op::Len(1),
            Op::Le,
            Op::And,
        ],
    };
    let told = |n: i128, bytes: u64| {
        let arguments = [Argument::Int(n), Argument::Buffer(bytes)];
        let part = both.failing(&CONFIG, BUFFERS, &arguments);
        let text = part.describe(Text::new().str(part.text).str(": "), &CONFIG, BUFFERS, &arguments);
        part.help(text, &CONFIG, BUFFERS, &arguments).as_str().to_owned()
    };
    let expected = "n <= data.len(): n = 200, data.len() = 100\n\
         help: make `n` at most 100, or pass at least 200 elements as `data`";
    assert_eq!(told(200, 400), expected);
    let expected = "(n > 0 && n < 500): n = 600\nhelp: change the launch or the arguments so that it holds";
    assert_eq!(told(600, 4000), expected);
}

#[test]
fn scalars_are_read_by_their_type() {
    let bytes = |value: i32| {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&value.to_le_bytes());
        Argument::Bytes(bytes, 4)
    };
    let positive: &[Op] = &[Op::Value(0), Op::Int(0), Op::Gt];
    for (scalar, argument, expected) in [
        (Scalar::I32, bytes(-1), Verdict::Fails),
        (Scalar::U32, bytes(-1), Verdict::Holds),
        (Scalar::F32, bytes(1.5_f32.to_bits() as i32), Verdict::Holds),
        (Scalar::U64, bytes(1), Verdict::Unknown), // the mistake is of the type
        (Scalar::U32, Argument::Int(7), Verdict::Holds),
        (Scalar::Other, bytes(1), Verdict::Fails),
    ] {
        assert_eq!(run(positive, &[scalar], &[argument]), expected, "{scalar:?}");
    }
}

#[test]
fn undefined_does_not_hold_and_logic_decides_early() {
    let divide: &[Op] = &[Op::Int(1), Op::Value(0), Op::Div, Op::Int(0), Op::Ge];
    assert_eq!(run(divide, &[Scalar::U32], &[Argument::Int(0)]), Verdict::Fails);
    let guarded = [&[Op::Value(0), Op::Int(0), Op::Eq], divide, &[Op::Or]].concat();
    assert_eq!(run(guarded.leak(), &[Scalar::U32], &[Argument::Int(0)]), Verdict::Holds);
    let or_unknown: &[Op] = &[Op::Value(0), Op::Int(0), Op::Eq, Op::Bool(true), Op::Or];
    assert_eq!(run(or_unknown, &[Scalar::U32], &[Argument::Unknown]), Verdict::Holds);
    let overflow: &[Op] = &[Op::Int(i128::MAX), Op::Int(1), Op::Add, Op::Int(0), Op::Gt];
    assert_eq!(run(overflow, &[], &[]), Verdict::Fails);
    assert_eq!(run(&[Op::Add], &[], &[]), Verdict::Fails, "a program that is none");
    assert_eq!(run(&[Op::Int(3)], &[], &[]), Verdict::Fails, "not a boolean");
}

#[test]
fn casts_are_those_of_rust() {
    let cast = |bits, signed| Op::Cast { bits, signed };
    let casts = [
        (-1, cast(32, false), u32::MAX.into()),
        (-1, cast(64, false), u64::MAX.into()),
        (300, cast(8, false), 44),
        (200, cast(8, true), -56),
        (-5, cast(64, true), -5),
        (7, cast(128, false), 7),
    ];
    for (value, cast, expected) in casts {
        assert_eq!(cast.unary(Value::Int(value)), Value::Int(expected), "{value} {cast:?}");
    }
    assert_eq!(cast(128, false).unary(Value::Int(-1)), Value::Undefined);
}

#[test]
fn each_operator_has_the_result_of_rust() {
    let (int, float, bool) = (Value::Int, Value::Float, Value::Bool);
    let undefined = Value::Undefined;
    let of_integers: [(Op, i128, i128, Value); 47] = [
        (Op::Add, 7, 2, int(9)),
        (Op::Sub, 7, 2, int(5)),
        (Op::Sub, i128::MIN, 1, undefined),
        (Op::Mul, 7, 2, int(14)),
        (Op::Mul, i128::MAX, 2, undefined),
        (Op::Div, 7, 2, int(3)),
        (Op::Div, 7, 0, undefined),
        (Op::Rem, 7, 2, int(1)),
        (Op::Rem, -3, 2, int(-1)),
        (Op::Rem, 7, 0, undefined),
        (Op::Shl, 3, 0, int(3)),
        (Op::Shl, 1, 63, int(1 << 63)),
        (Op::Shl, 1, 64, undefined),
        (Op::Shl, 1, -1, undefined),
        (Op::Shl, i128::MAX, 1, undefined),
        (Op::Shr, 5, 0, int(5)),
        (Op::Shr, 5, 1, int(2)),
        (Op::Shr, -1, 127, int(-1)),
        (Op::Shr, 5, 128, undefined),
        (Op::Shr, 5, -1, undefined),
        (Op::BitAnd, 6, 3, int(2)),
        (Op::BitOr, 6, 3, int(7)),
        (Op::BitXor, 6, 3, int(5)),
        (Op::Eq, 2, 2, bool(true)),
        (Op::Eq, 2, 3, bool(false)),
        (Op::Ne, 2, 2, bool(false)),
        (Op::Ne, 2, 3, bool(true)),
        (Op::Lt, 2, 3, bool(true)),
        (Op::Lt, 2, 2, bool(false)),
        (Op::Le, 2, 2, bool(true)),
        (Op::Le, 3, 2, bool(false)),
        (Op::Gt, 3, 2, bool(true)),
        (Op::Gt, 2, 2, bool(false)),
        (Op::Ge, 2, 2, bool(true)),
        (Op::Ge, 2, 3, bool(false)),
        (Op::Min, 2, 3, int(2)),
        (Op::Min, 3, 2, int(2)),
        (Op::Max, 2, 3, int(3)),
        (Op::Max, 3, 2, int(3)),
        (Op::DivCeil, 9, 3, int(3)),
        (Op::DivCeil, 10, 3, int(4)),
        (Op::DivCeil, 0, 3, int(0)),
        (Op::DivCeil, -1, 3, undefined),
        (Op::DivCeil, 9, 0, undefined),
        (Op::IsMultipleOf, 9, 3, bool(true)),
        (Op::IsMultipleOf, 9, 2, bool(false)),
        (Op::IsMultipleOf, 9, 0, undefined),
    ];
    for (op, left, right, expected) in of_integers {
        assert_eq!(op.binary(int(left), int(right)), expected, "{left} {op:?} {right}");
    }
    let of_floats: [(Op, f64, f64, Value); 20] = [
        (Op::Add, 7.5, 2.0, float(9.5)),
        (Op::Sub, 7.5, 2.0, float(5.5)),
        (Op::Mul, 7.5, 2.0, float(15.0)),
        (Op::Div, 7.5, 2.0, float(3.75)),
        (Op::Rem, 7.5, 2.0, float(1.5)),
        (Op::Eq, 2.0, 2.0, bool(true)),
        (Op::Eq, 2.0, f64::NAN, bool(false)),
        (Op::Ne, 2.0, 2.0, bool(false)),
        (Op::Ne, f64::NAN, f64::NAN, bool(true)),
        (Op::Lt, 2.0, 2.5, bool(true)),
        (Op::Lt, 2.0, 2.0, bool(false)),
        (Op::Le, 2.0, 2.0, bool(true)),
        (Op::Le, 2.5, 2.0, bool(false)),
        (Op::Gt, 2.5, 2.0, bool(true)),
        (Op::Gt, 2.0, 2.0, bool(false)),
        (Op::Ge, 2.0, 2.0, bool(true)),
        (Op::Ge, 2.0, 2.5, bool(false)),
        (Op::Min, 2.0, 2.5, float(2.0)),
        (Op::Max, 2.0, 2.5, float(2.5)),
        (Op::BitAnd, 2.0, 2.0, undefined),
    ];
    for (op, left, right, expected) in of_floats {
        assert_eq!(op.binary(float(left), float(right)), expected, "{left} {op:?} {right}");
    }
    let of_others = [
        (Op::Div, int(1), float(4.0), float(0.25)),
        (Op::Div, float(1.0), int(4), float(0.25)),
        (Op::Eq, bool(true), bool(false), bool(false)),
        (Op::Ne, bool(true), bool(false), bool(true)),
        (Op::BitXor, bool(true), bool(true), bool(false)),
        (Op::BitAnd, bool(true), bool(false), bool(false)),
        (Op::BitAnd, bool(true), bool(true), bool(true)),
        (Op::BitOr, bool(true), bool(false), bool(true)),
        (Op::BitOr, bool(false), bool(false), bool(false)),
        (Op::Lt, bool(false), bool(true), undefined),
        (Op::And, bool(true), bool(false), bool(false)),
        (Op::And, Value::Unknown, bool(false), bool(false)),
        (Op::And, bool(true), Value::Unknown, Value::Unknown),
        (Op::Or, Value::Unknown, bool(true), bool(true)),
        (Op::Or, bool(false), Value::Unknown, Value::Unknown),
        (Op::Or, undefined, bool(false), undefined),
        (Op::Add, bool(true), int(1), undefined),
    ];
    for (op, left, right, expected) in of_others {
        assert_eq!(op.binary(left, right), expected, "{left:?} {op:?} {right:?}");
    }
    let of_one = [
        (Op::Neg, int(3), int(-3)),
        (Op::Neg, int(i128::MIN), undefined),
        (Op::Neg, float(1.5), float(-1.5)),
        (Op::Not, bool(true), bool(false)),
        (Op::Not, int(1), undefined),
        (Op::IsPowerOfTwo, int(8), bool(true)),
        (Op::IsPowerOfTwo, int(6), bool(false)),
        (Op::IsPowerOfTwo, int(0), bool(false)),
        (Op::IsPowerOfTwo, int(i128::MIN), bool(false)),
        (Op::Not, Value::Unknown, Value::Unknown),
    ];
    for (op, operand, expected) in of_one {
        assert_eq!(op.unary(operand), expected, "{op:?} {operand:?}");
    }
}

#[test]
fn operands_are_those_of_the_launch_and_the_arguments() {
    let config = LaunchConfig {
        grid: [5, 3, 2],
        block: [16, 4, 2],
        shared: 64,
    };
    let unit = |unit: usize| Param {
        kind: ParamKind::Buffer { unit, mode: Mode::Read },
        ..DATA[0]
    };
    let params = [unit(4), unit(0)];
    let arguments = [Argument::Buffer(4092), Argument::Buffer(4092), Argument::Float(0.5)];
    let loaded = [
        (Op::Threads, Value::Int(30 * 128)),
        (Op::Grid(0), Value::Int(5)),
        (Op::Grid(2), Value::Int(2)),
        (Op::Grid(3), Value::Int(30)),
        (Op::Block(0), Value::Int(16)),
        (Op::Block(2), Value::Int(2)),
        (Op::Block(3), Value::Int(128)),
        (Op::Shared, Value::Int(64)),
        (Op::Len(0), Value::Int(1023)),
        (Op::Len(1), Value::Unknown),
        (Op::Len(2), Value::Unknown),
        (Op::Len(3), Value::Unknown),
        (Op::Value(0), Value::Unknown),
        (Op::Value(2), Value::Float(0.5)),
        (Op::Value(3), Value::Unknown),
    ];
    for (op, expected) in loaded {
        assert_eq!(op.load(&config, &params, &arguments), expected, "{op:?}");
    }
}

#[test]
fn each_operand_is_described_once() {
    const CODE: &[Op] = &[
        Op::Grid(0),
        Op::Grid(1),
        Op::Add,
        Op::Block(0),
        Op::Block(1),
        Op::Add,
        Op::Mul,
        Op::Grid(1),
        Op::Shared,
        Op::Len(0),
        Op::Len(1),
        Op::Shared,
        Op::Value(2),
        Op::Value(2),
    ];
    let named = |name: &'static str| Param { name, ..DATA[0] };
    let params = [named("a"), named("b"), named("n")];
    let arguments = [Argument::Buffer(4), Argument::Buffer(8), Argument::Int(9)];
    let contract = Contract { text: "", code: CODE };
    assert_eq!(
        contract.describe(Text::new(), &CONFIG, &params, &arguments).as_str(),
        "grid.x = 4, grid.y = 2, block.x = 128, block.y = 1, shared = 64, a.len() = 1, b.len() = 2, n = 9"
    );
    let expected = [true, true, true, false];
    assert_eq!([0, 1, 2, 3].map(|param| contract.mentions(param)), expected);
}

#[test]
fn halves_are_told_by_the_last_and_outside_of_parentheses() {
    const CODE: &[Op] = &[
        Op::Value(0),
        Op::Int(0),
        Op::Gt,
        Op::Value(0),
        Op::Int(1),
        Op::BitAnd,
        Op::Int(0),
        Op::Eq,
        Op::And,
    ];
    let contract = Contract {
        text: "n > 0 && n & 1 == 0",
        code: CODE,
    };
    let failing = |n: i128| contract.failing(&CONFIG, DATA, &[Argument::Int(n)]).text;
    assert_eq!([failing(0), failing(3)], ["n > 0", "n & 1 == 0"]);
}

#[test]
fn a_contract_may_be_as_deep_as_the_stack() {
    let nested = |depth: usize| {
        let mut code = vec![Op::Int(1); depth];
        code.extend(vec![Op::Mul; depth - 1]);
        code.extend([Op::Int(1), Op::Eq]);
        run(code.leak(), &[], &[])
    };
    assert_eq!(nested(Contract::MAX_DEPTH), Verdict::Holds);
    assert_eq!(nested(Contract::MAX_DEPTH + 1), Verdict::Fails);
}

#[test]
fn threads_are_launched_and_other_numbers_are_made() {
    let arguments = [Argument::Buffer(4092)];
    assert_eq!(
        THREADS_FIT.help(Text::new(), &CONFIG, DATA, &arguments).as_str(),
        "\nhelp: launch at most 1023 threads, or pass at least 1024 elements as `data`"
    );
}

#[test]
fn memory_of_another_name_is_named() {
    let note = "\nnote: parameter `data` is `weights`";
    let named =
        |params: &[Param], memory: &[&str]| THREADS_FIT.name_memory(Text::new(), params, memory).as_str().to_owned();
    assert_eq!(named(DATA, &["weights"]), note);
    assert_eq!(named(DATA, &["data"]), "");
    assert_eq!(named(DATA, &[""]), "");
    assert_eq!(named(DATA, &[]), "", "as many as both have");
    assert_eq!(named(DATA, &["weights", "other"]), note);
    assert_eq!(named(&[], &["weights"]), "");
}
