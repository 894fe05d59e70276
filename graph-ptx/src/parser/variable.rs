//! Declarations of variables and parameters: `.global .align 8 .v2 .f32 name[10][4] = {...}`.

use super::{Parser, Result};
use crate::ast::{PointerAttribute, Space, Type, Variable};
use crate::lexer::Kind;

/// The state space whose declarations begin with a directive.
pub(super) fn space(directive: &str) -> Option<Space> {
    Some(match directive {
        "global" | "tex" | "surf" | "sampler" => Space::Global,
        "const" => Space::Const,
        "shared" | "shared::cta" => Space::Shared,
        "local" => Space::Local,
        "param" => Space::Param,
        "reg" => Space::Reg,
        _ => return None,
    })
}

/// The part of a declaration before its names.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub(super) space: Space,
    pub(super) ty: Type,
    pub(super) vector: u32,
    align: Option<u32>,
    pointer: Option<PointerAttribute>,
    external: bool,
}

impl<'a> Parser<'a> {
    /// Parses the declarations of one statement, from after the state space up to and with the `;`.
    pub(super) fn parse_variables(&mut self, space: Space, external: bool) -> Result<Vec<Variable>> {
        let header = self.parse_header(space, external)?;
        let mut variables = vec![self.parse_variable(&header)?];
        while self.accept(b',')? {
            variables.push(self.parse_variable(&header)?);
        }
        self.expect(b';')?;
        Ok(variables)
    }

    /// Parameters or results of a function: `( .param .u64 a, .param .f32 b )`.
    pub(super) fn parse_params(&mut self) -> Result<Vec<Variable>> {
        let mut params = Vec::new();
        self.expect(b'(')?;
        while !self.accept(b')')? {
            if !params.is_empty() {
                self.expect(b',')?;
            }
            let space = match self.token.kind {
                Kind::Dotted("param") => Space::Param,
                Kind::Dotted("reg") => Space::Reg,
                _ => return self.expected("`.param`"),
            };
            self.advance()?;
            let header = self.parse_header(space, false)?;
            params.push(self.parse_variable(&header)?);
        }
        Ok(params)
    }

    /// Attributes, alignment, vector length and type, in any order, up to the name.
    pub(super) fn parse_header(&mut self, space: Space, external: bool) -> Result<Header> {
        let (mut ty, mut vector, mut align, mut pointer) = (None, 1, None, None);
        if self.accept(b'[')? {
            self.parse_u32()?;
            self.expect(b']')?;
        }
        while let Kind::Dotted(modifier) = self.token.kind {
            self.advance()?;
            match modifier {
                "align" => align = Some(self.parse_alignment()?),
                "v2" => vector = 2,
                "v4" => vector = 4,
                "v8" => vector = 8,
                "ptr" => pointer = Some(self.parse_pointer()?),
                "attribute" => self.skip_attribute()?,
                _ => match Type::named(modifier) {
                    // `.param .u64 .surfref` has two types, of which the second counts.
                    Some(named) => ty = Some(named),
                    None => return self.error(format!("unknown type `.{modifier}`")),
                },
            }
        }
        match ty {
            Some(ty) => Ok(Header {
                space,
                ty,
                vector,
                align,
                pointer,
                external,
            }),
            None => self.expected("a type"),
        }
    }

    fn parse_alignment(&mut self) -> Result<u32> {
        let at = self.token;
        let align = self.parse_u32()?;
        if align.is_power_of_two() {
            Ok(align)
        } else {
            self.error_at(at, "the alignment is not a power of two")
        }
    }

    /// The rest of `.ptr .global .align 16`.
    fn parse_pointer(&mut self) -> Result<PointerAttribute> {
        let mut pointer = PointerAttribute { space: None, align: 4 };
        loop {
            match self.token.kind {
                Kind::Dotted("align") => {
                    self.advance()?;
                    pointer.align = self.parse_alignment()?;
                }
                Kind::Dotted(modifier @ ("global" | "const" | "shared" | "local" | "param")) => {
                    self.advance()?;
                    pointer.space = space(modifier);
                }
                _ => return Ok(pointer),
            }
        }
    }

    /// The rest of `.attribute(.managed)` and `.attribute(.unified(1, 2))`.
    fn skip_attribute(&mut self) -> Result<()> {
        let mut depth = 0_usize;
        loop {
            match self.token.kind {
                Kind::Punct(b'(') => depth += 1,
                Kind::Punct(b')') if depth > 0 => depth -= 1,
                Kind::Dotted(_) | Kind::Number(_) | Kind::Punct(b',') if depth > 0 => {}
                _ => return self.expected("an attribute"),
            }
            self.advance()?;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Name, dimensions and initialiser.
    pub(super) fn parse_variable(&mut self, header: &Header) -> Result<Variable> {
        let line = self.token.line;
        let name = self.expect_word("a name")?.to_owned();
        let mut variable = Variable {
            name,
            space: header.space,
            ty: header.ty,
            vector: header.vector,
            align: 1,
            size: 0,
            external: header.external,
            pointer: header.pointer,
            initial: Vec::new(),
            relocations: Vec::new(),
            line,
        };
        let element = header.ty.size() as u64 * u64::from(header.vector);
        variable.align = header.align.unwrap_or(u32::try_from(element).unwrap_or(1));
        let (mut dimensions, open) = self.parse_dimensions()?;
        let size = |dimensions: &[u64]| {
            dimensions
                .iter()
                .try_fold(element, |size, &length| size.checked_mul(length))
        };
        let Some(declared) = size(&dimensions).filter(|&size| size <= i64::MAX as u64) else {
            return self.error("the variable is too large");
        };
        variable.size = declared;
        if self.accept(b'=')? {
            if header.vector > 1 {
                dimensions.push(header.vector.into());
            }
            self.parse_initializer(&mut variable, &dimensions, open)?;
        } else if open {
            variable.size = 0;
        }
        Ok(variable)
    }

    /// `[10][4]`, and whether the first dimension is empty, as in `[]`; its length is then left as 1.
    fn parse_dimensions(&mut self) -> Result<(Vec<u64>, bool)> {
        let (mut dimensions, mut open) = (Vec::new(), false);
        while self.accept(b'[')? {
            if dimensions.is_empty() && self.at(b']') {
                open = true;
                dimensions.push(1);
            } else {
                dimensions.push(self.parse_u64()?);
            }
            self.expect(b']')?;
            if dimensions.len() > super::MAX_DEPTH {
                return self.error("too many dimensions");
            }
        }
        Ok((dimensions, open))
    }
}
