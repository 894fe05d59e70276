//! Random address arithmetic against exact linear algebra: no address may hide where it comes from.

use std::fmt::Write;

use graph_ptx::{parse, summarize};
use proptest::prelude::*;
use proptest::sample::Index;

/// A register's value, as multiples of: pointer `a`, pointer `b`, a pointer loaded from memory, by-value `n`.
type Linear = [i64; 4];

#[derive(Clone, Debug)]
enum Step {
    Add(Index, Index),
    Subtract(Index, Index),
    Negate(Index),
    Complement(Index),
    Twice(Index),
    Through { local: bool, value: Index },
}

fn step() -> impl Strategy<Value = Step> {
    let any_register = any::<Index>;
    prop_oneof![
        4 => (any_register(), any_register()).prop_map(|(a, b)| Step::Add(a, b)),
        4 => (any_register(), any_register()).prop_map(|(a, b)| Step::Subtract(a, b)),
        1 => any_register().prop_map(Step::Negate),
        1 => any_register().prop_map(Step::Complement),
        1 => any_register().prop_map(Step::Twice),
        1 => (any::<bool>(), any_register()).prop_map(|(local, value)| Step::Through { local, value }),
    ]
}

/// PTX that does the steps and stores through the last register, and what that register holds.
fn kernel(steps: &[Step]) -> (String, Linear) {
    let mut text = String::from(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 n) {
         .reg .b64 %rd<200>; .local .b64 spot; .shared .b64 place;
         ld.param.u64 %rd0, [a]; ld.param.u64 %rd1, [b]; ld.global.u64 %rd2, [%rd0]; ld.param.u64 %rd3, [n];\n",
    );
    let mut registers: Vec<Linear> = vec![[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]];
    for step in steps {
        let new = registers.len();
        let at = |index: &Index| index.index(new);
        let combine = |a: Linear, b: Linear, sign: i64| std::array::from_fn(|part| a[part] + sign * b[part]);
        let (instruction, value): (String, Linear) = match step {
            Step::Add(a, b) => (
                format!("add.s64 %rd{new}, %rd{}, %rd{}", at(a), at(b)),
                combine(registers[at(a)], registers[at(b)], 1),
            ),
            Step::Subtract(a, b) => (
                format!("sub.s64 %rd{new}, %rd{}, %rd{}", at(a), at(b)),
                combine(registers[at(a)], registers[at(b)], -1),
            ),
            Step::Negate(a) => (
                format!("neg.s64 %rd{new}, %rd{}", at(a)),
                combine([0; 4], registers[at(a)], -1),
            ),
            Step::Complement(a) => (
                format!("xor.b64 %rd{new}, %rd{}, -1", at(a)),
                combine([0; 4], registers[at(a)], -1),
            ),
            Step::Twice(a) => (
                format!("shl.b64 %rd{new}, %rd{}, 1", at(a)),
                combine(registers[at(a)], registers[at(a)], 1),
            ),
            Step::Through { local, value } => {
                let (space, name) = if *local { ("local", "spot") } else { ("shared", "place") };
                let store = format!("st.{space}.u64 [{name}], %rd{}", at(value));
                (
                    format!("{store}; ld.{space}.u64 %rd{new}, [{name}]"),
                    registers[at(value)],
                )
            }
        };
        let _ = writeln!(text, "{instruction};");
        registers.push(value);
    }
    let last = registers.len() - 1;
    let _ = writeln!(text, "st.global.u32 [%rd{last}], 1;\nret; }}");
    (text, registers[last])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn an_address_shows_where_it_comes_from(steps in prop::collection::vec(step(), 1..12)) {
        let (text, address) = kernel(&steps);
        let summary = summarize(&parse(&text).unwrap(), "k", &[true, true]).unwrap();
        let stored = |index: usize| summary.params[index].access.stored.is_some();
        match address {
            [1, 0, 0, _] => prop_assert!(stored(0), "{text}"),
            [0, 1, 0, _] => prop_assert!(stored(1), "{text}"),
            [0, 0, 1, _] => prop_assert!(summary.unknown_store.is_some(), "{text}"),
            [0, 0, 0, 1] => prop_assert!(summary.params[2].address.is_some() || summary.unknown_store.is_some(), "{text}"),
            _ => {}
        }
    }
}
