//! From tokens to the syntax tree: recursive descent with one token of look-ahead.
//!
//! This file has the helpers for tokens, and the directives of module scope; the files of the folder parse the rest.
//! The parser reads untrusted text: it never recurses deeper than a constant, allocates no more than a small multiple
//! of the text, and takes linear time.

mod body;
mod constant;
mod function;
mod initializer;
mod operand;
mod scope;
mod target;
mod variable;

use crate::ast::{Body, Module, Operand, Space};
use crate::callers::callers;
use crate::error::ParseError;
use crate::lexer::{Kind, Lexer, Token};

type Result<T, E = ParseError> = std::result::Result<T, E>;

/// The deepest valid nesting of scopes, vectors and initialisers.
const MAX_DEPTH: usize = 64;

/// Parses a PTX translation unit: what nvcc and NVRTC emit, and hand-written PTX of versions 6.0 and later.
///
/// # Errors
///
/// If the text is not PTX; the error gives the first such place. A mistake in the code of one function costs this
/// function, and those that name it, and not the module: [`Function::fault`](crate::ast::Function::fault) gives it.
pub fn parse(text: &str) -> Result<Module> {
    let mut parser = Parser::new(text)?;
    parser.parse_module()?;
    let mut module = parser.module;
    spread_faults(&mut module);
    Ok(module)
}

/// Gives the fault of each function whose code cannot be read to all functions that may call it.
fn spread_faults(module: &mut Module) {
    let faults = module.functions.iter().enumerate();
    let mut left: Vec<(usize, ParseError)> = faults
        .filter_map(|(index, function)| Some((index, function.fault()?.clone())))
        .collect();
    if left.is_empty() {
        return;
    }
    let mut callers = callers(module);
    let functions = module.functions.iter().enumerate();
    let indirect = functions.filter(|(_, function)| function.code().is_some_and(calls_through_register));
    let indirect: Vec<usize> = indirect.map(|(index, _)| index).collect();
    while let Some((called, fault)) = left.pop() {
        let direct = callers.remove(&called).unwrap_or_default();
        let indirect = if module.functions[called].entry {
            &[][..]
        } else {
            &indirect
        };
        for caller in direct.into_iter().chain(indirect.iter().copied()) {
            if module.functions[caller].code().is_some() {
                module.functions[caller].body = Some(Err(fault.clone()));
                left.push((caller, fault.clone()));
            }
        }
    }
}

/// Whether code calls a function whose address is in a register.
fn calls_through_register(body: &Body) -> bool {
    let mut calls = body
        .instructions
        .iter()
        .filter(|instruction| instruction.opcode == "call");
    calls.any(|call| {
        call.operands
            .iter()
            .any(|operand| matches!(operand, Operand::Register(_)))
    })
}

/// The state of the parse.
#[derive(Debug)]
struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The next token, not yet consumed.
    token: Token<'a>,
    module: Module,
    /// The number of bytes of padding that initialisers may still ask for.
    padding: u64,
}

/// A `.loc`: the file index and the line, and those of the call if it was inlined.
#[derive(Clone, Copy)]
struct Location {
    source: (u32, u32),
    inlined_at: Option<(u32, u32)>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Self> {
        let mut lexer = Lexer::new(text);
        let token = lexer.next()?;
        let module = Module {
            address_size: 64,
            ..Module::default()
        };
        Ok(Parser {
            lexer,
            token,
            module,
            padding: initializer::MAX_PADDING,
        })
    }

