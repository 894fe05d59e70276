//! The rules about access: the kernel's reads and writes compared with its declaration.

use super::proposal::{Memory, Proposal, proposals};
use super::text::{File, bytes, list};
use super::{BufferAccess, Declaration, Kind, Mistake, Param, Place, Rule};
use crate::{Geometry, KernelSummary, Store, Through, Way};

pub(super) fn check(declaration: &Declaration, summary: &KernelSummary, file: &File<'_>, mistakes: &mut Vec<Mistake>) {
    if declaration.safe {
        addresses(declaration, summary, file, mistakes);
        unknown(declaration, summary, file, mistakes);
        atomics(declaration, summary, file, mistakes);
        mapped(declaration, summary, file, mistakes);
        handles(declaration, summary, file, mistakes);
    }
    shared_stores(declaration, summary, file, mistakes);
    needless_mut(declaration, summary, mistakes);
}

fn is_value(param: &Param) -> bool {
    matches!(
        param.kind,
        Kind::Number { .. } | Kind::Value { .. } | Kind::Unsized | Kind::Host
    )
}

/// Reports by-value arguments that are used as addresses: nothing says whose memory that is.
fn addresses(declaration: &Declaration, summary: &KernelSummary, file: &File<'_>, mistakes: &mut Vec<Mistake>) {
    for (index, (param, facts)) in declaration.params.iter().zip(&summary.params).enumerate() {
        let Some(line) = facts.address.filter(|_| is_value(param)) else {
            continue;
        };
        let message = format!(
            "the safe kernel `{}` uses the value of `{}` as an address",
            declaration.name, param.name
        );
        let unsafely = "make it a plain `fn` and launch it with `unsafe`";
        let proposal = proposals(&declaration.entry, file.module).into_iter().nth(index);
        let help = match proposal {
            Some(memory @ Proposal::Memory(_)) => {
                format!("declare it `{}: {}`, or {unsafely}", param.name, memory.ty())
            }
            Some(Proposal::Value(_)) | None => unsafely.to_owned(),
        };
        let fault = Mistake::new(Rule::Access, Place::Param(index), message);
        mistakes.push(fault.note(at(line, file)).help(help));
    }
}

/// Reports addresses of unknown origin.
fn unknown(declaration: &Declaration, summary: &KernelSummary, file: &File<'_>, mistakes: &mut Vec<Mistake>) {
    let (verb, line) = match (summary.unknown_store, summary.unknown_load) {
        (Some(line), _) => ("writes", line),
        (None, Some(line)) => ("reads", line),
        (None, None) => return,
    };
    let message = format!(
        "the safe kernel `{}` {verb} through an address of unknown origin",
        declaration.name
    );
    let fault = Mistake::new(Rule::Access, Place::Safe, message).note(at(line, file));
    mistakes.push(fault.help("make it a plain `fn` and launch it with `unsafe`"));
}

/// Reports stores through parameters declared `&`. If the address may also come from elsewhere, a plain `fn` is
/// trusted.
fn shared_stores(declaration: &Declaration, summary: &KernelSummary, file: &File<'_>, mistakes: &mut Vec<Mistake>) {
    let shared = |index: usize| {
        let kind = declaration.params.get(index).map(|param| param.kind);
        matches!(
            kind,
            Some(Kind::Buffer(
                BufferAccess::Read | BufferAccess::Texture { .. } | BufferAccess::Surface { stores: false, .. }
            ))
        )
    };
    let mut reported = Vec::new();
    for store in summary.stores.iter().filter(|store| !store.unknown) {
        let certain = store.params.iter().all(|&index| shared(index));
        if !certain && !declaration.safe {
            continue;
        }
        for &index in store.params.iter().filter(|&&index| shared(index)) {
            if !reported.contains(&index) {
                reported.push(index);
                mistakes.push(shared_store(declaration, summary, store, index, file));
            }
        }
    }
}

