//! A block that runs in lockstep does what its warps do by themselves, as they do in a launch that asks for checks.
//! Compared for random kernels, in blocks of many shapes.

use std::fmt::Write as _;

use crate::common::Argument::{Read, Write};
use crate::common::random::Random;
use crate::common::{Gpu, download, value};
use graph_emulator::Options;

/// Random instructions and kernels.
struct Author(Random);

impl Author {
    fn below(&mut self, end: usize) -> usize {
        self.0.below(end)
    }

    fn pick<'a>(&mut self, among: &[&'a str]) -> &'a str {
        among[self.below(among.len())]
    }

    fn r(&mut self) -> String {
        format!("%r{}", self.below(REGISTERS))
    }

    fn rd(&mut self) -> String {
        format!("%rd{}", self.below(REGISTERS))
    }

    fn p(&mut self) -> String {
        format!("%p{}", self.below(4))
    }

    /// A number for shifts, strides and bounds, or one at which values wrap around.
    fn literal(&mut self) -> String {
        self.pick(&[
            "0",
            "1",
            "4",
            "-4",
            "7",
            "64",
            "1020",
            "-128",
            "2147483000",
            "-2147483600",
            "65537",
        ])
        .to_owned()
    }

    fn source(&mut self) -> String {
        if self.below(3) == 0 { self.literal() } else { self.r() }
    }

    fn instruction(&mut self) -> String {
        let (r, rd) = (self.r(), self.rd());
        let (a, b, c) = (self.r(), self.source(), self.source());
        let (x, y) = (self.rd(), self.rd());
        let sign = self.pick(&["s32", "u32"]);
        match self.below(21) {
            0..=2 => format!("{}.{sign} {r}, {a}, {b};", self.pick(&["add", "sub", "mul.lo"])),
            3 => format!("mad.lo.{sign} {r}, {a}, {b}, {c};"),
            4 => format!("shl.b32 {r}, {a}, {};", self.pick(&["0", "2", "5", "31", "32", "%r1"])),
            5 => format!(
                "{} {r}, {a}, {b};",
                self.pick(&["and.b32", "xor.b32", "min.s32", "max.u32", "shr.u32"])
            ),
            6 => format!("mov.u32 {r}, {b};"),
            7..=8 => format!("mul.wide.{sign} {rd}, {a}, {b};"),
            9 => format!("mad.wide.{sign} {rd}, {a}, {b}, {x};"),
            10 => format!("{} {rd}, {a};", self.pick(&["cvt.s64.s32", "cvt.u64.u32"])),
            11..=12 => format!("{} {rd}, {x}, {y};", self.pick(&["add.s64", "sub.s64", "mul.lo.s64"])),
            13 => format!("shl.b64 {rd}, {x}, {};", self.pick(&["1", "3", "63"])),
            14 => format!("cvt.u32.u64 {r}, {x};"),
            15..=16 => {
                let comparison = self.pick(&["lt", "le", "gt", "ge", "eq", "ne"]);
                format!("setp.{comparison}.{sign} {}, {a}, {b};", self.p())
            }
            17 => format!("ld.global.u32 {r}, [%table+{}];", 4 * self.below(64)),
            18 => format!(
                "and.b32 %offset, {a}, 1020; cvt.u64.u32 %at, %offset; add.s64 %at, %at, %table; ld.global.u32 {r}, [%at];"
            ),
            19 => format!(
                "{} {r}, {a}, {}, 31, -1;",
                self.pick(&["shfl.sync.bfly.b32", "shfl.sync.up.b32", "shfl.sync.idx.b32"]),
                self.below(32)
            ),
            _ => format!(
                "bar.sync 0; st.shared.u32 [%own], {a}; bar.sync 0; ld.shared.u32 {r}, [%{}];",
                self.pick(&["own", "other", "first"])
            ),
        }
    }

    fn kernel(&mut self) -> String {
        let mut body = String::new();
        for label in 0..12 {
            let p = self.p();
            match self.below(3) {
                0 => {
                    // Barriers are not skipped, because all threads must come to them.
                    let skipped = (0..4).map(|_| self.instruction()).filter(|text| !text.contains("sync"));
                    let skipped = skipped.collect::<Vec<_>>().join("\n");
                    let not = self.pick(&["", "!"]);
                    writeln!(body, "@{not}{p} bra $L{label};\n{skipped}\n$L{label}:").unwrap();
                }
                1 => {
                    let guarded = self.instruction();
                    let guard = if guarded.contains("sync") || guarded.contains("%at") {
                        String::new()
                    } else {
                        format!("@{p} ")
                    };
                    writeln!(body, "{guard}{guarded}").unwrap();
                }
                _ => (0..4).for_each(|_| writeln!(body, "{}", self.instruction()).unwrap()),
            }
        }
        let stores32 = (0..REGISTERS).map(|index| format!("st.global.u32 [%to+{}], %r{index};\n", 4 * index));
        let stores64 = (0..REGISTERS).map(|index| format!("st.global.u64 [%to+{}], %rd{index};\n", 48 + 8 * index));
        let stores: String = stores32.chain(stores64).collect();
        format!("{PROLOGUE}{body}{stores}ret;\n}}\n")
    }
}

