//! Textures and surfaces whose handle is a parameter are memory of that parameter. All other handles name memory that
//! no graph knows.

use graph_ptx::Geometry;
use graph_ptx::declaration::{BufferAccess, Declaration, Kind, Param, check, propose};

/// A kernel of one instruction on the handle `%rd1`, which comes by value.
fn kernel(instruction: &str) -> String {
    format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry paint(.param .u64 surf, .param .u32 v)\n{{\n\
         .reg .b64 %rd<2>;\n.reg .b32 %r<9>;\n\
         ld.param.u64 %rd1, [surf];\nld.param.u32 %r1, [v];\nmov.u32 %r2, 0;\n{instruction}\nret;\n}}\n"
    )
}

#[test]
fn what_goes_through_a_handle_is_of_unknown_origin() {
    let stores = [
        "sust.b.1d.b32.trap [%rd1, {%r2}], {%r1};",
        "sust.p.1d.b32.trap [%rd1, {%r2}], {%r1};",
        "sured.b.add.1d.u32.trap [%rd1, {%r2}], %r1;",
    ];
    let loads = [
        "suld.b.1d.b32.trap {%r3}, [%rd1, {%r2}];",
        "tex.1d.v4.u32.s32 {%r3, %r4, %r5, %r6}, [%rd1, {%r2}];",
    ];
    for instruction in stores.iter().chain(&loads) {
        let module = graph_ptx::parse(&kernel(instruction)).expect(instruction);
        let summary = graph_ptx::summarize(&module, "paint", &[false, false]).expect(instruction);
        let unknown = summary
            .unknown_store
            .or(summary.unknown_load)
            .or(summary.params[0].address);
        assert!(unknown.is_some(), "{instruction}");
    }
}

/// A kernel that accesses `texture` and stores to `out`.
fn read(instruction: &str) -> String {
    format!(
        ".version 7.0 .target sm_70 .address_size 64 .visible .entry read(.param .u64 texture, .param .u64 out) {{
            .reg .b64 %rd<4>; .reg .b32 %r<9>; .reg .f32 %f<9>;
            ld.param.u64 %rd1, [texture]; ld.param.u64 %rd2, [out]; mov.u32 %r2, 0;
            {instruction}
            st.global.f32 [%rd2], %f1; ret; }}"
    )
}

/// The mistakes of a safe kernel that accesses `texture`, declared as memory of this kind.
fn mistakes(instruction: &str, kind: Kind) -> Vec<(String, Option<String>)> {
    let text = read(instruction);
    let ty = match kind {
        Kind::Buffer(BufferAccess::Texture {
            geometry: Geometry::Plane,
        }) => "&[[Texel<f32>; 8]]",
        Kind::Buffer(BufferAccess::Texture { .. }) => "&[Texel<f32>]",
        Kind::Buffer(BufferAccess::Surface { stores: true, .. }) => "&mut [Surfel<f32>]",
        Kind::Buffer(BufferAccess::Surface { stores: false, .. }) => "&[Surfel<f32>]",
        Kind::Buffer(_) => "&[f32]",
        _ => "u64",
    };
    let param = |name: &str, ty: &str, kind| Param {
        name: name.to_owned(),
        ty: ty.to_owned(),
        kind,
    };
    let declaration = Declaration {
        name: "read".to_owned(),
        entry: "read".to_owned(),
        safe: true,
        params: vec![
            param("image", ty, kind),
            param("out", "&mut [f32]", Kind::Buffer(BufferAccess::Write)),
        ],
    };
    let module = graph_ptx::parse(&text).expect(instruction);
    let found = check(&declaration, &module, "k.ptx", |_, _| None);
    found
        .mistakes
        .into_iter()
        .map(|mistake| (mistake.message, mistake.help))
        .collect()
}

