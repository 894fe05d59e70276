//! Names may be raw identifiers.
use graph_runtime::{Device, Result, cuda_graph, cuda_kernels};

mod kernels {
    use super::cuda_kernels;

    #[cuda_kernels("kernels/ui.ptx")]
    unsafe extern "C" {
        #[link_name = "scaled"]
        #[requires(r#in <= r#type.len())]
        pub safe fn r#move(r#type: &mut [f32], r#fn: f32, r#in: u32);
    }
}

cuda_graph! {
    graph r#Test {
        device r#type: [f32; 4];
        host r#where: [f32; 4];
        param r#fn: f32 = 1.0;
        kernel r#move = kernels::r#move<<<1, 4>>>(&mut r#type, r#fn, 4);
        memcpy r#match = r#type -> r#where after r#move;
        call r#fn_ = |&mut r#where| r#where[0] = 1.0 after r#match;
        capture r#impl = (&r#type) |r#in| assert_eq!((r#type.bytes(), r#in.cu_stream().is_null()), (16, false)) after r#move;
        join data after r#match;
    }
}

fn run(graph: &mut Test) -> Result<()> {
    graph.set_fn(graph.r#fn() + 1.0)?;
    graph.r#move().set_enabled(false)?;
    graph.type_mut()?;
    graph.where_mut()?.fill(graph_runtime::bytemuck::Zeroable::zeroed());
    graph.r#type()?;
    Ok(())
}

pub(crate) fn main() {
    let _: fn(&Device) -> Result<Test> = Test::build;
    let _: fn(&mut Test) -> Result<()> = run;
}
