//! The macros of a source, and tokens without them.

use std::collections::HashMap;

use super::tokens::{Token, tokens};

/// The most tokens that a source is expanded to. Macros of macros may grow without bounds.
const MAX_TOKENS: usize = 1 << 19;
/// The deepest nesting of arguments that is expanded.
const MAX_DEPTH: usize = 128;

/// The macros that are defined at a place of a source.
#[derive(Debug, Default)]
pub(crate) struct Macros {
    known: HashMap<String, Macro>,
    /// The number of tokens that expansions have made.
    made: usize,
    /// The number of arguments around the ones that are being expanded.
    depth: usize,
}

#[derive(Debug, PartialEq, Eq)]
struct Macro {
    /// The names of its parameters, if it is like a function.
    params: Option<Vec<String>>,
    /// Whether the last parameter takes all arguments that are left.
    is_variadic: bool,
    body: Vec<String>,
    /// Whether another definition of other text came before.
    is_ambiguous: bool,
}

/// An entry of the list that is still to be expanded.
enum Next {
    Token(Token),
    /// The end of a macro's text: from here on, its name is a macro again.
    End(String),
}

impl Macros {
    /// Whether a line for the preprocessor changes the macros that there are.
    pub(crate) fn changes(line: &str) -> bool {
        let line = line[1..].trim_start();
        line.starts_with("define") || line.starts_with("undef")
    }

    /// Takes a line for the preprocessor, if it defines a macro or ends one.
    pub(crate) fn directive(&mut self, line: &str) {
        let line = line[1..].trim_start();
        if let Some(name) = line.strip_prefix("undef") {
            self.known.remove(name.trim());
        }
        let Some((name, mut new)) = line.strip_prefix("define").and_then(Macro::read) else {
            return;
        };
        let differs = |old: &Macro| old.is_ambiguous || (&old.params, &old.body) != (&new.params, &new.body);
        new.is_ambiguous = self.known.get(&name).is_some_and(differs);
        self.known.insert(name, new);
    }

    /// Whether a name is that of a macro that is called like a function, and that has one definition.
    pub(crate) fn is_call(&self, name: &str) -> bool {
        let found = self.known.get(name);
        found.is_some_and(|found| found.params.is_some() && !found.is_ambiguous)
    }

    /// The tokens with the texts of macros in place of their names. These have the place of the name.
    pub(crate) fn expanded(&mut self, tokens: &[Token]) -> Vec<Token> {
        self.expanded_but(tokens, Vec::new())
    }

    /// As [`Macros::expanded`], inside the texts of the macros `hidden`, which are not expanded again.
    fn expanded_but(&mut self, tokens: &[Token], mut hidden: Vec<String>) -> Vec<Token> {
        let mut rest: Vec<Next> = tokens.iter().rev().cloned().map(Next::Token).collect();
        let mut out = Vec::new();
        while let Some(next) = rest.pop() {
            let token = match next {
                Next::Token(token) => token,
                Next::End(name) => {
                    show_again(&mut hidden, &name);
                    continue;
                }
            };
            let is_full = self.made > MAX_TOKENS || self.depth > MAX_DEPTH;
            let found = self.known.get(&token.text).filter(|_| !is_full);
            let Some(found) = found.filter(|_| !hidden.contains(&token.text)) else {
                out.push(token);
                continue;
            };
            let arguments = match &found.params {
                None => Vec::new(),
                Some(_) => match arguments(&mut rest, &mut hidden) {
                    Some(arguments) => arguments,
                    None => {
                        out.push(token);
                        continue;
                    }
                },
            };
            let text = self.substituted(&token, arguments, &hidden);
            self.made += text.len();
            rest.push(Next::End(token.text.clone()));
            hidden.push(token.text);
            rest.extend(text.into_iter().rev().map(Next::Token));
        }
        out
    }

