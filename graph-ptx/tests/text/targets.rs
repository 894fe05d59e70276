//! The devices that have an instruction: a table that `ptxas` 12.4 made, which it confirms where it was fetched.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use graph_ptx::parse;

/// Lines of `sm_80 redux.sync.add.s32 %r1,%r2,-1;`: the oldest target with an instruction.
const TABLE: &str = include_str!("../data/targets.txt");

fn table() -> Vec<(u32, &'static str)> {
    let lines = TABLE
        .lines()
        .filter_map(|line| line.strip_prefix("sm_")?.split_once(' '));
    lines.map(|(target, code)| (target.parse().unwrap(), code)).collect()
}

/// A module with a kernel on one line for each instruction. The first is on line 5.
fn module<'a>(target: u32, instructions: impl Iterator<Item = &'a str>) -> String {
    let mut text = format!(".version 8.4\n.target sm_{target}\n.address_size 64\n\n");
    for (index, instruction) in instructions.enumerate() {
        text += &format!(
            ".entry k{index}() {{ .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .f64 %d<9>; \
             .reg .b64 %rd<9>; .shared .align 8 .b8 sm[256]; {instruction} ret; }}\n"
        );
    }
    text
}

fn ptxas() -> Option<PathBuf> {
    let wheel = "../.wheels/nvidia-cuda-nvcc-cu12-12.4.131/nvidia/cuda_nvcc/bin/ptxas";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(wheel);
    path.exists().then_some(path)
}

/// The lines that `ptxas` refuses.
fn refused_by(ptxas: &Path, target: u32, text: &str) -> BTreeSet<usize> {
    let file = std::env::temp_dir().join(format!("graph-ptx-{}-{target}.ptx", std::process::id()));
    std::fs::write(&file, text).unwrap();
    let mut command = Command::new(ptxas);
    command.args([
        "--compile-only",
        "--output-file=/dev/null",
        &format!("--gpu-name=sm_{target}"),
    ]);
    let output = command.arg(&file).output().unwrap();
    std::fs::remove_file(&file).unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    let lines = text
        .lines()
        .filter_map(|line| line.split_once(", line ")?.1.split_once(';'));
    lines.map(|(line, _)| line.parse().unwrap()).collect()
}

#[test]
fn instructions_that_a_target_does_not_have_cost_their_kernel() {
    let table = table();
    assert!(table.len() > 250);
    for target in [60, 61, 70, 72, 75, 80, 86, 89, 90] {
        let text = module(target, table.iter().map(|(_, code)| *code));
        let parsed = parse(&text).unwrap();
        for ((least, code), function) in table.iter().zip(&parsed.functions) {
            let expected = (*least > target).then_some(());
            assert_eq!(
                function.fault().map(drop),
                expected,
                "`{code}` for sm_{target}: {:?}",
                function.fault()
            );
            if let Some(fault) = function.fault() {
                assert!(
                    fault.message.contains(&format!("needs `.target sm_{least}`")),
                    "{code}: {fault}"
                );
            }
        }
    }
    let newest = module(90, ["redux.sync.add.s32 %r1,%r2,-1;"].into_iter()).replace("sm_90", "sm_120a");
    assert_eq!(parse(&newest).unwrap().functions[0].fault(), None);
}

#[test]
fn ptxas_confirms_the_table() {
    let Some(ptxas) = ptxas() else {
        return eprintln!("ptxas was not fetched: `cargo xtask ptxas` does");
    };
    let table = table();
    for target in [60, 70, 75, 80, 89, 90] {
        let text = module(target, table.iter().map(|(_, code)| *code));
        let newer = table.iter().enumerate().filter(|(_, (least, _))| *least > target);
        let expected: BTreeSet<usize> = newer.map(|(index, _)| index + 5).collect();
        let refused = refused_by(&ptxas, target, &text);
        let differ: Vec<_> = refused
            .symmetric_difference(&expected)
            .map(|line| table[line - 5])
            .collect();
        assert!(differ.is_empty(), "sm_{target}: {differ:?}");
    }
}