fn shared_store(
    declaration: &Declaration,
    summary: &KernelSummary,
    store: &Store,
    index: usize,
    file: &File<'_>,
) -> Mistake {
    let Param { name, ty, .. } = &declaration.params[index];
    let message = format!(
        "the kernel `{}` writes to `{name}`, which is declared `&`",
        declaration.name
    );
    let mut fault = Mistake::new(Rule::Access, Place::Param(index), message).note(at(store.line, file));
    if store.params.len() > 1 {
        let name = |index: &usize| declaration.params[*index].name.as_str();
        let names: Vec<&str> = store.params.iter().map(name).collect();
        fault = fault.note(format!("its address may come from any of {}", list(&names)));
    }
    let mutable = format!("`{name}: {}`", ty.replacen('&', "&mut ", 1));
    let access = summary.params[index].access;
    fault.help(
        match element(ty).filter(|_| access.atomic.is_some() && access.plain.is_none() && access.narrow.is_none()) {
            Some(element) => format!("declare it `{name}: &[Atomic<{element}>]`, or {mutable}"),
            None => format!("declare it {mutable}"),
        },
    )
}

/// The element of a type that is written `&[T]`.
fn element(ty: &str) -> Option<&str> {
    let element = ty.strip_prefix("&[")?.strip_suffix(']')?;
    (!element.contains(['[', ';'])).then_some(element)
}

/// Reports accesses of `&[Atomic<T>]` that may disturb atomic operations of other kernels.
fn atomics(declaration: &Declaration, summary: &KernelSummary, file: &File<'_>, mistakes: &mut Vec<Mistake>) {
    for (index, (param, facts)) in declaration.params.iter().zip(&summary.params).enumerate() {
        let Kind::Buffer(BufferAccess::Atomic { size }) = param.kind else {
            continue;
        };
        let Param { name, ty, .. } = param;
        let mistake =
            |message: String, line: u32| Mistake::new(Rule::Access, Place::Param(index), message).note(at(line, file));
        let kernel = &declaration.name;
        let plainly = || {
            let plain = unwrapped(ty, "Atomic").replacen('&', "&mut ", 1);
            format!("declare it `{name}: {plain}`")
        };
        if let Some(line) = facts.access.plain {
            let message = format!("the kernel `{kernel}` loads or stores `{name}`, which is declared `{ty}`");
            let help = format!(
                "use `atom` and `red` alone (`atomicAdd` and the like), or {}",
                plainly()
            );
            mistakes.push(mistake(message, line).help(help));
        }
        if let Some(line) = facts.access.narrow {
            let message = format!(
                "the kernel `{kernel}` updates `{name}`, which is declared `{ty}`, atomically for its own block alone"
            );
            let help = "use atomic operations of the whole GPU: `atomicAdd` rather than `atomicAdd_block`";
            mistakes.push(mistake(message, line).help(help));
        }
        let sizes = [2, 4, 8, 16].into_iter().zip(facts.access.atomic_sizes);
        let wrong = sizes.filter(|(actual, _)| size.is_some_and(|size| size != *actual));
        let first = wrong.filter_map(|(actual, line)| Some((line?, actual))).min();
        if let (Some((line, actual)), Some(size)) = (first, size) {
            let message = format!(
                "the kernel `{kernel}` updates {} at once of `{name}`, whose elements have {}",
                bytes(actual),
                bytes(size)
            );
            let help = format!("declare it with elements of {}, or {}", bytes(actual), plainly());
            mistakes.push(mistake(message, line).help(help));
        }
    }
}

/// Reports accesses of `&[Mapped<T>]` that may disturb those of the host.
fn mapped(declaration: &Declaration, summary: &KernelSummary, file: &File<'_>, mistakes: &mut Vec<Mistake>) {
    for (index, (param, facts)) in declaration.params.iter().zip(&summary.params).enumerate() {
        let Kind::Buffer(BufferAccess::Mapped { size }) = param.kind else {
            continue;
        };
        let (Param { name, ty, .. }, kernel) = (param, &declaration.name);
        let mistake =
            |message: String, line: u32| Mistake::new(Rule::Access, Place::Param(index), message).note(at(line, file));
        if let Some(line) = facts.access.unmapped {
            let message = format!(
                "the kernel `{kernel}` accesses `{name}`, which is declared `{ty}`, in a way that the host may disturb"
            );
            let help = "load and store 4 or 8 bytes by `volatile`, or by `relaxed`, `acquire` or `release` with `.sys`: \
                        `*(volatile unsigned *)&x[i] = value`; atomic updates of host memory are not atomic for the host";
            mistakes.push(mistake(message, line).help(help));
        }
        let sizes = [4, 8].into_iter().zip(facts.access.word_sizes);
        for (actual, line) in sizes.filter(|(actual, _)| *actual != size) {
            let Some(line) = line else { continue };
            let message = format!(
                "the kernel `{kernel}` accesses {} at once of `{name}`, whose elements have {}",
                bytes(actual),
                bytes(size)
            );
            let help = format!("declare it with elements of {}", bytes(actual));
            mistakes.push(mistake(message, line).help(help));
        }
    }
}

