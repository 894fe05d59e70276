//! `.entry` and `.func`: header, parameters and launch bounds. The body is in `body`.

use super::scope::Names;
use super::{Parser, Result, variable};
use crate::ast::{Body, Cluster, Function, Space};
use crate::lexer::Kind;

/// The limits on launches that the directives between a function's header and its body set.
#[derive(Default)]
struct Performance {
    required_block: Option<[u32; 3]>,
    max_block: Option<[u32; 3]>,
    cluster: Cluster,
}

impl<'a> Parser<'a> {
    /// A function from `.entry` or `.func` to its `}` or `;`. `ptxas` takes declarations without a `;` too.
    pub(super) fn parse_function(&mut self, entry: bool) -> Result<()> {
        self.advance()?;
        let mut function = self.parse_prototype(entry)?;
        if self.at(b'{') {
            function.body = Some(self.parse_code(&function)?);
        } else if !matches!(self.token.kind, Kind::Dotted(_) | Kind::End) {
            self.expect(b';')?;
        }
        self.module.functions.push(function);
        Ok(())
    }

    /// The code of a function, or the first mistake in it. In either case, the text after the function can be read,
    /// unless the braces do not match.
    fn parse_code(&mut self, function: &Function) -> Result<Result<Body>> {
        let start = (self.lexer.clone(), self.token);
        let variables = self.module.variables.len();
        let names = self.open_function(function)?;
        let code = self.parse_body(&function.name, names);
        if let Err(mistake) = &code {
            self.module.variables.truncate(variables);
            (self.lexer, self.token) = start;
            self.skip_braces().map_err(|_| mistake.clone())?;
        }
        Ok(code)
    }

    /// Skips the text from `{` to the matching `}`. Between them, anything may be.
    fn skip_braces(&mut self) -> Result<()> {
        let mut depth = 0_usize;
        loop {
            match self.token.kind {
                Kind::Punct(b'{') => depth += 1,
                Kind::Punct(b'}') => depth -= 1,
                Kind::End => return self.expected("`}`"),
                _ => {}
            }
            if depth == 0 {
                self.advance()?;
                return Ok(());
            }
            // The lexer goes on after a character that no token has.
            while self.advance().is_err() {}
        }
    }

    /// Results, name, parameters and performance directives: `(.param .b32 r) f (.param .b64 a) .noreturn`.
    pub(super) fn parse_prototype(&mut self, entry: bool) -> Result<Function> {
        self.parse_performance()?;
        let results = if self.at(b'(') {
            self.parse_params()?
        } else {
            Vec::new()
        };
        let line = self.token.line;
        let name = self.expect_word("a function name")?.to_owned();
        let params = if self.at(b'(') {
            self.parse_params()?
        } else {
            Vec::new()
        };
        let performance = self.parse_performance()?;
        Ok(Function {
            name,
            entry,
            results,
            params,
            required_block: performance.required_block,
            max_block: performance.max_block,
            cluster: performance.cluster,
            body: None,
            line,
        })
    }

    /// Parses the directives between a function's header and its body. Directives that do not change what the code does
    /// are skipped, so that new ones do no harm.
    fn parse_performance(&mut self) -> Result<Performance> {
        let mut performance = Performance::default();
        while let Kind::Dotted(directive) = self.token.kind {
            if begins_statement(directive) {
                break;
            }
            self.advance()?;
            match directive {
                "reqntid" => performance.required_block = Some(self.parse_block()?),
                "maxntid" => performance.max_block = Some(self.parse_block()?),
                "reqnctapercluster" => performance.cluster.required = Some(self.parse_block()?),
                "maxclusterrank" => performance.cluster.max_blocks = Some(self.parse_u32()?),
                "explicitcluster" => performance.cluster.explicit = true,
                "blocksareclusters" => performance.cluster.counts_grid = true,
                "pragma" => {
                    self.expect_text()?;
                    while self.accept(b',')? {
                        self.expect_text()?;
                    }
                    self.accept(b';')?;
                }
                "attribute" => return self.error("expected `{` or `;`"),
                _ => {
                    while matches!(self.token.kind, Kind::Number(_) | Kind::Punct(b',')) {
                        self.advance()?;
                    }
                }
            }
        }
        Ok(performance)
    }

    /// `128, 1, 1`
    fn parse_block(&mut self) -> Result<[u32; 3]> {
        let mut block = [1; 3];
        for (index, length) in block.iter_mut().enumerate() {
            if index > 0 && !self.accept(b',')? {
                break;
            }
            *length = self.parse_u32()?;
        }
        Ok(block)
    }

    /// The scope of a function, holding its parameters and results.
    fn open_function(&self, function: &Function) -> Result<Names<'a>> {
        let mut names = Names::new();
        for variable in function.results.iter().chain(&function.params) {
            let name = variable.name.as_str();
            let fresh = match variable.space {
                Space::Reg => names.declare_register(name, variable.ty, variable.vector),
                _ => name == "_" || names.declare_variable(name).is_some(),
            };
            if !fresh {
                return self.error(format!("`{name}` is declared twice"));
            }
        }
        Ok(names)
    }
}

/// Whether a directive begins the next statement of a module, after a declaration that has no `;`.
fn begins_statement(directive: &str) -> bool {
    matches!(
        directive,
        "extern" | "visible" | "weak" | "common" | "entry" | "func" | "file" | "section" | "loc" | "alias"
    ) || variable::space(directive).is_some()
}
