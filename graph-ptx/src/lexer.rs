//! From text to tokens. Tokens borrow from the text and numbers stay text, so the lexer allocates nothing.

use crate::error::ParseError;

/// The kind of a token, with its text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind<'a> {
    /// An identifier, register or opcode: `ld`, `%r1`, `$L__BB0_2`, `_`.
    Word(&'a str),
    /// A directive or modifier, without its dot: `global`, `shared::cluster`, `16x256b`.
    Dotted(&'a str),
    /// A literal as written: `42`, `0x1fU`, `0f3F800000`, `8.4`, `1.5e-3`.
    Number(&'a str),
    /// The inside of a string literal, with its escapes as written.
    Text(&'a str),
    /// One punctuation character.
    Punct(u8),
    /// The end of the text.
    End,
}

impl Kind<'_> {
    /// The token as an error message shows it.
    pub(crate) fn describe(self) -> String {
        match self {
            Kind::Word(text) | Kind::Number(text) => format!("`{}`", shorten(text)),
            Kind::Dotted(text) => format!("`.{}`", shorten(text)),
            Kind::Text(_) => "a string".to_owned(),
            Kind::Punct(byte) => format!("`{}`", char::from(byte)),
            Kind::End => "the end of the text".to_owned(),
        }
    }
}

/// At most 60 characters of `text`.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// A token and its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    /// Its kind.
    pub(crate) kind: Kind<'a>,
    /// Line, from 1.
    pub(crate) line: u32,
    /// Byte offset in the text.
    pub(crate) start: usize,
}

/// Reads tokens off a text, one at a time. After an error, it goes on after the place of the error.
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    position: usize,
    line: u32,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Lexer {
            text,
            bytes: text.as_bytes(),
            position: 0,
            line: 1,
        }
    }

    /// Goes on at byte `position`, where a token begins. Lines are counted from there on.
    pub(crate) fn skip_to(&mut self, position: usize) {
        self.position = position;
    }

    /// The text from a token on.
    pub(crate) fn text_from(&self, token: Token<'a>) -> &'a str {
        &self.text[token.start..]
    }

    /// An error at byte `start` of line `line`.
    pub(crate) fn error_at(&self, start: usize, line: u32, message: String) -> ParseError {
        let start = start.min(self.bytes.len());
        let line_start = self.bytes[..start]
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |newline| newline + 1);
        ParseError {
            line,
            column: u32::try_from(start - line_start + 1).unwrap_or(u32::MAX),
            message,
        }
    }

    /// The next token; `End` again and again at the end.
    pub(crate) fn next(&mut self) -> Result<Token<'a>, ParseError> {
        self.skip_blanks()?;
        let (start, line) = (self.position, self.line);
        let Some(first) = self.peek(0) else {
            return Ok(Token {
                kind: Kind::End,
                line,
                start,
            });
        };
        let kind = match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'%' => {
                self.position += 1;
                Kind::Word(self.take_word(start))
            }
            b'0'..=b'9' => Kind::Number(self.take_number(start)),
            b'.' if self.at_fraction() => Kind::Number(self.take_number(start)),
            b'.' if self.peek(1).is_some_and(|byte| is_word(byte) || byte == b'%') => {
                self.position += 1;
                Kind::Dotted(self.take_dotted(start + 1))
            }
            b'"' => Kind::Text(self.take_text(start)?),
            b'!' | b'(' | b')' | b'+' | b',' | b'-' | b':' | b';' | b'<' | b'=' | b'>' | b'@' | b'[' | b']' | b'{'
            | b'|' | b'}' | b'~' | b'*' | b'/' | b'&' | b'^' | b'?' => {
                self.position += 1;
                Kind::Punct(first)
            }
            _ => {
                let found = self.text[start..].chars().next().unwrap_or('\u{fffd}');
                self.position += found.len_utf8();
                return Err(self.error_at(start, line, format!("unexpected character `{}`", found.escape_debug())));
            }
        };
        Ok(Token { kind, line, start })
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.position + ahead).copied()
    }

    /// Skips white space, comments, `#` lines and the `@@DWARF` lines of old compilers. NUL counts as white space:
    /// texts from NVRTC often end with one.
    fn skip_blanks(&mut self) -> Result<(), ParseError> {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' => {
                    self.line = self.line.saturating_add(1);
                    self.position += 1;
                }
                b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c' | b'\0' => self.position += 1,
                b'#' => self.skip_line(),
                b'@' if self.bytes[self.position..].starts_with(b"@@") || self.at_dwarf() => self.skip_line(),
                b'/' if self.peek(1) == Some(b'/') => self.skip_line(),
                b'/' if self.peek(1) == Some(b'*') => self.skip_block_comment()?,
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    /// Whether `@dwarf` is next, in upper or lower case.
    fn at_dwarf(&self) -> bool {
        self.bytes[self.position..]
            .get(1..6)
            .is_some_and(|word| word.eq_ignore_ascii_case(b"dwarf"))
            && self.peek(6).is_none_or(|byte| !is_word(byte))
    }

    fn skip_line(&mut self) {
        let rest = &self.bytes[self.position..];
        self.position += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    }

    fn skip_block_comment(&mut self) -> Result<(), ParseError> {
        let (start, line) = (self.position, self.line);
        self.position += 2;
        loop {
            match self.peek(0) {
                None => return Err(self.error_at(start, line, "unterminated comment".to_owned())),
                Some(b'*') if self.peek(1) == Some(b'/') => {
                    self.position += 2;
                    return Ok(());
                }
                Some(b'\n') => self.line = self.line.saturating_add(1),
                Some(_) => {}
            }
            self.position += 1;
        }
    }

    fn take_word(&mut self, start: usize) -> &'a str {
        while self.peek(0).is_some_and(is_word) {
            self.position += 1;
        }
        &self.text[start..self.position]
    }

    /// Reads a directive or modifier from after its dot; it may hold `::` (`.shared::cluster`).
    fn take_dotted(&mut self, start: usize) -> &'a str {
        loop {
            self.take_word(start);
            let colons = self.peek(0) == Some(b':') && self.peek(1) == Some(b':');
            if !(colons && self.peek(2).is_some_and(is_word)) {
                return &self.text[start..self.position];
            }
            self.position += 2;
        }
    }

    fn take_number(&mut self, start: usize) -> &'a str {
        let second = self.bytes.get(start + 1).copied().unwrap_or(b' ');
        let radix_prefix =
            self.bytes[start] == b'0' && second.is_ascii_alphabetic() && !matches!(second, b'e' | b'E' | b'u' | b'U');
        self.take_word(start);
        if radix_prefix {
            return &self.text[start..self.position];
        }
        if self.peek(0) == Some(b'.') && self.ends_integer() {
            self.position += 1;
            self.take_word(start);
        }
        let exponent =
            matches!(self.bytes[self.position - 1], b'e' | b'E') && matches!(self.peek(0), Some(b'+' | b'-'));
        if exponent && self.peek(1).is_some_and(|byte| byte.is_ascii_digit()) {
            self.position += 1;
            self.take_word(start);
        }
        &self.text[start..self.position]
    }

    /// Whether the dot after an integer is a part of the number: in `1.5`, `1.e5` and `1.`, but not in `1.f`.
    fn ends_integer(&self) -> bool {
        match self.peek(1) {
            Some(b'e' | b'E') => {
                let sign = usize::from(matches!(self.peek(2), Some(b'+' | b'-')));
                self.peek(2 + sign).is_some_and(|byte| byte.is_ascii_digit())
            }
            next => next.is_none_or(|byte| byte.is_ascii_digit() || !is_word(byte)),
        }
    }

    /// Whether `.5` or `.5e-3` comes next, and not a modifier such as `.1d` or `.16x256b`.
    fn at_fraction(&self) -> bool {
        let rest = &self.bytes[self.position + 1..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let after = |index: usize| rest.get(digits + index).copied();
        let exponent = match (after(0), after(1)) {
            (Some(b'e' | b'E'), Some(b'+' | b'-')) => after(2),
            (Some(b'e' | b'E'), digit) => digit,
            _ => None,
        };
        digits > 0 && (after(0).is_none_or(|byte| !is_word(byte)) || exponent.is_some_and(|byte| byte.is_ascii_digit()))
    }

    fn take_text(&mut self, start: usize) -> Result<&'a str, ParseError> {
        let line = self.line;
        self.position += 1;
        loop {
            match self.peek(0) {
                None | Some(b'\n') => return Err(self.error_at(start, line, "unterminated string".to_owned())),
                Some(b'"') => {
                    self.position += 1;
                    return Ok(&self.text[start + 1..self.position - 1]);
                }
                Some(b'\\') if self.peek(1).is_some_and(|byte| byte != b'\n') => self.position += 2,
                Some(_) => self.position += 1,
            }
        }
    }
}

/// Whether an identifier may contain `byte`.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}
