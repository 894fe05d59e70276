//! The comparison of a kernel's declaration with its PTX: whether the kernel is there, takes these parameters, and
//! touches them only in the declared way.
//!
//! These are the rules of `#[cuda_kernels]`. Both the macro, which reads a PTX file, and a program that has just
//! compiled CUDA call [`check`], so that both report the same about one kernel.

mod access;
mod missing;
mod signature;
mod proposal;
mod text;

use self::text::File;
use crate::ast::Module;
use crate::{Geometry, KernelSummary, summarize};

pub use proposal::{Handle, Memory, Proposal, propose};
pub use signature::whereabouts;
pub use text::bytes;

/// A kernel as its author declared it.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Its name in messages.
    pub name: String,
    /// The name of its `.entry`.
    pub entry: String,
    /// Whether it claims to be sound for every argument.
    pub safe: bool,
    /// Its parameters, in order.
    pub params: Vec<Param>,
}

/// A declared parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name in messages.
    pub name: String,
    /// Its type as it is written: `&mut [f32]`.
    pub ty: String,
    /// The kind of argument that it takes.
    pub kind: Kind,
}

/// The kind of argument that a declared parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Memory.
    Buffer(BufferAccess),
    /// A number, whose alignment is its size.
    Number {
        /// Its size in bytes.
        size: u64,
        /// Whether it is a floating-point number.
        float: bool,
    },
    /// A struct or another type, passed as bytes.
    Value {
        /// Its size in bytes.
        size: u64,
        /// Its alignment in bytes.
        align: u64,
    },
    /// A by-value type whose size the caller checks.
    Unsized,
    /// A number, a truth value or a character that no kernel takes by value, since its size or its values are those of
    /// the host: `usize`, `isize`, `bool`, `char`.
    Host,
    /// A parameter that the caller could not read: it fits everything.
    Invalid,
}

/// The accesses that a kernel may make to the memory of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferAccess {
    /// Loads: `&[T]`.
    Read,
    /// Loads and stores: `&mut [T]`.
    Write,
    /// Stores, and loads of what it has stored: `&mut [MaybeUninit<T>]`.
    Overwrite,
    /// Reads through a texture alone: `&[Texel<T>]` and, of rows, `&[[Texel<T>; N]]`.
    Texture {
        /// The geometry of the texels. A [line](Geometry::Line) may also be read as [linear](Geometry::Linear) memory,
        /// if it is read so alone.
        geometry: Geometry,
    },
    /// Accesses through a surface alone: `&[Surfel<T>]`, `&mut [[Surfel<T>; N]]` and so on.
    Surface {
        /// The geometry of the texels.
        geometry: Geometry,
        /// Whether it may store: `&mut`.
        stores: bool,
    },
    /// `atom` and `red` alone: `&[Atomic<T>]`.
    Atomic {
        /// The size of `T` in bytes; `None` if the caller does not know it.
        size: Option<u64>,
    },
    /// Loads and stores of words that are strong for the whole system, and nothing else: `&[Mapped<T>]`.
    Mapped {
        /// The size of `T` in bytes: 4 or 8.
        size: u64,
    },
}

/// A point in which a declaration and its PTX differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The rule that was broken.
    pub rule: Rule,
    /// The part of the declaration to point at.
    pub place: Place,
    /// One line, lower case, without full stop.
    pub message: String,
    /// Facts, one line each.
    pub notes: Vec<String>,
    /// A way to mend it.
    pub help: Option<String>,
}

/// The rule that a [`Mistake`] breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The PTX has no such kernel.
    MissingKernel,
    /// The kernel has other parameters.
    Signature,
    /// The kernel takes more access than is declared.
    Access,
    /// `&mut` that the kernel does not need: only a warning.
    NeedlessMut,
}

/// A part of a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The kernel's name.
    Kernel,
    /// The claim that it is safe.
    Safe,
    /// The type of a parameter, by index.
    Param(usize),
}

impl Mistake {
    fn new(rule: Rule, place: Place, message: impl Into<String>) -> Self {
        Self {
            rule,
            place,
            message: message.into(),
            notes: Vec::new(),
            help: None,
        }
    }

    fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The findings of [`check`].
#[derive(Clone, Debug)]
pub struct Findings {
    /// The kernel; `None` if it is not there.
    pub summary: Option<KernelSummary>,
    /// All mistakes, in no order.
    pub mistakes: Vec<Mistake>,
}

/// Compares a declaration with the PTX in `module`, which messages call `path`. `nearest` picks the candidate that is
/// most like a name that is missing.
pub fn check(
    declaration: &Declaration,
    module: &Module,
    path: &str,
    nearest: impl Fn(&str, &[&str]) -> Option<String>,
) -> Findings {
    let compiled = false;
    compare(declaration, &File { module, path, compiled }, nearest)
}

/// As [`check`], for PTX that was compiled of the CUDA source `path`: messages name places in the source.
pub fn check_compiled(
    declaration: &Declaration,
    module: &Module,
    path: &str,
    nearest: impl Fn(&str, &[&str]) -> Option<String>,
) -> Findings {
    let compiled = true;
    compare(declaration, &File { module, path, compiled }, nearest)
}

fn compare(declaration: &Declaration, file: &File<'_>, nearest: impl Fn(&str, &[&str]) -> Option<String>) -> Findings {
    let is_pointer = |param: &Param| matches!(param.kind, Kind::Buffer(_));
    let pointers: Vec<bool> = declaration.params.iter().map(is_pointer).collect();
    let mut mistakes = Vec::new();
    let summary = summarize(file.module, &declaration.entry, &pointers);
    match &summary {
        None => mistakes.push(missing::missing(&declaration.entry, file.module, file.path, nearest)),
        Some(summary) => {
            if signature::check(declaration, summary, file, &mut mistakes) {
                access::check(declaration, summary, file, &mut mistakes);
            }
        }
    }
    Findings { summary, mistakes }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = ".version 7.0
        .target sm_70
        .address_size 64
        .visible .entry store(.param .u64 out, .param .align 4 .b8 pair[8]) {
            .reg .b64 %rd<3>;
            .reg .b32 %r<2>;
            ld.param.u64 %rd1, [out];
            ld.param.u32 %r1, [pair];
            st.global.u32 [%rd1], %r1;
            ret;
        }";

    fn found(entry: &str, kinds: [(&str, Kind); 2]) -> Vec<Mistake> {
        let declaration = Declaration {
            name: "f".to_owned(),
            entry: entry.to_owned(),
            safe: true,
            params: kinds
                .map(|(ty, kind)| Param {
                    name: "p".to_owned(),
                    ty: ty.to_owned(),
                    kind,
                })
                .into(),
        };
        let unreadable = "} .visible .entry unreadable() {\nmov.u32 %r1, 5; }";
        let module = crate::parse(&(MODULE.trim_end_matches('}').to_owned() + unreadable)).unwrap();
        check(&declaration, &module, "k.ptx", |_, names| Some(names[0].to_owned())).mistakes
    }

    const OUT: (&str, Kind) = ("&mut [u32]", Kind::Buffer(BufferAccess::Write));
    const PAIR: (&str, Kind) = ("Pair", Kind::Value { size: 8, align: 4 });

    #[test]
    fn what_fits_has_no_mistakes() {
        assert_eq!(found("store", [OUT, PAIR]), []);
        assert_eq!(found("store", [OUT, ("Pair", Kind::Unsized)]), []);
    }

    #[test]
    fn mistakes_say_where_they_are_and_what_is_there() {
        let [mistake] = &found("store", [OUT, ("Pair", Kind::Value { size: 8, align: 8 })])[..] else {
            panic!("one mistake")
        };
        assert_eq!((mistake.rule, mistake.place), (Rule::Signature, Place::Param(1)));
        let expected = "`p` is `Pair`, of 8 bytes aligned to 8, but the kernel takes 8 bytes aligned to 4";
        assert_eq!(mistake.message, expected);
        assert_eq!(mistake.notes, ["it is `.align 4 .b8 pair[8]` of `store` in `k.ptx`"]);

        let shared = ("&[u32]", Kind::Buffer(BufferAccess::Read));
        let [mistake] = &found("store", [shared, PAIR])[..] else {
            panic!("one mistake")
        };
        assert_eq!((mistake.rule, mistake.place), (Rule::Access, Place::Param(0)));
        assert_eq!(mistake.help.as_deref(), Some("declare it `p: &mut [u32]`"));

        let [mistake] = &found("stores", [OUT, PAIR])[..] else {
            panic!("one mistake")
        };
        assert_eq!((mistake.rule, mistake.place), (Rule::MissingKernel, Place::Kernel));
        assert_eq!(mistake.help.as_deref(), Some("did you mean `store`?"));

        let [mistake] = &found("unreadable", [OUT, PAIR])[..] else {
            panic!("one mistake")
        };
        assert_eq!((mistake.rule, mistake.place), (Rule::MissingKernel, Place::Kernel));
        let expected = "the kernel `unreadable` in `k.ptx` cannot be used: line 12: register `%r1` is not declared";
        assert_eq!(mistake.message, expected);
    }

    /// The mistakes of a safe kernel whose only parameter is `bins`, declared as memory of this type.
    fn of_bins(body: &str, ty: &str, access: BufferAccess) -> Vec<Mistake> {
        let text = format!(
            ".version 7.8 .target sm_90 .address_size 64
            .visible .entry count(.param .u64 bins) {{
                .reg .b64 %rd<3>;
                .reg .b32 %r<3>;
                .reg .f32 %f<3>;
                ld.param.u64 %rd1, [bins];
                {body}
                ret;
            }}"
        );
        let declaration = Declaration {
            name: "count".to_owned(),
            entry: "count".to_owned(),
            safe: true,
            params: vec![Param {
                name: "bins".to_owned(),
                ty: ty.to_owned(),
                kind: Kind::Buffer(access),
            }],
        };
        let module = crate::parse(&text).unwrap();
        check(&declaration, &module, "k.ptx", |_, _| None).mistakes
    }

    fn of_atomic_bins(body: &str) -> Vec<String> {
        let mistakes = of_bins(body, "&[Atomic<u32>]", BufferAccess::Atomic { size: Some(4) });
        let places = mistakes.iter().map(|mistake| (mistake.rule, mistake.place));
        assert!(places.into_iter().all(|place| place == (Rule::Access, Place::Param(0))));
        mistakes.into_iter().map(|mistake| mistake.message).collect()
    }

    #[test]
    fn atomic_memory_is_accessed_by_atom_and_red_alone() {
        let right = [
            "red.global.add.u32 [%rd1], 1;",
            "atom.global.gpu.cas.b32 %r1, [%rd1], 0, 1;",
            "atom.add.noftz.f32 %f1, [%rd1], %f2;",
            "red.sys.global.add.v2.f32 [%rd1], {%f1, %f2};",
        ];
        for body in right {
            assert_eq!(of_atomic_bins(body), [""; 0], "{body}");
        }
        for plain in [
            "ld.global.u32 %r1, [%rd1];",
            "st.relaxed.gpu.global.u32 [%rd1], 0;",
            "ld.volatile.global.u32 %r1, [%rd1];",
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%rd2], 16;",
        ] {
            let [message] = &of_atomic_bins(plain)[..] else {
                panic!("{plain}: {:?}", of_atomic_bins(plain))
            };
            let expected = "the kernel `count` loads or stores `bins`, which is declared `&[Atomic<u32>]`";
            assert_eq!(message, expected);
        }
        let expected = [
            "the kernel `count` updates `bins`, which is declared `&[Atomic<u32>]`, atomically for its own \
                         block alone",
        ];
        assert_eq!(of_atomic_bins("red.cta.global.add.u32 [%rd1], 1;"), expected);
        assert_eq!(
            of_atomic_bins("red.global.add.u64 [%rd1], %rd2; red.global.add.u32 [%rd1], 1;"),
            ["the kernel `count` updates 8 bytes at once of `bins`, whose elements have 4 bytes"]
        );
    }

