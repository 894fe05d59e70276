//! Mistakes of the code `programmatic-edge`.
use graph_runtime::cuda_graph;
use ui_tests::*;

// A kernel that starts before the one of the previous iteration has ended, and does not wait for it.
cuda_graph! {
    graph ProgrammaticFromIteration {
        device a: [[f32; 1024]; 5];
        each i in 0..4 {
            kernel next = read<<<4, 256>>>(&a[i], &mut a[i + 1]) after programmatic(next(i - 1));
        }
    }
}

// Programmatic edges between iterations join kernels, too.
cuda_graph! {
    graph ProgrammaticFromMemset {
        device a: [[f32; 1024]; 5];
        each i in 0..4 {
            memset clear = a[i] <- 0.0 after programmatic(clear(i - 1));
        }
    }
}

// Some threads of the later kernel end without having waited: what comes after it would come too early.
cuda_graph! {
    graph KernelEndsEarly {
        device a: [f32; 1024];
        device b: [f32; 1024];
        device c: [f32; 1024];
        kernel first = chained<<<4, 256>>>(&a, &mut b);
        kernel last  = hasty<<<4, 256>>>(&b, &mut c, 1000)  after programmatic(first);
    }
}

// A cache may hold what was there before.
cuda_graph! {
    graph KernelLoadsStale {
        device a: [f32; 1024];
        device b: [f32; 1024];
        device c: [f32; 1024];
        kernel first = chained<<<4, 256>>>(&a, &mut b);
        kernel last  = stale<<<4, 256>>>(&b, &mut c)  after programmatic(first);
    }
}

// The later kernel does not wait.
cuda_graph! {
    graph KernelNeverWaits {
        device a: [f32; 1024];
        device b: [f32; 1024];
        device c: [f32; 1024];
        kernel first = chained<<<4, 256>>>(&a, &mut b);
        kernel last  = read<<<4, 256>>>(&b, &mut c)  after programmatic(first);
    }
}

// The later kernel reads what the earlier one writes before it waits.
cuda_graph! {
    graph KernelReadsEarly {
        device a: [f32; 1024];
        device b: [f32; 1024];
        device c: [f32; 1024];
        kernel first = chained<<<4, 256>>>(&a, &mut b);
        kernel last  = eager<<<4, 256>>>(&b, &mut c)  after programmatic(first);
    }
}

// The last kernel reads early what a kernel two edges before writes, which may still run.
cuda_graph! {
    graph MemoryWrittenByFirst {
        device a: [f32; 1024];
        device b: [f32; 1024];
        device c: [f32; 1024];
        kernel first  = chained<<<4, 256>>>(&a, &mut b);
        kernel second = chained<<<4, 256>>>(&b, &mut c)       after programmatic(first);
        kernel last   = eager<<<2, 256>>>(&b[..512], &mut a)  after programmatic(second);
    }
}

fn main() {}
