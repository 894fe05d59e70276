//! Host memory that is page-locked while kernels run which do not use it.

use crate::has_driver;
use crate::setup::{Setup, call};
use graph_runtime::cudarc::driver::sys;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
#[ignore = "needs a CUDA device"]
fn memory_is_page_locked_and_unlocked_beside_kernels() {
    assert!(has_driver());
    let setup = Setup::new();
    let memory = vec![0_u8; 1 << 16].leak();
    // A GPU's driver takes microseconds for it.
    let locks = if crate::is_software() { 50_000 } else { 500 };
    let is_over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            setup.context.bind_to_thread().expect("the context lives");
            for _ in 0..locks {
                let first = memory.as_mut_ptr().cast();
                assert_eq!(
                    call!(cuMemHostRegister_v2(first, 1 << 16, 0)),
                    sys::CUresult::CUDA_SUCCESS
                );
                assert_eq!(call!(cuMemHostUnregister(first)), sys::CUresult::CUDA_SUCCESS);
            }
            is_over.store(true, Ordering::Relaxed);
        });
        let mut data = setup.data;
        let (stream, none) = (setup.stream.cu_stream(), ptr::null_mut());
        while !is_over.load(Ordering::Relaxed) {
            let mut arguments = [(&raw mut data).cast()];
            let params = arguments.as_mut_ptr();
            let code = call!(cuLaunchKernel(
                setup.function,
                1,
                1,
                1,
                1,
                1,
                1,
                0,
                stream,
                params,
                none
            ));
            assert_eq!(code, sys::CUresult::CUDA_SUCCESS);
            assert_eq!(call!(cuStreamSynchronize(stream)), sys::CUresult::CUDA_SUCCESS);
        }
    });
}
