//! The parameters of a declared kernel: the Rust types that they may have, and their meaning.

mod wrapper;
mod ty;

pub(super) use ty::{bare, is_primitive, scalar, signature};
pub(super) use wrapper::{Wrapper, Wrapping};

use crate::report::Report;
use crate::span::ends;
use crate::text::text;
use graph_plan::{Diagnostic, Mode, Scalar};
use proc_macro2::Ident;
use quote::format_ident;
use syn::{FnArg, Pat, PatIdent, PointerMutability, Token, Type, TypeReference};
use ty::Unfit;

/// A parameter.
pub(super) struct Param {
    pub(super) ident: Ident,
    pub(super) kind: Kind,
    /// The type around its elements, if there is a mistake in it: imports of it are used.
    pub(super) refused: Option<Type>,
    /// Its by-value type, if that is one that no kernel takes. The mistake is reported when the PTX is known, which
    /// tells what to use instead. Until then its kind is [`Kind::Invalid`].
    pub(super) unfit: Option<Box<Type>>,
}

/// The kind of argument that a parameter takes.
pub(super) enum Kind {
    Buffer(Box<Buffer>),
    Value(Box<Value>),
    /// A mistake was reported; anything may be passed.
    Invalid,
}

/// `&[T]`, `&mut [T]`, `&T` and so on.
pub(super) struct Buffer {
    /// The whole type, `&` included.
    pub(super) ty: Type,
    pub(super) mutability: Option<Token![mut]>,
    /// The only shape that it takes (`&[[T; 16]; 16]`); `None` if it takes any array of `unit`s (`&[T]`).
    pub(super) exact: Option<Type>,
    /// The type whose values `.len()` counts.
    pub(super) unit: Type,
    /// The type around its innermost elements that says how the kernel accesses them, if there is one. The shapes above
    /// are without it.
    pub(super) wrapper: Option<Wrapper>,
}

impl Buffer {
    /// The type around its elements, if they are texels, which the kernel reads through a texture.
    pub(super) fn texel(&self) -> Option<&Wrapper> {
        self.wrapper.as_ref().filter(|wrapper| wrapper.kind == Wrapping::Texel)
    }

    /// The kind of the places that it takes: a name of the runtime.
    pub(super) fn memory(&self) -> Ident {
        match self.mode() {
            Mode::Read | Mode::Write | Mode::ReadWrite | Mode::Atomic => format_ident!("OnDevice"),
            Mode::Mapped => format_ident!("OnMapped"),
        }
    }

    /// The trait of the references that it takes, and the function that makes an argument of one.
    pub(super) fn lending(&self) -> (Ident, Ident) {
        let (lent, passed) = match self.mode() {
            Mode::Read => ("Lent", "read"),
            Mode::Atomic => ("Lent", "atomic"),
            Mode::Mapped => ("LentMapped", "mapped"),
            Mode::ReadWrite => ("LentMut", "write"),
            Mode::Write => ("LentMut", "uninit"),
        };
        (format_ident!("{lent}"), format_ident!("{passed}"))
    }

    /// The kernel's accesses to it.
    pub(super) fn mode(&self) -> Mode {
        match (&self.wrapper, self.mutability) {
            (None, None) => Mode::Read,
            (None, Some(_)) => Mode::ReadWrite,
            (Some(wrapper), _) => match wrapper.kind {
                Wrapping::Atomic => Mode::Atomic,
                Wrapping::Mapped => Mode::Mapped,
                Wrapping::Uninit => Mode::Write,
                Wrapping::Texel => Mode::Read,
            },
        }
    }
}

/// A by-value parameter.
pub(super) struct Value {
    pub(super) ty: Type,
    pub(super) scalar: Scalar,
}

impl Param {
    /// A parameter that takes anything, in place of one that cannot be read.
    pub(super) fn invalid(index: usize) -> Self {
        Self {
            ident: format_ident!("argument{index}"),
            kind: Kind::Invalid,
            refused: None,
            unfit: None,
        }
    }

    /// Its name in messages.
    pub(super) fn name(&self) -> String {
        syn::ext::IdentExt::unraw(&self.ident).to_string()
    }

    /// Its type, `&` included; `None` if it was not understood.
    pub(super) fn ty(&self) -> Option<&Type> {
        match &self.kind {
            Kind::Buffer(buffer) => Some(&buffer.ty),
            Kind::Value(value) => Some(&value.ty),
            Kind::Invalid => self.unfit.as_deref(),
        }
    }

