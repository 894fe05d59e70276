//! Integers by value, whose type is not that of the kernel's parameter.

use crate::common::*;

mod signed {
    #[graph_runtime::cuda_kernels("tests/kernels/test_kernels.ptx")]
    unsafe extern "C" {
        #[requires(n as u32 as i64 <= data.len())]
        pub(super) safe fn scale(data: &mut [f32], factor: f32, n: i32);
    }
}

#[cuda_kernels("tests/kernels/test_kernels.ptx")]
unsafe extern "C" {
    /// Without a contract: any `n` is safe for `data` of that many elements, which a test passes.
    #[link_name = "scale"]
    fn scale_any(data: &mut [f32], factor: f32, n: u32);
}

const ALL: usize = 64;

cuda_graph! {
    graph Counted<const HALF: usize>(offset: i64, unsigned: u128) {
        device data: [f32; ALL];
        param  n: usize = 16;
        param  signed: i8 = 64;

        memset ones     = data <- 1.0;
        kernel constant = scale<<<1, 64>>>(&mut data, 2.0, ALL)                                 after ones;
        kernel half     = scale<<<1, 64>>>(&mut data, 2.0, HALF)                                after constant;
        kernel argument = scale<<<1, 64>>>(&mut data, 2.0, 8 + offset)                          after half;
        kernel wide     = scale<<<1, 64>>>(&mut data, 2.0, unsigned)                            after argument;
        kernel param    = scale<<<1, 64>>>(&mut data, 3.0, n)                                   after wide;
        kernel other    = signed::scale<<<1, 64>>>(&mut data, 5.0, signed)                      after param;
        for i in 0..2 {
            kernel each = scale<<<1, 64>>>(&mut data, 7.0, i)                                   after other;
        }
    }
}

fn counted(offset: i64, unsigned: u128) -> Result<Counted<32>> {
    Counted::<32>::build(&device(), offset, unsigned)
}

#[test]
fn integers_of_every_type_are_passed_as_the_kernel_takes_them_at_each_set() {
    let mut graph = counted(-4, 2).unwrap();
    graph.launch().unwrap();
    let data = graph.data().unwrap().read().unwrap();
    let expected = |index: usize| {
        let times = |n: usize, factor: f32| if index < n { factor } else { 1.0 };
        let before = times(64, 2.0) * times(32, 2.0) * times(4, 2.0) * times(2, 2.0);
        before * times(16, 3.0) * 5.0 * times(1, 7.0)
    };
    assert_eq!(*data, std::array::from_fn(expected));

    let mut graph = counted(-4, 2).unwrap();
    for (n, last) in [(64, 3.0), (0, 1.0), (1, 1.0)] {
        graph.set_n(n).unwrap();
        graph.launch().unwrap();
        assert_eq!(graph.data().unwrap().read().unwrap()[63], 10.0 * last);
    }
    refused(graph.set_n(1 << 32)).reads(
        "graph `Counted` has 1 mistake\n\
         node `param`: `n` of `scale` is a `u32`, and 4294967296 does not fit [contract]\n\
         help: pass a value from 0 to 4294967295",
    );
    let contract = graph.set_n(65).unwrap_err().to_string();
    contract.says("`n <= data.len()` [contract]\nnote: here n = 65");
    assert_eq!(graph.n(), 1, "nothing has changed");
    graph.set_signed(-1).unwrap_err();
    graph.launch().unwrap();
    assert_eq!(graph.data().unwrap().read().unwrap()[1], 80.0);
}

#[test]
fn an_argument_that_does_not_fit_is_a_mistake_of_build() {
    for (offset, unsigned, node, value) in [
        (-9, 2, "argument", "-1"),
        (i64::MAX - 8, 2, "argument", "9223372036854775807"),
        (0, 1 << 32, "wide", "4294967296"),
        (0, u128::MAX, "wide", "170141183460469231731687303715884105727"),
    ] {
        let error = refused(counted(offset, unsigned));
        assert!(matches!(error, Error::Invalid { .. }), "{error}");
        error.says(&format!(
            "node `{node}`: `n` of `scale` is a `u32`, and {value} does not"
        ));
    }
}

/// Without a contract that could fail, a value that wraps around would be another value.
#[test]
fn calls_are_compared_too() {
    let device = device();
    let mut builder = GraphBuilder::new(&device, "Calls");
    let mut data = builder.device::<[f32; 4]>("data");
    let mut flag = builder.device::<[u32; 1]>("flag");
    // SAFETY: `n` is the number of elements.
    let call = unsafe { scale_any::call(&mut data, 2.0, 4_i64) };
    let node = builder.kernel("scale", Launch::new(1, 4), call);
    let after = builder.kernel("slow", Launch::new(1, 1), slow::call(3_u8, &mut flag));
    builder.after(after, &[node]);
    let mut graph = builder.build().unwrap();
    graph.device_mut(&data).unwrap().copy_from(&[1.0; 4]).unwrap();
    // SAFETY: the value does not fit, so nothing is launched with it.
    let too_large = unsafe { scale_any::call(&mut data, 3.0, (1_u64 << 32) + 4) };
    let error = graph.update("n", |update| update.kernel(node, Launch::new(1, 4), too_large.clone()));
    let text = "node `scale`: `n` of `scale_any` is a `u32`, and 4294967300 does not fit [contract]";
    assert!(error.unwrap_err().to_string().contains(text));
    graph.launch().unwrap();
    assert_eq!(*graph.device(&data).unwrap().read().unwrap(), [2.0; 4]);

    let mut builder = GraphBuilder::new(&device, "Calls");
    let mut data = builder.device::<[f32; 4]>("data");
    builder.kernel("first", Launch::new(1, 4), scale::call(&mut data, 2.0, 4_u64));
    // SAFETY: as above.
    let negative = unsafe { scale_any::call(&mut data, 3.0, -1) };
    let second = builder.kernel("scale", Launch::new(1, 4), negative);
    builder.after(second, &[node]);
    refused(builder.build()).says("`n` of `scale_any` is a `u32`, and -1 does not fit [contract]");
}