    /// The text of the macro at `name`, with arguments in place of its parameters.
    fn substituted(&mut self, name: &Token, arguments: Vec<Vec<Token>>, hidden: &[String]) -> Vec<Token> {
        self.depth += 1;
        let expanded = arguments
            .iter()
            .map(|argument| self.expanded_but(argument, hidden.to_vec()));
        let expanded: Vec<Vec<Token>> = expanded.collect();
        self.depth -= 1;
        let found = &self.known[&name.text];
        let params = found.params.as_deref().unwrap_or_default();
        let join = |lists: &[Vec<Token>]| {
            let comma = at(",".to_owned(), name);
            lists.join(&comma)
        };
        // The tokens for a word of the text, if the word is a parameter.
        let argument = |word: &str, lists: &[Vec<Token>]| {
            let index = params.iter().position(|param| param == word)?;
            if found.is_variadic && index + 1 == params.len() {
                return Some(join(lists.get(index..).unwrap_or_default()));
            }
            Some(lists.get(index).cloned().unwrap_or_default())
        };
        let mut out: Vec<Token> = Vec::new();
        let mut index = 0;
        let mut pastes = false;
        let mut was_nothing = true;
        while let Some(word) = found.body.get(index) {
            index += 1;
            if word == "##" {
                pastes = true;
                continue;
            }
            let next = found.body.get(index).map(String::as_str);
            let mut piece = match next.and_then(|next| argument(next, &arguments)) {
                Some(argument) if word == "#" && found.params.is_some() => {
                    index += 1;
                    let words: Vec<&str> = argument.iter().map(|token| token.text.as_str()).collect();
                    vec![at(format!("{:?}", words.join(" ")), name)]
                }
                _ => {
                    let is_pasted = pastes || next == Some("##");
                    let lists = if is_pasted { &arguments } else { &expanded };
                    argument(word, lists).unwrap_or_else(|| vec![at(word.clone(), name)])
                }
            };
            let is_nothing = piece.is_empty();
            if let Some(last) = out.last_mut().filter(|_| pastes && !is_nothing && !was_nothing) {
                last.text.push_str(&piece.remove(0).text);
            }
            // Pasted to nothing, the left side is still there.
            was_nothing = is_nothing && (!pastes || was_nothing);
            pastes = false;
            out.extend(piece);
        }
        out
    }
}

impl Macro {
    /// Reads `name(params) text`, the part of a line after `#define`. The text keeps no spaces.
    fn read(line: &str) -> Option<(String, Self)> {
        let line = line.strip_prefix(char::is_whitespace)?;
        let read = tokens(line);
        let name = read.first().filter(|token| token.is_word())?;
        let is_call = read
            .get(1)
            .is_some_and(|token| token.text == "(" && token.start == name.end);
        let close = read.iter().position(|token| is_call && token.text == ")");
        let (mut params, mut is_variadic) = (None, false);
        if let Some(close) = close {
            let inside = &read[2..close];
            let mut names: Vec<String> = inside
                .iter()
                .filter(|token| token.is_word())
                .map(|token| token.text.clone())
                .collect();
            if inside.iter().any(|token| token.text == ".") {
                is_variadic = true;
                let is_unnamed = inside.len() == 3 || inside[inside.len() - 4].text == ",";
                names.extend(is_unnamed.then(|| "__VA_ARGS__".to_owned()));
            }
            params = Some(names);
        }
        let body = &read[close.map_or(1, |close| close + 1)..];
        let new = Self {
            params,
            is_variadic,
            body: body.iter().map(|token| token.text.clone()).collect(),
            is_ambiguous: false,
        };
        Some((name.text.clone(), new))
    }
}

/// A token with a text of its own at the place of a macro's name.
fn at(text: String, name: &Token) -> Token {
    Token {
        text,
        start: name.start,
        end: name.end,
    }
}