    /// Reads a parameter of a signature.
    pub(super) fn parse(argument: &FnArg, index: usize, report: &mut Report) -> Self {
        let FnArg::Typed(argument) = argument else {
            let fault = signature("a kernel has no `self`").help("name each parameter: `data: &mut [f32]`");
            push(argument, &fault, report);
            return Self::invalid(index);
        };
        if let Some(attribute) = argument.attrs.first() {
            push(
                attribute,
                &signature("attributes on parameters of a kernel mean nothing").help("remove it"),
                report,
            );
        }
        let is_unfit = scalar(bare(&argument.ty)).is_err();
        let (kind, refused) = match kind(&argument.ty, report) {
            Ok(kind) => (kind, None),
            Err(_) if is_unfit => (Kind::Invalid, None),
            Err(fault) => {
                push(&argument.ty, &fault, report);
                (Kind::Invalid, wrapper::find(&argument.ty))
            }
        };
        let ident = match name(&argument.pat) {
            Some(ident) => ident,
            None => {
                push(
                    &argument.pat,
                    &signature("a parameter of a kernel is a plain name").help("name it: `data: &mut [f32]`"),
                    report,
                );
                Self::invalid(index).ident
            }
        };
        Self {
            ident,
            kind,
            refused,
            unfit: is_unfit.then(|| argument.ty.clone()),
        }
    }
}

/// Reports a diagnostic at all of the tokens.
pub(super) fn push(tokens: &impl quote::ToTokens, diagnostic: &Diagnostic, report: &mut Report) {
    let (start, end) = ends(tokens);
    report.push_between(start, end, diagnostic);
}

fn name(pattern: &Pat) -> Option<Ident> {
    match pattern {
        Pat::Ident(PatIdent {
            by_ref: None,
            mutability: None,
            subpat: None,
            ident,
            ..
        }) => Some(ident.clone()),
        _ => None,
    }
}

fn kind(ty: &Type, report: &mut Report) -> Result<Kind, Diagnostic> {
    match bare(ty) {
        Type::Reference(reference) => buffer(ty, reference, report).map(|buffer| Kind::Buffer(Box::new(buffer))),
        Type::Ptr(pointer) => {
            let mutability = match pointer.mutability {
                PointerMutability::Mut(_) => "mut ",
                PointerMutability::Const(_) => "",
            };
            let help = format!("use `&{mutability}[{}]`", text(&pointer.elem));
            Err(signature(format!("`{}` is a raw pointer, which a graph cannot follow", text(ty))).help(help))
        }
        Type::Slice(slice) => {
            let element = text(&slice.elem);
            Err(signature(format!("`{}` cannot be passed by value", text(ty)))
                .help(format!("use `&[{element}]` or `&mut [{element}]`")))
        }
        value => {
            wrapper::by_value(value)?;
            element(value)?;
            let scalar = scalar(value).map_err(Unfit::error)?;
            Ok(Kind::Value(Box::new(Value { ty: ty.clone(), scalar })))
        }
    }
}

fn buffer(ty: &Type, reference: &TypeReference, report: &mut Report) -> Result<Buffer, Diagnostic> {
    if let Some(lifetime) = &reference.lifetime {
        let fault = signature("a parameter of a kernel has no lifetime")
            .help("the graph keeps alive what it uses: leave it out");
        push(lifetime, &fault, report);
    }
    let mut target = bare(&reference.elem).clone();
    let wrapper = wrapper::take(&mut target);
    if let Some(wrapper) = &wrapper {
        wrapper.check(reference.mutability.is_some(), &target, &reference.elem)?;
    }
    let (exact, unit) = match &target {
        Type::Slice(slice) => (None, &*slice.elem),
        Type::Array(array) => (Some(&target), &*array.elem),
        other => (Some(other), other),
    };
    element(unit)?;
    Ok(Buffer {
        ty: ty.clone(),
        mutability: reference.mutability,
        exact: exact.cloned(),
        unit: unit.clone(),
        wrapper,
    })
}

/// Refuses types whose syntax shows that they cannot be elements of memory. rustc checks the rest.
fn element(ty: &Type) -> Result<(), Diagnostic> {
    match bare(ty) {
        Type::Array(array) => element(&array.elem),
        Type::Path(path) if path.path.is_ident("str") => {
            Err(signature("`str` cannot be passed to a kernel").help("pass its bytes: `&[u8]`"))
        }
        Type::Path(_) | Type::Macro(_) => Ok(()),
        _ => Err(signature(format!("`{}` cannot be passed to a kernel", text(ty)))
            .help("memory is passed as `&[T]` or `&mut [T]`, and anything else as a value of a `Pod` type")),
    }
}
