//! Predicated kernels: copies of kernels that return at once unless words in memory have certain values.
//!
//! A copy has one more parameter, an array of tests, and a few instructions more at its entry. It stands in the text
//! directly after the kernel; all other text stays as it is, byte by byte. So the copy shares the module's variables
//! with the kernel. All blocks read the same words, which nothing else may write meanwhile: so the blocks of a grid, or
//! of a cluster, return as a whole, and no barrier waits for one that has returned. A kernel that returns lets its
//! dependents go, as any kernel that ends does; but before that, it waits for the kernels before it, since its
//! dependents rely on them as well.
//!
//! # Kernels that write a word that they test
//!
//! The blocks of a kernel decide alike, though the kernel itself writes a word that it tests, if its guard has a
//! ticket:
//!
//! 1. *In one block*, all threads have loaded the words before any of them leaves the barrier after the loads, and each
//!    writes only after that.
//! 2. *Of several blocks*, the first thread of each loads the words, and then tries to write its decision to the
//!    ticket, by an atomic exchange with "undecided". The decision of the first block that succeeds is that of all. Its
//!    loads saw the words as they were: a block writes them only after its own exchange, which is after the one that
//!    succeeded; and the loads of the one that succeeded were before its exchange.
//! 3. *The ticket is undecided again* when the kernel ends: each block counts itself after its exchange, and the last
//!    one of the grid clears both, when no block needs them any more.

use crate::error::ParseError;
use crate::lexer::{Kind, Lexer, Token};
use std::collections::HashSet;
use std::ops::Range;

/// The size in bytes of a test, which is aligned to 8 bytes: the address of a `u32` in device memory (8 bytes); a
/// number (4 bytes); and 1 if the kernel runs only if the two are equal, 0 if it runs only if they differ (4 bytes).
/// All little-endian.
pub const TEST_BYTES: usize = 16;

/// The name of the parameter of a copy that has the tests.
const TESTS: &str = "graph_runtime_tests";

/// The label of a copy where it returns if a test fails: at its end, as compilers write it.
const RESTS: &str = "$graph_runtime_rests";

/// The labels of a copy with a ticket: where it is one of several blocks, where the threads of such a block meet, and
/// where each thread knows the decision.
const TICKET_LABELS: [&str; 3] = [
    "$graph_runtime_several",
    "$graph_runtime_meet",
    "$graph_runtime_decided",
];

/// The form of the guard of a copy: what it does before anything else. Its argument, which is aligned to 8 bytes, has
/// the tests, each of [`TEST_BYTES`]; then what is said below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GuardForm {
    /// The number of tests. The kernel runs only if all of them hold.
    pub tests: usize,
    /// Whether the kernel may write the words that it tests. The argument has the address of the ticket (8 bytes),
    /// which is 16 bytes of device memory, aligned to 8, that are 0 when the kernel begins and when it has ended; and 8
    /// bytes that mean nothing.
    pub ticket: bool,
    /// Whether the kernel stores if it runs: 1, or 0. The argument has the address of that `u32` in device memory
    /// (8 bytes); 1, or 0 if the kernel does nothing but store whether all tests hold (4 bytes); and 4 bytes that mean
    /// nothing.
    pub keeps: bool,
}

impl GuardForm {
    /// A guard of tests alone.
    pub const fn tests(tests: usize) -> Self {
        Self {
            tests,
            ticket: false,
            keeps: false,
        }
    }

    /// The bytes of the argument.
    pub const fn bytes(self) -> usize {
        (self.tests + self.ticket as usize + self.keeps as usize) * TEST_BYTES
    }
}

/// Returns the name of the copy of a kernel that has a guard of this form.
pub fn predicated_name(entry: &str, guard: GuardForm) -> String {
    let GuardForm { tests, ticket, keeps } = guard;
    let [ticket, keeps] = [(ticket, "_ticket"), (keeps, "_keeps")].map(|(has, name)| if has { name } else { "" });
    format!("{entry}_graph_runtime_if{tests}{ticket}{keeps}")
}

