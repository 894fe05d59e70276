#[cuda_kernels("tests/kernels/conditionals.ptx")] // the PTX that was given
unsafe extern "C" {
    fn accumulate(p0: &[u32], p1: &mut [u32]);
    fn add_to(p0: &mut [u32], p1: u32);
}

cuda_graph! {
    graph Step {
        device x: [u32; 64];
        device y: [u32; 64];
        host out: [u32; 64];
        memset fill_0 = x <- 5;
        kernel add_to_0 = unsafe add_to<<<1, 64>>>(&mut x, 1_u32) after fill_0;
        // host_0: a host function may access anything
        join host_0 after add_to_0;
        kernel accumulate_0 = unsafe accumulate<<<1, 64>>>(&x, &mut y) after host_0;
        memcpy copy_0 = y[0..8] -> x[8..16] after accumulate_0;
        memcpy copy_1 = x -> out after copy_0;
    }
}
