//! The parameters of a declared kernel: the Rust types that they may have, and their meaning.

mod wrapper;
mod ty;

pub(super) use ty::{bare, is_primitive, scalar, signature};
pub(super) use wrapper::{Wrapper, Wrapping};

use crate::report::Report;
use crate::text::text;
use graph_plan::{Diagnostic, Mode, Scalar};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{FnArg, GenericArgument, Pat, PatIdent, PathArguments, PointerMutability, Token, Type, TypeReference};
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
    /// Whether it may be a null pointer: `Option<&[T]>`.
    pub(super) is_optional: bool,
    /// The type behind the reference as it is written, and the one in it, if it is `Layered<..>`.
    pub(super) layered: Option<(Type, Type)>,
}

/// The memory that a parameter takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// Device memory.
    Device,
    /// Mapped host memory.
    Mapped,
    /// A CUDA array.
    Array,
    /// Device memory or a CUDA array, as texels.
    Texels,
}

impl Takes {
    /// The kind of its places in an argument's type.
    pub(super) fn place(self) -> TokenStream {
        match self {
            Takes::Device => quote!(::graph_runtime::OnDevice),
            Takes::Mapped => quote!(::graph_runtime::OnMapped),
            Takes::Array => quote!(::graph_runtime::OnArray),
            Takes::Texels => quote!(impl ::graph_runtime::private::TexelMemory),
        }
    }
}

impl Buffer {
    /// The type around its elements, if it is of this kind.
    pub(super) fn wrapper_of(&self, kind: Wrapping) -> Option<&Wrapper> {
        self.wrapper.as_ref().filter(|wrapper| wrapper.kind == kind)
    }

    /// The memory that it takes.
    pub(super) fn takes(&self) -> Takes {
        match self.wrapper.as_ref().map(|wrapper| (wrapper.kind, wrapper)) {
            None | Some((Wrapping::Atomic | Wrapping::MaybeUninit, _)) => Takes::Device,
            Some((Wrapping::Mapped, _)) => Takes::Mapped,
            Some((Wrapping::Surfel, _)) => Takes::Array,
            // Memory with addresses has one dimension, or rows.
            Some((Wrapping::Texel, texel)) if self.layered.is_some() || texel.lengths(&self.unit).len() > 1 => {
                Takes::Array
            }
            Some((Wrapping::Texel, _)) => Takes::Texels,
        }
    }

    /// The trait of the references that it takes, and the function that makes an argument of one.
    pub(super) fn lending(&self) -> (Ident, Ident) {
        let kind = self.wrapper.as_ref().map(|wrapper| wrapper.kind);
        let (lent, passed) = match (kind, self.mutability) {
            (None, None) => ("Lent", "read"),
            (None, Some(_)) => ("LentMut", "write"),
            (Some(Wrapping::Atomic), _) => ("Lent", "atomic"),
            (Some(Wrapping::Mapped), _) => ("LentMapped", "mapped"),
            (Some(Wrapping::MaybeUninit), _) => ("LentMut", "uninit"),
            (Some(Wrapping::Texel), _) => ("LentTexels", "texture"),
            (Some(Wrapping::Surfel), None) => ("LentSurface", "surface"),
            (Some(Wrapping::Surfel), Some(_)) => ("LentSurfaceMut", "surface_mut"),
        };
        (format_ident!("{lent}"), format_ident!("{passed}"))
    }

    /// The kernel's accesses to it.
    pub(super) fn mode(&self) -> Mode {
        match (self.wrapper.as_ref().map(|wrapper| wrapper.kind), self.mutability) {
            (None | Some(Wrapping::Surfel), None) | (Some(Wrapping::Texel), _) => Mode::Read,
            (None | Some(Wrapping::Surfel), Some(_)) => Mode::ReadWrite,
            (Some(Wrapping::Atomic), _) => Mode::Atomic,
            (Some(Wrapping::Mapped), _) => Mode::Mapped,
            (Some(Wrapping::MaybeUninit), _) => Mode::Write,
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

    /// Whether its memory holds nothing before the kernel writes it: `&mut [MaybeUninit<T>]`.
    pub(super) fn is_unwritten(&self) -> bool {
        matches!(&self.kind, Kind::Buffer(buffer) if buffer.wrapper_of(Wrapping::MaybeUninit).is_some())
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
            report.push_at(argument, &fault);
            return Self::invalid(index);
        };
        if let Some(attribute) = argument.attrs.first() {
            report.push_at(
                attribute,
                &signature("attributes on parameters of a kernel mean nothing").help("remove it"),
            );
        }
        let is_unfit = scalar(bare(&argument.ty)).is_err();
        let (kind, refused) = match kind(&argument.ty, report) {
            Ok(kind) => (kind, None),
            Err(_) if is_unfit => (Kind::Invalid, None),
            Err(fault) => {
                report.push_at(&argument.ty, &fault);
                (Kind::Invalid, wrapper::find(&argument.ty))
            }
        };
        let ident = match name(&argument.pat) {
            Some(ident) => ident,
            None => {
                report.push_at(
                    &argument.pat,
                    &signature("a parameter of a kernel is a plain name").help("name it: `data: &mut [f32]`"),
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
        option if optional(option).is_some() => optional_buffer(option, report),
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

/// The type in `Option<..>`, if a type is written so.
fn optional(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let segment = path.path.segments.last().filter(|last| last.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return None;
    };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) if arguments.args.len() == 1 => Some(bare(inner)),
        _ => None,
    }
}

/// Reads `Option<&[T]>`: memory, or a null pointer.
fn optional_buffer(ty: &Type, report: &mut Report) -> Result<Kind, Diagnostic> {
    let Some(Type::Reference(reference)) = optional(ty) else {
        let message = format!("`{}` cannot be passed to a kernel", text(ty));
        return Err(signature(message).help("only memory is optional: `Option<&[T]>` or `Option<&mut [T]>`"));
    };
    let buffer = Buffer {
        is_optional: true,
        ..buffer(ty, reference, report)?
    };
    if buffer.takes() != Takes::Device {
        let message = format!("`{}` cannot be passed to a kernel", text(ty));
        return Err(signature(message).help("only device memory is optional: leave out `Option`"));
    }
    Ok(Kind::Buffer(Box::new(buffer)))
}

fn buffer(ty: &Type, reference: &TypeReference, report: &mut Report) -> Result<Buffer, Diagnostic> {
    if let Some(lifetime) = &reference.lifetime {
        let fault = signature("a parameter of a kernel has no lifetime")
            .help("the graph keeps alive what it uses: leave it out");
        report.push_at(lifetime, &fault);
    }
    let layers = wrapper::layers(&reference.elem);
    let mut target = bare(layers.unwrap_or(&reference.elem)).clone();
    let layered = layers.map(|inner| (bare(&reference.elem).clone(), inner.clone()));
    let wrapper = wrapper::take(&mut target);
    match &wrapper {
        Some(wrapper) => wrapper.check(
            reference.mutability.is_some(),
            layered.is_some(),
            &target,
            &reference.elem,
        )?,
        None if layered.is_some() => {
            let message = format!("`{}` has layers, but no texels", text(ty));
            return Err(signature(message).help("use `&Layered<[[Texel<T>; W]]>`, or leave out `Layered`"));
        }
        None => {}
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
        is_optional: false,
        layered,
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