    /// Returns an error at the next token.
    fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        self.error_at(self.token, message)
    }

    fn error_at<T>(&self, token: Token<'a>, message: impl Into<String>) -> Result<T> {
        Err(self.lexer.error_at(token.start, token.line, message.into()))
    }

    /// The error "expected this, found that" at the next token.
    fn expected<T>(&self, what: &str) -> Result<T> {
        self.error(format!("expected {what}, found {}", self.token.kind.describe()))
    }

    /// Consumes the next token.
    fn advance(&mut self) -> Result<Token<'a>> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn at(&self, punct: u8) -> bool {
        self.token.kind == Kind::Punct(punct)
    }

    /// Consumes `punct` if it comes next.
    fn accept(&mut self, punct: u8) -> Result<bool> {
        let here = self.at(punct);
        if here {
            self.advance()?;
        }
        Ok(here)
    }

    fn expect(&mut self, punct: u8) -> Result<()> {
        if self.accept(punct)? {
            Ok(())
        } else {
            self.expected(&Kind::Punct(punct).describe())
        }
    }

    /// Consumes `.directive` if it comes next.
    fn accept_dotted(&mut self, directive: &str) -> Result<bool> {
        let here = self.token.kind == Kind::Dotted(directive);
        if here {
            self.advance()?;
        }
        Ok(here)
    }

    fn expect_word(&mut self, what: &str) -> Result<&'a str> {
        let Kind::Word(word) = self.token.kind else {
            return self.expected(what);
        };
        self.advance()?;
        Ok(word)
    }

    fn expect_text(&mut self) -> Result<&'a str> {
        let Kind::Text(text) = self.token.kind else {
            return self.expected("a string");
        };
        self.advance()?;
        Ok(text)
    }

    fn parse_module(&mut self) -> Result<()> {
        self.parse_version()?;
        loop {
            match self.token.kind {
                Kind::End => break,
                Kind::Dotted(directive) => self.parse_directive(directive)?,
                Kind::Punct(b';') => self.expect(b';')?,
                _ => return self.expected("a directive"),
            }
        }
        if self.module.target.is_empty() {
            self.error("the text has no `.target`")
        } else {
            Ok(())
        }
    }

    fn parse_version(&mut self) -> Result<()> {
        if !self.accept_dotted("version")? {
            return self.expected("`.version`");
        }
        let parts = match self.token.kind {
            Kind::Number(text) => text.split_once('.'),
            _ => None,
        };
        match parts.map(|(major, minor)| (major.parse(), minor.parse())) {
            Some((Ok(major), Ok(minor))) => self.module.version = (major, minor),
            _ => return self.expected("a version such as `8.4`"),
        }
        self.advance()?;
        Ok(())
    }

    /// One directive of module scope; `directive` is the next token.
    fn parse_directive(&mut self, directive: &'a str) -> Result<()> {
        match directive {
            "version" => self.parse_version(),
            "target" => self.parse_target(),
            "address_size" => self.parse_address_size(),
            "file" => self.parse_file(),
            "section" => self.skip_section(),
            "alias" => self.parse_alias(),
            "loc" => self.parse_location().map(drop),
            "pragma" => self.skip_statement(),
            _ => self.parse_definition(),
        }
    }

    /// `.target sm_90a, debug, texmode_independent`
    fn parse_target(&mut self) -> Result<()> {
        self.advance()?;
        loop {
            let word = self.expect_word("a target")?;
            if self.module.target.is_empty() && word.starts_with("sm_") {
                self.module.target = word.to_owned();
            }
            if !self.accept(b',')? {
                return if self.module.target.is_empty() {
                    self.error("the target names no `sm_` architecture")
                } else {
                    Ok(())
                };
            }
        }
    }

    fn parse_address_size(&mut self) -> Result<()> {
        self.advance()?;
        match self.token.kind {
            Kind::Number("32") => self.module.address_size = 32,
            Kind::Number("64") => self.module.address_size = 64,
            _ => return self.expected("`32` or `64`"),
        }
        self.advance()?;
        Ok(())
    }

    /// `.file 1 "x.cu"`, in old versions followed by time stamp and size.
    fn parse_file(&mut self) -> Result<()> {
        self.advance()?;
        let index = self.parse_u32()?;
        let path = self.expect_text()?.to_owned();
        self.module.files.push((index, path));
        while self.accept(b',')? {
            self.parse_u64()?;
        }
        Ok(())
    }

    /// `.loc 1 20 3`, and perhaps `, function_name $L__info_string0, inlined_at 1 4 2`. Returns file and line, and
    /// those of the call.
    fn parse_location(&mut self) -> Result<Location> {
        self.advance()?;
        let source = (self.parse_u32()?, self.parse_u32()?);
        let mut inlined_at = None;
        if matches!(self.token.kind, Kind::Number(_)) {
            self.parse_u32()?;
        }
        while self.accept(b',')? {
            match self.expect_word("`function_name` or `inlined_at`")? {
                "function_name" => {
                    self.expect_word("a label")?;
                    while self.accept(b'+')? {
                        self.parse_u64()?;
                    }
                }
                "inlined_at" => {
                    inlined_at = Some((self.parse_u32()?, self.parse_u32()?));
                    self.parse_u32()?; // the column
                }
                _ => return self.error("expected `function_name` or `inlined_at`"),
            }
        }
        Ok(Location { source, inlined_at })
    }

    /// `.alias name, function;`
    fn parse_alias(&mut self) -> Result<()> {
        self.advance()?;
        let alias = self.expect_word("a function name")?.to_owned();
        self.expect(b',')?;
        let function = self.expect_word("a function name")?.to_owned();
        self.module.aliases.push((alias, function));
        self.expect(b';')
    }

    /// `.section .debug_info { ... }`
    fn skip_section(&mut self) -> Result<()> {
        self.advance()?;
        while !self.at(b'{') {
            match self.token.kind {
                Kind::Dotted(_) | Kind::Word(_) | Kind::Punct(b',') | Kind::Text(_) => self.advance()?,
                _ => return self.expected("`{`"),
            };
        }
        let mut depth = 0_usize;
        loop {
            match self.advance()?.kind {
                Kind::Punct(b'{') => depth += 1,
                Kind::Punct(b'}') if depth == 1 => return Ok(()),
                Kind::Punct(b'}') => depth -= 1,
                Kind::End => return self.expected("`}`"),
                _ => {}
            }
        }
    }

    /// Skips the text up to and with the next `;`.
    fn skip_statement(&mut self) -> Result<()> {
        loop {
            match self.advance()?.kind {
                Kind::Punct(b';') => return Ok(()),
                Kind::End => return self.expected("`;`"),
                _ => {}
            }
        }
    }

    /// A function or a variable, with its linkage.
    fn parse_definition(&mut self) -> Result<()> {
        let mut external = false;
        loop {
            match self.token.kind {
                Kind::Dotted("extern") => external = true,
                Kind::Dotted("visible" | "weak" | "common") => {}
                Kind::Dotted("entry") => return self.parse_function(true),
                Kind::Dotted("func") => return self.parse_function(false),
                Kind::Dotted(directive) => {
                    let Some(space) = variable::space(directive).filter(|&space| space != Space::Reg) else {
                        return self.error(format!("unknown directive `.{directive}`"));
                    };
                    self.advance()?;
                    let variables = self.parse_variables(space, external)?;
                    self.module.variables.extend(variables);
                    return Ok(());
                }
                _ => return self.expected("a function or a variable"),
            }
            self.advance()?;
        }
    }
}
