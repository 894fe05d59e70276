//! What the closures of `capture` and `raw` nodes may end with in `cuda_graph!`: a value, or a `Result` with any error.

use crate::program::capture::BoxError;
use cudarc::driver::sys::CUgraphNode;

/// What library calls end with.
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

/// The result of library calls.
pub fn captured<R: CaptureValue>(value: R) -> Result<(), BoxError> {
    value.result()
}

/// What adding nodes by hand ends with.
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

/// The node that was added by hand.
pub fn added<R: RawValue>(value: R) -> Result<CUgraphNode, BoxError> {
    value.result()
}
