//! The declarations of a source, as far as it takes to cut one out.

use super::macros::Macros;
use super::tokens::Token;

/// Words that take an argument in parentheses and are no functions.
pub(crate) const ATTRIBUTES: [&str; 8] = [
    "__launch_bounds__",
    "__cluster_dims__",
    "__maxnreg__",
    "__block_size__",
    "__attribute__",
    "__align__",
    "alignas",
    "__declspec",
];

/// A declaration that is neither a namespace nor a class, but may be in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// Its first token.
    pub(crate) start: usize,
    /// The token after its last one.
    pub(crate) end: usize,
    /// The first token after `template <..>`, `extern "C"` and `friend`.
    pub(crate) specifiers: usize,
    /// The name of the function, if it is one.
    pub(crate) function: Option<usize>,
    /// Whether it is in a class.
    pub(crate) is_member: bool,
    /// Whether it is a call of a macro.
    pub(crate) is_call: bool,
}

/// The declarations of a source; `None` if its brackets do not match, as those of text under `#if` may not.
pub(crate) fn items(tokens: &[Token], macros: &Macros) -> Option<Vec<Item>> {
    let mut reader = Reader {
        tokens,
        macros,
        at: 0,
        items: Vec::new(),
    };
    reader.scope(false)?;
    (reader.at == tokens.len()).then_some(reader.items)
}

/// The index of the bracket that closes the one at `open`.
pub(crate) fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut expected = Vec::new();
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" => expected.push(")"),
            "[" => expected.push("]"),
            "{" => expected.push("}"),
            ")" | "]" | "}" if expected.pop() != Some(&token.text) => return None,
            _ => {}
        }
        if expected.is_empty() {
            return Some(index);
        }
    }
    None
}

struct Reader<'t> {
    tokens: &'t [Token],
    macros: &'t Macros,
    at: usize,
    items: Vec<Item>,
}

