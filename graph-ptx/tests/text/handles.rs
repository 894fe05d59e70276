//! Textures and surfaces in proofs: only by the handles of parameters.

use graph_ptx::proof::{Effort, Gap, Kernel, Kind, Param, Reason, Verdict, prove};

/// The verdict on a kernel of a handle, memory and a struct, which gets its handle in `%rd1` by `code`.
fn verdict(code: &str) -> Verdict {
    let text = format!(
        ".version 8.4\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 texture, .param .u64 data, \
         .param .align 8 .b8 both[8])\n{{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .f32 %f<9>;\nmov.u32 %r1, %tid.x;\n\
         {code}\ntex.1d.v4.f32.s32 {{%f1, %f2, %f3, %f4}}, [%rd1, {{%r1}}];\nret;\n}}\n"
    );
    let param = |name: &str, kind| Param {
        name: name.to_owned(),
        kind,
    };
    let kernel = Kernel {
        entry: "k".to_owned(),
        params: vec![
            param("texture", Kind::Handle),
            param(
                "data",
                Kind::Memory {
                    unit: Some(8),
                    len: Some(1),
                },
            ),
            param("both", Kind::Other),
        ],
        ..Kernel::default()
    };
    let module = graph_ptx::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    prove(&module, &kernel, &Effort::FULL)
}

/// The handle of a sampler may be any number.
#[test]
fn samplers_have_no_handles() {
    let load = "ld.param.u64 %rd1, [texture]; mov.u64 %rd2, 7;";
    let tex = "tex.1d.v4.f32.s32 {%f5, %f6, %f7, %f8},";
    assert_eq!(verdict(&format!("{load} {tex} [%rd1, {{%r1}}];")), Verdict::Proved);
    let with_sampler = verdict(&format!("{load} {tex} [%rd1, %rd2, {{%r1}}];"));
    assert_ne!(with_sampler, Verdict::Proved);
}

#[test]
fn handles_are_those_of_parameters() {
    assert_eq!(verdict("ld.param.u64 %rd1, [texture];"), Verdict::Proved);
    let others = [
        "ld.param.u64 %rd2, [data];\ncvta.to.global.u64 %rd3, %rd2;\nld.global.u64 %rd1, [%rd3];",
        "ld.param.u64 %rd2, [texture];\nadd.s64 %rd1, %rd2, 1;",
        "ld.param.u64 %rd1, [both];",
        "mov.u64 %rd1, 7;",
    ];
    for code in others {
        let line = 10 + code.lines().count() as u32;
        let reason = Reason { line, gap: Gap::Handle };
        assert_eq!(verdict(code), Verdict::Unknown(vec![reason]), "{code}");
    }
}
