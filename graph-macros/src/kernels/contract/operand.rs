//! The operands of contracts: literals, the launch, parameters, constants.

use super::Compiler;
use super::operator::Sort;
use crate::kernels::param::{Kind, Param};
use crate::span::ends;
use crate::text::text;
use graph_plan::{Scalar, nearest};
use graph_ptx::proof::Term;
use proc_macro2::{Literal, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Expr, ExprField, ExprLit, ExprMethodCall, ExprPath, Ident, Lit, Member};

/// The help for a field that a contract cannot read.
const FIELDS: &str = "only `grid` and `block` have fields here: `.x`, `.y` and `.z`";

/// The names of the launch's properties.
const LAUNCH: [&str; 4] = ["threads", "grid", "block", "shared"];

impl<'a> Compiler<'a> {
    pub(super) fn literal(&mut self, literal: &ExprLit) -> Option<Sort> {
        self.text.push_str(&text(literal));
        match &literal.lit {
            Lit::Int(int) if !matches!(int.suffix(), "f32" | "f64") => match int.base10_parse::<i128>() {
                Ok(value) => self.load(quote!(Int(#value)), Sort::Int, Term::Int(value)),
                Err(_) => self.fault(
                    literal,
                    "this literal is out of range",
                    "use an integer of at most 127 bits",
                ),
            },
            Lit::Int(int) => self.float(literal, int.base10_digits()),
            Lit::Float(float) => self.float(literal, float.base10_digits()),
            Lit::Bool(value) => {
                let value = value.value;
                self.load(quote!(Bool(#value)), Sort::Bool, Term::Bool(value))
            }
            _ => self.fault(
                literal,
                "this literal cannot be part of a contract",
                "use a number, `true` or `false`",
            ),
        }
    }

    fn float(&mut self, literal: &ExprLit, digits: &str) -> Option<Sort> {
        match digits.parse::<f64>() {
            Ok(value) if value.is_finite() => {
                let value = Literal::f64_unsuffixed(value);
                self.load(quote!(Float(#value)), Sort::Float, Term::Unknown)
            }
            _ => self.fault(
                literal,
                "this literal is out of range",
                "use a number that an `f64` can hold",
            ),
        }
    }

    pub(super) fn path(&mut self, path: &ExprPath) -> Option<Sort> {
        self.text.push_str(&text(path));
        let Some(ident) = single(path) else {
            return self.constant(path);
        };
        let name = ident.unraw().to_string();
        match (LAUNCH.contains(&name.as_str()), self.param(&name)) {
            (true, None) => self.load(launch(&name, 3), Sort::Int, term_of(&name, 3)),
            (true, Some(_)) => self.ambiguous(ident),
            (false, Some((index, param))) => self.value(path, &name, index, param),
            (false, None) => match self.suggestion(&name) {
                Some(near) => self.fault(
                    path,
                    &format!("`{name}` is not a parameter of this kernel"),
                    &format!("did you mean `{near}`?"),
                ),
                None => self.constant(path),
            },
        }
    }

    /// Any other path is a constant, which `integer` takes only if it is an integer.
    fn constant(&mut self, path: &ExprPath) -> Option<Sort> {
        let (span, _) = ends(path);
        let value = quote_spanned!(span=> ::graph_runtime::private::integer(#path));
        self.load(quote!(Int(#value)), Sort::Int, Term::Unknown)
    }

    /// A scalar parameter.
    fn value(&mut self, path: &ExprPath, name: &str, index: u8, param: &Param) -> Option<Sort> {
        match &param.kind {
            Kind::Invalid => None,
            Kind::Buffer(_) => self.fault(
                path,
                &format!("`{name}` is memory, not a number"),
                &format!("did you mean `{name}.len()`?"),
            ),
            Kind::Value(value) => match value.scalar {
                Scalar::Other => {
                    let message = format!("`{name}` has type `{}`, which a contract cannot read", text(&value.ty));
                    self.fault(
                        path,
                        &message,
                        "pass the number as a parameter of its own, with one of Rust's own scalar types",
                    )
                }
                Scalar::F32 | Scalar::F64 => self.load(quote!(Value(#index)), Sort::Float, Term::Unknown),
                _ => self.load(quote!(Value(#index)), Sort::Int, Term::Value(index.into())),
            },
        }
    }

    /// `grid.x`
    pub(super) fn field(&mut self, field: &ExprField) -> Option<Sort> {
        self.text.push_str(&text(field));
        let base = match &*field.base {
            Expr::Path(path) => single(path),
            _ => None,
        };
        let Some(base) = base else {
            return self.fault(field, "a contract cannot read fields", FIELDS);
        };
        let name = base.unraw().to_string();
        let axis = match &field.member {
            Member::Named(member) => ["x", "y", "z"].iter().position(|axis| member == axis),
            Member::Unnamed(_) => None,
        };
        match (name.as_str(), self.param(&name), axis) {
            ("grid" | "block", None, Some(axis)) => self.load(launch(&name, axis), Sort::Int, term_of(&name, axis)),
            ("grid" | "block", None, None) => {
                let help = format!("write `{name}.x`, `{name}.y`, `{name}.z`, or `{name}` for all of it");
                self.fault(&field.member, &format!("`{name}` has no such dimension"), &help)
            }
            ("grid" | "block", Some(_), _) => self.ambiguous(base),
            (_, Some((_, param)), _) => {
                let help = match param.kind {
                    Kind::Buffer(_) => format!("did you mean `{name}.len()`?"),
                    _ => "pass the number as a parameter of its own".to_owned(),
                };
                self.fault(field, &format!("a contract cannot read the fields of `{name}`"), &help)
            }
            _ => self.fault(field, "a contract cannot read fields", FIELDS),
        }
    }

    /// `data.len()`
    pub(super) fn len(&mut self, call: &ExprMethodCall) -> Option<Sort> {
        self.text.push_str(&text(call));
        let receiver = match &*call.receiver {
            Expr::Path(path) => single(path),
            _ => None,
        };
        let Some(ident) = receiver else {
            return self.fault(
                call,
                "only parameters of the kernel have a length here",
                "write `name.len()` of a `&[T]` or `&mut [T]` parameter",
            );
        };
        let name = ident.unraw().to_string();
        match self.param(&name).map(|(index, param)| (index, &param.kind)) {
            Some((_, Kind::Invalid)) => None,
            Some((index, Kind::Buffer(_))) => self.load(quote!(Len(#index)), Sort::Int, Term::Len(index.into())),
            Some((_, Kind::Value(_))) => self.fault(
                call,
                &format!("`{name}` is passed by value and has no length"),
                "only `&[T]` and `&mut [T]` have one",
            ),
            None => {
                let message = format!("`{name}` is not a parameter of this kernel");
                let help = self
                    .suggestion(&name)
                    .map_or_else(|| self.listed(), |near| format!("did you mean `{near}`?"));
                self.fault(ident, &message, &help)
            }
        }
    }

    fn ambiguous(&mut self, ident: &Ident) -> Option<Sort> {
        let message = format!("`{ident}` is both a parameter and a property of the launch");
        self.fault(ident, &message, "give the parameter another name")
    }

    /// The help that lists the parameters of the kernel.
    fn listed(&self) -> String {
        let params = self.declaration.params.iter();
        let names: Vec<String> = params.map(|param| format!("`{}`", param.name())).collect();
        format!("its parameters are {}", names.join(", "))
    }

    fn param(&self, name: &str) -> Option<(u8, &'a Param)> {
        let mut params = self.declaration.params.iter();
        let index = params.position(|param| param.name() == name)?;
        Some((u8::try_from(index).ok()?, &self.declaration.params[index]))
    }

    /// The name of something that a contract can use, if `name` is nearly that.
    fn suggestion(&self, name: &str) -> Option<String> {
        if !name.starts_with(char::is_lowercase) {
            return None; // a constant
        }
        let params: Vec<String> = self.declaration.params.iter().map(Param::name).collect();
        nearest(name, params.iter().map(String::as_str).chain(LAUNCH)).map(str::to_owned)
    }
}

fn single(path: &ExprPath) -> Option<&Ident> {
    path.path.get_ident().filter(|_| path.qself.is_none())
}

/// A property of the launch, for proofs. Axis 3 is the product of all axes.
fn term_of(name: &str, axis: usize) -> Term {
    let axis = u8::try_from(axis).unwrap_or(3);
    match name {
        "grid" => Term::Grid(axis),
        "block" => Term::Block(axis),
        "shared" => Term::Shared,
        _ => Term::Threads,
    }
}

/// A property of the launch. Axis 3 is the product of all axes.
fn launch(name: &str, axis: usize) -> TokenStream {
    let axis = Literal::usize_unsuffixed(axis);
    match name {
        "grid" => quote!(Grid(#axis)),
        "block" => quote!(Block(#axis)),
        "shared" => quote!(Shared),
        _ => quote!(Threads),
    }
}
