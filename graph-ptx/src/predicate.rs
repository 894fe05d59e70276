//! Predicated kernels: copies of kernels that return at once unless words in memory have certain values.
//!
//! A copy has one more parameter, an array of tests, and a few instructions more at its entry. It stands in the text
//! directly after the kernel; all other text stays as it is, byte by byte. So the copy shares the module's variables
//! with the kernel. All blocks read the same words, which nothing may write meanwhile: so the blocks of a grid, or of a
//! cluster, return as a whole, and no barrier waits for one that has returned. A kernel that returns lets its
//! dependents go, as any kernel that ends does; but before that, it waits for the kernels before it, since its
//! dependents rely on them as well.

use crate::error::ParseError;
use crate::lexer::{Kind, Lexer, Token};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Range;

/// The size in bytes of a test, which is aligned to 8 bytes: the address of a `u32` in device memory (8 bytes); a
/// number (4 bytes); and 1 if the kernel runs only if the two are equal, 0 if it runs only if they differ (4 bytes).
/// All little-endian.
pub const TEST_BYTES: usize = 16;

/// The name of the parameter of a copy that has the tests.
const TESTS: &str = "graph_runtime_tests";

/// The label of a copy where it returns if a test fails: at its end, as compilers write it.
const RESTS: &str = "$graph_runtime_rests";

/// Returns the name of the copy of a kernel that has this number of tests.
pub fn predicated_name(entry: &str, tests: usize) -> String {
    format!("{entry}_graph_runtime_if{tests}")
}

/// Returns the text with copies of kernels: for each of `kernels`, by name, a copy with this number of tests, which
/// runs only if all of them hold.
///
/// # Errors
/// If the text has no such kernel, uses names that copies need, or has what cannot be copied: debug information about
/// the lines of code (`nvcc -G`), or `.global` and `.const` variables in the body of the kernel.
pub fn predicated(text: &str, kernels: &[(&str, usize)]) -> Result<String, ParseError> {
    let module = Scan::of(text)?;
    let mut copies: Vec<(usize, String)> = Vec::with_capacity(kernels.len());
    for &(name, tests) in kernels {
        let missing = || module.error(format!("there is no kernel `{name}`"));
        let entry = module.entries.iter().find(|entry| entry.name == name);
        let entry = entry.ok_or_else(missing)?;
        if entry.has_variables {
            return Err(module.error(format!("`{name}` declares variables of its module in its body")));
        }
        let copy = predicated_name(name, tests);
        for needed in [copy.as_str(), TESTS, RESTS] {
            if module.words.contains(needed) {
                return Err(module.error(format!("the name `{needed}` is taken")));
            }
        }
        copies.push((entry.body.end, module.copy(entry, &copy, tests)));
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

    /// The copy of a kernel, with the tests at its entry.
    fn copy(&self, entry: &Entry<'a>, name: &str, tests: usize) -> String {
        let params = entry.params.clone().map_or("", |params| &self.text[params]).trim_end();
        let comma = if has_tokens(params) { "," } else { "" };
        let bytes = tests * TEST_BYTES;
        // A line break ends a comment at the end of the parameters.
        let mut copy = format!(
            "\n.visible .entry {name}({params}\n{comma}\t.param .align 8 .b8 {TESTS}[{bytes}]\n){}{{\n",
            &self.text[entry.directives.clone()],
        );
        copy.push_str(&prologue(tests));
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

/// The instructions that go to the end unless all tests hold. All words are loaded before the first one is looked at,
/// so that several tests take as long as one. The scope of its own keeps the names of the kernel's registers apart.
fn prologue(tests: usize) -> String {
    let mut text =
        String::from("{\n\t.reg .pred %holds;\n\t.reg .pred %fails;\n\t.reg .b32 %is_equal;\n\t.reg .b64 %word;\n");
    let mut line = |arguments: std::fmt::Arguments<'_>| {
        let _ = text.write_fmt(format_args!("\t{arguments}\n")); // writing to a string cannot fail
    };
    for test in 0..tests {
        let at = test * TEST_BYTES;
        line(format_args!(".reg .b32 %value{test}, %number{test}, %wanted{test};"));
        line(format_args!("ld.param.u64 %word, [{TESTS}+{at}];"));
        line(format_args!("ld.param.u32 %number{test}, [{TESTS}+{}];", at + 8));
        line(format_args!("ld.param.u32 %wanted{test}, [{TESTS}+{}];", at + 12));
        line(format_args!("ld.global.u32 %value{test}, [%word];"));
    }
    for test in 0..tests {
        line(format_args!("setp.eq.u32 %holds, %value{test}, %number{test};"));
        line(format_args!("selp.u32 %is_equal, 1, 0, %holds;"));
        if test == 0 {
            line(format_args!("setp.ne.u32 %fails, %is_equal, %wanted{test};"));
        } else {
            line(format_args!("setp.ne.or.u32 %fails, %is_equal, %wanted{test}, %fails;"));
        }
    }
    if tests > 0 {
        line(format_args!("@%fails bra {RESTS};"));
    }
    text.push_str("}\n");
    text
}
