//! The launch vouches for a kernel whose accesses of memory are not known.
use graph_runtime::{cuda_graph, cuda_kernels};

#[cuda_kernels("kernels/odd.ptx")]
unsafe extern "C" {
    fn by_address(address: u64);
    fn by_view(view: [u64; 2]);
    fn gather(table: &[u64], out: &mut [f32]);
}

cuda_graph! {
    graph Test {
        device table: [u64; 4];
        device out: [f32; 4];
        param address: u64 = 0;
        kernel first = unsafe by_address<<<1, 4>>>(address);
        kernel second = unsafe by_view<<<1, 4>>>([address, 4]) after first;
        kernel third = unsafe gather<<<1, 4>>>(&table, &mut out) after second;
    }
}
