//! The counts of bank conflicts and of divergent branches, of kernels whose counts are known; and the stores of values
//! that are not finite.

use crate::common::{buffer, launch};
use graph_emulator::{Access, Allocation, FaultKind, FloatMemory, Memory, Module, Options, Report};

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
    .visible .entry infinities(.param .u64 floats, .param .u64 halves) {
        .reg .b32 %r<3>;
        .reg .b64 %rd<6>;
        .reg .f32 %f<3>;
        .reg .pred %p<2>;
        ld.param.u64 %rd1, [floats];
        ld.param.u64 %rd2, [halves];
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd3, %r1, 8;
        add.u64 %rd4, %rd1, %rd3;
        setp.eq.u32 %p1, %r1, 5;
        mov.f32 %f1, 0f3F800000;
        mov.f32 %f2, 0fFF800000;
        @%p1 st.global.v2.f32 [%rd4], {%f1, %f2};
        mul.wide.u32 %rd3, %r1, 4;
        add.u64 %rd5, %rd2, %rd3;
        mov.u32 %r2, 0x7C003C00;
        @%p1 st.global.u32 [%rd5], %r2;
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
    let arguments: [&[u8]; 1] = [&argument.to_le_bytes()];
    let launch = launch([3, 1, 1], [threads, 1, 1], &arguments, &[], &options);
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
    // Each quarter of a warp is served by itself if lanes load sixteen bytes.
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

#[test]
fn stores_of_values_that_are_not_finite_have_a_place() {
    let memory = Memory::new();
    let module = Module::load(&memory, KERNELS).unwrap();
    let [floats, halves] = ["floats", "halves"].map(|name| memory.allocate(name, 256).unwrap());
    let buffers = [&floats, &halves].map(|memory| buffer("memory", memory, Access::ReadWrite));
    let watched = |memory: &Allocation, bits, mantissa| FloatMemory {
        address: memory.address(),
        len: memory.len(),
        bits,
        mantissa,
    };
    let run = |watched: Vec<FloatMemory>| {
        let options = Options {
            floats: watched,
            ..Options::default()
        };
        let addresses = [&floats, &halves].map(|memory| memory.address().to_le_bytes());
        let arguments = addresses.each_ref().map(|address| &address[..]);
        let launch = launch([1; 3], [32, 1, 1], &arguments, &buffers, &options);
        module.run("infinities", &launch).unwrap().not_finite
    };
    assert_eq!(run(Vec::new()), []);
    let found = run(vec![watched(&floats, 32, 23), watched(&halves, 16, 10)]);
    let addresses: Vec<u64> = found.iter().map(|(address, _)| *address).collect();
    let expected = [floats.address() + 5 * 8 + 4, halves.address() + 5 * 4 + 2];
    assert_eq!(addresses.len(), 2);
    assert!(
        expected.iter().all(|address| addresses.contains(address)),
        "{addresses:?}"
    );
    for (_, store) in &found {
        assert_eq!((&store.kind, store.thread), (&FaultKind::NotFinite, [5, 0, 0]));
        assert!(
            store.to_string().ends_with("a store of a value that is not finite"),
            "{store}"
        );
    }
    // As one 32-bit number, the two halves are finite.
    assert_eq!(run(vec![watched(&halves, 32, 23)]), []);
}