/// Reports memory that is accessed through a texture or a surface and not declared so, and the reverse: the kernel gets
/// a handle for the one, and an address for the other.
fn handles(declaration: &Declaration, summary: &KernelSummary, file: &File<'_>, mistakes: &mut Vec<Mistake>) {
    for (index, (param, facts)) in declaration.params.iter().zip(&summary.params).enumerate() {
        let Kind::Buffer(declared) = param.kind else { continue };
        let (Param { name, ty, .. }, kernel) = (param, &declaration.name);
        let access = &facts.access;
        let declared = match declared {
            BufferAccess::Texture { geometry } => Some((geometry, false)),
            BufferAccess::Surface { geometry, .. } => Some((geometry, true)),
            BufferAccess::Mapped { .. } => continue, // reported as any other access that is not strong
            BufferAccess::Read | BufferAccess::Write | BufferAccess::Overwrite | BufferAccess::Atomic { .. } => None,
        };
        let (line, message, help) = if let Some((geometry, is_surface)) = declared {
            let (wrapper, verb, way) = if is_surface {
                ("Surfel", "accesses", "access it by `suld` and `sust` alone")
            } else {
                ("Texel", "reads", "read it by `tex` alone")
            };
            let fits = |form: Through| form.is_surface() == is_surface && form.geometry == Some(geometry);
            let is_linear = |form: Through| (form.way, form.geometry) == (Way::Fetch, Some(Geometry::Linear));
            let all_linear =
                !is_surface && geometry == Geometry::Line && access.any_through(|form| !is_linear(form)).is_none();
            if let Some(line) = access.plain.or(access.atomic) {
                let plain = unwrapped(ty, wrapper);
                let message = format!("the kernel `{kernel}` uses `{name}` as an address, which is declared `{ty}`");
                (line, message, format!("{way}, or declare it `{name}: {plain}`"))
            } else if let Some(line) = access.any_through(|form| !fits(form)).filter(|_| !all_linear) {
                let message = format!(
                    "the kernel `{kernel}` {verb} `{name}`, which is declared `{ty}`, in a way that this memory does \
                     not have"
                );
                (line, message, ways(geometry, is_surface).to_owned())
            } else {
                continue;
            }
        } else {
            let Some(line) = access.any_through(|_| true) else {
                continue;
            };
            let (verb, handle) = match access.any_through(Through::is_surface) {
                Some(_) => ("accesses", "surface"),
                None => ("reads", "texture"),
            };
            let message =
                format!("the kernel `{kernel}` {verb} `{name}` through a {handle}, but it is declared `{ty}`");
            let help = match Memory::of(access).handle {
                Some(_) => format!("declare it `{name}: {}`", Proposal::Memory(Memory::of(access)).ty()),
                None => {
                    "make it a plain `fn`, pass the handle by value as a `u64`, and launch it with `unsafe`".to_owned()
                }
            };
            (line, message, help)
        };
        let mistake = Mistake::new(Rule::Access, Place::Param(index), message).note(at(line, file));
        mistakes.push(mistake.help(help));
    }
}

/// The ways in which kernels access texels.
fn ways(geometry: Geometry, is_surface: bool) -> &'static str {
    match (geometry, is_surface) {
        (Geometry::Linear, _) => "texels in a row are read by `tex.1d` with an integer coordinate (`tex1Dfetch`)",
        (Geometry::Line, false) => "texels in a row are read by `tex.1d`: by `tex1D` alone, or by `tex1Dfetch` alone",
        (Geometry::LayeredLine, false) => "layers of texels in a row are read by `tex.a1d` (`tex1DLayered`)",
        (Geometry::Plane, false) => "rows of texels are read by `tex.2d` and `tld4.2d` (`tex2D`, `tex2Dgather`)",
        (Geometry::LayeredPlane, false) => "layers of rows of texels are read by `tex.a2d` (`tex2DLayered`)",
        (Geometry::Volume, false) => "slices of rows of texels are read by `tex.3d` (`tex3D`)",
        (Geometry::Line, true) => "a row is accessed by `suld.b.1d` and `sust.b.1d` (`surf1Dread`, `surf1Dwrite`)",
        (Geometry::LayeredLine, true) => {
            "layers of a row are accessed by `suld.b.a1d` and `sust.b.a1d` (`surf1DLayeredread`)"
        }
        (Geometry::Plane, true) => "rows are accessed by `suld.b.2d` and `sust.b.2d` (`surf2Dread`, `surf2Dwrite`)",
        (Geometry::LayeredPlane, true) => {
            "layers of rows are accessed by `suld.b.a2d` and `sust.b.a2d` (`surf2DLayeredread`)"
        }
        (Geometry::Volume, true) => {
            "slices of rows are accessed by `suld.b.3d` and `sust.b.3d` (`surf3Dread`, `surf3Dwrite`)"
        }
    }
}

