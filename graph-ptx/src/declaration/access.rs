//! The rules about access: the kernel's reads and writes compared with its declaration.

use super::proposal::{Memory, Proposal, proposals};
use super::text::{File, bytes, list};
use super::{BufferAccess, Declaration, Kind, Mistake, Param, Place, Rule};
use crate::{Geometry, KernelSummary, ParamSummary, Store, Through, Way};

const UNSAFELY: &str = "make it a plain `fn` and launch it with `unsafe`";
const HANDLE: &str = "make it a plain `fn`, pass the handle by value as a `u64`, and launch it with `unsafe`";

pub(super) fn check(declaration: &Declaration, summary: &KernelSummary, file: &File<'_>, mistakes: &mut Vec<Mistake>) {
    let mut check = Check {
        declaration,
        summary,
        file,
        mistakes,
    };
    if declaration.safe {
        check.addresses();
        check.unknown();
        check.atomics();
        check.mapped();
        check.handles();
    }
    check.shared_stores();
    check.needless_mut();
}

/// A declaration and its kernel.
struct Check<'a> {
    declaration: &'a Declaration,
    summary: &'a KernelSummary,
    file: &'a File<'a>,
    mistakes: &'a mut Vec<Mistake>,
}

fn is_value(param: &Param) -> bool {
    use Kind::{Host, Number, Unsized, Value};
    matches!(param.kind, Number { .. } | Value { .. } | Unsized | Host)
}

