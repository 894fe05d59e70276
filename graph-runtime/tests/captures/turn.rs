//! Tests take turns, see the front page of this program.

use crate::common::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The CUDA device, for as long as the guard lives.
pub(crate) fn cuda() -> (Device, MutexGuard<'static, ()>) {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    (cuda_device(), turn)
}
