//! `Atomic<T>`, `Mapped<T>`, `MaybeUninit<T>`, `Texel<T>` and `Surfel<T>`: types around the elements of memory, which
//! say how a kernel accesses them.

use super::ty::{Unfit, bare, scalar, signature};
use crate::text::text;
use graph_plan::{Diagnostic, Scalar};
use syn::{GenericArgument, PathArguments, PathSegment, Type};

/// A type around the elements of memory.
pub(in crate::kernels) struct Wrapper {
    pub(in crate::kernels) kind: Wrapping,
    /// The whole type as it is written: `Atomic<u32>`.
    pub(in crate::kernels) ty: Type,
    /// The type of the elements: `u32`.
    pub(in crate::kernels) inner: Type,
    /// The second argument, which only `Texel<T, S>` may have.
    pub(in crate::kernels) sampler: Option<Type>,
}

/// The meaning of a [`Wrapper`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::kernels) enum Wrapping {
    /// `Atomic<T>`: the kernel accesses the elements by atomic operations alone.
    Atomic,
    /// `Mapped<T>`: the host accesses the elements, too, while the kernel runs.
    Mapped,
    /// `MaybeUninit<T>`: the kernel writes the elements before it reads them.
    MaybeUninit,
    /// `Texel<T>`: the kernel reads the elements through a texture.
    Texel,
    /// `Surfel<T>`: the kernel accesses the elements through a surface.
    Surfel,
}

impl Wrapping {
    const ALL: [Self; 5] = [Self::Atomic, Self::Mapped, Self::MaybeUninit, Self::Texel, Self::Surfel];

    fn of(segment: &PathSegment) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| segment.ident == kind.name())
    }

    fn name(self) -> String {
        format!("{self:?}")
    }
}

/// Takes the wrapper out of a type, whose innermost elements are then without it.
pub(super) fn take(ty: &mut Type) -> Option<Wrapper> {
    let found = match ty {
        Type::Slice(slice) => return take(&mut slice.elem),
        Type::Array(array) => return take(&mut array.elem),
        Type::Paren(inner) => return take(&mut inner.elem),
        Type::Group(inner) => return take(&mut inner.elem),
        _ => wrapper(ty)?,
    };
    *ty = found.inner.clone();
    Some(found)
}

/// The wrapper in a type, references included.
pub(super) fn find(ty: &Type) -> Option<Type> {
    let mut target = match bare(ty) {
        Type::Reference(reference) => (*reference.elem).clone(),
        other => other.clone(),
    };
    if layers(&target).is_some() {
        return Some(target);
    }
    take(&mut target).map(|wrapper| wrapper.ty)
}

/// A type as a wrapper, if it is written as one.
fn wrapper(ty: &Type) -> Option<Wrapper> {
    let Type::Path(path) = ty else { return None };
    let segment = path.path.segments.last()?;
    let kind = Wrapping::of(segment)?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return None;
    };
    let arguments: Vec<&GenericArgument> = arguments.args.iter().collect();
    let (inner, sampler) = match (kind, &arguments[..]) {
        (_, [GenericArgument::Type(inner)]) => (inner, None),
        (Wrapping::Texel, [GenericArgument::Type(inner), GenericArgument::Type(sampler)]) => (inner, Some(sampler)),
        _ => return None,
    };
    Some(Wrapper {
        kind,
        ty: ty.clone(),
        inner: bare(inner).clone(),
        sampler: sampler.cloned(),
    })
}