/// Returns the text with copies of kernels: for each of `kernels`, by name, a copy with a guard of this form.
///
/// # Errors
/// If the text has no such kernel, uses names that copies need, or has what cannot be copied: debug information about
/// the lines of code (`nvcc -G`), or `.global` and `.const` variables in the body of the kernel.
pub fn predicated(text: &str, kernels: &[(&str, GuardForm)]) -> Result<String, ParseError> {
    let module = Scan::of(text)?;
    let mut copies: Vec<(usize, String)> = Vec::with_capacity(kernels.len());
    for &(name, guard) in kernels {
        let missing = || module.error(format!("there is no kernel `{name}`"));
        let entry = module.entries.iter().find(|entry| entry.name == name);
        let entry = entry.ok_or_else(missing)?;
        if entry.has_variables {
            return Err(module.error(format!("`{name}` declares variables of its module in its body")));
        }
        let copy = predicated_name(name, guard);
        for needed in [copy.as_str(), TESTS, RESTS].into_iter().chain(TICKET_LABELS) {
            if module.words.contains(needed) {
                return Err(module.error(format!("the name `{needed}` is taken")));
            }
        }
        copies.push((entry.body.end, module.copy(entry, &copy, guard)));
    }
    copies.sort();
    copies.dedup();
    let mut written = String::with_capacity(text.len() + copies.iter().map(|(_, copy)| copy.len()).sum::<usize>());
    let mut from = 0;
    for (at, copy) in &copies {
        written.push_str(&text[from..*at]);
        written.push_str(copy);
        from = *at;
    }
    written.push_str(&text[from..]);
    Ok(written)
}

/// The places in a text that copies are made of.
struct Scan<'a> {
    text: &'a str,
    entries: Vec<Entry<'a>>,
    /// All words of the text.
    words: HashSet<&'a str>,
    /// Whether any code waits for the kernels before it, or lets those after it go.
    programmatic: bool,
}

/// A kernel with code.
struct Entry<'a> {
    name: &'a str,
    /// The text between the brackets around the parameters, if there are any.
    params: Option<Range<usize>>,
    /// The text from the parameters, or the name, to the `{`: performance directives.
    directives: Range<usize>,
    /// The text from `{` to `}`, both included.
    body: Range<usize>,
    /// Whether variables of the module are declared in the body: a copy would have others.
    has_variables: bool,
}

impl<'a> Scan<'a> {
    fn of(text: &'a str) -> Result<Self, ParseError> {
        let mut scan = Self {
            text,
            entries: Vec::new(),
            words: HashSet::new(),
            programmatic: false,
        };
        let mut lexer = Lexer::new(text);
        let mut token = scan.next(&mut lexer);
        while token.kind != Kind::End {
            match token.kind {
                Kind::Dotted("debug_info") => {
                    let message = "a kernel with debug information cannot be copied".to_owned();
                    return Err(lexer.error_at(token.start, token.line, message));
                }
                Kind::Dotted("entry") => token = scan.entry(&mut lexer),
                _ => token = scan.next(&mut lexer),
            }
        }
        Ok(scan)
    }

