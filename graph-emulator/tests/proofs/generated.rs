//! Random kernels: those that are proved run, also with memory that holds nothing where they write it first, and those
//! that are refuted fault as the witness says. Of those that have no races, none has one.
//!
//! `PROOF_KERNELS=100000 cargo test -p graph-emulator --test proofs generated -- --nocapture` tries more; `PROOF_SEED`
//! names the first.

use crate::judge::{EFFORT, fault, initialised, is_of_access, is_small, run};
use crate::random::Random;
use graph_emulator::FaultKind;
use graph_ptx::proof::{Binary, Kernel, Kind, Param, Races, Term, Verdict, prove, races, samples, weakest};
use std::fmt::Write;

/// Numbers that are at or beside the ends of ranges.
const NUMBERS: [i64; 20] = [
    0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 63, 64, 255, 65535, -1, -2, -8, 2147483647,
];

/// The code of a kernel as it grows.
struct Author {
    random: Random,
    code: String,
    labels: usize,
    /// The instructions that may still be written.
    left: usize,
    /// Registers of counters, which only their loops change.
    counters: usize,
}

impl Author {
    fn below(&mut self, end: usize) -> usize {
        self.random.below(end)
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn line(&mut self, line: &str) {
        self.left = self.left.saturating_sub(1);
        let _ = writeln!(self.code, "{line}");
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    /// A register that code writes.
    fn result(&mut self) -> String {
        format!("%r{}", 6 + self.below(5))
    }

    fn register(&mut self) -> String {
        format!("%r{}", self.below(11 + self.counters))
    }

    fn number(&mut self) -> i64 {
        NUMBERS[self.below(NUMBERS.len())]
    }

    fn operand(&mut self) -> String {
        match self.below(3) {
            0 => self.number().to_string(),
            _ => self.register(),
        }
    }

    fn predicate(&mut self) -> String {
        format!("%p{}", self.below(4))
    }

    fn guard(&mut self) -> String {
        let not = self.one(&["", "!"]);
        format!("@{not}{}", self.predicate())
    }

    /// A comparison whose result is in the predicate.
    fn compare(&mut self, predicate: &str) {
        let op = self.one(&["eq", "ne", "lt", "le", "gt", "ge", "lt", "ge"]);
        let ty = self.one(&["u32", "u32", "s32", "u32", "s32"]);
        let (a, b) = (self.register(), self.operand());
        let line = match self.below(6) {
            0 => {
                let (both, other) = (self.one(&["and", "or", "xor"]), self.predicate());
                format!("setp.{op}.{both}.{ty} {predicate}, {a}, {b}, {other};")
            }
            1 => {
                let (a, b) = (self.wide(), self.wide());
                let ty = self.one(&["u64", "s64"]);
                format!("setp.{op}.{ty} {predicate}, {a}, {b};")
            }
            2 => format!("setp.{op}.u16 {predicate}, %rs0, %rs1;"),
            _ => format!("setp.{op}.{ty} {predicate}, {a}, {b};"),
        };
        self.line(&line);
    }

    fn wide(&mut self) -> String {
        format!("%rd{}", 3 + self.below(4))
    }

    /// Instructions of which little is known, and numbers of less or more than 32 bits.
    fn rarer(&mut self, guard: &str) {
        let (to, a, b, c) = (self.result(), self.register(), self.operand(), self.operand());
        let (w, x, y) = (self.wide(), self.wide(), self.wide());
        let (p, q, ty, half) = (
            self.predicate(),
            self.predicate(),
            self.one(&["u32", "s32"]),
            self.one(&["u16", "s16"]),
        );
        let (by, half_register) = (self.below(70), self.below(2));
        let small = self.one(&["u8", "s8", "u16", "s16", "u32", "s32"]);
        let large = self.one(&["u16", "s16", "u32", "s32", "u64", "s64"]);
        let from = self.one(&["u8", "s8", "u16", "s16", "u32", "s32"]);
        let number = self.number();
        let line = match self.below(32) {
            0 => format!(
                "shfl.sync.{} {to}|{p}, {a}, {b}, 31, -1;",
                self.one(&["down.b32", "up.b32", "idx.b32", "bfly.b32"])
            ),
            1 => format!("vote.sync.ballot.b32 {to}, {p}, -1;"),
            2 => format!("prmt.b32 {to}, {a}, {b}, {c};"),
            3 => format!(
                "shf.{}.b32 {to}, {a}, {b}, {c};",
                self.one(&["l.wrap", "r.clamp", "r.wrap"])
            ),
            4 => format!("bfi.b32 {to}, {a}, {b}, {}, {};", by % 33, by % 9),
            5 => format!("lop3.b32 {to}, {a}, {b}, {c}, {};", self.below(256)),
            6 => format!(
                "{} {to}, {a};",
                self.one(&["brev.b32", "bfind.u32", "bfind.s32", "cnot.b32"])
            ),
            7 => format!("mad.wide.{ty} {w}, {a}, {b}, {x};"),
            8 => format!("mad.hi.{ty} {to}, {a}, {b}, {c};"),
            9 => format!("mul.wide.{half} {to}, %rs{half_register}, %rs1;"),
            10 => format!("mad.wide.{half} {to}, %rs{half_register}, {}, {a};", number % 32768),
            11 => format!("mul.{}.{half} %rs{half_register}, %rs0, %rs1;", self.one(&["lo", "hi"])),
            12 => format!("mov.b32 {{%rs0, %rs1}}, {a};"),
            13 => format!("mov.b32 {to}, {{%rs{half_register}, %rs1}};"),
            14 => format!("setp.{}.{ty} {p}|{q}, {a}, {b};", self.one(&["lt", "ge", "eq"])),
            15 => format!("setp.lt.or.{ty} {p}|{q}, {a}, {b}, !{p};"),
            16 => {
                let mut into = large;
                let register = match into {
                    "u64" | "s64" => &w,
                    _ => &to,
                };
                if into.ends_with("16") && by % 3 == 0 {
                    into = "u8";
                }
                format!("cvt.{into}.{from} {register}, {a};")
            }
            17 => format!(
                "cvt.{large}.{} {w}, {x};",
                self.one(&["u64", "s64", "u32", "s32", "u8", "s16"])
            ),
            18 => format!("cvt.sat.{}.{} {to}, {a};", self.one(&["u8", "s8", "u16", "s16"]), ty),
            19 => format!("cvt.rn.f32.{ty} %f0, {a}; {guard}cvt.rzi.{small}.f32 {to}, %f0;"),
            20 => format!(
                "{}.{} {to}, {a}, {b};",
                self.one(&["shl", "shr"]),
                self.one(&["b32", "b32"])
            ),
            21 => format!("shr.{ty} {to}, {a}, {b};"),
            22 => format!("shr.{half} %rs{half_register}, %rs1, {by};"),
            23 => format!("add.cc.u32 {to}, {a}, {b}; {guard}addc.u32 {to}, {a}, {c};"),
            24 => format!("mul24.lo.{ty} {to}, {a}, {b};"),
            25 => format!("{} {w}, {x};", self.one(&["neg.s64", "abs.s64", "not.b64", "mov.u64"])),
            26 => format!("mul.hi.{} {w}, {x}, {y};", self.one(&["u64", "s64"])),
            27 => format!("bfe.{} {to}, {a}, {}, {};", ty, by % 40, by % 13),
            28 => format!("bfe.u64 {w}, {x}, {}, {};", by, by % 9),
            29 => format!(
                "max.{ty} %r36, {b}, 1; {guard}{}.{ty} {to}, {a}, %r36;",
                self.one(&["div", "rem"])
            ),
            30 => format!(
                "{} {w}, {x}, {};",
                self.one(&["shl.b64", "shr.u64", "shr.s64"]),
                self.register()
            ),
            _ => format!(
                "mov.u32 {to}, {};",
                self.one(&["%laneid", "%nctaid.x", "%tid.y", "%warpid", "%ntid.z"])
            ),
        };
        self.line(&format!("{guard}{line}"));
    }

    fn arithmetic(&mut self, guard: &str) {
        if self.below(3) == 0 {
            return self.rarer(guard);
        }
        let (to, a, b, c) = (self.result(), self.register(), self.operand(), self.operand());
        let (w, x, y) = (self.wide(), self.wide(), self.wide());
        let by = self.below(34);
        let p = self.predicate();
        let least = self.one(&["min", "max"]);
        let ty = self.one(&["u32", "s32"]);
        let op = self.one(&[
            "add.u32",
            "sub.u32",
            "mul.lo.u32",
            "and.b32",
            "or.b32",
            "xor.b32",
            "add.s32",
            "sub.s32",
        ]);
        let op_wide = self.one(&[
            "add.s64",
            "sub.s64",
            "mul.lo.u64",
            "and.b64",
            "or.b64",
            "min.u64",
            "max.s64",
        ]);
        let half = self.one(&["u16", "s16"]);
        let number = self.number();
        let line = match self.below(28) {
            0..=5 => format!("{op} {to}, {a}, {b};"),
            6..=8 => format!("{least}.{ty} {to}, {a}, {b};"),
            9 => format!("shl.b32 {to}, {a}, {};", by % 33),
            10 => format!("shr.{ty} {to}, {a}, {};", by),
            11 => format!("div.{ty} {to}, {a}, {};", number.max(1)),
            12 => format!("rem.{ty} {to}, {a}, {};", number.max(1)),
            13 => format!("mad.lo.s32 {to}, {a}, {b}, {c};"),
            14 => format!("mul.hi.{ty} {to}, {a}, {b};"),
            15 => format!("bfe.u32 {to}, {a}, {}, {};", by % 32, by % 9),
            16 | 17 => format!("selp.b32 {to}, {a}, {b}, {p};"),
            18 => format!(
                "{} {to}, {a};",
                self.one(&["neg.s32", "not.b32", "abs.s32", "mov.u32", "popc.b32", "clz.b32"])
            ),
            19 => format!("cvt.u16.u32 %rs{}, {a};", by % 2),
            20 => format!("cvt.{ty}.{half} {to}, %rs{};", by % 2),
            21 => format!("cvt.{}.u32 {to}, {a};", self.one(&["u8", "s8", "u16", "s16"])),
            22 => format!("cvt.{}.{ty} {w}, {a};", self.one(&["u64", "s64"])),
            23 => format!("{op_wide} {w}, {x}, {y};"),
            24 => format!("mul.wide.{ty} {w}, {a}, {b};"),
            25 => format!("cvt.u32.u64 {to}, {w};"),
            26 => match by % 4 {
                0 => format!("mov.b64 {{{to}, _}}, {w};"),
                1 => format!("mov.b64 {{_, {to}}}, {w};"),
                2 => format!("mov.b64 {w}, {{{a}, {}}};", self.register()),
                _ => format!("shr.{} {w}, {x}, {};", self.one(&["u64", "s64"]), by),
            },
            _ => format!("add.{half} %rs{}, %rs1, {};", by % 2, number % 256),
        };
        self.line(&format!("{guard}{line}"));
    }

    /// An access, most often within bounds.
    fn access(&mut self) {
        let index = self.register();
        let end = self.label();
        let at = match self.below(8) {
            0..=2 => {
                let bound = self.one(&["%r3", "64", "%r3", "%r5"]);
                let op = self.one(&["ge", "ge", "ge", "gt"]);
                let ty = self.one(&["u32", "u32", "u32", "s32"]);
                self.line(&format!("setp.{op}.{ty} %p5, {index}, {bound}; @%p5 bra {end};"));
                index
            }
            3 => {
                let guard = self.guard();
                self.line(&format!("{guard} bra {end};"));
                index
            }
            4 => {
                self.line(&format!("and.b32 %r30, {index}, 63;"));
                "%r30".to_owned()
            }
            5 => {
                self.line(&format!("min.u32 %r30, {index}, 63;"));
                "%r30".to_owned()
            }
            6 => {
                self.line(&format!("rem.u32 %r30, {index}, 64;"));
                "%r30".to_owned()
            }
            _ => index,
        };
        let by = self.one(&["", "", "", "", "+4", "+-4"]);
        let guard = match self.below(4) {
            0 => self.guard() + " ",
            _ => String::new(),
        };
        let load = self.result();
        if self.below(6) == 0 {
            self.newer(&at);
        } else if self.below(4) == 0 {
            self.line(&format!(
                "mul.lo.u32 %r31, {at}, 4; mov.u32 %r32, tile; add.u32 %r31, %r31, %r32;"
            ));
            match self.below(2) {
                0 => self.line(&format!("{guard}ld.shared.u32 {load}, [%r31{by}];")),
                _ => self.line(&format!("{guard}st.shared.u32 [%r31{by}], {at};")),
            }
        } else if self.below(4) == 0 {
            let (base, mask) = (self.one(&["%rd1", "%rd2"]), self.one(&["-4", "-4", "-2", "-1"]));
            let by = self.one(&["", "", "+4", "+8", "+1", "+16"]);
            let other = self.result();
            let access = match self.below(10) {
                0 => format!("ld.global.v4.u32 {{{load}, _, _, {other}}}, [%rd31{by}];"),
                1 => format!("ld.global.v2.u32 {{_, {load}}}, [%rd31{by}];"),
                2 => format!("st.global.v4.u32 [%rd31{by}], {{{at}, {at}, 0, {load}}};"),
                3 => format!(
                    "ld.global.{} {load}, [%rd31{by}];",
                    self.one(&["u8", "s8", "u16", "s16", "b8"])
                ),
                4 => format!("ld.global.v2.u8 {{%rs0, %rs1}}, [%rd31{by}];"),
                5 => format!(
                    "red.global.{}.u32 [%rd31{by}], {load};",
                    self.one(&["add", "max", "inc"])
                ),
                6 => format!("atom.global.cas.b32 {load}, [%rd31{by}], {other}, {at};"),
                7 => format!("atom.global.exch.b64 %rd3, [%rd31{by}], %rd4;"),
                8 => format!("ld.global.s32 %rd4, [%rd31{by}];"),
                _ => {
                    let bytes = self.one(&["4", "8", "16"]);
                    format!("mov.u32 %r32, tile; cp.async.ca.shared.global [%r32{by}], [%rd31], {bytes};")
                }
            };
            self.line(&format!(
                "and.b32 %r31, {at}, {mask}; mul.wide.u32 %rd30, %r31, 4; add.s64 %rd31, {base}, %rd30; {access}"
            ));
        } else {
            let ty = self.one(&["u32", "u32", "u32", "s32"]);
            let mut base = self.one(&["%rd1", "%rd1", "%rd2"]);
            let mut space = ".global";
            let p = self.predicate();
            match self.below(8) {
                0 => {
                    self.line(&format!("selp.b64 %rd32, %rd1, %rd2, {p};"));
                    base = "%rd32";
                }
                1 => {
                    self.line(&format!("mov.u64 %rd32, %rd1; @{p} mov.u64 %rd32, %rd2;"));
                    base = "%rd32";
                }
                2 => {
                    self.line("mov.u64 %rd32, tile; cvta.shared.u64 %rd32, %rd32;");
                    (base, space) = ("%rd32", "");
                }
                _ => {}
            }
            self.line(&format!("mul.wide.{ty} %rd30, {at}, 4; add.s64 %rd31, {base}, %rd30;"));
            match self.below(3) {
                0 => self.line(&format!("{guard}ld{space}.u32 {load}, [%rd31{by}];")),
                1 => self.line(&format!("{guard}atom{space}.add.u32 {load}, [%rd31{by}], 1;")),
                _ => self.line(&format!("{guard}st{space}.u32 [%rd31{by}], {at};")),
            }
        }
        self.line(&format!("{end}:"));
    }

    /// An access of shared memory, own or another block's, in a way that newer devices have, by either kind of address.
    /// A generic address may be of global memory, too.
    fn newer(&mut self, at: &str) {
        let (mask, scale) = (self.one(&["31", "31", "15", "-1"]), self.one(&["8", "8", "16", "4"]));
        let by = self.one(&["", "", "", "+8", "+-8"]);
        let (load, rank) = (self.result(), self.one(&["0", "1", "%r2"]));
        self.line(&format!(
            "and.b32 %r31, {at}, {mask}; mul.lo.u32 %r31, %r31, {scale}; cvt.u64.u32 %rd32, %r31; add.s64 %rd32, %rd1, %rd32;\n\
             mov.u32 %r32, tile; add.u32 %r31, %r31, %r32; cvt.u64.u32 %rd33, %r31; cvta.shared.u64 %rd33, %rd33;"
        ));
        let (space, address) = match self.below(5) {
            0 => ("", "%rd32"),
            1 => ("", "%rd33"),
            2 => (".shared::cluster", "%r31"),
            _ => (".shared::cta", "%r31"),
        };
        let rows = if space.is_empty() { "" } else { ".shared" };
        let address = format!("[{address}{by}]");
        let line = match self.below(14) {
            0 => format!("mbarrier.init{space}.b64 {address}, 1;"),
            1 if space != ".shared::cluster" => {
                format!("mbarrier.init{space}.b64 {address}, 1; mbarrier.arrive{space}.b64 %rd4, {address};")
            }
            2 => format!("mbarrier.init{space}.b64 {address}, 2; mbarrier.inval{space}.b64 {address};"),
            3 => format!("mapa.shared::cluster.u32 %r31, %r31, {rank}; ld.shared::cluster.u32 {load}, [%r31{by}];"),
            4 => format!("ldmatrix.sync.aligned.m8n8.x1{rows}.b16 {{{load}}}, {address};"),
            5 => format!("stmatrix.sync.aligned.m8n8.x1{rows}.b16 {address}, {{{load}}};"),
            6 => {
                "mov.u32 %r32, %cluster_ctarank; mad.lo.u32 %r31, %r32, 4, %r31; ld.shared.u32 %r6, [%r31];".to_owned()
            }
            7 => format!(
                "prefetch.global.L1 [%rd30]; setmaxnreg.inc.sync.aligned.u32 64; ld{space}.u64 %rd3, {address};"
            ),
            8 => format!("griddepcontrol.wait; atom{space}.cas.b64 %rd3, {address}, %rd4, %rd5;"),
            9 => format!("griddepcontrol.launch_dependents; red{space}.add.u32 {address}, {load};"),
            10 => format!("elect.sync {load}|%p2, -1; @%p2 st{space}.u64 {address}, %rd3;"),
            11 => format!("st{space}.v2.u32 {address}, {{{load}, {at}}};"),
            12 => format!(
                "cp.async.cg.shared.global [%r31{by}], [%rd1], 16; ld{space}.v4.u32 {{{load}, _, _, _}}, {address};"
            ),
            _ => format!("ld{space}.v2.u32 {{_, {load}}}, {address};"),
        };
        self.line(&line);
    }

    /// An element that a thread stores, and one that it loads after a barrier, most often of another thread.
    fn exchange(&mut self) {
        let (first, last) = (self.label(), self.label());
        let base = self.one(&["%rd1", "%rd1", "%rd2"]);
        let own = self.one(&["%r5", "%r5", "%r0", "%r2"]);
        let bound = self.one(&["%r3", "%r3", "64", "%r4"]);
        let mut guards = [String::new(), String::new()];
        for (guard, label) in guards.iter_mut().zip([&first, &last]) {
            let bound = match self.below(5) {
                0 => self.one(&["%r3", "64", "%r7"]),
                _ => bound,
            };
            let op = self.one(&["ge", "ge", "ge", "gt"]);
            *guard = match self.below(8) {
                0 => format!("{} bra {label};", self.guard()),
                _ => format!("setp.{op}.u32 %p5, %r33, {bound}; @%p5 bra {label};"),
            };
        }
        let barrier = match self.below(6) {
            0 => "",
            _ => "bar.sync 0;",
        };
        let other = match self.below(9) {
            0 => "xor.b32 %r33, %r0, 1; mad.lo.u32 %r33, %r2, %r1, %r33;",
            1 => "sub.u32 %r33, %r1, %r0; sub.u32 %r33, %r33, 1; mad.lo.u32 %r33, %r2, %r1, %r33;",
            2 => "rem.u32 %r33, %r7, %r1; mad.lo.u32 %r33, %r2, %r1, %r33;",
            3 => "mul.lo.u32 %r33, %r2, %r1;",
            4 => "and.b32 %r33, %r7, 31; mad.lo.u32 %r33, %r2, %r1, %r33;",
            5 => "add.u32 %r33, %r5, 1;",
            6 => "and.b32 %r33, %r7, 31; mad.lo.u32 %r33, %r2, 32, %r33;",
            7 => "mov.u32 %r33, %r0;",
            _ => "mov.u32 %r33, %r5;",
        };
        let load = self.result();
        let [before, after] = guards;
        self.line(&format!(
            "mov.u32 %r33, {own}; {before} mul.wide.u32 %rd20, %r33, 4; add.s64 %rd20, {base}, %rd20;\n\
             st.global.u32 [%rd20], %r33;\n{first}: {barrier}\n{other} {after}\n\
             mul.wide.u32 %rd20, %r33, 4; add.s64 %rd20, {base}, %rd20; ld.global.u32 {load}, [%rd20];\n{last}:"
        ));
    }

    /// A loop whose address moves on, or whose counter falls, most often within bounds.
    fn walk(&mut self) {
        let (begin, end) = (self.label(), self.label());
        let base = self.one(&["%rd1", "%rd1", "%rd2"]);
        let bound = self.one(&["%r3", "%r3", "64", "%r4", "%r7"]);
        let at = self.one(&["[%rd20]", "[%rd20]", "[%rd20]", "[%rd20+4]", "[%rd20+-4]"]);
        let load = self.result();
        let access = match self.below(6) {
            0 => format!("ld.global.v2.u32 {{{load}, _}}, {at};"),
            1 => format!("st.global.u64 {at}, %rd3;"),
            2 => format!("atom.global.add.u32 {load}, {at}, 1;"),
            _ => format!("ld.global.u32 {load}, {at};"),
        };
        let guard = match self.below(4) {
            0 => self.guard() + " ",
            _ => String::new(),
        };
        if self.below(3) == 0 {
            let op = self.one(&["eq.u32", "le.s32", "eq.s32"]);
            let by = self.one(&["1", "1", "1", "2"]);
            let fall = format!("sub.u32 %r33, %r33, {by};");
            let (before, after) = match self.below(3) {
                0 => ("", fall.as_str()),
                _ => (fall.as_str(), ""),
            };
            self.line(&format!(
                "mov.u32 %r33, {bound};\n{begin}: setp.{op} %p6, %r33, 0; @%p6 bra {end}; {before}\n\
                 mul.wide.u32 %rd21, %r33, 4; add.s64 %rd20, {base}, %rd21; {guard}{access} {after}\n\
                 bra {begin};\n{end}:"
            ));
            return;
        }
        let start = self.one(&["0", "0", "%r5", "%r0", "%r2", "1"]);
        let first = match self.below(6) {
            0 => self.register(),
            _ => start.to_owned(),
        };
        let ty = self.one(&["u32", "u32", "u32", "s32"]);
        let step = self.one(&["1", "1", "2", "%r1"]);
        let by = match self.below(4) {
            0 => self.one(&["1", "2"]),
            _ => step,
        };
        self.line(&format!(
            "mov.u32 %r33, {start}; mov.u32 %r34, {first}; mov.u32 %r35, {by};\n\
             mul.wide.u32 %rd21, %r34, 4; add.s64 %rd20, {base}, %rd21; mul.wide.u32 %rd22, %r35, 4;\n\
             {begin}: setp.ge.{ty} %p6, %r33, {bound}; @%p6 bra {end}; {guard}{access}"
        ));
        if self.below(3) == 0 {
            self.arithmetic("");
        }
        self.line(&format!(
            "add.u32 %r33, %r33, {step}; add.s64 %rd20, %rd20, %rd22;\nbra {begin};\n{end}:"
        ));
    }

    fn statements(&mut self, depth: usize) {
        let count = 1 + self.below(5);
        for _ in 0..count {
            if self.left == 0 {
                return;
            }
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        match self.below(8) {
            0 | 1 if depth == 0 => self.line("bar.sync 0;"),
            2 if depth == 0 => self.exchange(),
            _ => {}
        }
        match self.below(if depth < 3 { 20 } else { 14 }) {
            0..=6 => self.arithmetic(""),
            7 | 8 => {
                let guard = self.guard() + " ";
                self.arithmetic(&guard);
            }
            9 | 10 => {
                let predicate = self.predicate();
                self.compare(&predicate);
            }
            11 | 12 => self.access(),
            13 => self.walk(),
            14..=16 => {
                let (end, other) = (self.label(), self.label());
                let guard = self.guard();
                self.line(&format!("{guard} bra {other};"));
                self.statements(depth + 1);
                if self.below(2) == 0 {
                    self.line(&format!("bra {end};"));
                    self.line(&format!("{other}:"));
                    self.statements(depth + 1);
                } else {
                    self.line(&format!("{other}:"));
                }
                self.line(&format!("{end}:"));
            }
            _ => self.repeat(depth),
        }
    }

    fn repeat(&mut self, depth: usize) {
        let (begin, end) = (self.label(), self.label());
        let counter = format!("%r{}", 11 + self.counters);
        let (start, bound) = (self.operand(), self.operand());
        let ty = self.one(&["u32", "u32", "s32"]);
        self.line(&format!("mov.u32 {counter}, {start};"));
        self.counters += 1;
        let is_late = self.below(3) == 0;
        self.line(&format!("{begin}:"));
        if !is_late {
            let op = self.one(&["ge", "ge", "eq", "gt"]);
            self.line(&format!("setp.{op}.{ty} %p6, {counter}, {bound}; @%p6 bra {end};"));
        }
        self.statements(depth + 1);
        let step = match self.below(4) {
            0 => "%r1".to_owned(),
            1 => "2".to_owned(),
            _ => "1".to_owned(),
        };
        let op = self.one(&["add", "add", "add", "sub"]);
        self.line(&format!("{op}.u32 {counter}, {counter}, {step};"));
        if is_late {
            let op = self.one(&["lt", "lt", "ne", "le"]);
            self.line(&format!("setp.{op}.{ty} %p6, {counter}, {bound}; @%p6 bra {begin};"));
        } else {
            self.line(&format!("bra {begin};"));
        }
        self.line(&format!("{end}:"));
    }
}

/// A random kernel of `a`, `b`, `n` and `m`.
fn generated(seed: u64) -> String {
    let mut author = Author {
        random: Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
        code: String::new(),
        labels: 0,
        left: 28,
        counters: 0,
    };
    if seed.is_multiple_of(4) {
        author.arithmetic("");
        (0..1 + author.below(2)).for_each(|_| author.exchange());
    } else {
        author.statements(0);
        author.statements(0);
        author.access();
    }
    format!(
        ".version 8.0\n.target sm_90a\n.address_size 64\n\
         .visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 m)\n{{\n\
         .reg .pred %p<8>; .reg .f32 %f<2>; .reg .b16 %rs<2>; .reg .b32 %r<40>; .reg .b64 %rd<40>; .shared .align 16 .b8 tile[256];\n\
         ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r3, [n]; ld.param.u32 %r4, [m];\n\
         mov.u32 %r0, %tid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %ctaid.x; mad.lo.s32 %r5, %r2, %r1, %r0;\n\
         ld.global.u32 %r6, [%rd2]; ld.global.u32 %r7, [%rd2+4]; mov.u32 %r8, %r5; mov.u32 %r9, %r4; mov.u32 %r10, 0;\n\
         and.b32 %r7, %r7, 127; cvt.u64.u32 %rd3, %r5; cvt.u64.u32 %rd4, %r3; mov.u64 %rd5, 1; cvt.u64.u32 %rd6, %r6;\n\
         cvt.u16.u32 %rs0, %r5; cvt.u16.u32 %rs1, %r6;\n\
         setp.lt.u32 %p0, %r5, %r3; setp.lt.u32 %p1, %r0, 32; setp.eq.u32 %p2, %r4, 0; setp.lt.s32 %p3, %r7, %r4;\n\
         {}ret;\n}}\n",
        author.code
    )
}

fn kernel(random: &mut Random) -> Kernel {
    let memory = Kind::Memory {
        unit: Some(4),
        len: None,
    };
    let integer = |signed| Kind::Integer { bits: 32, signed };
    let kinds = [
        ("a", memory),
        ("b", memory),
        ("n", integer(false)),
        ("m", integer(true)),
    ];
    let params = kinds.map(|(name, kind)| Param {
        name: name.to_owned(),
        kind,
    });
    let at_most = |a, b| Term::Binary(Binary::Le, Box::new(a), Box::new(b));
    let mut requires = vec![at_most(Term::Int(64), Term::Len(1))];
    if random.below(4) > 0 {
        requires.push(at_most(Term::Value(2), Term::Len(0)));
        requires.push(at_most(Term::Int(64), Term::Len(0)));
    }
    if random.below(2) > 0 {
        requires.push(at_most(Term::Value(2), Term::Len(1)));
    }
    if random.below(3) == 0 {
        let is = |a, b| Term::Binary(Binary::Eq, Box::new(a), Box::new(b));
        requires.extend([is(Term::Block(0), Term::Int(32)), is(Term::Block(3), Term::Block(0))]);
    }
    Kernel {
        entry: "k".to_owned(),
        params: params.into(),
        requires,
        unwritten: Vec::new(),
    }
}

#[test]
fn generated_kernels_are_as_proved() {
    let from_environment = |name: &str| std::env::var(name).map_or(None, |number| number.parse::<u64>().ok());
    let wanted = from_environment("PROOF_KERNELS").unwrap_or(300);
    let first = from_environment("PROOF_SEED").unwrap_or(1);
    let (mut proofs, mut written, mut runs, mut refuted, mut free) = (0, 0, 0, 0, 0);
    let mut wrong: Vec<String> = Vec::new();
    for seed in first..first + wanted {
        let text = generated(seed);
        let module = graph_ptx::parse(&text).unwrap_or_else(|mistake| panic!("{seed}: {mistake}\n{text}"));
        let mut random = Random(seed);
        let mut kernel = kernel(&mut random);
        if random.below(3) == 0
            && let Some(conditions) = weakest(&module, &kernel, &EFFORT)
        {
            kernel
                .requires
                .extend(conditions.into_iter().map(|condition| condition.term));
        }
        match prove(&module, &kernel, &EFFORT) {
            Verdict::Proved => {
                proofs += 1;
                initialised(&module, &mut kernel, &EFFORT);
                written += kernel.unwritten.len();
                for launch in samples(&module, &kernel, seed, 8) {
                    if is_small(&launch, 256) {
                        runs += 1;
                        if let Some(fault) = fault(&text, &module, &kernel, &launch, None) {
                            wrong.push(format!(
                                "seed {seed}: {fault}: {launch:?}\n{:?}\n{text}",
                                kernel.requires
                            ));
                        }
                    }
                }
                match races(&module, &kernel, &EFFORT) {
                    Races::Free => {
                        free += 1;
                        for launch in samples(&module, &kernel, seed, 4) {
                            let is_flat = launch.block[1..] == [1, 1] && launch.grid[1..] == [1, 1];
                            if is_small(&launch, 256) && is_flat {
                                let fault = run(&text, &module, &kernel, &launch, None, true);
                                if let Some(FaultKind::Race { .. }) = fault.as_ref().map(|fault| &fault.kind) {
                                    wrong.push(format!("seed {seed}: {}: {launch:?}\n{text}", fault.unwrap()));
                                }
                            }
                        }
                    }
                    // The emulator may not find it: of several stores of one number, it knows the last alone.
                    Races::Found(_) | Races::Unknown(_) => {}
                }
            }
            // On the emulator, shared memory of the block is at such addresses, too.
            Verdict::Refuted(witness) if witness.memory == "tile" && witness.offset.abs() >= 1 << 24 => {}
            Verdict::Refuted(witness) if is_small(&witness.launch, 512) => {
                refuted += 1;
                let fault = run(&text, &module, &kernel, &witness.launch, Some(witness.fill), false);
                match fault.map(|fault| fault.kind) {
                    Some(kind) if is_of_access(&kind) => {}
                    // Another block, which the emulator runs before, has no end, or another thread waits for lanes
                    // that have gone another way, or has overwritten an mbarrier.
                    Some(FaultKind::StepLimit(_) | FaultKind::Deadlock(_) | FaultKind::InvalidBarrier(_)) => {}
                    other => wrong.push(format!("seed {seed}: {other:?}: {witness:?}\n{text}")),
                }
            }
            Verdict::Refuted(_) | Verdict::Unknown(_) => {}
        }
    }
    println!(
        "{wanted} kernels: {proofs} are proved and ran {runs} times, with {written} that they write before they \
         read it, {refuted} are refuted; {free} have no races"
    );
    // Each answer is among those of the usual kernels.
    let answers = [proofs, runs, written, refuted, free];
    assert!(wanted < 300 || answers.iter().all(|count| *count > 5), "{answers:?}");
    assert!(
        wrong.is_empty(),
        "{} are wrong\n{}",
        wrong.len(),
        wrong[..wrong.len().min(3)].join("\n")
    );
}
