//! The names of C++ functions as compilers mangle them: the function's own name, and the types of its parameters.
//!
//! Source: <https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling>. Names with parts that are not known here are
//! read as far as they are.

use super::cpp::Cpp;

/// The longest name that is read.
const MAX_LENGTH: usize = 4096;
/// The deepest nesting of a type that is read.
const MAX_DEPTH: usize = 64;

/// A function's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mangled {
    /// The name without its namespaces and template arguments: `scale`.
    pub(super) name: String,
    /// The types of its parameters; `None` if they are not understood.
    pub(super) params: Option<Vec<Cpp>>,
    /// The type that it is an instance for, if it is one of a template with one type.
    pub(super) instance: Option<Cpp>,
}

/// Reads a mangled name; `None` if it is not one.
pub(super) fn read(name: &str) -> Option<Mangled> {
    if name.len() > MAX_LENGTH {
        return None;
    }
    let mut reader = Reader {
        rest: name.strip_prefix("_Z")?,
        seen: Vec::new(),
        arguments: Vec::new(),
        depth: 0,
    };
    let (name, is_template) = reader.function()?;
    let instance = match &reader.arguments[..] {
        [only] if is_template => Some(only.clone()),
        _ => None,
    };
    let params = reader.params(is_template);
    Some(Mangled { name, params, instance })
}

struct Reader<'n> {
    rest: &'n str,
    /// The parts that may be repeated: `S_`, `S0_`, ..
    seen: Vec<Cpp>,
    /// The arguments of the template: `T_`, `T0_`, ..
    arguments: Vec<Cpp>,
    depth: usize,
}

