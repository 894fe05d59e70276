//! Tests take turns, see the front page of this program.

use crate::common::cuda_only;
use graph_runtime::Device;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The CUDA device, for as long as the guard lives; `None`, said aloud, where the emulator is tested.
pub(crate) fn cuda(test: &str) -> Option<(Device, MutexGuard<'static, ()>)> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    cuda_only(test).map(|device| (device, turn))
}
