//! Operands of instructions, with names resolved.

use super::scope::{Entity, Names};
use super::{MAX_DEPTH, Parser, Result};
use crate::ast::{Base, Instruction, Operand, Reg, Type, components};
use crate::lexer::Kind;

impl<'a> Parser<'a> {
    /// Parses the operands up to `;`. Sums, `%r1+8`, become instructions of the body. `(a, b)` is a list only in a
    /// `call`.
    pub(super) fn parse_operands(&mut self, names: &mut Names<'a>, call: bool, line: u32) -> Result<Vec<Operand>> {
        let mut operands = Vec::new();
        let mut labels = Vec::new();
        let mut more = !self.at(b';');
        while more {
            let at = self.token;
            let operand = match at.kind {
                Kind::Punct(b'(') if call => self.parse_vector(names, b')', 0)?,
                _ => self.parse_pair(names, 0)?,
            };
            let operand = match operand {
                Operand::Register(register) if self.at(b'+') => self.parse_sum(names, register, line)?,
                operand => operand,
            };
            if let (Kind::Word(name), Operand::Symbol(_, 0)) = (at.kind, &operand) {
                labels.push((name, at, operands.len()));
            }
            operands.push(operand);
            more = self.accept(b',')?;
        }
        for (name, at, operand) in labels {
            names.refer_operand(name, at, operand);
        }
        Ok(operands)
    }

    /// The rest of `%r1+8`: a register of its own, to which an instruction before this one assigns the sum.
    fn parse_sum(&mut self, names: &mut Names<'a>, register: Reg, line: u32) -> Result<Operand> {
        let at = self.token;
        let ty = names.body.registers[register.0 as usize].ty;
        let modifier = match (ty, ty.size()) {
            (Type::F32 | Type::F64 | Type::Pred | Type::Opaque, _) => None,
            (_, 2) => Some("u16"),
            (_, 4) => Some("u32"),
            (_, 8) => Some("u64"),
            _ => None,
        };
        let Some(modifier) = modifier else {
            return self.error_at(at, "an offset goes only with an integer register of 16, 32 or 64 bits");
        };
        let offset = self.parse_offset()?;
        let sum = Operand::Register(names.declare_sum(register, ty));
        names.body.instructions.push(Instruction {
            guard: None,
            opcode: "add".to_owned(),
            modifiers: vec![modifier.to_owned()],
            operands: vec![
                sum.clone(),
                Operand::Register(register),
                Operand::Integer(offset.into()),
            ],
            line,
            source: None,
            inlined_at: None,
        });
        Ok(sum)
    }

    /// An operand, or two with `|` between them.
    fn parse_pair(&mut self, names: &mut Names<'a>, depth: usize) -> Result<Operand> {
        let first = self.parse_operand(names, depth)?;
        if !self.accept(b'|')? {
            return Ok(first);
        }
        let second = self.parse_operand(names, depth)?;
        Ok(Operand::Pair(Box::new(first), Box::new(second)))
    }

    fn parse_operand(&mut self, names: &mut Names<'a>, depth: usize) -> Result<Operand> {
        if depth > MAX_DEPTH {
            return self.error("operands are nested too deeply");
        }
        match self.token.kind {
            Kind::Word("_") => {
                self.advance()?;
                Ok(Operand::Discard)
            }
            Kind::Word("WARP_SZ") | Kind::Number(_) | Kind::Punct(b'-' | b'+' | b'~' | b'(') => self.parse_constant(),
            Kind::Word(_) => self.parse_named(names),
            Kind::Punct(b'{') => self.parse_vector(names, b'}', depth),
            Kind::Punct(b'[') => self.parse_address(names, depth),
            Kind::Punct(b'!') => self.parse_negated(names),
            _ => self.expected("an operand"),
        }
    }

    /// A register, special register, variable, function or label.
    fn parse_named(&mut self, names: &mut Names<'a>) -> Result<Operand> {
        let at = self.token;
        let name = self.expect_word("a name")?;
        match names.look_up(name) {
            Some(Entity::Register(register)) => match self.token.kind {
                Kind::Dotted(part) if is_part(part) => {
                    self.advance()?;
                    Ok(Operand::Part(register, part.to_owned()))
                }
                _ => Ok(Operand::Register(register)),
            },
            Some(Entity::Vector(first, parts)) => self.parse_component(name, first, parts),
            Some(Entity::Variable(index)) => {
                let variable = names.variable_name(index).to_owned();
                Ok(Operand::Symbol(variable, self.parse_offset()?))
            }
            None if is_special(name) => {
                let part = |component: &str| match component {
                    "w" => Operand::Integer(0), // always
                    _ => Operand::Special(format!("{name}.{component}")),
                };
                if let Kind::Dotted(component @ ("x" | "y" | "z" | "w")) = self.token.kind {
                    self.advance()?;
                    return Ok(part(component));
                }
                if VECTORS.split(' ').any(|vector| vector == name) {
                    return Ok(Operand::Vector(components(4).map(part).collect()));
                }
                Ok(Operand::Special(name.to_owned()))
            }
            None if name.starts_with('%') => self.error_at(at, format!("register `{name}` is not declared")),
            None if name == "generic" && self.accept(b'(')? => {
                let symbol = self.parse_named(names)?;
                self.expect(b')')?;
                Ok(symbol)
            }
            None => Ok(Operand::Symbol(name.to_owned(), self.parse_offset()?)),
        }
    }

