//! A reader of TOML for manifests: the keys of a document and the text of its values. `cargo` has read the manifest
//! before, so a mistake only ends the reading.

use std::iter::Peekable;
use std::str::Chars;

/// A value that is no table: its keys from the outermost table, and its text. A string is without its quotes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) keys: Vec<String>,
    pub(super) text: String,
}

/// Reads a document, up to the first mistake.
pub(super) fn entries(document: &str) -> Vec<Entry> {
    let mut reader = Reader {
        rest: document.chars().peekable(),
        entries: Vec::new(),
    };
    let _ = reader.document();
    reader.entries
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    entries: Vec<Entry>,
}

impl Reader<'_> {
    fn document(&mut self) -> Option<()> {
        let mut table = Vec::new();
        loop {
            self.blank();
            match self.rest.peek()? {
                '[' => {
                    self.rest.next();
                    let double = self.rest.next_if_eq(&'[').is_some();
                    table = self.keys()?;
                    self.expect(']')?;
                    if double {
                        self.expect(']')?;
                    }
                }
                _ => self.pair(&table)?,
            }
        }
    }

    /// `key = value`, in the table with these keys.
    fn pair(&mut self, table: &[String]) -> Option<()> {
        let keys = [table.to_vec(), self.keys()?].concat();
        self.expect('=')?;
        self.value(&keys)
    }

    /// `a.b."c"`, each part bare or quoted.
    fn keys(&mut self) -> Option<Vec<String>> {
        let mut keys = Vec::new();
        loop {
            self.spaces();
            keys.push(match *self.rest.peek()? {
                quote @ ('"' | '\'') => self.string(quote)?,
                _ => self.bare(|char| char.is_alphanumeric() || matches!(char, '-' | '_'))?,
            });
            self.spaces();
            if self.rest.next_if_eq(&'.').is_none() {
                return Some(keys);
            }
        }
    }

    fn value(&mut self, keys: &[String]) -> Option<()> {
        self.spaces();
        let text = match *self.rest.peek()? {
            '{' => {
                return self.list('}', |reader| reader.pair(keys));
            }
            '[' => {
                // Tables in arrays are no dependencies.
                let array = [keys, &["[]".to_owned()]].concat();
                return self.list(']', |reader| reader.value(&array));
            }
            quote @ ('"' | '\'') => self.string(quote)?,
            _ => self
                .bare(|char| !matches!(char, ',' | ']' | '}' | '#' | '\n'))?
                .trim()
                .to_owned(),
        };
        let keys = keys.to_vec();
        self.entries.push(Entry { keys, text });
        Some(())
    }

    /// The elements up to the bracket `end`, with commas between them.
    fn list(&mut self, end: char, mut element: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.rest.next();
        loop {
            self.blank();
            if self.rest.next_if_eq(&end).is_some() {
                return Some(());
            }
            element(self)?;
            self.blank();
            if self.rest.next_if_eq(&',').is_none() {
                return self.expect(end);
            }
        }
    }

    /// A string of either kind; with three quotes it may have several lines.
    fn string(&mut self, quote: char) -> Option<String> {
        let mut quotes = 0;
        while quotes < 3 && self.rest.next_if_eq(&quote).is_some() {
            quotes += 1;
        }
        let mut text = String::new();
        if quotes == 2 {
            return Some(text);
        }
        loop {
            match self.rest.next()? {
                '\\' if quote == '"' => text.push(self.rest.next()?),
                char => text.push(char),
            }
            let content = text.trim_end_matches(quote).len();
            if text.len() - content == quotes {
                text.truncate(content);
                return Some(text);
            }
        }
    }

    /// At least one character of a kind.
    fn bare(&mut self, kind: impl Fn(char) -> bool) -> Option<String> {
        let mut text = String::new();
        while let Some(char) = self.rest.next_if(|&char| kind(char)) {
            text.push(char);
        }
        (!text.is_empty()).then_some(text)
    }

    fn expect(&mut self, char: char) -> Option<()> {
        self.spaces();
        self.rest.next_if_eq(&char).map(drop)
    }

    fn spaces(&mut self) {
        while self.rest.next_if(|char| matches!(char, ' ' | '\t')).is_some() {}
    }

    /// Spaces, line ends and comments.
    fn blank(&mut self) {
        while let Some(char) = self.rest.next_if(|&char| char.is_whitespace() || char == '#') {
            if char == '#' {
                while self.rest.next_if(|&char| char != '\n').is_some() {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::entries;

    fn listed(document: &str) -> Vec<String> {
        let entries = entries(document).into_iter();
        entries
            .map(|entry| format!("{} = {}", entry.keys.join("|"), entry.text))
            .collect()
    }

    #[test]
    fn every_kind_of_value() {
        let document = r#"
            # A comment.
            name = "a" # Another.
            a . 'b c'."d" = 'e\f'
            [table]
            number = 1.5
            flag = true
            inline = { x = "y", z.w = { v = 1, }, list = [1, { x = "no" }] }
            lines = """
            a "quoted" \" text = """
            array = [
                "x", # [not] a table
                ["y", "z"],
            ]
            empty = ""
            [ target . 'cfg(any(unix, target_os = "none"))' . dependencies ]
            gpu.package = "graph-runtime"
            [[bin]]
            path = '''a'''
        "#;
        assert_eq!(
            listed(document),
            [
                "name = a",
                "a|b c|d = e\\f",
                "table|number = 1.5",
                "table|flag = true",
                "table|inline|x = y",
                "table|inline|z|w|v = 1",
                "table|inline|list|[] = 1",
                "table|inline|list|[]|x = no",
                "table|lines = \n            a \"quoted\" \" text = ",
                "table|array|[] = x",
                "table|array|[]|[] = y",
                "table|array|[]|[] = z",
                "table|empty = ",
                "target|cfg(any(unix, target_os = \"none\"))|dependencies|gpu|package = graph-runtime",
                "bin|path = a",
            ]
        );
    }

    #[test]
    fn a_mistake_ends_the_reading() {
        for document in ["a", "a =", "a = \"", "[a", "= 1", "a = [1", "a = {b", "a = 1 2\n] = 3"] {
            assert!(listed(document).len() <= 1, "{document}");
        }
        assert_eq!(listed("a = 1\nb = {\nc = 2 ]"), ["a = 1", "b|c = 2"]);
    }
}
