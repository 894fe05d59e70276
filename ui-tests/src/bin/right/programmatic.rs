//! Programmatic edges that are an order of their kernels.
#![deny(warnings)]

use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    pub graph Right<const N: usize> {
        host   input:  [f32; N];
        device a:      [f32; N];
        device b:      [f32; N];
        device c:      [f32; N];
        device d:      [f32; 1024];
        device e:      [f32; N];
        host   output: [f32; N];

        memcpy up     = input -> a;
        kernel first  = chained<<<4, 256>>>(&a, &mut b)       after up;
        kernel second = chained<<<4, 256>>>(&b, &mut c)       after programmatic(first);
        // It reads early, but what nobody writes.
        kernel third  = eager<<<4, 256>>>(&d, &mut e)         after programmatic(second), up;
        memcpy down   = c -> output                           after second;
        #[allow(programmatic_edge)]
        kernel fourth = chained<<<4, 256>>>(&d, &mut b)       after programmatic(fifth), down;
        kernel fifth  = write<<<4, 256>>>(&mut c)             after third, down;
    }
}

cuda_graph! {
    #[allow(programmatic_edge)]
    pub graph InBodies {
        device flag: u32;
        device a:    [f32; 1024];
        device b:    [f32; 1024];

        if maybe = flag {
            kernel first  = write<<<4, 256>>>(&mut a);
            kernel second = chained<<<4, 256>>>(&a, &mut b)   after programmatic(first);
        } else {
            kernel programmatic = write<<<4, 256>>>(&mut a);
            kernel behind       = chained<<<4, 256>>>(&a, &mut b) after programmatic;
        };
    }
}

pub(crate) fn main() {
    let plan = Right::<1024>::PLAN;
    let node = plan.nodes.iter().find(|node| node.name == "third").unwrap();
    assert_eq!((&node.after[..], &node.programmatic[..]), (&[2, 0][..], &[2][..]));
}
