//! Large modules.

use std::fmt::Write as _;

/// The text of a module with `kernels` kernels of all kinds, in at least `bytes` bytes.
pub(crate) fn many_kernels(kernels: usize, bytes: usize) -> String {
    let mut text = String::from(".version 7.0\n.target sm_70\n.address_size 64\n.file 1 \"many.cu\"\n");
    for kernel in 0..kernels {
        let enough = bytes * (kernel + 1) / kernels;
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            ".visible .entry kernel_{kernel}(\n\t.param .u64 kernel_{kernel}_param_0,\n\t.param .u32 kernel_{kernel}_param_1\n)\n{{\n\
             \t.reg .pred \t%p<300>;\n\t.reg .f32 \t%f<1000>;\n\t.reg .b32 \t%r<1000>;\n\t.reg .b64 \t%rd<1000>;\n\
             \tld.param.u64 \t%rd0, [kernel_{kernel}_param_0];\n\tld.param.u32 \t%r0, [kernel_{kernel}_param_1];\n\
             \tmov.u32 \t%r1, %tid.x;\n\tmov.f32 \t%f0, 0f3F800000;\n"
        );
        let mut step = 0;
        while text.len() < enough {
            let (now, next) = (step + 1, step + 2);
            let _ = write!(
                text,
                "\t.loc\t1 {now} 5\n\tsetp.ge.s32 \t%p{step}, %r{now}, %r0;\n\t@%p{step} bra \t$L__BB{kernel}_{step};\n\
                 \tmul.wide.s32 \t%rd{now}, %r{now}, 4;\n\tadd.s64 \t%rd{now}, %rd0, %rd{now};\n\
                 \tld.global.f32 \t%f{next}, [%rd{now}+{step}];\n\tfma.rn.f32 \t%f{now}, %f{next}, 0f40490FDB, %f{step};\n\
                 \tst.global.f32 \t[%rd{now}], %f{now};\n\
                 $L__BB{kernel}_{step}:\n\tadd.s32 \t%r{next}, %r{now}, {now};\n"
            );
            step += 1;
        }
        text.push_str("\tret;\n}\n");
    }
    text
}
