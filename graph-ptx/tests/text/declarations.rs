//! Declarations in Rust compared with their kernels.

use graph_ptx::declaration::{BufferAccess, Declaration, Kind, Mistake, Param, Place, Rule, check};
use graph_ptx::parse;

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
    let module = parse(&(MODULE.trim_end_matches('}').to_owned() + unreadable)).unwrap();
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
    let module = parse(&text).unwrap();
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
    // A kernel may do anything with memory that it initialises.
    let found = of_bins(body, "&mut [MaybeUninit<u32>]", BufferAccess::Overwrite);
    assert_eq!(found, []);
}
