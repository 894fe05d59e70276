//! The tokens of a source.

/// A token, or a whole line for the preprocessor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// Its text. A line for the preprocessor begins with `#`, and has no comments and no line ends.
    pub(crate) text: String,
    /// The place of its first byte in the text.
    pub(crate) start: usize,
    /// The place after its last byte.
    pub(crate) end: usize,
}

impl Token {
    pub(crate) fn is_word(&self) -> bool {
        self.text
            .starts_with(|first: char| first.is_alphabetic() || first == '_')
    }

    /// The change in the number of open `#if`s at a line for the preprocessor: 1, -1, or 0 at a further branch.
    pub(crate) fn branch(&self) -> Option<i32> {
        let word = self
            .text
            .strip_prefix('#')
            .filter(|_| self.is_directive())?
            .trim_start();
        let word = &word[..word.find(|char: char| !char.is_alphabetic()).unwrap_or(word.len())];
        match word {
            "if" | "ifdef" | "ifndef" => Some(1),
            "else" | "elif" => Some(0),
            "endif" => Some(-1),
            _ => None,
        }
    }

    /// Whether it is a line for the preprocessor, rather than a `#` in the text of a macro.
    pub(crate) fn is_directive(&self) -> bool {
        self.text.len() > 1 && self.text.starts_with('#')
    }
}

/// The tokens of a text, without comments.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut reader = Reader { text, at: 0 };
    let mut tokens = Vec::new();
    let mut starts_line = true;
    while let Some(char) = reader.peek() {
        let start = reader.at;
        if char == '\n' {
            starts_line = true;
            reader.at += 1;
            continue;
        }
        if char.is_whitespace() || reader.skip_comment() || reader.skip("\\\n") {
            reader.at += if reader.at == start { char.len_utf8() } else { 0 };
            continue;
        }
        let token = if char == '#' && starts_line {
            reader.directive()
        } else {
            reader.token(char);
            text[start..reader.at].to_owned()
        };
        starts_line = false;
        tokens.push(Token {
            text: token,
            start,
            end: reader.at,
        });
    }
    tokens
}

