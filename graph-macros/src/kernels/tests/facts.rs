//! The expansions of right declarations.

use super::{Ptx, attributed, block, squeezed};

fn has(declarations: &str, parts: &[&str]) {
    let text = squeezed(&block(declarations));
    for part in parts {
        let part = part.replace([' ', '\n'], "");
        assert!(text.contains(&part), "no {part} in {text}");
    }
}

#[test]
fn facts_say_what_the_ptx_says() {
    has(
        "safe fn fill(out: &mut [u32], value: u32);",
        &[
            "name: \"fill\", entry: \"fill\", source: ::graph_runtime::kernel::Source::Ptx(&__PTX)",
            "name: \"out\", kind: ::graph_runtime::private::plan::ParamKind::Buffer { unit: ::core::mem::size_of::<u32>(), mode: ::graph_runtime::private::plan::Mode::ReadWrite }",
            "name: \"value\", kind: ::graph_runtime::private::plan::ParamKind::Value(::graph_runtime::private::plan::Scalar::U32)",
            "required_block: ::core::option::Option::None, max_block: ::core::option::Option::Some([128u32, 2u32, 1u32])",
            "static_shared: 256u64, target: \"sm_90\"",
        ],
    );
    has(
        "safe fn copy(from: &[u32], to: &mut [u32], x: f32, p: half::f16);",
        &[
            "required_block: ::core::option::Option::Some([64u32, 1u32, 1u32])",
            "variables: &[(\"counter\", ::graph_runtime::private::plan::Mode::ReadWrite)]",
            "Scalar::Other",
            "const __NONE: [half::f16; 0] = [];",
            "__SIZE != 12usize || __ALIGN != 4usize",
        ],
    );
}

#[test]
fn facts_say_what_is_read_and_when() {
    has(
        "safe fn waits(from: &[u32], to: &mut [u32]);",
        &[
            "required_cluster: ::core::option::Option::Some([2u32, 1u32, 1u32]), max_cluster: ::core::option::Option::None",
            "explicit_cluster: true, grid_of_clusters: false",
            "loads: &[(1usize, 70u32)]",
            "places: &[(69u32, \"`waits.cu:7`\"), (70u32, \"`waits.cu:7`\")]",
            "::graph_runtime::kernel::GridDependency {
                triggers: ::core::option::Option::Some(66u32),
                waits: ::core::option::Option::Some(69u32),
                early_exit: ::core::option::Option::None,
                early: &[
                    (::graph_runtime::kernel::Touched::Param(0usize), 67u32),
                    (::graph_runtime::kernel::Touched::Variable(\"counter\"), 68u32)
                ],
                noncoherent: &[(::graph_runtime::kernel::Touched::Param(0usize), 67u32)],
            }",
        ],
    );
    // An atomic operation reads too; a load of unknown origin may be through any `&mut`.
    has(
        "safe fn either(a: &mut [u32], b: &mut [u32], which: u32);",
        &["loads: &[(0usize, 44u32), (1usize, 44u32)], dependency: ::graph_runtime::kernel::GridDependency::NONE"],
    );
    has(
        "#[allow(needless_mut)] fn chase(list: &mut [u64]);",
        &["loads: &[(0usize, 53u32)]"],
    );
    has("safe fn fill(out: &mut [u32], value: u32);", &["loads: &[]"]);
}

#[test]
fn shapes_decide_what_is_taken() {
    has(
        "#[allow(needless_mut)] safe fn either(a: &mut [[f32; 4]], b: &mut [[f32; 4]; 8], which: u32);",
        &[
            "fn call<__Shape0: ?::core::marker::Sized + ::graph_runtime::ArrayOf<[f32; 4]> >(
                a: &mut ::graph_runtime::Place<__Shape0, ::graph_runtime::OnDevice>,
                b: &mut ::graph_runtime::Place<[[f32; 4]; 8], ::graph_runtime::OnDevice>,
                which: impl ::graph_runtime::Integer
            ) -> ::graph_runtime::KernelCall<3usize>",
            "name: \"a\", kind: ::graph_runtime::private::plan::ParamKind::Buffer { unit: ::core::mem::size_of::<[f32; 4]>()",
            "name: \"b\", kind: ::graph_runtime::private::plan::ParamKind::Buffer { unit: ::core::mem::size_of::<[f32; 4]>()",
            "CallArgument::write(a)",
            "integer::<::core::primitive::u32>(which)",
        ],
    );
    has(
        "fn chase(list: &u64);",
        &[
            "list: &::graph_runtime::Place<u64, ::graph_runtime::OnDevice>",
            "CallArgument::read(list)",
        ],
    );
}

