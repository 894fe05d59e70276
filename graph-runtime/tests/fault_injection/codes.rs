//! Codes that the bindings do not list, as a driver that is newer than they are may return them.

use crate::common::*;
use crate::graphs::Small;
use crate::software::{device, device_with};
use graph_runtime::fault_injection as faults;

/// No version of CUDA has this code.
const CODE: u32 = 123_456;

#[test]
fn an_unknown_code_is_an_error_with_its_number() -> Result<()> {
    let Some((device, _turn)) = device("codes::an_unknown_code_is_an_error_with_its_number") else {
        return Ok(());
    };
    for call in [
        "cuGraphUpload",
        "cuGraphAddMemsetNode",
        "cuMemAlloc_v2",
        "cuModuleGetFunction",
    ] {
        faults::start();
        faults::fail_with(call, 1, CODE);
        let error = Small::build(&device).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with(&format!("{call} failed: unknown error (123456)")),
            "{error}"
        );
        assert!(matches!(error, Error::Cuda { source, .. } if source.code() == CODE && source.call() == call));
    }
    Ok(())
}

#[test]
fn a_driver_may_return_an_unknown_code_itself() {
    let test = "codes::a_driver_may_return_an_unknown_code_itself";
    let Some((device, _turn)) = device_with(test, &[("CUDA_GRAPH_DRIVER_FAILS", "cuGraphUpload=123456")]) else {
        return;
    };
    if is_software() {
        let error = Small::build(&device).unwrap_err();
        error.reads("graph `Small`: cuGraphUpload failed: unknown error (123456)");
    }
}

#[test]
fn a_driver_may_refuse_to_start_by_an_unknown_code() {
    let test = "codes::a_driver_may_refuse_to_start_by_an_unknown_code";
    let Some((_device, _turn)) = device(test) else { return };
    faults::fail_with("cuInit", 1, CODE);
    let error = Device::cuda(0).unwrap_err();
    assert_eq!(error.to_string(), "cuInit failed: unknown error (123456)");
}