    #[test]
    fn mapped_memory_is_accessed_by_strong_loads_and_stores_of_the_system() {
        let messages = |body: &str| {
            let mistakes = of_bins(body, "&[Mapped<u32>]", BufferAccess::Mapped { size: 4 });
            mistakes.into_iter().map(|mistake| mistake.message).collect::<Vec<_>>()
        };
        for right in [
            "ld.volatile.global.u32 %r1, [%rd1]; st.volatile.global.f32 [%rd1 + 4], %f1;",
            "st.release.sys.global.u32 [%rd1], %r1; ld.acquire.sys.global.b32 %r1, [%rd1];",
            "ld.relaxed.sys.global.v2.u32 {%r1, %r2}, [%rd1];",
            "ld.mmio.relaxed.sys.global.u32 %r1, [%rd1];",
        ] {
            assert_eq!(messages(right), [""; 0], "{right}");
        }
        for wrong in [
            "ld.global.u32 %r1, [%rd1];",
            "ld.global.nc.u32 %r1, [%rd1];",
            "st.relaxed.gpu.global.u32 [%rd1], 0;",
            "st.volatile.global.u8 [%rd1], %r1;",
            "atom.sys.global.add.u32 %r1, [%rd1], 1;",
            "red.sys.global.add.u32 [%rd1], 1;",
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%rd2], 16;",
        ] {
            let [message] = &messages(wrong)[..] else {
                panic!("{wrong}: {:?}", messages(wrong))
            };
            let part = "in a way that the host may disturb";
            assert!(message.contains(part), "{wrong}: {message}");
        }
        let expected = ["the kernel `count` accesses 8 bytes at once of `bins`, whose elements have 4 bytes"];
        assert_eq!(messages("ld.volatile.global.u64 %rd2, [%rd1];"), expected);
    }

    #[test]
    fn halves_are_updated_each_by_itself() {
        let of_halves = |body: &str| of_bins(body, "&[Atomic<f16>]", BufferAccess::Atomic { size: Some(2) });
        for op in ["f16", "f16x2", "bf16", "bf16x2"] {
            let body = format!("red.global.add.noftz.{op} [%rd1], %r1;");
            assert_eq!(of_halves(&body), [], "{op}");
        }
    }

    #[test]
    fn a_kernel_that_only_updates_is_told_of_atomics() {
        let body = "red.global.add.u32 [%rd1], 1;";
        let [mistake] = &of_bins(body, "&[u32]", BufferAccess::Read)[..] else {
            panic!("one mistake")
        };
        let expected = Some("declare it `bins: &[Atomic<u32>]`, or `bins: &mut [u32]`");
        assert_eq!(mistake.help.as_deref(), expected);
        // Whatever a kernel does with what it initialises is right.
        let found = of_bins(body, "&mut [MaybeUninit<u32>]", BufferAccess::Overwrite);
        assert_eq!(found, []);
    }
}
