//! The beginning of a kernel, which a copy may run before it knows whether the kernel runs at all.
//!
//! These instructions do nothing but compute and load, and their addresses and branches depend on arguments and on the
//! place of the thread alone, not on memory. So they load exactly what they load whenever the kernel is launched so,
//! and nobody sees that they have run.

use crate::lexer::{Kind, Lexer, Token};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Instructions that do nothing but compute. Carries are in `.cc` ones.
const PURE: &[&str] = &[
    "abs", "add", "and", "bfe", "bfi", "brev", "clz", "cnot", "cvt", "cvta", "div", "ex2", "fma", "lg2", "lop3", "mad",
    "mad24", "max", "min", "mov", "mul", "mul24", "neg", "not", "or", "popc", "prmt", "rcp", "rem", "rsqrt", "sad",
    "selp", "set", "setp", "shf", "shl", "shr", "slct", "sqrt", "sub", "xor",
];

/// The beginnings of the names of registers of the machine that say more than the place of the thread. (Other registers
/// of these names are not read either.)
const MACHINE: &[&str] = &[
    "%aggr",
    "%clock",
    "%cluster",
    "%current",
    "%dynamic",
    "%envreg",
    "%globaltimer",
    "%gridid",
    "%is_explicit",
    "%lanemask",
    "%nclusterid",
    "%nsmid",
    "%nwarpid",
    "%pm",
    "%reserved",
    "%smid",
    "%total",
    "%warpid",
];

/// Returns the byte where the beginning of a kernel ends: before a label, or an instruction that is not part of it.
/// `body` is the text from `{` to `}`.
pub(super) fn end(text: &str, body: Range<usize>) -> usize {
    let tokens = tokens(text, body.clone());
    let ends = labels_of_ends(&tokens);
    let mut loaded = HashSet::new();
    let mut at = 1;
    while let Some(statement) = Statement::at(&tokens, at) {
        if !statement.is_in_beginning(&ends, &mut loaded) {
            break;
        }
        at = statement.end;
    }
    tokens.get(at).map_or(body.start + 1, |token| token.start)
}

/// The tokens of a body. If it is not PTX, there are none.
fn tokens(text: &str, body: Range<usize>) -> Vec<Token<'_>> {
    let mut lexer = Lexer::new(&text[..body.end]);
    lexer.skip_to(body.start);
    let mut tokens = Vec::new();
    loop {
        match lexer.next() {
            Ok(token) if token.kind == Kind::End => return tokens,
            Ok(token) => tokens.push(token),
            Err(_) => return Vec::new(),
        }
    }
}

/// The labels after which a kernel does nothing but end, and which it has once.
fn labels_of_ends<'t>(tokens: &[Token<'t>]) -> HashSet<&'t str> {
    let mut found: HashMap<&str, (usize, bool)> = HashMap::new();
    for (at, pair) in tokens.windows(2).enumerate() {
        let [Kind::Word(label), Kind::Punct(b':')] = [pair[0].kind, pair[1].kind] else {
            continue;
        };
        let mut next = at + 2;
        while tokens
            .get(next + 1)
            .is_some_and(|token| token.kind == Kind::Punct(b':'))
        {
            next += 2;
        }
        let is_end = matches!(
            [tokens.get(next), tokens.get(next + 1)].map(|token| token.map(|token| token.kind)),
            [Some(Kind::Word("ret" | "exit")), Some(Kind::Punct(b';'))]
        );
        let known = found.entry(label).or_insert((0, is_end));
        *known = (known.0 + 1, is_end);
    }
    let once = found.into_iter().filter(|(_, (times, is_end))| *times == 1 && *is_end);
    once.map(|(label, _)| label).collect()
}

/// A statement, in tokens.
struct Statement<'a, 't> {
    tokens: &'a [Token<'t>],
    /// The index of the token after it.
    end: usize,
}

