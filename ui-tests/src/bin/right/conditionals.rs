//! Conditionals, alone and in each other, in a generic graph with params, documentation and silenced warnings.
#![deny(warnings)]
use graph_runtime::cuda_graph;
use ui_tests::{read, scaled, write};

cuda_graph! {
    pub graph Conditionals<const N: usize> {
        host   input: [f32; N];
        device flags: [u32; 2];
        device number: u32;
        device data: [f32; N];
        device out: [f32; N];
        param  factor: f32 = 2.0;

        /// Uploads, or clears.
        if choice = flags[0] {
            memcpy upload = input -> data;
        } else {
            memset clear = data <- 0.0;
        };
        while repeat = flags[1] {
            /// Scales by `factor`.
            kernel scale = scaled<<<1, N as u32>>>(&mut data, factor, N as u32);
            join both after scale;
            switch pick = number {
                { kernel copy = read<<<1, N as u32>>>(&data, &mut out); }
                {}
                {
                    kernel set = write<<<1, N as u32>>>(&mut out);
                    if never = number {} else {};
                }
            } after both;
            #[allow(redundant_edge)]
            memset stop = flags[1] <- 0 after scale, pick;
        } after choice;
        memset last = data <- factor after repeat;
    }
}

pub(crate) fn main() {
    let device = graph_runtime::Device::emulator();
    let mut graph = Conditionals::<8>::build(&device).unwrap();
    graph.set_factor(3.0).unwrap();
    graph.launch().unwrap();
    assert_eq!(graph.scale().name(), "scale");
    assert_eq!(Conditionals::<8>::PLAN.bodies.len(), 9);
}