#[test]
fn safety_and_visibility_are_the_users() {
    has(
        "pub(crate) safe fn fill(a: &mut [u32], b: u32);",
        &["pub(crate) enum fill {}", "pub fn call<"],
    );
    has(
        "pub fn fill(a: &mut [u32], b: u32);",
        &["pub enum fill {}", "pub unsafe fn call<"],
    );
    has(
        "#[deprecated] #[link_name = \"fill\"] fn r#in(a: &mut [u32], b: u32);",
        &["#[deprecated]", "enum r#in {}", "name: \"in\", entry: \"fill\""],
    );
}

#[test]
fn documentation_goes_to_the_type() {
    has(
        "/// Fills.\n #[requires(value > 0)] safe fn fill(a: &mut [u32], value: u32);",
        &[
            "#[doc = \" Fills.\"] #[doc = \"\"] #[doc = \"Kernel`fill`of`",
            "#[doc = \"\"] #[doc = \"Requires`value>0`.\"]",
        ],
    );
}

#[test]
fn mistakes_leave_the_interface() {
    has(
        "#[requires(value)] fn fill(out: *mut u32, value: u32);",
        &[
            "enum fill {}",
            "unsafe fn call<__Shape0>(out: __Shape0, value: impl ::graph_runtime::Integer)",
            "contracts: &[]",
        ],
    );
}

/// A proof takes `bf16` and `f16` for the types of the crate `half`, and rustc holds the types to their size and
/// alignment.
#[test]
fn proofs_ask_for_the_sizes_of_types_that_they_know_by_name() {
    let ptx = Ptx::new(
        ".version 8.4\n.target sm_70\n.address_size 64\n.visible .entry second(.param .u64 out)\n{\n.reg .b64 %rd<2>;\n\
         .reg .b16 %rs<2>;\nld.param.u64 %rd1, [out];\nmov.u16 %rs1, 0;\nst.global.u16 [%rd1+2], %rs1;\nret;\n}\n",
    );
    let expanded = |ty: &str| {
        let item = format!("unsafe extern \"C\" {{ #[requires(2 <= out.len())] safe fn second(out: &mut [{ty}]); }}");
        squeezed(&attributed(&format!("{:?}, prove", ptx.0), &item))
    };
    for ty in ["half::bf16", "f16"] {
        let expanded = expanded(ty);
        assert!(expanded.contains("Proof::Proved"), "{expanded}");
        let asserted = format!("size_of::<{ty}>()==2&&::core::mem::align_of::<{ty}>()>=2");
        assert!(expanded.contains(&asserted), "{expanded}");
    }
    assert!(expanded("Half").contains("[unproved]"));
}

#[test]
fn proved_kernels_say_what_they_access_at_once() {
    let attribute = "\"../graph-runtime/tests/kernels/aligned.ptx\", prove";
    let declared = |from: &str, contract: &str| {
        let item = format!("#[requires({contract})] safe fn copy4(from: &[{from}], to: &mut [f32], n: u32);");
        squeezed(&attributed(attribute, &format!("unsafe extern \"C\" {{ {item} }}")))
    };
    let expanded = declared("f32", "4 * n <= from.len() && 4 * n <= to.len()");
    assert!(
        expanded.contains("aligned:&[(0usize,16u32),(1usize,16u32)]"),
        "{expanded}"
    );
    // Nothing is assumed of a kernel that is not proved.
    assert!(declared("f32", "4 * n <= to.len()").contains("aligned:&[]"));
}

#[test]
fn what_a_test_of_a_pointer_shows_is_not_proved() {
    let attribute = "\"../graph-runtime/tests/kernels/optional.ptx\", prove";
    let declaration = "#[requires(threads <= 2147483647 && n <= x.len() && n <= y.len() && uses.len() == 1)]
        #[requires(n <= bias.len() || bias.len() == 0)]
        safe fn biased(x: &[f32], bias: Option<&[f32]>, y: &mut [f32], uses: Option<&[Atomic<u32>]>, n: i32);";
    let found = super::messages(attributed(
        attribute,
        &format!("unsafe extern \"C\" {{ {declaration} }}"),
    ));
    let expected = "note: `None` has no elements: with a contract that bounds `bias.len()` from below, `bias` is never \
                    `None`; if the kernel tests the pointer, declare it in a block without `prove`, where `safe` is \
                    your promise\n\
                    help: declare it with `#[requires(n <= bias.len())]`; if that is too narrow, bound the index by a \
                    branch in the kernel";
    assert!(found[0].ends_with(expected), "{}", found[0]);
}
