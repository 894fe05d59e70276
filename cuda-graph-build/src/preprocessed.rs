//! Sources after the preprocessor, as far as it takes to read the kernels that macros make: all branches of `#if`s are
//! taken, and of headers only the author's own.

use std::path::Path;

use graph_ptx::origin::included;

use crate::compiler::Compiler;
use crate::includes::{self, Header};
use crate::source::macros::Macros;
use crate::source::tokens::{Token, tokens};

impl Compiler {
    /// Returns the words and signs of a source and of the author's own headers, `text` being the source's, with the
    /// texts of macros in place of their names: without comments and without lines for the preprocessor. All branches
    /// of `#if`s are among them.
    pub fn words(&self, source: &Path, text: &str) -> Vec<String> {
        let headers = includes::headers(source, text, &self.options_of(text));
        let mut reader = Reader {
            headers: headers.iter().map(Some).collect(),
            macros: Macros::default(),
            words: Vec::new(),
        };
        reader.read(text);
        reader.words
    }
}

struct Reader<'h> {
    /// The headers; `None` for those that were read.
    headers: Vec<Option<&'h Header>>,
    macros: Macros,
    words: Vec<String>,
}

impl<'h> Reader<'h> {
    fn read(&mut self, text: &str) {
        let mut pending: Vec<Token> = Vec::new();
        for token in tokens(text) {
            if !token.is_directive() {
                pending.push(token);
                continue;
            }
            let header = included(&token.text).and_then(|(name, _)| self.header(name));
            if header.is_some() || Macros::changes(&token.text) {
                self.expand(&mut pending);
            }
            match header {
                Some(header) => self.read(&String::from_utf8_lossy(&header.bytes)),
                None => self.macros.directive(&token.text),
            }
        }
        self.expand(&mut pending);
    }

    /// The header that is included by this name, if it was not read yet.
    fn header(&mut self, name: &str) -> Option<&'h Header> {
        let is_meant =
            |header: &Option<&Header>| header.is_some_and(|header| header.names.iter().any(|one| one == name));
        let index = self.headers.iter().position(is_meant)?;
        self.headers[index].take()
    }

    fn expand(&mut self, pending: &mut Vec<Token>) {
        let words = self.macros.expanded(pending);
        self.words.extend(words.into_iter().map(|token| token.text));
        pending.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn macros_of_headers_make_kernels() {
        let root = std::env::temp_dir().join(format!("cuda-graph-words-{}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        let header = "#pragma once\n#define OP(T, NAME) __global__ void NAME(T *x) {}\nint h;\n";
        fs::write(root.join("ops.cuh"), header).unwrap();
        let text = "#include \"ops.cuh\"\n#include <cuda.h>\n#if A\nOP(float, f) // f\n#endif\n#include \"ops.cuh\"\n#undef OP\nOP\n";
        let words = Compiler::in_folder("").words(&root.join("x.cu"), text);
        fs::remove_dir_all(&root).unwrap();
        let expected = "int h ; __global__ void f ( float * x ) { } OP";
        assert_eq!(words.join(" "), expected);
    }
}
