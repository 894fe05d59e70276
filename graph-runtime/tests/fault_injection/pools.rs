//! Failures of the calls that give memory to pools, and take it away: none of them loses memory.

use crate::common::*;
use crate::graphs::{Bucket, Run, pooling};
use crate::memory::free_on;
use crate::software::device;
use graph_runtime::fault_injection as faults;

const CALLS: [&str; 9] = [
    "cuMemGetAllocationGranularity",
    "cuMemAddressReserve",
    "cuMemCreate",
    "cuMemMap",
    "cuMemRelease",
    "cuMemSetAccess",
    "cuMemsetD8Async",
    "cuMemUnmap",
    "cuMemAddressFree",
];

/// How often each call fails: memory that is lost each time is more than what the driver keeps for itself.
const ROUNDS: usize = 6;

/// Memory that the largest of several live graphs needs stays, whichever of them were built or dropped last.
#[test]
fn trimming_leaves_what_the_largest_live_graph_needs() -> Result<()> {
    let Some((device, _turn)) = device("pools::trimming_leaves_what_the_largest_live_graph_needs") else {
        return Ok(());
    };
    let pool = device.pool();
    let pooled = device.with_pool(&pool);
    let mut graphs = Vec::new();
    for n in [1 << 19, 8, 1 << 20, 64, 3 << 19] {
        graphs.push(Bucket::build(&pooled, n)?);
    }
    let mut before = usize::MAX;
    while !graphs.is_empty() {
        pool.trim()?;
        let report = pool.memory_report();
        let needed = report.graphs.iter().map(|graph| graph.bytes).max().unwrap_or_default();
        assert!(report.held >= needed, "{} of {needed} bytes\n{report}", report.held);
        if needed < before {
            assert!(report.held < before, "{report}");
            before = needed;
        }
        graphs.iter_mut().try_for_each(Bucket::launch)?;
        graphs.pop();
    }
    pool.trim()?;
    assert_eq!(pool.memory_report().held, 0);
    Ok(())
}

#[test]
fn failures_lose_no_memory_of_pools() -> Result<()> {
    let Some((device, _turn)) = device("pools::failures_lose_no_memory_of_pools") else {
        return Ok(());
    };
    for _ in 0..2 {
        pooling(&device, &mut Run::new())?;
    }
    for call in CALLS {
        let free = free_on(&device);
        for number in 1..=ROUNDS {
            faults::start();
            faults::fail(call, 1 + number % 2);
            pooling(&device, &mut Run::new())?;
        }
        faults::start();
        let lost = free.saturating_sub(free_on(&device));
        println!("pools: {ROUNDS} failures of {call} lose {lost} bytes");
        assert!(lost < ROUNDS * (1 << 20), "{call}: {lost} bytes");
    }
    Ok(())
}
