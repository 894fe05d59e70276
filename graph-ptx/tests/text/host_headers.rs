//! Headers of the host that NVRTC gets as texts.

use graph_ptx::host_headers::{all, missing, text};

#[test]
fn the_log_names_the_missing_header() {
    let log = "kernels/x.cu(1): catastrophic error: cannot open source file \"cuda_fp16.h\"\n  #include\n";
    assert_eq!(missing(log), Some(("kernels/x.cu", "cuda_fp16.h")));
    let log = "x.cu(2): catastrophic error: could not open source file \"cmath\" (no directories in search list)\n";
    assert_eq!(missing(log), Some(("x.cu", "cmath")));
    assert_eq!(missing("kernels/x.cu(1): error: identifier \"x\" is undefined"), None);
}

#[test]
fn headers_of_the_host_have_texts() {
    assert!(text("cstdint").unwrap().contains("typedef signed char int8_t;"));
    assert!(text("type_traits").unwrap().contains("#include <cuda/std/type_traits>"));
    for name in [
        "cuda.h",
        "stdint.h",
        "limits.h",
        "float.h",
        "math.h",
        "algorithm",
        "assert.h",
        "any",
    ] {
        assert!(all().any(|known| Some(known) == text(name).as_deref()), "{name}");
    }
    for name in ["cuda_fp16.h", "my/stdint.h", "thrust/scan.h"] {
        assert!(text(name).is_none(), "{name}");
    }
}