impl Reader<'_> {
    fn text(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |token| &token.text)
    }

    fn before(&self) -> &str {
        self.at.checked_sub(1).map_or("", |before| self.text(before))
    }

    /// Reads declarations to the `}` of a class or namespace, or to the end.
    fn scope(&mut self, is_class: bool) -> Option<()> {
        loop {
            match self.text(self.at) {
                "" | "}" => return Some(()),
                "public" | "private" | "protected" if self.text(self.at + 1) == ":" => self.at += 2,
                ";" => self.at += 1,
                _ if self.tokens[self.at].is_directive() => self.at += 1,
                _ => self.item(is_class)?,
            }
        }
    }

    /// The place after `template <..>`, `extern "C"` and `friend`.
    fn specifiers(&self) -> Option<usize> {
        let mut at = self.at;
        loop {
            match (self.text(at), self.text(at + 1)) {
                ("template", "<") => at = self.angle(at + 1)?,
                ("extern", next) if next.starts_with('"') => at += 2,
                ("friend", _) => at += 1,
                _ => return Some(at),
            }
        }
    }

    /// The place after the `>` that closes the `<` at `open`.
    fn angle(&self, open: usize) -> Option<usize> {
        let (mut at, mut depth) = (open, 0_usize);
        loop {
            match self.text(at) {
                "<" => depth += 1,
                ">" => depth = depth.checked_sub(1)?,
                "(" | "[" | "{" => at = closing(self.tokens, at)?,
                "" | ";" => return None,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }

    fn item(&mut self, is_member: bool) -> Option<()> {
        let start = self.at;
        if self.macros.is_call(self.text(start)) && self.text(start + 1) == "(" {
            self.at = closing(self.tokens, start + 1)? + 1;
            self.push(start, start, None, is_member, true);
            return Some(());
        }
        let specifiers = self.specifiers()?;
        let mut function = None;
        let mut is_aggregate = false;
        let mut is_value = false;
        self.at = specifiers;
        loop {
            let word = self.text(self.at);
            match word {
                "" | "}" | ")" | "]" => return None,
                ";" => {
                    self.at += 1;
                    break;
                }
                "class" | "struct" | "union" | "enum" | "namespace" if function.is_none() => is_aggregate = true,
                "=" if function.is_none() => is_value |= !(start..self.at).any(|at| self.text(at) == "operator"),
                "(" if function.is_none() && !is_value => {
                    let is_attribute = ATTRIBUTES.contains(&self.before());
                    if self.at == specifiers {
                        return None;
                    }
                    // The name of `operator()` has parentheses of its own.
                    if !is_attribute && self.before() == "operator" {
                        self.at += 2;
                    }
                    function = (!is_attribute).then(|| self.at - 1);
                    self.at = closing(self.tokens, self.at)?;
                }
                "(" | "[" => self.at = closing(self.tokens, self.at)?,
                "{" => {
                    let before = self.before().to_owned();
                    let opens_scope = function.is_none() && !is_value;
                    let is_namespace = (specifiers..self.at).any(|at| self.text(at) == "namespace");
                    let is_linkage = self.at == specifiers && before.starts_with('"');
                    if opens_scope && (is_namespace || is_linkage || is_aggregate) {
                        let is_enum = (specifiers..self.at).any(|at| self.text(at) == "enum");
                        if is_enum {
                            self.at = closing(self.tokens, self.at)?;
                        } else {
                            self.at += 1;
                            self.scope(!is_namespace && !is_linkage)?;
                        }
                        if self.text(self.at) != "}" {
                            return None;
                        }
                        self.at += 1;
                        if is_namespace || is_linkage {
                            return Some(());
                        }
                        // The `;` of a class, and the variables before it.
                        continue;
                    }
                    // `: a{1}` before the body of a constructor.
                    let is_initializer = self.tokens[self.at - 1].is_word() && self.has_initializers(function);
                    self.at = closing(self.tokens, self.at)?;
                    if function.is_some() && !is_initializer && !is_value {
                        self.at += 1;
                        break;
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
        if !is_aggregate || function.is_some() {
            self.push(start, specifiers, function, is_member, false);
        }
        Some(())
    }

    /// Whether there is a `:` between the parameters of a function and this place.
    fn has_initializers(&self, function: Option<usize>) -> bool {
        let after = function.and_then(|name| closing(self.tokens, name + 1));
        after.is_some_and(|after| self.text(after + 1) == ":")
    }

    fn push(&mut self, start: usize, specifiers: usize, function: Option<usize>, is_member: bool, is_call: bool) {
        self.items.push(Item {
            start,
            end: self.at,
            specifiers,
            function,
            is_member,
            is_call,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    /// The name of each item, or its text if it has none; members and calls are marked.
    fn shown(text: &str) -> Option<Vec<String>> {
        let tokens = tokens(text);
        let mut macros = Macros::default();
        for token in tokens.iter().filter(|token| token.is_directive()) {
            macros.directive(&token.text);
        }
        let shown = |item: &Item| {
            let text = &text[tokens[item.start].start..tokens[item.end - 1].end];
            let name = item.function.map_or(text, |name| &tokens[name].text);
            let mark = if item.is_member { "." } else { "" };
            let call = if item.is_call { "!" } else { "" };
            format!("{mark}{name}{call}")
        };
        Some(items(&tokens, &macros)?.iter().map(shown).collect())
    }

    #[test]
    fn declarations_are_found() {
        let text = "
            #define MAKE(x) void x() {}
            #include <a.h>
            using namespace std; typedef int Int;
            static const float T[2] = {1, 2}; int y{3};
            enum E { A, B }; enum class F : int { C };
            namespace a::b { int in_namespace() { if (x) { return 1; } return 2; } }
            extern \"C\" { void in_c(); }
            extern \"C\" void out_of_c() {}
            struct S : P { int x; S(int a) : x{a}, y(2) { f(); } bool operator()(int) const { return 1; }
                public: friend bool operator==(S a, S b); virtual ~S() = default; int z = 3; } s;
            template <typename T, int N = (2 > 1)> __global__ void __launch_bounds__(64) k(T *x) {}
            struct __align__(16) V { int v; };
            struct S made(int x) { return x; }
            MAKE(a) MAKE(b)
            MAKE(c);
            auto lambda = [](int x) { return x; };
            int main(int argc, char **argv) { k<<<1, 2>>>(0); }
            template void instance<float>(float *);
        ";
        let expected = [
            "typedef int Int;",
            "static const float T[2] = {1, 2};",
            "int y{3};",
            "in_namespace",
            "in_c",
            "out_of_c",
            ".int x;",
            ".S",
            ".)",
            ".=",
            ".S",
            ".int z = 3;",
            "k",
            ".int v;",
            "made",
            "MAKE(a)!",
            "MAKE(b)!",
            "MAKE(c)!",
            "auto lambda = [](int x) { return x; };",
            "main",
            ">",
        ];
        assert_eq!(shown(text).unwrap(), expected);
    }

    #[test]
    fn brackets_that_do_not_match_are_told() {
        for text in [
            "void f() {",
            "}",
            "void f(int x",
            "#if A\nvoid f() {\n#else\nvoid f(int) {\n#endif\n}\n",
            "x",
            "( ]",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
    }
}