impl Reader<'_> {
    fn take(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn number(&mut self) -> Option<usize> {
        let end = self
            .rest
            .find(|char: char| !char.is_ascii_digit())
            .unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        let number = digits.parse().ok()?;
        self.rest = rest;
        Some(number)
    }

    /// `5scale`
    fn word(&mut self) -> Option<String> {
        self.take("L");
        let length = self.number()?;
        let (word, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(word.to_owned())
    }

    /// The name of the function, and whether it is an instance of a template, whose result is then part of its type.
    fn function(&mut self) -> Option<(String, bool)> {
        if self.take("N") {
            return self.nested();
        }
        let name = self.word()?;
        let is_template = self.rest.starts_with('I');
        if is_template {
            self.seen.push(Cpp::Named(name.clone()));
            self.arguments = self.template_arguments()?;
        }
        Some((name, is_template))
    }

    /// The parts of a name in namespaces, to the `E`. Returns the last, and whether it has template arguments.
    fn nested(&mut self) -> Option<(String, bool)> {
        while self.rest.starts_with(['K', 'V', 'r']) {
            self.rest = &self.rest[1..];
        }
        let mut last = (String::new(), false);
        while !self.take("E") {
            if self.take("St") {
                continue;
            }
            if self.rest.starts_with('S') {
                let Cpp::Named(name) = self.substitution()? else {
                    return None;
                };
                last = (name, false);
                continue;
            }
            if self.rest.starts_with('I') {
                self.arguments = self.template_arguments()?;
                last.1 = true;
            } else {
                last = (self.word()?, false);
            }
            // All but the whole name may be repeated.
            if !self.rest.starts_with('E') {
                self.seen.push(Cpp::Named(last.0.clone()));
            }
        }
        (!last.0.is_empty()).then_some(last)
    }

    fn template_arguments(&mut self) -> Option<Vec<Cpp>> {
        self.take("I").then_some(())?;
        let mut arguments = Vec::new();
        while !self.take("E") {
            if self.take("L") {
                self.ty()?;
                let (_, rest) = self.rest.split_once('E')?;
                self.rest = rest;
                arguments.push(Cpp::Named("a number".to_owned()));
            } else {
                arguments.push(self.ty()?);
            }
        }
        Some(arguments)
    }

    /// The types after the function's name.
    fn params(&mut self, has_result: bool) -> Option<Vec<Cpp>> {
        if has_result {
            self.ty()?;
        }
        if self.rest == "v" {
            return Some(Vec::new());
        }
        let mut params = Vec::new();
        while !self.rest.is_empty() {
            params.push(self.ty()?);
        }
        Some(params)
    }

    fn ty(&mut self) -> Option<Cpp> {
        self.depth += 1;
        let ty = if self.depth < MAX_DEPTH { self.ty_inside() } else { None };
        self.depth -= 1;
        ty
    }

    fn ty_inside(&mut self) -> Option<Cpp> {
        if let Some(builtin) = self.builtin() {
            return Some(Cpp::Named(builtin.to_owned()));
        }
        let ty = match self.rest.chars().next()? {
            'P' | 'R' | 'O' => {
                self.rest = &self.rest[1..];
                Cpp::Pointer(Box::new(self.ty()?))
            }
            'K' | 'V' | 'r' => {
                while self.rest.starts_with(['K', 'V', 'r']) {
                    self.rest = &self.rest[1..];
                }
                self.ty()?
            }
            'A' => {
                self.rest = &self.rest[1..];
                self.number()?;
                self.take("_").then_some(())?;
                self.ty()?
            }
            'T' => self.argument()?,
            'S' if !self.rest.starts_with("St") => {
                let ty = self.substitution()?;
                if !self.rest.starts_with('I') {
                    return Some(ty);
                }
                self.template_arguments()?;
                ty
            }
            'N' => {
                self.rest = &self.rest[1..];
                let outer = std::mem::take(&mut self.arguments);
                let (name, _) = self.nested()?;
                self.arguments = outer;
                Cpp::Named(name)
            }
            _ => {
                self.take("St");
                let name = Cpp::Named(self.word()?);
                if self.rest.starts_with('I') {
                    self.seen.push(name.clone());
                    self.template_arguments()?;
                }
                name
            }
        };
        self.seen.push(ty.clone());
        Some(ty)
    }

    /// `T_`, `T0_`
    fn argument(&mut self) -> Option<Cpp> {
        self.take("T").then_some(())?;
        let index = match self.take("_") {
            true => 0,
            false => {
                let number = self.number()?;
                self.take("_").then_some(number.checked_add(1)?)?
            }
        };
        self.arguments.get(index).cloned()
    }

    /// `S_`, `S0_`, `SA_`
    fn substitution(&mut self) -> Option<Cpp> {
        let (digits, rest) = self.rest.strip_prefix('S')?.split_once('_')?;
        let index = match digits {
            "" => 0,
            digits => usize::from_str_radix(digits, 36).ok()?.checked_add(1)?,
        };
        self.rest = rest;
        self.seen.get(index).cloned()
    }

    fn builtin(&mut self) -> Option<&'static str> {
        const LONG: [(&str, &str); 2] = [("DF16_", "half"), ("DF16b", "__nv_bfloat16")];
        const SHORT: [(&str, &str); 15] = [
            ("v", "void"),
            ("b", "bool"),
            ("c", "char"),
            ("a", "signed char"),
            ("h", "unsigned char"),
            ("s", "short"),
            ("t", "unsigned short"),
            ("i", "int"),
            ("j", "unsigned int"),
            ("l", "long"),
            ("m", "unsigned long"),
            ("x", "long long"),
            ("y", "unsigned long long"),
            ("f", "float"),
            ("d", "double"),
        ];
        let known = LONG.iter().chain(&SHORT);
        let found = known.copied().find(|(mark, _)| self.rest.starts_with(mark));
        found.map(|(mark, name)| {
            self.rest = &self.rest[mark.len()..];
            name
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(mangled: &str) -> Option<String> {
        fn ty(cpp: &Cpp) -> String {
            match cpp {
                Cpp::Named(name) => name.clone(),
                Cpp::Pointer(to) => format!("{}*", ty(to)),
            }
        }
        let Mangled { name, params, .. } = read(mangled)?;
        Some(match params {
            Some(params) => format!("{name}({})", params.iter().map(ty).collect::<Vec<_>>().join(", ")),
            None => format!("{name}(?)"),
        })
    }

    /// The names are what `c++filt` says about them.
    #[test]
    fn names_are_read() {
        for (mangled, expected) in [
            ("_Z5scalePff", "scale(float*, float)"),
            ("_Z4nonev", "none()"),
            ("_Z3addPKfS0_Pfj", "add(float*, float*, float*, unsigned int)"),
            ("_Z5scaleIfEvPT_S0_", "scale(float*, float)"),
            (
                "_Z3mapI6__halfLi4EEvPKT_PS1_y",
                "map(__half*, __half*, unsigned long long)",
            ),
            ("_ZN3geo4stepEPNS_5PointEi", "step(Point*, int)"),
            ("_ZN3geo4stepIdEEvPT_", "step(double*)"),
            ("_ZN12_GLOBAL__N_14fillEPh", "fill(unsigned char*)"),
            ("_ZL6staticP6float4", "static(float4*)"),
            ("_Z4tilePA16_fPA16_KfS3_", "tile(float*, float*, float*)"),
            ("_Z4copyPKDF16_PDF16_", "copy(half*, half*)"),
            ("_Z4callPFiiE", "call(?)"),
        ] {
            assert_eq!(shown(mangled).as_deref(), Some(expected), "{mangled}");
        }
    }

    #[test]
    fn what_is_no_name_does_no_harm() {
        let deep = format!("_Z1f{}i", "P".repeat(1000));
        let long = format!("_Z1f{}", "i".repeat(5000));
        for text in [
            "scale",
            "_Z",
            "_Z5sca",
            "_Z99999999999999999999x",
            "_ZN",
            "_ZNE",
            "_Z3é",
            &long,
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
        for text in [
            "_Z1fS_",
            "_Z1fT_",
            "_Z1fT99999999999999999999_",
            "_Z1fSZZZZZZZZZZZZZZZZZ_",
            "_Z1fA",
            "_Z1f€",
            &deep,
        ] {
            assert_eq!(shown(text).as_deref(), Some("f(?)"), "{text}");
        }
    }
}