/// Registers of each width that random instructions use.
const REGISTERS: usize = 10;

const PROLOGUE: &str = ".version 8.4
.target sm_70
.address_size 64
.visible .entry random(.param .u64 table, .param .u64 out, .param .u32 number) {
.reg .pred %p<4>;
.reg .b32 %r<10>;
.reg .b64 %rd<10>;
.reg .b64 %table, %at, %to;
.reg .b32 %offset, %linear, %own, %other, %first, %thread;
.shared .align 4 .b8 words[4096];
ld.param.u64 %table, [table];
ld.param.u64 %to, [out];
ld.param.u32 %r4, [number];
mov.u32 %r0, %tid.x;
mov.u32 %r1, %tid.y;
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %ntid.x;
mov.u32 %r5, %tid.z;
mov.u32 %linear, %ntid.y;
mad.lo.u32 %linear, %linear, %r5, %r1;
mad.lo.u32 %linear, %linear, %r3, %r0;
mov.u32 %first, words;
shl.b32 %own, %linear, 2;
xor.b32 %other, %own, 28;
add.u32 %own, %own, %first;
add.u32 %other, %other, %first;
shl.b32 %thread, %r2, 10;
add.u32 %thread, %thread, %linear;
mul.wide.u32 %rd0, %thread, 128;
add.s64 %to, %to, %rd0;
";

#[test]
fn random_kernels_do_the_same_together_and_warp_by_warp() {
    let mut author = Author(Random(1));
    let table: Vec<u32> = (0..256)
        .map(|_| author.below(1 << 31) as u32 >> author.below(32))
        .collect();
    let shapes = [
        [256, 1, 1],
        [16, 16, 1],
        [32, 32, 1],
        [8, 8, 4],
        [4, 8, 2],
        [96, 1, 1],
        [24, 4, 1],
        [1, 64, 1],
    ];
    for round in 0..200 {
        let ptx = author.kernel();
        let gpu = Gpu::new(&ptx);
        let table = gpu.upload("table", &table);
        let block: [u32; 3] = shapes[round % shapes.len()];
        let threads = block.iter().product::<u32>() as usize;
        let number = author.below(1 << 16) as u32;
        let run = |options: Option<&Options>| {
            let out = gpu.upload("out", &vec![0u32; 3 * 1024 * 32]);
            let arguments = [Read(&table), Write(&out), value(number)];
            let result = match options {
                None => gpu.launch("random", [3, 1, 1], block, &arguments),
                Some(options) => gpu.launch_with("random", [3, 1, 1], block, 0, &arguments, options),
            };
            result.unwrap_or_else(|fault| panic!("{fault}\n{ptx}"));
            download::<u32>(&out)
        };
        let together = run(None);
        let apart = run(Some(&Options {
            check_uninitialized: true,
            ..Options::default()
        }));
        for (index, (together, apart)) in together.iter().zip(&apart).enumerate() {
            let (thread, word) = (index / 32, index % 32);
            assert!(
                together == apart,
                "thread {} of block {}, word {word}, in a block {block:?} of {threads}: {together} instead of {apart}\n{ptx}",
                thread % 1024,
                thread / 1024
            );
        }
    }
}
