//! Failures of the calls that give memory to pools, and take it away: none of them loses memory.

use crate::fake::device;
use crate::graphs::{Run, pooling};
use crate::memory::free_on;
use graph_runtime::Result;
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