/// The type in `Layered<..>`, if a type is written so.
pub(super) fn layers(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = bare(ty) else { return None };
    let segment = path.path.segments.last()?;
    match &segment.arguments {
        PathArguments::AngleBracketed(arguments) if segment.ident == "Layered" && arguments.args.len() == 1 => {
            match arguments.args.first()? {
                GenericArgument::Type(inner) => Some(inner),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Refuses a wrapper around a value: nothing is shared or uninitialised there.
pub(super) fn by_value(ty: &Type) -> Result<(), Diagnostic> {
    let Some(Wrapper { kind, ty, inner, .. }) = wrapper(ty) else {
        return Ok(());
    };
    let (ty, inner) = (text(&ty), text(&inner));
    let mutability = match kind {
        Wrapping::Atomic | Wrapping::Mapped | Wrapping::Texel | Wrapping::Surfel => "",
        Wrapping::MaybeUninit => "mut ",
    };
    Err(signature(format!("`{ty}` cannot be passed by value")).help(format!(
        "use `{inner}`, or `&{mutability}{ty}` or `&{mutability}[{ty}]` if it is memory"
    )))
}

impl Wrapper {
    /// Whether the elements are texels.
    pub(in crate::kernels) fn is_texels(&self) -> bool {
        matches!(self.kind, Wrapping::Texel | Wrapping::Surfel)
    }

    /// The lengths of the arrays of texels that `unit` is, from the outermost.
    pub(in crate::kernels) fn lengths<'t>(&self, unit: &'t Type) -> Vec<&'t syn::Expr> {
        let (mut lengths, mut unit) = (Vec::new(), bare(unit));
        while let Type::Array(array) = unit
            && *unit != self.inner
        {
            lengths.push(&array.len);
            unit = bare(&array.elem);
        }
        lengths
    }

    /// Refuses references that contradict the wrapper, and elements that it cannot have. `target` is the type behind
    /// the reference, without the wrapper; `written` is the type with the wrapper, and `layered` whether its outermost
    /// dimension counts layers.
    pub(super) fn check(&self, mutable: bool, layered: bool, target: &Type, written: &Type) -> Result<(), Diagnostic> {
        let (written, plain) = (text(written), text(target));
        let note = "other nodes may access memory of `Atomic` at the same time, so it is passed as `&`";
        let refused = match (self.kind, mutable) {
            (Wrapping::Atomic, true) => Some((
                "memory that a kernel has for itself and updates atomically",
                Some(note),
                "the kernel accesses it by atomic operations alone",
            )),
            (Wrapping::Mapped, true) => Some((
                "memory that a kernel has for itself and the host accesses meanwhile",
                None,
                "it is `mapped` memory",
            )),
            (Wrapping::MaybeUninit, false) => Some((
                "uninitialised memory that a kernel only reads",
                None,
                "the kernel initialises it",
            )),
            (Wrapping::Texel, true) => Some((
                "memory that a kernel writes through a texture",
                Some("kernels only read through textures"),
                "the kernel reads it by `tex`",
            )),
            (Wrapping::Atomic | Wrapping::Mapped | Wrapping::Texel, false) => None,
            (Wrapping::MaybeUninit, true) | (Wrapping::Surfel, _) => None,
        };
        if let Some((what, note, condition)) = refused {
            let (and, other) = if mutable { ("&mut ", "&") } else { ("&", "&mut ") };
            let fault = signature(format!("`{and}{written}` is {what}"));
            let help = format!("use `{other}{written}` if {condition}, or else `{and}{plain}`");
            return Err(note.into_iter().fold(fault, Diagnostic::note).help(help));
        }
        if let Some(inner) = wrapper(&self.inner) {
            let (element, names) = (text(&inner.inner), [self.kind, inner.kind].map(Wrapping::name));
            let message = format!("`{}` says twice how its elements are accessed", text(&self.ty));
            return Err(signature(message).help(format!("use `{}<{element}>` or `{}<{element}>`", names[0], names[1])));
        }
        match (self.kind, &self.inner) {
            (Wrapping::Atomic | Wrapping::Mapped, Type::Array(array)) => {
                let (element, length, name) = (text(&array.elem), text(&array.len), self.kind.name());
                let (access, elements) = match self.kind {
                    Wrapping::Mapped => ("accessed", "elements"),
                    Wrapping::Atomic | Wrapping::MaybeUninit | Wrapping::Texel | Wrapping::Surfel => {
                        ("updated", "atomics")
                    }
                };
                Err(
                    signature(format!("`{}` is an array that is {access} as one", text(&self.ty)))
                        .help(format!("use `[{name}<{element}>; {length}]`, an array of {elements}")),
                )
            }
            (Wrapping::Mapped, inner) => match scalar(inner).map_err(Unfit::error)? {
                Scalar::U32 | Scalar::I32 | Scalar::U64 | Scalar::I64 | Scalar::F32 | Scalar::F64 => Ok(()),
                Scalar::U8 | Scalar::I8 | Scalar::U16 | Scalar::I16 | Scalar::Other => Err(signature(format!(
                    "host and kernel cannot both access elements `{}`",
                    text(inner)
                ))
                .help("use `u32`, `i32`, `u64`, `i64`, `f32` or `f64`")),
            },
            (Wrapping::Atomic, inner) => match scalar(inner).map_err(Unfit::error)? {
                Scalar::U8 | Scalar::I8 => Err(signature(format!("PTX has no atomic operations on `{}`", text(inner)))
                    .help(
                        "use `u32`, `i32`, `u64`, `i64`, `f32` or `f64`, or a type of two bytes for `f16` and `bf16`",
                    )),
                Scalar::U16 | Scalar::I16 | Scalar::U32 | Scalar::I32 | Scalar::U64 | Scalar::I64 => Ok(()),
                Scalar::F32 | Scalar::F64 | Scalar::Other => Ok(()),
            },
            (Wrapping::Texel | Wrapping::Surfel, _) => {
                let least = usize::from(layered);
                let fits = |unit: &Type| (least..=2).contains(&self.lengths(unit).len());
                match target {
                    Type::Slice(rows) if fits(&rows.elem) => return Ok(()),
                    Type::Array(rows) if target != &self.inner && fits(&rows.elem) => return Ok(()),
                    _ => {}
                }
                let (ty, and) = (text(&self.ty), if mutable { "&mut " } else { "&" });
                let (message, help) = match layered {
                    false => (
                        "has other dimensions than memory of texels: one, rows, or planes of rows",
                        format!("use `{and}[{ty}]`, `{and}[[{ty}; W]]` or `{and}[[[{ty}; W]; H]]`"),
                    ),
                    true => (
                        "has other dimensions than layers of texels: layers of rows, or of planes",
                        format!("use `{and}Layered<[[{ty}; W]]>` or `{and}Layered<[[[{ty}; W]; H]]>`"),
                    ),
                };
                Err(signature(format!("`{and}{written}` {message}")).help(help))
            }
            (Wrapping::MaybeUninit, _) => Ok(()),
        }
    }
}
