//! The instructions of a guard.

use super::{GuardForm, RESTS, TEST_BYTES, TESTS, TICKET_LABELS};

/// The instructions that go to the end unless all tests hold, in two parts: the second one may stand later than the
/// first, with instructions of the kernel between them. Names of registers that begin with `%graph_runtime_` are those
/// of the guard. Scopes of their own keep the other ones apart from the kernel's.
pub(super) fn parts(guard: GuardForm) -> [String; 2] {
    let GuardForm {
        tests,
        ticket,
        keeps,
        loads_first,
        waits,
    } = guard;
    if tests == 0 {
        return [String::new(), String::new()];
    }
    let (mut first, mut second) = (Lines::default(), Lines::default());
    if waits {
        first.add("griddepcontrol.launch_dependents;");
        first.add("griddepcontrol.wait;");
    }
    first.add(".reg .b64 %graph_runtime_word;");
    for test in 0..tests {
        first.add(format!(".reg .b32 {};", registers(test).join(", ")));
    }
    second.add(".reg .pred %holds, %fails;");
    second.add(".reg .b32 %is_equal;");
    if ticket || keeps {
        second.add(".reg .pred %first;");
        second.add(".reg .b32 %thread, %part;");
    }
    if ticket {
        second.ticket(tests);
    } else {
        first.loads(tests, "ld.global.u32");
        second.decide(tests);
    }
    if keeps {
        second.keep((tests + usize::from(ticket)) * TEST_BYTES);
    }
    second.add(format!("@%fails bra {RESTS};"));
    if loads_first {
        [first.text, format!("{{\n{}}}\n", second.text)]
    } else {
        [format!("{{\n{}{}}}\n", first.text, second.text), String::new()]
    }
}

/// The registers of a test: the word, the number, and 1 if the two must be equal.
fn registers(test: usize) -> [String; 3] {
    ["value", "number", "equal"].map(|name| format!("%graph_runtime_{name}{test}"))
}

/// The lines of a guard.
#[derive(Default)]
struct Lines {
    text: String,
}

impl Lines {
    fn add(&mut self, line: impl AsRef<str>) {
        self.text.push('\t');
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    /// Loads all words before the first one is looked at, so that several tests take as long as one.
    fn loads(&mut self, tests: usize, load: &str) {
        for test in 0..tests {
            let at = test * TEST_BYTES;
            let [value, number, equal] = registers(test);
            self.add(format!("ld.param.u64 %graph_runtime_word, [{TESTS}+{at}];"));
            self.add(format!("ld.param.u32 {number}, [{TESTS}+{}];", at + 8));
            self.add(format!("ld.param.u32 {equal}, [{TESTS}+{}];", at + 12));
            self.add(format!("{load} {value}, [%graph_runtime_word];"));
        }
    }

    /// Sets `%fails` to whether a test fails.
    fn decide(&mut self, tests: usize) {
        for test in 0..tests {
            let [value, number, equal] = registers(test);
            self.add(format!("setp.eq.u32 %holds, {value}, {number};"));
            self.add("selp.u32 %is_equal, 1, 0, %holds;");
            if test == 0 {
                self.add(format!("setp.ne.u32 %fails, %is_equal, {equal};"));
            } else {
                self.add(format!("setp.ne.or.u32 %fails, %is_equal, {equal}, %fails;"));
            }
        }
    }

    /// Sets `%thread` to 0 in the first thread of a block.
    fn thread(&mut self) {
        self.add("mov.u32 %thread, %tid.x;");
        for other in ["%tid.y", "%tid.z"] {
            self.or(other);
        }
    }

    fn or(&mut self, other: &str) {
        self.add(format!("mov.u32 %part, {other};"));
        self.add("or.b32 %thread, %thread, %part;");
    }

    /// As loading and deciding, in kernels that write what they test: see [`super`].
    fn ticket(&mut self, tests: usize) {
        let [several, meet, decided] = TICKET_LABELS;
        for line in [
            ".reg .pred %others;",
            ".reg .b32 %mine, %found;",
            ".reg .b64 %blocks, %counted, %ticket;",
            "mov.u32 %thread, %nctaid.x;",
            "mov.u32 %part, %nctaid.y;",
            "mul.wide.u32 %blocks, %thread, %part;",
            "mov.u32 %part, %nctaid.z;",
            "cvt.u64.u32 %counted, %part;",
            "mul.lo.u64 %blocks, %blocks, %counted;",
            "setp.ne.u64 %others, %blocks, 1;",
        ] {
            self.add(line);
        }
        self.add(format!("@%others bra {several};"));
        self.loads(tests, "ld.global.u32");
        self.decide(tests);
        self.add("bar.sync 0;");
        self.add(format!("bra {decided};"));
        self.add(format!("{several}:"));
        self.thread();
        self.add("setp.ne.u32 %others, %thread, 0;");
        self.add("mov.pred %fails, 0;");
        self.add(format!("@%others bra {meet};"));
        self.loads(tests, "ld.volatile.global.u32");
        self.decide(tests);
        self.add(format!("ld.param.u64 %ticket, [{TESTS}+{}];", tests * TEST_BYTES));
        for line in [
            "selp.u32 %mine, 2, 1, %fails;",
            "atom.global.cas.b32 %found, [%ticket], 0, %mine;",
            "setp.eq.u32 %first, %found, 0;",
            "selp.u32 %found, %mine, %found, %first;",
            "setp.eq.u32 %fails, %found, 2;",
            // A block counts itself after its exchange, and writes what it tests after that.
            "membar.gl;",
            "atom.global.add.u64 %counted, [%ticket+8], 1;",
            "add.u64 %counted, %counted, 1;",
            "setp.ne.u64 %others, %counted, %blocks;",
        ] {
            self.add(line);
        }
        self.add(format!("@%others bra {meet};"));
        self.add("st.volatile.global.u32 [%ticket], 0;");
        self.add("st.volatile.global.u64 [%ticket+8], 0;");
        self.add(format!("{meet}:"));
        self.add("bar.red.or.pred %fails, 0, %fails;");
        self.add(format!("{decided}:"));
    }

    /// Has the first thread of the grid store the decision; `at` says where the argument has what belongs to that.
    fn keep(&mut self, at: usize) {
        self.thread();
        for block in ["%ctaid.x", "%ctaid.y", "%ctaid.z"] {
            self.or(block);
        }
        self.add("setp.eq.u32 %first, %thread, 0;");
        self.add("selp.u32 %thread, 0, 1, %fails;");
        self.add(format!("ld.param.u64 %graph_runtime_word, [{TESTS}+{at}];"));
        self.add(format!("ld.param.u32 %part, [{TESTS}+{}];", at + 8));
        self.add("@%first st.global.u32 [%graph_runtime_word], %thread;");
        self.add("setp.eq.or.u32 %fails, %part, 0, %fails;");
    }
}