    /// The next token. Text that has no token is skipped: the parser, or `ptxas`, complains about it.
    fn next(&mut self, lexer: &mut Lexer<'a>) -> Token<'a> {
        loop {
            let Ok(token) = lexer.next() else { continue };
            if let Kind::Word(word) = token.kind {
                self.words.insert(word);
                self.programmatic |= word == "griddepcontrol";
            }
            return token;
        }
    }

    /// Reads a kernel from its name on. Returns the token after it, or after its declaration.
    fn entry(&mut self, lexer: &mut Lexer<'a>) -> Token<'a> {
        let mut token = self.next(lexer);
        let Kind::Word(name) = token.kind else { return token };
        let mut before = token.start + name.len();
        token = self.next(lexer);
        let mut params = None;
        if token.kind == Kind::Punct(b'(') {
            let start = token.start + 1;
            while !matches!(token.kind, Kind::Punct(b')') | Kind::End) {
                token = self.next(lexer);
            }
            params = Some(start..token.start);
            before = (token.start + 1).min(self.text.len());
            token = self.next(lexer);
        }
        let mut is_pragma = false;
        loop {
            match token.kind {
                Kind::Punct(b'{') => break,
                Kind::Dotted("entry" | "func" | "visible" | "weak" | "extern" | "section" | "file") | Kind::End => {
                    return token; // a declaration without `;`
                }
                Kind::Punct(b';') if !is_pragma => return token,
                Kind::Punct(b';') => is_pragma = false,
                Kind::Dotted(directive) => is_pragma = directive == "pragma",
                _ => {}
            }
            token = self.next(lexer);
        }
        let start = token.start;
        let mut depth = 0_usize;
        let (mut has_variables, mut begins) = (false, false);
        loop {
            has_variables |= begins && matches!(token.kind, Kind::Dotted("global" | "const"));
            begins = matches!(token.kind, Kind::Punct(b'{' | b'}' | b';' | b':'));
            match token.kind {
                Kind::Punct(b'{') => depth += 1,
                Kind::Punct(b'}') => depth -= 1,
                Kind::End => return token,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            token = self.next(lexer);
        }
        self.entries.push(Entry {
            name,
            params,
            directives: before..start,
            body: start..token.start + 1,
            has_variables,
        });
        self.next(lexer)
    }

    /// An error about the whole text.
    fn error(&self, message: String) -> ParseError {
        Lexer::new(self.text).error_at(0, 1, message)
    }

    /// The copy of a kernel, with the guard at its entry.
    fn copy(&self, entry: &Entry<'a>, name: &str, guard: GuardForm) -> String {
        let params = entry.params.clone().map_or("", |params| &self.text[params]).trim_end();
        let comma = if has_tokens(params) { "," } else { "" };
        let bytes = guard.bytes();
        // A line break ends a comment at the end of the parameters.
        let mut copy = format!(
            "\n.visible .entry {name}({params}\n{comma}\t.param .align 8 .b8 {TESTS}[{bytes}]\n){}{{\n",
            &self.text[entry.directives.clone()],
        );
        copy.push_str(&prologue(guard));
        copy.push_str(&self.text[entry.body.start + 1..entry.body.end - 1]);
        let wait = if self.programmatic {
            "\tgriddepcontrol.wait;\n"
        } else {
            ""
        };
        copy.push_str(&format!("\n{RESTS}:\n{wait}\tret;\n}}"));
        copy
    }
}

/// Whether a text has more than white space and comments.
fn has_tokens(text: &str) -> bool {
    !matches!(Lexer::new(text).next(), Ok(Token { kind: Kind::End, .. }))
}

/// The instructions that go to the end unless all tests hold. The scope of its own keeps the names of the kernel's
/// registers apart.
fn prologue(guard: GuardForm) -> String {
    let GuardForm { tests, ticket, keeps } = guard;
    let mut lines = Lines::default();
    if tests == 0 {
        return String::new();
    }
    lines.add(".reg .pred %holds, %fails;");
    lines.add(".reg .b32 %is_equal;");
    lines.add(".reg .b64 %word;");
    for test in 0..tests {
        lines.add(format!(".reg .b32 %value{test}, %number{test}, %wanted{test};"));
    }
    if ticket || keeps {
        lines.add(".reg .pred %first;");
        lines.add(".reg .b32 %thread, %part;");
    }
    if ticket {
        lines.ticket(tests);
    } else {
        lines.loads(tests, "ld.global.u32");
        lines.decide(tests);
    }
    if keeps {
        lines.keep((tests + usize::from(ticket)) * TEST_BYTES);
    }
    lines.add(format!("@%fails bra {RESTS};"));
    format!("{{\n{}}}\n", lines.text)
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
            self.add(format!("ld.param.u64 %word, [{TESTS}+{at}];"));
            self.add(format!("ld.param.u32 %number{test}, [{TESTS}+{}];", at + 8));
            self.add(format!("ld.param.u32 %wanted{test}, [{TESTS}+{}];", at + 12));
            self.add(format!("{load} %value{test}, [%word];"));
        }
    }

    /// Sets `%fails` to whether a test fails.
    fn decide(&mut self, tests: usize) {
        for test in 0..tests {
            self.add(format!("setp.eq.u32 %holds, %value{test}, %number{test};"));
            self.add("selp.u32 %is_equal, 1, 0, %holds;");
            if test == 0 {
                self.add(format!("setp.ne.u32 %fails, %is_equal, %wanted{test};"));
            } else {
                self.add(format!("setp.ne.or.u32 %fails, %is_equal, %wanted{test}, %fails;"));
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

    /// As loading and deciding, in kernels that write what they test: see the top of this file.
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
        self.add(format!("ld.param.u64 %word, [{TESTS}+{at}];"));
        self.add(format!("ld.param.u32 %part, [{TESTS}+{}];", at + 8));
        self.add("@%first st.global.u32 [%word], %thread;");
        self.add("setp.eq.or.u32 %fails, %part, 0, %fails;");
    }
}
