//! Attributes of nodes.
#![deny(warnings)]

use graph_runtime::cuda_graph;
use ui_tests::*;

const URGENT: i32 = -2;
const SIDE: usize = 2;

cuda_graph! {
    /// On a graph that is generic, and with numbers of all kinds.
    pub graph Attributes<const N: usize>(urgency: i32, side: usize) {
        param  factor: f32 = 2.0;
        device data:   [f32; N];
        device more:   [[f32; 1024]; 4];
        scratch tmp:   [f32; 1024];
        host   output: [f32; N];

        #[priority(URGENT)]
        #[cluster(SIDE)]
        kernel first  = write<<<4, 256>>>(&mut data);
        #[priority(urgency)]
        #[cluster(side, 1, 1)]
        #[cooperative]
        #[disabled]
        kernel second = scaled<<<4, 256>>>(&mut data, factor, 1024)  after first;
        #[cooperative]
        kernel third  = clustered<<<4, 256>>>(&mut more[0])           after first;
        #[cluster(2)]
        kernel fourth = clustered<<<4, 256>>>(&mut more[1])           after first;
        for i in 2..4 {
            #[priority(-(i as i32))]
            #[disabled]
            kernel each = write<<<4, 256>>>(&mut more[i])             after third, fourth;
        }
        #[allow(dead_node)]
        #[disabled]
        memset clear  = tmp <- 0.0;
        #[disabled]
        memcpy down   = data -> output                                after second;
    }
}

pub(crate) fn main() {
    let build = Attributes::<1024>::build;
    let _ = build;
}
