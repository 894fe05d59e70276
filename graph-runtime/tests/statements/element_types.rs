//! Kernels that are declared once for several element types, and graphs that are generic over them.

use crate::common::*;

#[cuda_kernels("tests/kernels/test_kernels.ptx")]
unsafe extern "C" {
    /// `y[i] += a * x[i]` for the first `n`
    #[for_each(T = f32 => "saxpy", f64 => "axpy_f64")]
    #[requires(n <= x.len() && n <= y.len())]
    safe fn axpy<T>(a: T, x: &[T], y: &mut [T], n: u32);
}

cuda_graph! {
    graph Axpy<T: Element, const N: usize> where axpy<T>: Kernel {
        device x:    [T; N];
        device y:    [T; N];
        param  a:    T = T::zeroed();

        kernel once  = axpy::<T><<<1, 64>>>(a, &x, &mut y, N as u32);
        kernel again = axpy<T><<<1, 64>>>(a, &x, &mut y, 1) after once;
    }

    graph Twice<T: Element> where axpy<T>: Kernel {
        device x: [T; 64];
        device y: [T; 64];

        graph inner = Axpy::<T, 64>(x: &x, y: &mut y, a: T::zeroed());
    }

    graph Both {
        device single: [f32; 64];
        device double: [f64; 64];
        device from_single: [f32; 64];
        device from_double: [f64; 64];

        kernel f = axpy::<f32><<<1, 64>>>(2.0, &from_single, &mut single, 64);
        kernel d = axpy::<f64><<<1, 64>>>(3.0, &from_double, &mut double, 64);
    }
}

#[test]
fn graphs_are_generic_over_element_types_of_kernels() -> Result<()> {
    let mut single = Axpy::<f32, 64>::build(&device())?;
    single.x_mut()?.copy_from(&counting())?;
    single.set_a(2.0)?;
    single.launch()?;
    let sums: [f32; 64] = std::array::from_fn(|index| 2.0 * index as f32);
    assert_eq!(*single.y()?.read()?, sums);

    let mut double = Axpy::<f64, 32>::build(&device())?;
    double.x_mut()?.copy_from(&[0.1; 32])?;
    double.set_a(3.0)?;
    double.launch()?;
    let y = double.y()?.read()?;
    let once = 3.0_f64.mul_add(0.1, 0.0);
    assert_eq!((y[0], y[1]), (3.0_f64.mul_add(0.1, once), once));

    let mut both = Both::build(&device())?;
    both.from_single_mut()?.copy_from(&[1.5; 64])?;
    both.from_double_mut()?.copy_from(&[0.1; 64])?;
    both.launch()?;
    assert_eq!(*both.single()?.read()?, [3.0; 64]);
    assert_eq!(*both.double()?.read()?, [3.0 * 0.1; 64]);

    let twice = launched(Twice::<f64>::build(&device()))?;
    assert_eq!(*twice.y()?.read()?, [0.0; 64]);
    let facts = (axpy::<f32>::FACTS, axpy::<f64>::FACTS);
    assert_eq!((facts.0.name, facts.0.entry), ("axpy<f32>", "saxpy"));
    assert_eq!((facts.1.name, facts.1.entry), ("axpy<f64>", "axpy_f64"));
    Ok(())
}

/// The builder's calls, and an expression, in a function that is generic itself.
fn sums<T: Element + PartialEq + std::fmt::Debug>(device: &Device, one: T) -> Result<(Vec<T>, Vec<T>)>
where
    axpy<T>: Kernel,
{
    let mut builder = GraphBuilder::new(device, "Axpy");
    let (x, mut y) = (builder.device::<[T; 8]>("x"), builder.device_slice::<T>("y", 8));
    builder.kernel("k", Launch::new(1, 8), axpy::<T>::call(one, &x, &mut y, 8));
    let mut graph = builder.build()?;
    graph.device_mut(&x)?.copy_from(&[one; 8])?;
    graph.launch()?;
    let built = graph.device(&y)?.read_vec()?;

    let n = 8_usize;
    let mut expression = cuda_graph! { device =>
        device x: [T; n];
        device y: [T; n];
        memset ones = x <- one;
        kernel k    = axpy::<T><<<1, 8>>>(one, &x, &mut y, 8) after ones;
    }?;
    expression.launch()?;
    Ok((built, expression.y()?.read_vec()?))
}

#[test]
fn functions_are_generic_over_element_types_and_contracts_name_them() -> Result<()> {
    assert_eq!(sums(&device(), 1.0_f32)?, (vec![1.0; 8], vec![1.0; 8]));
    assert_eq!(sums(&device(), 2.0_f64)?, (vec![4.0; 8], vec![4.0; 8]));

    let mut builder = GraphBuilder::new(&device(), "Axpy");
    let (x, mut y) = (builder.device::<[f64; 8]>("x"), builder.device::<[f64; 8]>("y"));
    builder.kernel("k", Launch::new(1, 8), axpy::<f64>::call(1.0, &x, &mut y, 9));
    refused(builder.build()).says("kernel `axpy<f64>` requires `n <= x.len()`");
    Ok(())
}