    /// A vector register, or one part of it.
    fn parse_component(&mut self, name: &str, first: Reg, parts: u32) -> Result<Operand> {
        let part = |index: u32| Operand::Register(Reg(first.0 + index));
        let Kind::Dotted(component) = self.token.kind else {
            return Ok(Operand::Vector((0..parts).map(part).collect()));
        };
        let colour = ["r", "g", "b", "a"].iter().position(|&colour| colour == component);
        let index = colour.or_else(|| components(parts).position(|known| known == component));
        match index.and_then(|index| u32::try_from(index).ok()) {
            Some(index) if index < parts => {
                self.advance()?;
                Ok(part(index))
            }
            _ => self.error(format!("vector `{name}` has no part `.{component}`")),
        }
    }

    /// `!%p1`, or an expression that begins with `!`.
    fn parse_negated(&mut self, names: &mut Names<'a>) -> Result<Operand> {
        let rest = self.lexer.text_from(self.token)[1..].trim_start();
        if rest.starts_with(|first: char| first.is_ascii_digit() || "!(-+~.".contains(first)) {
            return self.parse_constant();
        }
        self.advance()?;
        self.parse_predicate(names).map(Operand::NotPredicate)
    }

    pub(super) fn parse_predicate(&mut self, names: &mut Names<'a>) -> Result<Reg> {
        let at = self.token;
        let name = self.expect_word("a predicate")?;
        match names.look_up(name) {
            Some(Entity::Register(register)) => Ok(register),
            _ => self.error_at(at, format!("register `{name}` is not declared")),
        }
    }

    /// `{a, b}` or `(a, b)`
    fn parse_vector(&mut self, names: &mut Names<'a>, end: u8, depth: usize) -> Result<Operand> {
        self.advance()?;
        let mut parts = Vec::new();
        while !self.accept(end)? {
            if !parts.is_empty() {
                self.expect(b',')?;
            }
            parts.push(self.parse_pair(names, depth + 1)?);
        }
        Ok(Operand::Vector(parts))
    }

    /// `[base+offset]`, or a vector of parts for `[tensor, {%r1, %r2}]`.
    fn parse_address(&mut self, names: &mut Names<'a>, depth: usize) -> Result<Operand> {
        self.advance()?;
        let address = match self.token.kind {
            Kind::Word(_) => {
                let at = self.token;
                match self.parse_named(names)? {
                    Operand::Register(register) => Operand::Address(Base::Register(register), self.parse_offset()?),
                    Operand::Symbol(symbol, offset) => Operand::Address(Base::Symbol(symbol), offset),
                    _ => return self.error_at(at, "expected an address"),
                }
            }
            Kind::Number(_) | Kind::Punct(b'+' | b'-' | b'~' | b'(') => {
                Operand::Address(Base::Absolute, self.parse_absolute()?)
            }
            _ => return self.expected("an address"),
        };
        if self.accept(b']')? {
            return Ok(address);
        }
        let mut parts = vec![address];
        while self.accept(b',')? {
            parts.push(self.parse_pair(names, depth + 1)?);
        }
        self.expect(b']')?;
        Ok(Operand::Vector(parts))
    }

    fn parse_absolute(&mut self) -> Result<i64> {
        let at = self.token;
        let Operand::Integer(value) = self.parse_constant()? else {
            return self.error_at(at, "expected an address");
        };
        match i64::try_from(value).or_else(|_| u64::try_from(value).map(u64::cast_signed)) {
            Ok(address) => Ok(address),
            Err(_) => self.error_at(at, "the address does not fit in 64 bits"),
        }
    }
}

/// Whether a video instruction can select parts of a register with `name`: `b3`, `h10`.
fn is_part(name: &str) -> bool {
    let digits = name.strip_prefix(['b', 'h']).unwrap_or_default();
    (1..=4).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit())
}

/// Whether `name` is a special register of PTX 9.0 or before.
fn is_special(name: &str) -> bool {
    let Some(name) = name.strip_prefix('%') else {
        return false;
    };
    let mut prefixes = ["pm", "envreg", "reserved_smem_offset_"].iter();
    SPECIAL.split(' ').any(|special| special == name) || prefixes.any(|prefix| name.starts_with(prefix))
}

/// The special registers that are vectors: `mov.v4.u32 {%r1, %r2, %r3, %r4}, %tid` reads all parts.
const VECTORS: &str = "%tid %ntid %ctaid %nctaid %clusterid %nclusterid %cluster_ctaid %cluster_nctaid";

const SPECIAL: &str = "tid ntid laneid warpid nwarpid ctaid nctaid smid nsmid gridid is_explicit_cluster clusterid \
                       nclusterid cluster_ctaid cluster_nctaid cluster_ctarank cluster_nctarank lanemask_eq \
                       lanemask_le lanemask_lt lanemask_ge lanemask_gt clock clock_hi clock64 globaltimer \
                       globaltimer_lo globaltimer_hi total_smem_size aggr_smem_size dynamic_smem_size \
                       current_graph_exec";
