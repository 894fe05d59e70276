//! Host functions and events: captured build arguments, generics, every kind of expression, names that patterns shadow.
use graph_runtime::{Element, Event, cuda_graph};
use std::sync::atomic::{AtomicUsize, Ordering};

static CALLS: AtomicUsize = AtomicUsize::new(0);

fn zero<T: Element>() -> T {
    graph_runtime::bytemuck::Zeroable::zeroed()
}

cuda_graph! {
    pub graph Test<T: Element + PartialOrd, const N: usize>(n: usize, limit: T, done: Event) {
        host values: [T; N];
        host list: [[T; N]; n];
        param rate: f32 = 1.0;
        device data: [f32; 4];

        memset set = data <- rate;
        call nothing = || ();
        call count = || { CALLS.fetch_add(N, Ordering::Relaxed); };
        call clamp = |&mut values| for value in values { if *value > limit { *value = zero::<T>(); } } after count;
        call spread = |&values, &mut list| {
            let (rows, rate) = (n, 2);
            list[..rows / rate].fill(*values);
            let helper = |values: &T| *values < limit;
            assert!(values.iter().all(helper));
        } after clamp;
        call early = |&list| {
            let Some(first) = list.first() else { return };
            println!("{}", first.len());
        } after spread;
        record end = &done after early;
        wait start = done.clone();
    }
}
