//! Kernels that are declared once for several types.

use super::{Ptx, block, block_of, firsts, messages, squeezed};

const SCALES: &str = r"
.version 8.4
.target sm_70
.address_size 64

.visible .entry scale_f32(.param .u64 p0, .param .f32 p1)
.maxntid 128, 1, 1
{
    .reg .f32 %f<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p0];
    ld.param.f32 %f1, [p1];
    ld.global.f32 %f2, [%rd1];
    st.global.f32 [%rd1], %f1;
    ret;
}

.visible .entry scale_f64(.param .u64 p0, .param .f64 p1)
{
    .reg .f64 %fd<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p0];
    ld.param.f64 %fd1, [p1];
    st.global.f64 [%rd1], %fd1;
    ret;
}
";

fn scales(declaration: &str) -> proc_macro2::TokenStream {
    block_of(&Ptx::new(SCALES), declaration)
}

#[test]
fn each_type_has_facts_of_its_own() {
    let tokens = scales(
        "#[for_each(T = f32 => \"scale_f32\", f64 => \"scale_f64\",)] #[requires(factor > 0.0 && threads <= data.len())]
         pub safe fn scale<T>(data: &mut [T], factor: T);",
    );
    let text = squeezed(&tokens);
    for part in [
        "#[doc=\"Kernelsof`",
        "`scale_f32`for`f32`,`scale_f64`for`f64`.",
        "#[doc=\"Requires`factor>0.0&&threads<=data.len()`.\"]",
        "pubenumscale<T>{#[doc(hidden)]__Never(::core::convert::Infallible,::core::marker::PhantomData<fn()->T>),}",
        "impl<T>scale<T>{",
        "factor:T)->::graph_runtime::KernelCall<2usize>whereT:::graph_runtime::Element,Self:::graph_runtime::Kernel",
        "useprimitive::f32;",
        "unsafeimpl::graph_runtime::Kernelforscale<f32>",
        "name:\"scale<f32>\",entry:\"scale_f32\"",
        "max_block:::core::option::Option::Some([128u32,1u32,1u32])",
        "Value(::graph_runtime::private::plan::Scalar::F32)",
        "loads:&[(0usize,13u32)]",
        "unsafeimpl::graph_runtime::Kernelforscale<f64>",
        "unit:::core::mem::size_of::<f64>()",
        "impl<T>::graph_runtime::private::SafeKernelforscale<T>{}",
    ] {
        let part = part.replace("useprimitive", "use::core::primitive");
        assert!(text.contains(&part), "no {part} in {text}");
    }
    assert_eq!(messages(tokens), [""; 0]);
}

#[test]
fn mistakes_of_the_declaration_are_told_once() {
    let first = |declaration: &str| firsts(scales(declaration)).join("\n");
    let both = "f32 => \"scale_f32\", f64 => \"scale_f64\"";
    assert_eq!(
        first(&format!(
            "#[for_each(T = {both})] safe fn scale<T>(data: *mut T, factor: T);"
        )),
        "`*mut T` is a raw pointer, which a graph cannot follow [signature]"
    );
    assert_eq!(
        first(&format!(
            "#[for_each(T = {both})] #[requires(factors > 0.0)] safe fn scale<T>(data: &mut [T], factor: T);"
        )),
        "`factors` is not a parameter of this kernel [contract]"
    );
    assert_eq!(
        first(&format!(
            "#[for_each(T = {both})] safe fn scale(data: &mut [f32], factor: f32);"
        )),
        "`for_each` lists types for `T`, but `scale` has no type parameter [signature]"
    );
    assert_eq!(
        first(&format!(
            "#[for_each(T = {both})] safe fn scale<U>(data: &mut [U], factor: U);"
        )),
        "`scale` has one type parameter, the `T` of `for_each` [signature]"
    );
    assert_eq!(
        first(&format!(
            "#[for_each(T = {both})] safe fn scale<T: Copy>(data: &mut [T], factor: T);"
        )),
        "`T` has no bounds: it is one of the listed types [signature]"
    );
    assert_eq!(
        first(
            "#[for_each(T = f32 => \"scale_f32\", f32 => \"scale_f64\")] safe fn scale<T>(data: &mut [T], factor: T);"
        ),
        "`f32` is listed twice [duplicate-name]"
    );
    assert_eq!(
        first("#[for_each(T = )] safe fn scale<T>(data: &mut [T], factor: T);"),
        "`for_each` lists no types [syntax]"
    );
    assert_eq!(
        first("#[for_each(T = f32, f64)] safe fn scale<T>(data: &mut [T], factor: T);"),
        "expected `=>` [syntax]"
    );
    let text = "expected attribute arguments in parentheses: #[for_each(...)] [syntax]";
    assert_eq!(first("#[for_each] safe fn scale<T>(data: &mut [T], factor: T);"), text);
    assert_eq!(
        first(&format!(
            "#[for_each(T = {both})] #[link_name = \"x\"] safe fn scale<T>(data: &mut [T], factor: T);"
        )),
        "`for_each` names the kernel of each type [syntax]"
    );
}

#[test]
fn generics_without_types_are_refused() {
    let [message] = &messages(block("fn fill<T>(out: &mut [T], value: u32);"))[..] else {
        panic!("one message")
    };
    let part = "name the kernel of each type: `#[for_each(T = f32 => \"scale_f32\"";
    assert!(message.contains(part), "{message}");
}
