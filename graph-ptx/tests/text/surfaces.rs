//! Textures whose handle is a parameter are memory of that parameter. All other handles, and those of surfaces, name
//! memory that no graph knows.

use graph_ptx::declaration::{BufferAccess, Declaration, Kind, Param, check};

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

/// The mistakes of a safe kernel that reads `texture`, declared as memory of this kind.
fn mistakes(instruction: &str, kind: Kind) -> Vec<(String, Option<String>)> {
    let text = format!(
        ".version 7.0 .target sm_70 .address_size 64 .visible .entry read(.param .u64 texture, .param .u64 out) {{
            .reg .b64 %rd<4>; .reg .b32 %r<9>; .reg .f32 %f<9>;
            ld.param.u64 %rd1, [texture]; ld.param.u64 %rd2, [out]; mov.u32 %r2, 0;
            {instruction}
            st.global.f32 [%rd2], %f1; ret; }}"
    );
    let ty = match kind {
        Kind::Buffer(BufferAccess::Texture { plane: false }) => "&[Texel<f32>]",
        Kind::Buffer(BufferAccess::Texture { plane: true }) => "&[[Texel<f32>; 8]]",
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

const LINEAR: &str = "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r2}];";
const PLANE: &str = "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];";

#[test]
fn textures_are_read_as_they_are_declared() {
    let texture = |plane| Kind::Buffer(BufferAccess::Texture { plane });
    assert_eq!(mistakes(LINEAR, texture(false)), []);
    assert_eq!(mistakes(PLANE, texture(true)), []);
    for (instruction, plane) in [
        (PLANE, false),
        (LINEAR, true),
        ("tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5}];", false),
        (
            "tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6, %f6, %f6}];",
            true,
        ),
        ("tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];", true),
    ] {
        let [(message, _)] = &mistakes(instruction, texture(plane))[..] else {
            panic!("{instruction}: {:?}", mistakes(instruction, texture(plane)))
        };
        assert!(message.contains("in a way that this memory does not have"), "{message}");
    }
    for plain in [
        "ld.global.f32 %f1, [%rd1];",
        "add.s64 %rd3, %rd1, 4; ld.global.f32 %f1, [%rd3];",
    ] {
        let [(message, help)] = &mistakes(&format!("{PLANE} {plain}"), texture(true))[..] else {
            panic!("{plain}: {:?}", mistakes(plain, texture(true)))
        };
        assert!(message.contains("uses `image` as an address"), "{message}");
        let help = help.as_deref().unwrap();
        assert_eq!(help, "read it by `tex` alone, or declare it `image: &[[f32; 8]]`");
    }
}

#[test]
fn what_is_read_through_a_texture_must_be_declared_so() {
    let [(message, help)] = &mistakes(LINEAR, Kind::Buffer(BufferAccess::Read))[..] else {
        panic!("one mistake")
    };
    assert!(
        message.contains("reads `image` through a texture, but it is declared `&[f32]`"),
        "{message}"
    );
    assert_eq!(help.as_deref(), Some("declare it `image: &[Texel<f32>]`"));
    let number = Kind::Number { size: 8, float: false };
    let [(message, help)] = &mistakes(PLANE, number)[..] else {
        panic!("one mistake")
    };
    assert!(message.contains("uses the value of `image` as an address"), "{message}");
    assert!(
        help.as_deref()
            .unwrap()
            .starts_with("declare it `image: &[[Texel<f32>; N]]`, or")
    );
}