/// The type with `T` in place of each `Wrapper<T>`.
fn unwrapped(ty: &str, wrapper: &str) -> String {
    let opening = format!("{wrapper}<");
    let Some(start) = ty.find(&opening) else {
        return ty.to_owned();
    };
    let inner = &ty[start + opening.len()..];
    let mut depth = 1_usize;
    let closing = inner.char_indices().find(|(_, char)| {
        match char {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let Some((end, _)) = closing else {
        return ty.to_owned();
    };
    let path = |char: char| !(char.is_alphanumeric() || char == '_' || char == ':');
    let before = ty[..start].rfind(path).map_or(0, |last| last + 1);
    format!("{}{}{}", &ty[..before], &inner[..end], &inner[end + 1..])
}

/// Reports parameters declared `&mut` that the kernel never writes.
fn needless_mut(declaration: &Declaration, summary: &KernelSummary, mistakes: &mut Vec<Mistake>) {
    let params = || declaration.params.iter().zip(&summary.params);
    let hidden =
        summary.unknown_store.is_some() || params().any(|(param, facts)| is_value(param) && facts.address.is_some());
    if hidden {
        return;
    }
    for (index, (param, facts)) in params().enumerate() {
        let mutable = match param.kind {
            Kind::Buffer(BufferAccess::Write | BufferAccess::Overwrite) => true,
            Kind::Buffer(BufferAccess::Surface { stores, .. }) => stores,
            Kind::Buffer(BufferAccess::Read | BufferAccess::Texture { .. }) => false,
            Kind::Buffer(BufferAccess::Atomic { .. } | BufferAccess::Mapped { .. }) => false,
            Kind::Number { .. } | Kind::Value { .. } | Kind::Unsized | Kind::Host | Kind::Invalid => false,
        };
        if !mutable || facts.access.stored.is_some() {
            continue;
        }
        let Param { name, ty, .. } = param;
        let message = format!(
            "the kernel `{}` never writes to `{name}`, which is declared `&mut`",
            declaration.name
        );
        let mut mistake = Mistake::new(Rule::NeedlessMut, Place::Param(index), message);
        if matches!(param.kind, Kind::Buffer(BufferAccess::Overwrite)) {
            mistake = mistake.note(format!(
                "as `MaybeUninit`, `{name}` counts as written, so nodes after the kernel could read what nothing wrote"
            ));
        }
        mistakes.push(
            mistake
                .note("`#[allow(needless_mut)]` on the kernel silences this warning")
                .help(format!(
                    "declare it `{name}: {}`",
                    unwrapped(ty, "MaybeUninit").replacen("mut ", "", 1)
                )),
        );
    }
}

fn at(line: u32, file: &File<'_>) -> String {
    format!("the access is {}", file.at(line))
}

#[cfg(test)]
mod tests {
    use super::{element, unwrapped};

    #[test]
    fn types_lose_their_wrapper() {
        assert_eq!(unwrapped("&[Atomic<u32>]", "Atomic"), "&[u32]");
        assert_eq!(
            unwrapped("&[[graph_runtime::Atomic<V<u8>>; 4]]", "Atomic"),
            "&[[V<u8>; 4]]"
        );
        assert_eq!(
            unwrapped("&mut [MaybeUninit<[f32; 2]>]", "MaybeUninit"),
            "&mut [[f32; 2]]"
        );
        assert_eq!(unwrapped("&mut [f32]", "MaybeUninit"), "&mut [f32]");
    }

    #[test]
    fn elements_of_slices_are_found() {
        assert_eq!(element("&[u32]"), Some("u32"));
        assert_eq!(element("&[[u32; 4]]"), None);
        assert_eq!(element("&u32"), None);
    }
}
