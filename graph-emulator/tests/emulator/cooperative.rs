//! Cooperative launches: blocks that wait for each other run at the same time.

use crate::common::Argument::{Read, Write};
use crate::common::{Gpu, download, value};
use graph_emulator::{Fault, FaultKind, Options};

/// Each block writes its number plus one, waits for all others at a barrier of the whole grid, then adds what the next
/// block wrote. The block `lost` stores out of bounds instead of arriving.
const MEET: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry meet(.param .u64 arrived, .param .u64 numbers, .param .u64 sums, .param .u64 lost, .param .u32 blocks)
{
    .reg .pred %p<5>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<12>;
    ld.param.u64 %rd1, [arrived];
    ld.param.u64 %rd2, [numbers];
    ld.param.u64 %rd3, [sums];
    ld.param.u64 %rd9, [lost];
    cvta.to.global.u64 %rd1, %rd1;
    cvta.to.global.u64 %rd2, %rd2;
    cvta.to.global.u64 %rd3, %rd3;
    cvta.to.global.u64 %rd9, %rd9;
    ld.global.u32 %r1, [%rd9];
    mov.u32 %r2, %ctaid.x;
    ld.param.u32 %r3, [blocks];
    mov.u32 %r4, %tid.x;
    setp.ne.u32 %p1, %r4, 0;
    @%p1 bra TOGETHER;
    setp.ne.u32 %p2, %r2, %r1;
    @%p2 bra RIGHT;
    st.global.u32 [%rd1 + 4096], %r2;
RIGHT:
    add.u32 %r5, %r2, 1;
    mul.wide.u32 %rd4, %r2, 4;
    add.u64 %rd5, %rd2, %rd4;
    st.volatile.global.u32 [%rd5], %r5;
    membar.gl;
    atom.global.add.u32 %r6, [%rd1], 1;
WAIT:
    ld.volatile.global.u32 %r7, [%rd1];
    setp.lt.u32 %p3, %r7, %r3;
    @%p3 bra WAIT;
TOGETHER:
    bar.sync 0;
    @%p1 bra DONE;
    add.u32 %r8, %r2, 1;
    rem.u32 %r8, %r8, %r3;
    mul.wide.u32 %rd6, %r8, 4;
    add.u64 %rd7, %rd2, %rd6;
    ld.volatile.global.u32 %r9, [%rd7];
    add.u32 %r10, %r9, %r5;
    add.u64 %rd8, %rd3, %rd4;
    st.global.u32 [%rd8], %r10;
DONE:
    ret;
}
";

const NOBODY: u32 = u32::MAX;

fn together() -> Options {
    Options {
        cooperative: true,
        ..Options::default()
    }
}

fn meet(blocks: u32, threads: u32, lost: u32, options: &Options) -> Result<Vec<u32>, Fault> {
    let gpu = Gpu::new(MEET);
    let arrived = gpu.upload("arrived", &[0_u32]);
    let numbers = gpu.upload("numbers", &vec![0_u32; blocks as usize]);
    let sums = gpu.upload("sums", &vec![0_u32; blocks as usize]);
    let lost = gpu.upload("lost", &[lost]);
    let arguments = [
        Write(&arrived),
        Write(&numbers),
        Write(&sums),
        Read(&lost),
        value(blocks),
    ];
    gpu.launch_with("meet", [blocks, 1, 1], [threads, 1, 1], 0, &arguments, options)?;
    Ok(download(&sums))
}

#[test]
fn blocks_meet_at_a_barrier_of_the_grid() {
    for (blocks, threads) in [(1, 32), (2, 64), (40, 32), (100, 50)] {
        let expected: Vec<u32> = (0..blocks).map(|block| block + 1 + (block + 1) % blocks + 1).collect();
        assert_eq!(
            meet(blocks, threads, NOBODY, &together()).unwrap(),
            expected,
            "{blocks} blocks"
        );
    }
}

/// Each block waits until the block after it has added its number, with all its threads.
const RELAY: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry relay(.param .u64 sums, .param .u32 blocks)
{
    .reg .pred %p<3>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [sums];
    ld.param.u32 %r1, [blocks];
    mov.u32 %r2, %ctaid.x;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    add.u32 %r3, %r2, 1;
    setp.eq.u32 %p1, %r3, %r1;
    mov.u32 %r4, 0;
    @%p1 bra ADD;
WAIT:
    ld.relaxed.gpu.u32 %r4, [%rd3 + 4];
    setp.eq.u32 %p2, %r4, 0;
    @%p2 bra WAIT;
ADD:
    add.u32 %r5, %r4, %r3;
    st.relaxed.gpu.u32 [%rd3], %r5;
    ret;
}
";

/// Launches `blocks` of the `meant` blocks; the sums that they wrote.
fn relay(text: &str, blocks: u32, meant: u32, threads: u32, options: &Options) -> Result<Vec<u32>, Fault> {
    let gpu = Gpu::new(text);
    let sums = gpu.upload("sums", &vec![0_u32; meant as usize]);
    let arguments = [Write(&sums), value(meant)];
    gpu.launch_with("relay", [blocks, 1, 1], [threads, 1, 1], 0, &arguments, options)?;
    Ok(download(&sums))
}

#[test]
fn blocks_may_wait_for_later_ones_on_few_host_threads() {
    for threads in [Some(1), Some(3), None] {
        let options = Options { threads, ..together() };
        let expected: Vec<u32> = (0..40).map(|block| (block + 1..=40).sum()).collect();
        assert_eq!(relay(RELAY, 40, 40, 96, &options).unwrap(), expected);
    }
}

#[test]
fn blocks_may_wait_with_all_their_threads_at_barriers() {
    let wait = RELAY.find("@%p2 bra WAIT;").unwrap();
    let (before, after) = RELAY.split_at(wait);
    let text = format!("{before}bar.red.or.pred %p2, 0, %p2;\n{after}");
    let options = Options {
        threads: Some(1),
        step_limit: Some(1 << 24),
        ..together()
    };
    let expected: Vec<u32> = (0..9).map(|block| (block + 1..=9).sum()).collect();
    assert_eq!(relay(&text, 9, 9, 64, &options).unwrap(), expected);
}

#[test]
fn a_grid_that_waits_in_vain_is_stopped() {
    let options = Options {
        step_limit: Some(100_000),
        ..together()
    };
    // The last block waits for one that is not there.
    let fault = relay(RELAY, 2, 3, 64, &options).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::StepLimit(_)), "{fault}");
}

#[test]
fn one_block_waits_for_nobody() {
    assert_eq!(meet(1, 32, NOBODY, &Options::default()).unwrap(), [2]);
}

#[test]
fn a_fault_ends_the_blocks_that_wait() {
    let fault = meet(20, 32, 7, &together()).unwrap_err();
    assert_eq!(fault.block, [7, 0, 0]);
    assert!(fault.to_string().contains("4096"), "{fault}");
}

#[test]
fn a_grid_that_is_too_large_to_be_there_at_once_is_refused() {
    let fault = meet(257, 32, NOBODY, &together()).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::InvalidLaunch(_)));
    let part = "257 blocks is too large: the emulator runs 256";
    assert!(fault.to_string().contains(part), "{fault}");
}
