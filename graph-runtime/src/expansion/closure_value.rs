//! The results of closures of `capture` and `raw` nodes in `cuda_graph!`: a value, or a `Result` with any error.

use crate::driver::CUgraphNode;
use crate::program::capture::BoxError;

/// The result of a closure of library calls: `()`, or a `Result` of it.
#[diagnostic::on_unimplemented(
    message = "the closure of a `capture` ends with `{Self}`",
    label = "neither `()` nor a `Result<(), _>` of an error type"
)]
pub trait CaptureValue {
    #[doc(hidden)]
    fn result(self) -> Result<(), BoxError>;
}

#[diagnostic::do_not_recommend]
impl CaptureValue for () {
    fn result(self) -> Result<(), BoxError> {
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<E: Into<BoxError>> CaptureValue for Result<(), E> {
    fn result(self) -> Result<(), BoxError> {
        self.map_err(Into::into)
    }
}

/// Turns the result of library calls into a `Result`.
///
/// # Errors
/// The error of the closure.
pub fn captured<R: CaptureValue>(value: R) -> Result<(), BoxError> {
    value.result()
}

/// The result of a closure that adds nodes by hand: the node, or a `Result` of it.
#[diagnostic::on_unimplemented(
    message = "the closure of a `raw` node ends with `{Self}`",
    label = "neither a `CUgraphNode` nor a `Result<CUgraphNode, _>` of an error type"
)]
pub trait RawValue {
    #[doc(hidden)]
    fn result(self) -> Result<CUgraphNode, BoxError>;
}

#[diagnostic::do_not_recommend]
impl RawValue for CUgraphNode {
    fn result(self) -> Result<CUgraphNode, BoxError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<E: Into<BoxError>> RawValue for Result<CUgraphNode, E> {
    fn result(self) -> Result<CUgraphNode, BoxError> {
        self.map_err(Into::into)
    }
}

/// Turns the result of adding nodes by hand into a `Result`.
///
/// # Errors
/// The error of the closure.
pub fn added<R: RawValue>(value: R) -> Result<CUgraphNode, BoxError> {
    value.result()
}