/// Ends the text of a macro: the last one of its name that is hidden is not any more.
fn show_again(hidden: &mut Vec<String>, name: &str) {
    let place = hidden.iter().rposition(|hidden| hidden == name);
    place.map(|place| hidden.remove(place));
}

/// Takes `( .. )`, split at commas that are in no parentheses. `None`, with nothing taken, if there is none.
fn arguments(rest: &mut Vec<Next>, hidden: &mut Vec<String>) -> Option<Vec<Vec<Token>>> {
    let opening = rest.iter().rev().find_map(|next| match next {
        Next::Token(token) => Some(token.text == "("),
        Next::End(_) => None,
    });
    opening.filter(|is_opening| *is_opening)?;
    let mut arguments = vec![Vec::new()];
    let mut depth = 0_usize;
    while let Some(next) = rest.pop() {
        let token = match next {
            Next::Token(token) => token,
            Next::End(name) => {
                show_again(hidden, &name);
                continue;
            }
        };
        match token.text.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            "," if depth == 1 => {
                arguments.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
        if depth > 1 || token.text != "(" {
            arguments.last_mut().expect("there is one").push(token);
        }
    }
    Some(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> String {
        let mut macros = Macros::default();
        let mut plain = Vec::new();
        for token in tokens(text) {
            if token.is_directive() {
                macros.directive(&token.text);
            } else {
                plain.push(token);
            }
        }
        let out = macros.expanded(&plain);
        out.iter()
            .map(|token| token.text.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn macros_are_replaced_by_their_texts() {
        for (text, expected) in [
            ("#define N 4\nint x[N];", "int x [ 4 ] ;"),
            (
                "#define OP(T, NAME) void NAME##_##T(T *x, int by = sizeof(T))\nOP(float, add);",
                "void add_float ( float * x , int by = sizeof ( float ) ) ;",
            ),
            ("#define S(x) #x\nS(a + b)", "\"a + b\""),
            (
                "#define ALL(f, ...) f(__VA_ARGS__)\nALL(g, 1, (2, 3))",
                "g ( 1 , ( 2 , 3 ) )",
            ),
            ("#define REST(xs...) f(xs)\nREST(1, 2) REST()", "f ( 1 , 2 ) f ( )"),
            ("#define A B\n#define B A\nA", "A"),
            ("#define f(x) x f\nf(1)(2)", "1 f ( 2 )"),
            ("#define N f\n#define f(x) [x]\nN(1) f", "[ 1 ] f"),
            ("#define CAT(a, b) a##b\n#define X 1\nCAT(X, 2) CAT(, y)", "X2 y"),
            (
                "#define S(a, b, c) static a##b##c\nS(, y, ) S(x, , z) S(, , z)",
                "static y static xz static z",
            ),
            ("#define N 1\n#undef N\nN", "N"),
            ("#define F (x)\nF", "( x )"),
            ("#define", ""),
            ("#define f(x) x\nf(1", "1"),
        ] {
            assert_eq!(expanded(text), expected, "{text}");
        }
    }

    #[test]
    fn macros_of_macros_end() {
        let lines = (1..64).map(|index| format!("#define M{index} M{} M{}\n", index - 1, index - 1));
        let text = lines.collect::<String>() + "M63";
        assert!(expanded(&text).len() < 64 << 20);
        assert_eq!(expanded("#define g(x) x\n#define f(x) g(f(x))\nf(1)"), "f ( 1 )");
        let deep = format!("#define f(x) x\n{}{}", "f(".repeat(5000), ")".repeat(5000));
        assert!(expanded(&deep).ends_with(") )"));
    }

    #[test]
    fn a_macro_with_two_texts_is_no_call() {
        let mut macros = Macros::default();
        macros.directive("#define f(x) x");
        macros.directive("#  define f(x) x");
        assert!(macros.is_call("f") && !macros.is_call("g"));
        macros.directive("#define f(x) -x");
        assert!(!macros.is_call("f"));
    }
}