impl<'a> Check<'a> {
    /// The declared parameters with those of the PTX.
    fn params(&self) -> impl Iterator<Item = (usize, &'a Param, &'a ParamSummary)> + use<'a> {
        let params = self.declaration.params.iter().zip(&self.summary.params);
        params.enumerate().map(|(index, (param, facts))| (index, param, facts))
    }

    /// The mistake of an access on this line of the PTX.
    fn mistake(&self, place: Place, message: String, line: u32) -> Mistake {
        let note = format!("the access is {}", self.file.at(line));
        Mistake::new(Rule::Access, place, message).note(note)
    }

    fn report(&mut self, index: usize, message: String, line: u32, help: impl Into<String>) {
        let mistake = self.mistake(Place::Param(index), message, line);
        self.mistakes.push(mistake.help(help));
    }

    /// Reports by-value arguments that are used as addresses: nothing says whose memory that is.
    fn addresses(&mut self) {
        let kernel = &self.declaration.name;
        for (index, param, facts) in self.params() {
            let Some(line) = facts.address.filter(|_| is_value(param)) else {
                continue;
            };
            let name = &param.name;
            let message = format!("the safe kernel `{kernel}` uses the value of `{name}` as an address");
            let proposed = proposals(&self.declaration.entry, self.file.module)
                .into_iter()
                .nth(index);
            let help = match proposed {
                Some(memory @ Proposal::Memory(_)) => format!("declare it `{name}: {}`, or {UNSAFELY}", memory.ty()),
                Some(Proposal::Value(_)) | None => UNSAFELY.to_owned(),
            };
            self.report(index, message, line, help);
        }
    }

    /// Reports addresses of unknown origin.
    fn unknown(&mut self) {
        let (verb, line) = match (self.summary.unknown_store, self.summary.unknown_load) {
            (Some(line), _) => ("writes", line),
            (None, Some(line)) => ("reads", line),
            (None, None) => return,
        };
        let kernel = &self.declaration.name;
        let message = format!("the safe kernel `{kernel}` {verb} through an address of unknown origin");
        let mistake = self.mistake(Place::Safe, message, line);
        self.mistakes.push(mistake.help(UNSAFELY));
    }

    /// Reports stores through parameters declared `&`. If the address may also come from elsewhere, a plain `fn` is
    /// trusted.
    fn shared_stores(&mut self) {
        let Self {
            declaration, summary, ..
        } = *self;
        let shared = |index: usize| {
            use BufferAccess::{Read, Surface, Texture};
            let kind = declaration.params.get(index).map(|param| param.kind);
            matches!(
                kind,
                Some(Kind::Buffer(Read | Texture { .. } | Surface { stores: false, .. }))
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
                    let mistake = self.shared_store(store, index);
                    self.mistakes.push(mistake);
                }
            }
        }
    }

    fn shared_store(&self, store: &Store, index: usize) -> Mistake {
        let params = &self.declaration.params;
        let (Param { name, ty, .. }, kernel) = (&params[index], &self.declaration.name);
        let message = format!("the kernel `{kernel}` writes to `{name}`, which is declared `&`");
        let mut mistake = self.mistake(Place::Param(index), message, store.line);
        if store.params.len() > 1 {
            let names: Vec<&str> = store.params.iter().map(|&index| params[index].name.as_str()).collect();
            mistake = mistake.note(format!("its address may come from any of {}", list(&names)));
        }
        let mutable = format!("`{name}: {}`", ty.replacen('&', "&mut ", 1));
        let access = self.summary.params[index].access;
        let is_atomic = access.atomic.is_some() && access.plain.is_none() && access.narrow.is_none();
        mistake.help(match element(ty).filter(|_| is_atomic) {
            Some(element) => format!("declare it `{name}: &[Atomic<{element}>]`, or {mutable}"),
            None => format!("declare it {mutable}"),
        })
    }

    /// Reports accesses of `&[Atomic<T>]` that may disturb atomic operations of other kernels.
    fn atomics(&mut self) {
        let kernel = &self.declaration.name;
        for (index, param, facts) in self.params() {
            let Kind::Buffer(BufferAccess::Atomic { size }) = param.kind else {
                continue;
            };
            let Param { name, ty, .. } = param;
            let plain = unwrapped(ty, "Atomic").replacen('&', "&mut ", 1);
            if let Some(line) = facts.access.plain {
                let message = format!("the kernel `{kernel}` loads or stores `{name}`, which is declared `{ty}`");
                let alone = "use `atom` and `red` alone (`atomicAdd` and the like)";
                self.report(
                    index,
                    message,
                    line,
                    format!("{alone}, or declare it `{name}: {plain}`"),
                );
            }
            if let Some(line) = facts.access.narrow {
                let message = format!(
                    "the kernel `{kernel}` updates `{name}`, which is declared `{ty}`, atomically for its own block alone"
                );
                let help = "use atomic operations of the whole GPU: `atomicAdd` rather than `atomicAdd_block`";
                self.report(index, message, line, help);
            }
            let sizes = [2, 4, 8, 16].into_iter().zip(facts.access.atomic_sizes);
            let wrong = sizes.filter(|(actual, _)| size.is_some_and(|size| size != *actual));
            let first = wrong.filter_map(|(actual, line)| Some((line?, actual))).min();
            if let (Some((line, actual)), Some(size)) = (first, size) {
                let [actual, size] = [actual, size].map(bytes);
                let message =
                    format!("the kernel `{kernel}` updates {actual} at once of `{name}`, whose elements have {size}");
                let help = format!("declare it with elements of {actual}, or declare it `{name}: {plain}`");
                self.report(index, message, line, help);
            }
        }
    }

    /// Reports accesses of `&[Mapped<T>]` that may disturb those of the host.
    fn mapped(&mut self) {
        let kernel = &self.declaration.name;
        for (index, param, facts) in self.params() {
            let Kind::Buffer(BufferAccess::Mapped { size }) = param.kind else {
                continue;
            };
            let Param { name, ty, .. } = param;
            if let Some(line) = facts.access.unmapped {
                let message = format!(
                    "the kernel `{kernel}` accesses `{name}`, which is declared `{ty}`, in a way that the host may disturb"
                );
                let help = "load and store 4 or 8 bytes by `volatile`, or by `relaxed`, `acquire` or `release` with \
                            `.sys`: `*(volatile unsigned *)&x[i] = value`; atomic updates of host memory are not atomic \
                            for the host";
                self.report(index, message, line, help);
            }
            let sizes = [4, 8].into_iter().zip(facts.access.word_sizes);
            for (actual, line) in sizes.filter(|(actual, _)| *actual != size) {
                let Some(line) = line else { continue };
                let [actual, size] = [actual, size].map(bytes);
                let message =
                    format!("the kernel `{kernel}` accesses {actual} at once of `{name}`, whose elements have {size}");
                self.report(index, message, line, format!("declare it with elements of {actual}"));
            }
        }
    }

    /// Reports memory that is accessed through a texture or a surface and not declared so, and the reverse: the kernel
    /// gets a handle for the one, and an address for the other.
    fn handles(&mut self) {
        let kernel = &self.declaration.name;
        for (index, param, facts) in self.params() {
            let Kind::Buffer(declared) = param.kind else { continue };
            let Param { name, ty, .. } = param;
            let access = &facts.access;
            let declared = match declared {
                BufferAccess::Texture { geometry } => Some((geometry, false)),
                BufferAccess::Surface { geometry, .. } => Some((geometry, true)),
                BufferAccess::Mapped { .. } => continue, // reported as any other access that is not strong
                BufferAccess::Read | BufferAccess::Write | BufferAccess::Overwrite | BufferAccess::Atomic { .. } => {
                    None
                }
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
                    let message =
                        format!("the kernel `{kernel}` uses `{name}` as an address, which is declared `{ty}`");
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
                    None => HANDLE.to_owned(),
                };
                (line, message, help)
            };
            self.report(index, message, line, help);
        }
    }

    /// Reports parameters declared `&mut` that the kernel never writes.
    fn needless_mut(&mut self) {
        let mut addresses = self
            .params()
            .filter(|(_, param, facts)| is_value(param) && facts.address.is_some());
        if self.summary.unknown_store.is_some() || addresses.next().is_some() {
            return;
        }
        let kernel = &self.declaration.name;
        for (index, param, facts) in self.params() {
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
            let message = format!("the kernel `{kernel}` never writes to `{name}`, which is declared `&mut`");
            let mut mistake = Mistake::new(Rule::NeedlessMut, Place::Param(index), message);
            if matches!(param.kind, Kind::Buffer(BufferAccess::Overwrite)) {
                mistake = mistake.note(format!(
                    "as `MaybeUninit`, `{name}` counts as written, so nodes after the kernel could read what nothing \
                     wrote"
                ));
            }
            let shared = unwrapped(ty, "MaybeUninit").replacen("mut ", "", 1);
            let mistake = mistake.note("`#[allow(needless_mut)]` on the kernel silences this warning");
            self.mistakes
                .push(mistake.help(format!("declare it `{name}: {shared}`")));
        }
    }
}

/// The element of a type that is written `&[T]`.
fn element(ty: &str) -> Option<&str> {
    let element = ty.strip_prefix("&[")?.strip_suffix(']')?;
    (!element.contains(['[', ';'])).then_some(element)
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
