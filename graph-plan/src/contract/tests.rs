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
    assert_eq!(
        THREADS_FIT.evaluate(&CONFIG, DATA, &[Argument::Unknown]),
        Verdict::Unknown
    );
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
    assert_eq!(
        told(200, 400),
        "n <= data.len(): n = 200, data.len() = 100\n\
         help: make `n` at most 100, or pass at least 200 elements as `data`"
    );
    assert_eq!(
        told(600, 4000),
        "(n > 0 && n < 500): n = 600\nhelp: change the launch or the arguments so that it holds"
    );
}

#[test]
fn scalars_are_read_by_their_type() {
    let bytes = |value: i32| {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&value.to_le_bytes());
        Argument::Bytes(bytes, 4)
    };
    let positive: &[Op] = &[Op::Value(0), Op::Int(0), Op::Gt];
    assert_eq!(run(positive, &[Scalar::I32], &[bytes(-1)]), Verdict::Fails);
    assert_eq!(run(positive, &[Scalar::U32], &[bytes(-1)]), Verdict::Holds);
    assert_eq!(
        run(positive, &[Scalar::F32], &[bytes(1.5_f32.to_bits() as i32)]),
        Verdict::Holds
    );
    assert_eq!(
        run(positive, &[Scalar::U64], &[bytes(1)]),
        Verdict::Unknown,
        "another type's error"
    );
    assert_eq!(run(positive, &[Scalar::U32], &[Argument::Int(7)]), Verdict::Holds);
    assert_eq!(run(positive, &[Scalar::Other], &[bytes(1)]), Verdict::Fails);
}

#[test]
fn undefined_does_not_hold_and_logic_decides_early() {
    let divide: &[Op] = &[Op::Int(1), Op::Value(0), Op::Div, Op::Int(0), Op::Ge];
    assert_eq!(run(divide, &[Scalar::U32], &[Argument::Int(0)]), Verdict::Fails);
    let guarded: &[Op] = &[
        Op::Value(0),
        Op::Int(0),
        Op::Eq,
        Op::Int(1),
        Op::Value(0),
        Op::Div,
        Op::Int(0),
        Op::Ge,
        Op::Or,
    ];
    assert_eq!(run(guarded, &[Scalar::U32], &[Argument::Int(0)]), Verdict::Holds);
    let or_unknown: &[Op] = &[Op::Value(0), Op::Int(0), Op::Eq, Op::Bool(true), Op::Or];
    assert_eq!(run(or_unknown, &[Scalar::U32], &[Argument::Unknown]), Verdict::Holds);
    assert_eq!(
        run(&[Op::Int(i128::MAX), Op::Int(1), Op::Add, Op::Int(0), Op::Gt], &[], &[]),
        Verdict::Fails
    );
    assert_eq!(run(&[Op::Add], &[], &[]), Verdict::Fails, "a program that is none");
    assert_eq!(run(&[Op::Int(3)], &[], &[]), Verdict::Fails, "not a boolean");
}

#[test]
fn operators_mean_what_rust_means() {
    let holds = |code| run(code, &[], &[]) == Verdict::Holds;
    assert!(holds(&[Op::Grid(0), Op::Int(4), Op::Eq]));
    assert!(holds(&[Op::Grid(3), Op::Int(8), Op::Eq]));
    assert!(holds(&[Op::Block(3), Op::IsPowerOfTwo]));
    assert!(holds(&[Op::Shared, Op::Block(0), Op::Int(2), Op::Div, Op::Eq]));
    assert!(holds(&[Op::Int(10), Op::Int(3), Op::DivCeil, Op::Int(4), Op::Eq]));
    assert!(holds(&[Op::Int(9), Op::Int(3), Op::IsMultipleOf]));
    assert!(holds(&[Op::Int(1), Op::Int(10), Op::Shl, Op::Int(1024), Op::Eq]));
    assert!(holds(&[Op::Float(0.5), Op::Int(1), Op::Lt]));
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
    assert!(holds(&[
        Op::Int(3),
        Op::Neg,
        Op::Int(2),
        Op::Rem,
        Op::Int(1),
        Op::Neg,
        Op::Eq
    ]));
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
