//! The counts of bank conflicts and of divergent branches, of kernels whose counts are known.

use graph_emulator::{Launch, Memory, Module, Options, Report};

const KERNELS: &str = r"
    .version 7.0
    .target sm_70
    .address_size 64
    .visible .entry words(.param .u32 stride) {
        .reg .b32 %r<6>;
        .shared .align 16 .b8 tile[32768];
        ld.param.u32 %r1, [stride];
        mov.u32 %r2, %tid.x;
        mul.lo.u32 %r3, %r2, %r1;
        shl.b32 %r3, %r3, 2;
        mov.u32 %r4, tile;
        add.u32 %r4, %r4, %r3;
        ld.shared.u32 %r5, [%r4];
        st.shared.u32 [%r4], %r5;
        ret;
    }
    .visible .entry quads(.param .u32 stride) {
        .reg .b32 %r<10>;
        .shared .align 16 .b8 tile[32768];
        ld.param.u32 %r1, [stride];
        mov.u32 %r2, %tid.x;
        mul.lo.u32 %r3, %r2, %r1;
        shl.b32 %r3, %r3, 4;
        mov.u32 %r4, tile;
        add.u32 %r4, %r4, %r3;
        ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4];
        ret;
    }
    .visible .entry branches(.param .u32 bits) {
        .reg .b32 %r<6>;
        .reg .pred %p<2>;
        ld.param.u32 %r1, [bits];
        mov.u32 %r2, %tid.x;
        and.b32 %r3, %r2, %r1;
        setp.eq.u32 %p1, %r3, 0;
        @%p1 bra $END;
        mov.u32 %r4, %r3;
    $END:
        ret;
    }
    .visible .entry tables(.param .u32 bits) {
        .reg .b32 %r<6>;
        ld.param.u32 %r1, [bits];
        mov.u32 %r2, %tid.x;
        and.b32 %r3, %r2, %r1;
        $TABLE: .branchtargets $ZERO, $ONE;
        brx.idx %r3, $TABLE;
    $ZERO:
        bra $LAST;
    $ONE:
        bra $LAST;
    $LAST:
        ret;
    }
";

fn report(kernel: &str, argument: u32, threads: u32, count: bool) -> Report {
    let memory = Memory::new();
    let module = Module::load(&memory, KERNELS).unwrap();
    let options = Options {
        count,
        ..Options::default()
    };
    let launch = Launch {
        grid: [3, 1, 1],
        block: [threads, 1, 1],
        shared_bytes: 0,
        arguments: &[&argument.to_le_bytes()],
        buffers: &[],
        textures: &[],
        surfaces: &[],
        options: &options,
    };
    module.run(kernel, &launch).unwrap()
}

/// Three blocks of two warps, or of one and a half.
#[test]
fn conflicts_of_banks_are_those_of_the_stride() {
    // The load and the store of each warp: a stride of 2^n words has 2^n words in a bank.
    let known = [
        (0, 0),
        (1, 0),
        (2, 1),
        (3, 0),
        (4, 3),
        (8, 7),
        (16, 15),
        (32, 31),
        (33, 0),
        (64, 31),
    ];
    for (stride, conflicts) in known {
        let report = report("words", stride, 64, true);
        assert_eq!(report.bank_conflicts, 3 * 2 * 2 * conflicts, "stride {stride}");
        assert_eq!(report.divergent_branches, 0);
    }
    // Half a warp has half the words.
    assert_eq!(report("words", 32, 48, true).bank_conflicts, 3 * 2 * (31 + 15));
    // Of sixteen bytes a lane, each quarter of a warp is served by itself.
    for (stride, conflicts) in [(0, 0), (1, 0), (2, 4), (4, 12), (8, 28)] {
        assert_eq!(
            report("quads", stride, 32, true).bank_conflicts,
            3 * conflicts,
            "stride {stride}"
        );
    }
}

#[test]
fn branches_diverge_where_lanes_of_a_warp_differ() {
    for kernel in ["branches", "tables"] {
        for (bits, divergent) in [(0, 0), (1, 1)] {
            assert_eq!(
                report(kernel, bits, 64, true).divergent_branches,
                3 * 2 * divergent,
                "{kernel}"
            );
        }
    }
    assert_eq!(report("branches", 16, 64, true).divergent_branches, 3 * 2);
    // The warps differ, and the lanes of none do.
    assert_eq!(report("branches", 32, 64, true).divergent_branches, 0);
}

#[test]
fn counting_changes_nothing_else() {
    for kernel in ["words", "quads", "branches"] {
        let [counted, plain] = [true, false].map(|count| report(kernel, 1, 64, count));
        assert_eq!((plain.bank_conflicts, plain.divergent_branches), (0, 0));
        assert_eq!((kernel, counted.instructions), (kernel, plain.instructions));
    }
}