impl<'a, 't> Statement<'a, 't> {
    fn at(tokens: &'a [Token<'t>], start: usize) -> Option<Self> {
        let first = tokens.get(start)?;
        let length = if first.kind == Kind::Dotted("loc") {
            // A line has no `;`.
            tokens[start..].iter().position(|token| token.line != first.line)?
        } else {
            tokens[start..]
                .iter()
                .position(|token| token.kind == Kind::Punct(b';'))?
                + 1
        };
        Some(Self {
            tokens: &tokens[start..start + length],
            end: start + length,
        })
    }

    /// Whether the statement is part of the beginning. `ends` are labels where a kernel ends, and `loaded` the
    /// registers whose values come from memory.
    fn is_in_beginning(&self, ends: &HashSet<&'t str>, loaded: &mut HashSet<&'t str>) -> bool {
        let mut rest = self.tokens;
        match rest[0].kind {
            Kind::Dotted("loc") => return rest.iter().all(|token| token.kind != Kind::Punct(b';')),
            Kind::Dotted("reg" | "pragma" | "param" | "shared" | "local") => return true,
            Kind::Dotted(_) => return false,
            _ => {}
        }
        if rest[0].kind == Kind::Punct(b'@') {
            rest = &rest[if rest.get(1).is_some_and(|token| token.kind == Kind::Punct(b'!')) {
                2
            } else {
                1
            }..];
            let Some(Kind::Word(guard)) = rest.first().map(|token| token.kind) else {
                return false;
            };
            // Guarded instructions end the beginning, but for branches to the end of the kernel.
            let rest: Vec<Kind<'_>> = rest[1..].iter().map(|token| token.kind).collect();
            let target = match rest[..] {
                [Kind::Word("bra"), Kind::Word(target), Kind::Punct(b';')]
                | [
                    Kind::Word("bra"),
                    Kind::Dotted("uni"),
                    Kind::Word(target),
                    Kind::Punct(b';'),
                ] => target,
                _ => return false,
            };
            return !loaded.contains(guard) && ends.contains(target);
        }
        let Kind::Word(operation) = rest[0].kind else {
            return false;
        };
        let modifiers = rest[1..].iter().map_while(|token| match token.kind {
            Kind::Dotted(modifier) => Some(modifier),
            _ => None,
        });
        let modifiers: Vec<&str> = modifiers.collect();
        let operands = &rest[1 + modifiers.len()..];
        // A brace here groups registers; one of a scope is followed by a statement.
        let Some(comma) = first_comma(operands) else {
            return false;
        };
        let sources = words(&operands[comma..]);
        if sources.iter().any(|word| is_of_machine(word)) {
            return false;
        }
        let from_memory = match operation {
            "ld" if is_plain_load(&modifiers) => {
                if sources.iter().any(|word| loaded.contains(word)) {
                    return false; // the address comes from memory
                }
                !modifiers.contains(&"param")
            }
            _ if PURE.contains(&operation) && !modifiers.contains(&"cc") => {
                sources.iter().any(|word| loaded.contains(word))
            }
            _ => return false,
        };
        for target in words(&operands[..comma]) {
            if from_memory {
                loaded.insert(target);
            } else {
                loaded.remove(target);
            }
        }
        true
    }
}

/// Whether a load is one of parameters, constants or global memory that asks for no order.
fn is_plain_load(modifiers: &[&str]) -> bool {
    let is_plain = |modifier: &&str| !matches!(*modifier, "volatile" | "relaxed" | "acquire" | "mmio");
    matches!(
        modifiers.iter().find(|modifier| **modifier != "weak"),
        Some(&("param" | "const" | "global"))
    ) && modifiers.iter().all(is_plain)
}

fn is_of_machine(word: &str) -> bool {
    MACHINE.iter().any(|name| word.starts_with(name))
}

/// The words among tokens: registers and symbols.
fn words<'t>(tokens: &[Token<'t>]) -> Vec<&'t str> {
    let words = tokens.iter().filter_map(|token| match token.kind {
        Kind::Word(word) => Some(word),
        _ => None,
    });
    words.collect()
}

/// The index of the first comma outside of braces and brackets.
fn first_comma(tokens: &[Token<'_>]) -> Option<usize> {
    let mut depth = 0_usize;
    tokens.iter().position(|token| {
        match token.kind {
            Kind::Punct(b'{' | b'[' | b'(') => depth += 1,
            Kind::Punct(b'}' | b']' | b')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.kind == Kind::Punct(b',')
    })
}
