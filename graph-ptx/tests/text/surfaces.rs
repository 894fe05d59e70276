//! Surface and texture handles name memory that no graph knows.

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
