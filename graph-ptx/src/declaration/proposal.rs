//! The Rust declaration of a kernel, as far as its PTX tells.

use crate::ast::{Module, Type};
use crate::{Access, Elements, Geometry, KernelSummary, ParamSummary, infer_pointers, summarize};

/// The type that a parameter could be declared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proposal {
    /// A pointer: its value is used as an address.
    Memory(Memory),
    /// Any other parameter, of this type.
    Value(String),
}

/// Memory that a kernel takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Whether the kernel stores there.
    pub mutable: bool,
    /// Whether it accesses the memory by atomic operations of the whole GPU alone, all of elements of one size.
    pub atomic: bool,
    /// The handle through which the kernel accesses it, if it accesses it so alone.
    pub handle: Option<Handle>,
    /// The type of the elements.
    pub elements: Elements,
}

/// The handle that a kernel takes for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handle {
    /// A texture.
    Texture(Geometry),
    /// A surface.
    Surface(Geometry),
}

impl Handle {
    /// The handle through which memory is accessed so.
    fn of(access: &Access) -> Option<Self> {
        let mut handles = access.through().map(|(form, _)| {
            let geometry = form.geometry?;
            Some(if form.is_surface() {
                Self::Surface(geometry)
            } else {
                Self::Texture(geometry)
            })
        });
        let first = handles.next()??;
        let is_only = handles.all(|other| other == Some(first)) && access.plain.or(access.atomic).is_none();
        is_only.then_some(first)
    }

    /// The memory as Rust writes it, of texels `texel`: `[[Texel<f32>; N]]`.
    fn memory(self, texel: &str) -> String {
        let (texels, geometry) = match self {
            Self::Texture(geometry) => (format!("Texel<{texel}>"), geometry),
            Self::Surface(geometry) => (format!("Surfel<{texel}>"), geometry),
        };
        match geometry {
            Geometry::Linear | Geometry::Line => format!("[{texels}]"),
            Geometry::LayeredLine => format!("Layered<[{texels}]>"),
            Geometry::Plane => format!("[[{texels}; N]]"),
            Geometry::LayeredPlane => format!("Layered<[[{texels}; N]]>"),
            Geometry::Volume => format!("[[[{texels}; N]; N]]"),
        }
    }
}

impl Memory {
    /// The memory that is accessed so.
    pub(super) fn of(access: &Access) -> Self {
        let sizes = access.atomic_sizes.iter().flatten().count();
        Self {
            mutable: access.stored.is_some(),
            atomic: access.atomic.is_some() && access.plain.is_none() && access.narrow.is_none() && sizes == 1,
            handle: Handle::of(access),
            elements: access.elements,
        }
    }

    /// The elements as Rust names them: their type, or unsigned numbers of their size; `None` if the accesses do not
    /// tell, or Rust has no such type.
    pub fn element(&self) -> Option<&'static str> {
        match self.elements {
            Elements::One(ty) => ty.in_rust().map(|(_, name)| name),
            Elements::Unknown | Elements::Mixed => None,
        }
    }

    /// Whether [`Memory::element`] is certain, rather than only of the right size.
    pub fn is_certain(&self) -> bool {
        matches!(
            self.elements,
            Elements::One(Type::F32 | Type::F64 | Type::S8 | Type::S16 | Type::S32 | Type::S64)
        )
    }

    /// The type as Rust writes it, of elements `element`: `&mut [f32]`.
    pub fn of_elements(&self, element: &str) -> String {
        let reference = if self.mutable { "&mut " } else { "&" };
        match (self.handle, self.atomic) {
            (Some(handle), _) => format!("{reference}{}", handle.memory(element)),
            (None, true) => format!("&[Atomic<{element}>]"),
            (None, false) => format!("{reference}[{element}]"),
        }
    }
}

impl Proposal {
    /// The type as Rust writes it: `&mut [f32]`, or `&mut [T]` if the PTX does not tell the elements for certain.
    pub fn ty(&self) -> String {
        match self {
            Self::Memory(memory) => {
                let element = memory.element().filter(|_| memory.is_certain());
                memory.of_elements(element.unwrap_or("T"))
            }
            Self::Value(ty) => ty.clone(),
        }
    }
}

/// Returns the summary of a kernel whose declaration is not known, and a type for each of its parameters; `None` if the
/// module has no such kernel.
pub fn propose(entry: &str, module: &Module) -> Option<(KernelSummary, Vec<Proposal>)> {
    let pointers = infer_pointers(module, entry)?;
    let summary = summarize(module, entry, &pointers)?;
    let params = summary.params.iter().zip(pointers);
    let proposal = |(param, is_memory): (&ParamSummary, bool)| {
        if is_memory {
            Proposal::Memory(Memory::of(&param.access))
        } else {
            Proposal::Value(value(param))
        }
    };
    let proposals = params.map(proposal).collect();
    Some((summary, proposals))
}

/// A type for each parameter of a kernel; none if the module has no such kernel.
pub(super) fn proposals(entry: &str, module: &Module) -> Vec<Proposal> {
    propose(entry, module).map_or_else(Vec::new, |(_, proposals)| proposals)
}

/// A declaration to paste: `fn name(first: &mut [f32], second: u32);`. `declared` are the names and types of the first
/// parameters.
pub(super) fn declaration(name: &str, entry: &str, module: &Module, declared: &[(&str, &str)]) -> String {
    let proposals = proposals(entry, module);
    let params = proposals
        .iter()
        .enumerate()
        .map(|(index, proposal)| match declared.get(index) {
            Some((name, ty)) => format!("{name}: {ty}"),
            None => format!("p{index}: {}", proposal.ty()),
        });
    format!("fn {name}({});", params.collect::<Vec<_>>().join(", "))
}

/// A type of the right size and alignment.
fn value(param: &ParamSummary) -> String {
    if param.array {
        let unit = u64::from(param.align.clamp(1, 16));
        return format!("[u{}; {}]", unit * 8, param.size / unit);
    }
    match param.ty {
        Type::F32 => "f32".to_owned(),
        Type::F64 => "f64".to_owned(),
        Type::S8 | Type::S16 | Type::S32 | Type::S64 => format!("i{}", param.size.saturating_mul(8)),
        _ => format!("u{}", param.size.saturating_mul(8)),
    }
}
