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
//!
//! # Kernels that load before they test
//!
//! A test takes as long as a load from L2: 0.15 us, about as long as the first loads of a kernel. Where the caller
//! knows that the same launch of the kernel has run before, with the same arguments, the copy tests the words after the
//! [`beginning`] of the kernel, so that both loads are under way at once.
//!
//! # Kernels that begin early
//!
//! A copy that waits for the kernels before it, before it does anything else, may follow them by programmatic edges:
//! its blocks are on the GPU when the last one of those ends. It lets the copies after it come as early. All that it
//! does comes after all that those kernels do, as with plain edges; so what has begun to do anything has no predecessor
//! that is not over. The instructions for this need `.version 7.8` and `.target sm_90`, which the text gets if it has
//! older ones: what is written for `sm_70` and PTX 6.0, where warps have the memory model of today, means the same
//! there.

mod beginning;
mod guard;

use crate::error::ParseError;
use crate::header::Header;
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
    /// Whether the kernel may load memory before it knows whether it runs, since it has loaded the same memory before,
    /// with the same arguments. Not for a guard with a ticket, or one that keeps.
    pub loads_first: bool,
    /// Whether the kernel waits for those before it first, so that programmatic edges may lead to it. Only for text of
    /// which [`can_wait`] says that it can, and for devices of compute capability 9.0.
    pub waits: bool,
}

impl GuardForm {
    /// A guard of tests alone.
    pub const fn tests(tests: usize) -> Self {
        Self {
            tests,
            ticket: false,
            keeps: false,
            loads_first: false,
            waits: false,
        }
    }

    /// The bytes of the argument.
    pub const fn bytes(self) -> usize {
        (self.tests + self.ticket as usize + self.keeps as usize) * TEST_BYTES
    }
}

/// Returns the name of the copy of a kernel that has a guard of this form.
pub fn predicated_name(entry: &str, guard: GuardForm) -> String {
    let parts = [
        (guard.ticket, "_ticket"),
        (guard.keeps, "_keeps"),
        (guard.loads_first, "_loads"),
        (guard.waits, "_waits"),
    ];
    let parts = parts.map(|(has, name)| if has { name } else { "" }).concat();
    format!("{entry}_graph_runtime_if{}{parts}", guard.tests)
}

/// Whether copies of the kernels of a text can wait for those before them: it knows how, or means the same in a version
/// of PTX and for a target that do.
pub fn can_wait(text: &str) -> bool {
    Header::of(text).is_some_and(|header| header.can_be_programmatic)
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
        let is_ours = |word: &&&str| word.starts_with("%graph_runtime_");
        if let Some(taken) = module.words.iter().filter(is_ours).min() {
            return Err(module.error(format!("the name `{taken}` is taken")));
        }
        copies.push((entry.body.end, module.copy(entry, &copy, guard)));
    }
    copies.sort();
    copies.dedup();
    let mut written = String::with_capacity(text.len() + copies.iter().map(|(_, copy)| copy.len()).sum::<usize>());
    let mut from = 0;
    if kernels.iter().any(|(_, guard)| guard.waits)
        && let Some(header) = Header::of(text)
    {
        from = header.raise(text, &mut written);
    }
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
        let [first, second] = guard::parts(guard);
        let (start, end) = (entry.body.start + 1, entry.body.end - 1);
        let between = if guard.loads_first {
            beginning::end(self.text, entry.body.clone())
        } else {
            start
        };
        copy.push_str(&first);
        copy.push_str(&self.text[start..between]);
        copy.push_str(&second);
        copy.push_str(&self.text[between..end]);
        let wait = if self.programmatic && !guard.waits {
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
