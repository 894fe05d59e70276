//! The statements of a function body. Scopes are flattened as they are read; the nesting is a stack, not recursion.

use super::scope::Names;
use super::{Location, MAX_DEPTH, Parser, Result, target, variable};
use crate::ast::{Body, Function, Instruction, Reg, Space};
use crate::lexer::{Kind, Token};

use super::scope::Entity;

impl<'a> Parser<'a> {
    /// From `{` to the matching `}`.
    pub(super) fn parse_body(&mut self, function: &str, mut names: Names<'a>) -> Result<Body> {
        self.expect(b'{')?;
        let outermost = names.depth();
        let mut location = None;
        loop {
            match self.token.kind {
                Kind::Punct(b'{') => {
                    self.advance()?;
                    if names.depth() > MAX_DEPTH {
                        return self.error("scopes are nested too deeply");
                    }
                    names.open();
                }
                Kind::Punct(b'}') => {
                    self.advance()?;
                    let last = names.depth() == outermost;
                    if let Some((label, at)) = names.close() {
                        return self.error_at(at, format!("label `{label}` is not declared"));
                    }
                    if last {
                        return Ok(names.body);
                    }
                }
                Kind::Punct(b';') => self.expect(b';')?,
                Kind::Dotted("loc") => location = Some(self.parse_location()?),
                Kind::Dotted(directive) => self.parse_local_directive(directive, function, &mut names)?,
                Kind::Punct(b'@') => {
                    let at = self.token;
                    let guard = self.parse_guard(&mut names)?;
                    let opcode = self.expect_word("an instruction")?;
                    self.parse_instruction(&mut names, Some(guard), at, opcode, location)?;
                }
                Kind::Word(word) => {
                    let at = self.advance()?;
                    if self.accept(b':')? {
                        self.parse_label(&mut names, word)?;
                    } else {
                        self.parse_instruction(&mut names, None, at, word, location)?;
                    }
                }
                _ => return self.expected("an instruction or `}`"),
            }
        }
    }

    /// `@%p1` or `@!%p1`
    fn parse_guard(&mut self, names: &mut Names<'a>) -> Result<(Reg, bool)> {
        self.expect(b'@')?;
        let negated = self.accept(b'!')?;
        Ok((self.parse_predicate(names)?, negated))
    }

    fn parse_instruction(
        &mut self,
        names: &mut Names<'a>,
        guard: Option<(Reg, bool)>,
        at: Token<'a>,
        opcode: &str,
        location: Option<Location>,
    ) -> Result<()> {
        let line = at.line;
        let mut modifiers = Vec::new();
        while let Kind::Dotted(modifier) = self.token.kind {
            modifiers.push(modifier.to_owned());
            self.advance()?;
        }
        let sums = names.body.instructions.len();
        let operands = self.parse_operands(names, opcode == "call", line)?;
        self.expect(b';')?;
        names.body.instructions.push(Instruction {
            guard,
            opcode: opcode.to_owned(),
            modifiers,
            operands,
            line,
            source: None,
            inlined_at: None,
        });
        for instruction in &mut names.body.instructions[sums..] {
            instruction.source = location.map(|location| location.source);
            instruction.inlined_at = location.and_then(|location| location.inlined_at);
            if let Some(message) = target::refusal(instruction, &self.module.target) {
                return self.error_at(at, message);
            }
        }
        Ok(())
    }

    /// Parses what follows `name:`: a target list, a prototype, or the next statement.
    fn parse_label(&mut self, names: &mut Names<'a>, name: &'a str) -> Result<()> {
        let Some(label) = names.declare_label(name) else {
            return self.error(format!("label `{name}` is declared twice"));
        };
        let branches = self.accept_dotted("branchtargets")?;
        if branches || self.accept_dotted("calltargets")? {
            let targets = self.parse_targets()?;
            for (entry, (target, at)) in targets.iter().enumerate().filter(|_| branches) {
                names.refer_target(target, *at, entry);
            }
            let targets = targets.into_iter().map(|(name, _)| name.to_owned()).collect();
            names.body.target_lists.push((label, targets));
        } else if self.accept_dotted("callprototype")? {
            let prototype = self.parse_prototype(false)?;
            self.expect(b';')?;
            names.body.prototypes.push(Function {
                name: label,
                ..prototype
            });
        } else {
            let index = names.body.instructions.len();
            names.body.labels.push((label, index));
        }
        Ok(())
    }

    fn parse_targets(&mut self) -> Result<Vec<(&'a str, Token<'a>)>> {
        let mut targets = Vec::new();
        loop {
            let at = self.token;
            targets.push((self.expect_word("a target")?, at));
            if !self.accept(b',')? {
                break;
            }
        }
        self.expect(b';')?;
        Ok(targets)
    }

    fn parse_local_directive(&mut self, directive: &'a str, function: &str, names: &mut Names<'a>) -> Result<()> {
        match directive {
            "pragma" => self.skip_statement(),
            "section" => self.skip_section(),
            "file" => self.parse_file(),
            "extern" | "visible" | "weak" | "common" => {
                self.advance()?;
                let Kind::Dotted(space) = self.token.kind else {
                    return self.expected("a variable");
                };
                self.parse_local_variables(space, directive == "extern", function, names)
            }
            _ => self.parse_local_variables(directive, false, function, names),
        }
    }

    /// Variables of any state space inside a function.
    fn parse_local_variables(
        &mut self,
        directive: &'a str,
        external: bool,
        function: &str,
        names: &mut Names<'a>,
    ) -> Result<()> {
        let Some(space) = variable::space(directive) else {
            return self.error(format!("unknown directive `.{directive}`"));
        };
        self.advance()?;
        if space == Space::Reg {
            return self.parse_registers(names);
        }
        // These keep their values between launches, so they belong to the module.
        let is_static = matches!(space, Space::Global | Space::Const);
        for mut variable in self.parse_variables(space, external)? {
            if self.module.variables.iter().any(|known| known.name == variable.name) {
                names.reserve(&variable.name);
            }
            let renamed = match is_static {
                true => names.declare_static(function, &variable.name),
                false => names.declare_variable(&variable.name),
            };
            let Some(renamed) = renamed else {
                return self.error(format!("`{}` is declared twice", variable.name));
            };
            variable.name = renamed;
            for (_, symbol, _) in &mut variable.relocations {
                if let Some(Entity::Variable(index)) = names.look_up(symbol) {
                    names.variable_name(index).clone_into(symbol);
                }
            }
            match is_static {
                true => self.module.variables.push(variable),
                false => names.body.variables.push(variable),
            }
        }
        Ok(())
    }

    /// The rest of `.reg .b32 %r<5>, %x;`
    fn parse_registers(&mut self, names: &mut Names<'a>) -> Result<()> {
        let header = self.parse_header(Space::Reg, false)?;
        loop {
            let at = self.token;
            let name = self.expect_word("a register name")?;
            let fresh = if self.accept(b'<')? {
                let count = self.parse_u32()?;
                self.expect(b'>')?;
                names.declare_range(name, count, header.ty, header.vector)
            } else {
                names.declare_register(name, header.ty, header.vector)
            };
            if !fresh {
                return self.error_at(at, format!("register `{name}` is declared twice"));
            }
            if !self.accept(b',')? {
                return self.expect(b';');
            }
        }
    }
}