/// The tokens of one branch of each `#if`: of the one that has one of the places `wanted`, or else of the first.
pub(crate) fn one_branch(tokens: &[Token], wanted: &[usize]) -> Vec<Token> {
    // The open `#if`s, by number, and the number of their branch; and the branch of each `#if` that is chosen.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut chosen: Vec<usize> = Vec::new();
    let mut branches: Vec<Vec<(usize, usize)>> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match token.branch() {
            Some(1) => {
                open.push((chosen.len(), 0));
                chosen.push(0);
            }
            Some(0) => open.iter_mut().last().into_iter().for_each(|(_, branch)| *branch += 1),
            Some(_) => drop(open.pop()),
            None => {}
        }
        let next = tokens.get(index + 1).map_or(usize::MAX, |next| next.start);
        if wanted.iter().any(|place| (token.start..next).contains(place)) {
            for &(number, branch) in &open {
                chosen[number] = branch;
            }
        }
        branches.push(open.clone());
    }
    let is_left =
        |(_, open): &(&Token, Vec<(usize, usize)>)| open.iter().all(|&(number, branch)| chosen[number] == branch);
    let left = tokens.iter().zip(branches).filter(is_left);
    left.map(|(token, _)| token.clone()).collect()
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self, text: &str) -> bool {
        let is_there = self.rest().starts_with(text);
        self.at += if is_there { text.len() } else { 0 };
        is_there
    }

    fn skip_while(&mut self, matches: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|char| !matches(char)).unwrap_or(rest.len());
    }

    fn skip_past(&mut self, text: &str) {
        let rest = self.rest();
        self.at += rest.find(text).map_or(rest.len(), |place| place + text.len());
    }

    fn skip_comment(&mut self) -> bool {
        if self.rest().starts_with("//") {
            self.skip_while(|char| char != '\n');
            return true;
        }
        let is_comment = self.skip("/*");
        if is_comment {
            self.skip_past("*/");
        }
        is_comment
    }

    /// The line for the preprocessor that begins here, with the lines that continue it.
    fn directive(&mut self) -> String {
        let mut line = String::new();
        while let Some(char) = self.peek().filter(|&char| char != '\n') {
            if self.skip("\\\n") || self.skip("\\\r\n") || self.skip_comment() {
                line.push(' ');
                continue;
            }
            let start = self.at;
            match char {
                '"' | '\'' => self.quoted(char),
                _ => self.at += char.len_utf8(),
            }
            line.push_str(&self.text[start..self.at]);
        }
        line
    }

    /// The token that begins with `char`.
    fn token(&mut self, char: char) {
        const RAW: [&str; 5] = ["R", "LR", "uR", "UR", "u8R"];
        let start = self.at;
        if char.is_ascii_digit() {
            self.number();
        } else if char.is_alphabetic() || char == '_' {
            self.skip_while(|char| char.is_alphanumeric() || char == '_');
            if RAW.contains(&&self.text[start..self.at]) && self.rest().starts_with('"') {
                self.raw_string();
            }
        } else if char == '"' || char == '\'' {
            self.quoted(char);
        } else if !self.skip("##") {
            self.at += char.len_utf8();
        }
    }

    /// `1'000`, `0x1p-3f`
    fn number(&mut self) {
        let mut last = '0';
        while let Some(char) = self.peek() {
            let is_sign = (char == '+' || char == '-') && "eEpP".contains(last);
            let separates = char == '\'' && self.rest()[1..].starts_with(|next: char| next.is_alphanumeric());
            if !(char.is_alphanumeric() || char == '_' || char == '.' || is_sign || separates) {
                break;
            }
            last = char;
            self.at += char.len_utf8();
        }
    }

    /// A text or a character in quotes, which ends with its line at the latest.
    fn quoted(&mut self, quote: char) {
        self.at += 1;
        while let Some(char) = self.peek().filter(|&char| char != '\n') {
            self.at += char.len_utf8();
            if char == quote {
                break;
            }
            if char == '\\' {
                self.at += self.peek().map_or(0, char::len_utf8);
            }
        }
    }

    /// `"mark( .. )mark"`, after the `R`.
    fn raw_string(&mut self) {
        let rest = self.rest();
        let mark = rest.find('(').map_or("", |open| &rest[1..open]);
        let end = format!("){mark}\"");
        self.skip_past(&end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_places_and_no_comments() {
        let text =
            "#define A(x) \\\n  x // c\nf(a /* b */, \"/*\", 'x', 1'000.5e-3f, R\"-(\" ) )-\"); # y\n/* # */ # if 1\n";
        let found = tokens(text);
        let shown: Vec<&str> = found.iter().map(|token| token.text.as_str()).collect();
        let expected = [
            "#define A(x)    x  ",
            "f",
            "(",
            "a",
            ",",
            "\"/*\"",
            ",",
            "'x'",
            ",",
            "1'000.5e-3f",
            ",",
            "R\"-(\" ) )-\"",
            ")",
            ";",
            "#",
            "y",
            "# if 1",
        ];
        assert_eq!(shown, expected);
        assert!(
            found
                .iter()
                .skip(1)
                .all(|token| text[token.start..token.end] == token.text)
        );
    }

    #[test]
    fn one_branch_is_left() {
        let text =
            "a\n#if A\nb\n# if B\nc\n#else\nd\n#endif\ne\n#elif C\nf\n#ifdef D\ng\n#endif\n#endif\nh\n#endif\n#else";
        let words = |wanted: &[usize]| -> String {
            let left = one_branch(&tokens(text), wanted);
            let words = left.iter().filter(|token| token.is_word());
            words.map(|token| token.text.as_str()).collect()
        };
        assert_eq!(words(&[]), "abceh");
        assert_eq!(words(&[text.find("\nd").unwrap() + 1]), "abdeh");
        assert_eq!(words(&[text.find("\ng").unwrap() + 1]), "afgh");
    }

    #[test]
    fn what_never_ends_ends() {
        for text in ["\"", "'\\", "/*", "R\"(", "#define \\", "#\"", "\\", "é'", "1'"] {
            tokens(text);
        }
    }
}