/// The only mistake, and its help.
fn mistake(instruction: &str, kind: Kind) -> (String, String) {
    let mut found = mistakes(instruction, kind);
    assert_eq!(found.len(), 1, "{instruction}: {found:?}");
    let (message, help) = found.remove(0);
    (message, help.expect(instruction))
}

fn texture(geometry: Geometry) -> Kind {
    Kind::Buffer(BufferAccess::Texture { geometry })
}

fn line_of_surface(stores: bool) -> Kind {
    let geometry = Geometry::Line;
    Kind::Buffer(BufferAccess::Surface { geometry, stores })
}

const LINEAR: &str = "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r2}];";
const PLANE: &str = "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];";
const LINE: &str = "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5}];";
const GATHER: &str = "tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];";
const LAYERED_LINE: &str = "tex.a1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%r2, %f5}];";
const LAYERED: &str = "tex.a2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%r2, %f5, %f6, %f6}];";
const VOLUME: &str = "tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6, %f6, %f6}];";

/// The forms of access that graphs have, and the geometries that they need.
const TEXTURES: [(&str, Geometry); 7] = [
    (LINEAR, Geometry::Linear),
    (LINE, Geometry::Line),
    (LAYERED_LINE, Geometry::LayeredLine),
    (PLANE, Geometry::Plane),
    (GATHER, Geometry::Plane),
    (LAYERED, Geometry::LayeredPlane),
    (VOLUME, Geometry::Volume),
];

/// The forms of access that graphs do not have.
const REFUSED: [&str; 9] = [
    "tld4.a.a2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%r2, %f5, %f6, %f6}];",
    "tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6, %f6, %f6}];",
    "tex.acube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%r2, %f5, %f6, %f6}];",
    "tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}], %f6;",
    "tex.grad.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}], {%f5, %f6}, {%f5, %f6};",
    "tex.base.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];",
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}], {%r2, %r2};",
    "tld4.r.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6, %f6, %f6}];",
    "tex.2d.v2.f16x2.f32 {%r1, %r3}, [%rd1, {%f5, %f6}];",
];

const SURFACES: [(&str, Option<Geometry>); 6] = [
    ("b.1d.b32.trap", Some(Geometry::Line)),
    ("b.a1d.v2.b8.clamp", Some(Geometry::LayeredLine)),
    ("b.2d.v4.b16.zero", Some(Geometry::Plane)),
    ("b.a2d.b64.trap", Some(Geometry::LayeredPlane)),
    ("b.3d.v4.b32.trap", Some(Geometry::Volume)),
    ("p.2d.v4.b32.trap", None),
];

#[test]
fn texels_are_accessed_as_they_are_declared() {
    let unlike = |found: Vec<(String, Option<String>)>, context: &str| {
        let [(message, _)] = &found[..] else {
            panic!("{context}: {found:?}")
        };
        assert!(message.contains("in a way that this memory does not have"), "{message}");
    };
    for geometry in Geometry::ALL {
        let surface = |stores| Kind::Buffer(BufferAccess::Surface { geometry, stores });
        let known = TEXTURES.map(|(instruction, needed)| (instruction, Some(needed)));
        for (instruction, needed) in known.into_iter().chain(REFUSED.map(|instruction| (instruction, None))) {
            let found = mistakes(instruction, texture(geometry));
            let is_linear = (geometry, needed) == (Geometry::Line, Some(Geometry::Linear));
            match Some(geometry) == needed || is_linear {
                true => assert_eq!(found, [], "{instruction}"),
                false => unlike(found, instruction),
            }
            unlike(mistakes(instruction, surface(false)), instruction);
        }
        for (modifiers, needed) in SURFACES {
            let load = format!("suld.{modifiers} {{%r3}}, [%rd1, {{%r2}}];");
            let store = format!("sust.{modifiers} [%rd1, {{%r2}}], {{%r3}};");
            for (text, stores) in [(&load, false), (&format!("{load} {store}"), true)] {
                unlike(mistakes(&load, texture(geometry)), &load);
                match Some(geometry) == needed {
                    true => assert_eq!(mistakes(text, surface(stores)), [], "{text}"),
                    false => unlike(mistakes(text, surface(stores)), text),
                }
            }
        }
    }
    // Either form of reading a row, but not both: one needs memory that is an array, the other memory that is none.
    unlike(mistakes(&format!("{LINEAR} {LINE}"), texture(Geometry::Line)), "both");
}

