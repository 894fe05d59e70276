//! Kernels that are declared once for several types.

use super::{Ptx, block_of, messages, squeezed};

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
