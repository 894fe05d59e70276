//! Futures of launches, in a driver that is slow or dies.

use crate::common::*;
use crate::graphs;
use crate::software::{device, device_with};
use graph_runtime::fault_injection as faults;
use std::thread;
use std::time::Duration;

/// `CUDA_ERROR_ILLEGAL_ADDRESS`
const FAULT: u32 = 700;

#[test]
fn a_context_that_dies_resolves_futures() -> Result<()> {
    let test = "futures::a_context_that_dies_resolves_futures";
    let dies = format!("cuEventQuery:20={FAULT}");
    let variables = [("CUDA_GRAPH_DRIVER_STUCK", "1"), ("CUDA_GRAPH_DRIVER_DIES", &dies)];
    let Some((device, _turn)) = device_with(test, &variables) else {
        return Ok(());
    };
    let mut graph = graphs::long(&device)?;
    let launches = (0..3).map(|_| graph.launch_async()).collect::<Result<Vec<_>>>()?;
    // One of them is asked for again and again by now, in vain. Then every call fails.
    let dying = thread::spawn(|| {
        if is_software() {
            return; // its context dies
        }
        thread::sleep(Duration::from_millis(5));
        let asked = faults::counts()["cuEventQuery"];
        (1..=100).for_each(|number| faults::fail_with("cuEventQuery", asked + number, FAULT));
    });
    for launch in launches {
        let error = block_on(launch).unwrap_err();
        assert!(
            matches!(error, Error::Cuda { source, .. } if source.code() == FAULT),
            "{error}"
        );
    }
    dying.join().expect("it does not panic");
    faults::start();
    Ok(())
}

#[test]
fn a_driver_without_alarms_is_asked_again() -> Result<()> {
    let test = "futures::a_driver_without_alarms_is_asked_again";
    let Some((device, _turn)) = device(test) else {
        return Ok(());
    };
    let mut graph = graphs::long(&device)?;
    block_on(graph.launch_async()?)?;
    faults::start();
    // Streams for alarms are kept, so only these calls fail.
    (1..=20).for_each(|number| faults::fail_with("cuLaunchHostFunc", number, 801));
    (1..=20).for_each(|number| faults::fail_with("cuLaunchHostFunc_v2", number, 801));
    block_on(graph.launch_async()?)?;
    faults::start();
    Ok(())
}