#[test]
fn handles_are_no_addresses() {
    for plain in [
        "ld.global.f32 %f1, [%rd1];",
        "add.s64 %rd3, %rd1, 4; ld.global.f32 %f1, [%rd3];",
    ] {
        let (message, help) = mistake(&format!("{PLANE} {plain}"), texture(Geometry::Plane));
        assert!(message.contains("uses `image` as an address"), "{message}");
        assert_eq!(help, "read it by `tex` alone, or declare it `image: &[[f32; 8]]`");
        let load = format!("suld.b.1d.b32.trap {{%f1}}, [%rd1, {{%r2}}]; {plain}");
        let (message, help) = mistake(&load, line_of_surface(false));
        assert!(message.contains("uses `image` as an address"), "{message}");
        let expected = "access it by `suld` and `sust` alone, or declare it `image: &[f32]`";
        assert_eq!(help, expected);
    }
}

#[test]
fn surfaces_are_stored_to_if_they_are_declared_mut() {
    let store = "sust.b.1d.b32.trap [%rd1, {%r2}], {%f1};";
    let (message, help) = mistake(store, line_of_surface(false));
    let part = "writes to `image`, which is declared `&`";
    assert!(message.contains(part), "{message}");
    assert_eq!(help, "declare it `image: &mut [Surfel<f32>]`");
    let load = "suld.b.1d.b32.trap {%f1}, [%rd1, {%r2}];";
    let (message, help) = mistake(load, line_of_surface(true));
    assert!(message.contains("never writes to `image`"), "{message}");
    assert_eq!(help, "declare it `image: &[Surfel<f32>]`");
}

#[test]
fn the_declaration_follows_from_the_accesses() {
    const LOAD: &str = "suld.b.2d.b32.trap {%r3}, [%rd1, {%r2, %r2}];";
    const STORE: &str = "sust.b.a1d.b32.trap [%rd1, {%r2, %r2}], {%r3};";
    let proposed = |instruction: &str| {
        let module = graph_ptx::parse(&read(instruction)).expect(instruction);
        let (summary, proposals) = propose("read", &module).unwrap();
        (proposals[0].ty(), summary.params[0].access.needs_array().is_some())
    };
    for (instruction, ty, needs_array) in [
        (LINEAR, "&[Texel<f32>]", false),
        (PLANE, "&[[Texel<f32>; N]]", false),
        (LINE, "&[Texel<f32>]", true),
        (GATHER, "&[[Texel<f32>; N]]", true),
        (LAYERED, "&Layered<[[Texel<f32>; N]]>", true),
        (VOLUME, "&[[[Texel<f32>; N]; N]]", true),
        (LOAD, "&[[Surfel<T>; N]]", true),
        (STORE, "&mut Layered<[Surfel<T>]>", true),
    ] {
        assert_eq!(proposed(instruction), (ty.to_owned(), needs_array), "{instruction}");
    }
}

#[test]
fn what_is_read_through_a_texture_must_be_declared_so() {
    let (message, help) = mistake(LINEAR, Kind::Buffer(BufferAccess::Read));
    let part = "reads `image` through a texture, but it is declared `&[f32]`";
    assert!(message.contains(part), "{message}");
    assert_eq!(help, "declare it `image: &[Texel<f32>]`");
    let (message, help) = mistake(PLANE, Kind::Number { size: 8, float: false });
    assert!(message.contains("uses the value of `image` as an address"), "{message}");
    assert!(help.starts_with("declare it `image: &[[Texel<f32>; N]]`, or"), "{help}");
}
