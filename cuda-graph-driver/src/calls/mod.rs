//! The functions of the library: one row for each, and what all of them have in common.

mod library;
mod runtime_graph;
mod update;
mod executable;
mod node;
mod graph;
mod launch;
mod stream;
mod nccl;
mod texture;
mod copy;
mod memory;
mod virtual_memory;
mod module;
mod context;

use crate::code::{Done, Failure, INVALID_CONTEXT, NOT_PERMITTED, SUCCESS, UNKNOWN, fail};
use crate::log;
use crate::settings::{Plan, arrive};
use crate::state::{IN_FUNCTION, current, state};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The needs of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// Nothing.
    Nothing,
    /// A current context, if that is not lost.
    Context,
    /// As `Context`; and no stream may be captured in a way that forbids the call.
    NoCapture,
    /// A current context, which may be lost.
    AnyContext,
}

/// Makes a call, unless something forbids it, and returns its code.
fn make(name: &'static str, needs: Needs, body: impl FnOnce() -> Done) -> u32 {
    let checked = || {
        match arrive(name) {
            Plan::Runs => {}
            Plan::Fails(code) => return fail(code, "it was planned"),
            Plan::Dies(code) => {
                let lost = Failure {
                    code,
                    text: "it was planned".into(),
                };
                current()
                    .into_iter()
                    .for_each(|context| state().lose(context, lost.clone()));
            }
        }
        if needs == Needs::Nothing {
            return body();
        }
        if IN_FUNCTION.get() {
            return fail(NOT_PERMITTED, "a host function makes no calls");
        }
        let Some(context) = current() else {
            return fail(INVALID_CONTEXT, "no context is current");
        };
        if needs != Needs::AnyContext {
            state().check_context(context)?;
        }
        if needs == Needs::NoCapture {
            state().check_unsafe()?;
        }
        body()
    };
    let done =
        catch_unwind(AssertUnwindSafe(checked)).unwrap_or_else(|_| fail(UNKNOWN, "the driver itself has failed"));
    match done {
        Ok(()) => SUCCESS,
        Err(failure) => {
            if failure.code != crate::code::NOT_READY {
                log::tell(&format!("{name}: {}", failure.text));
            }
            failure.code
        }
    }
}

/// Declares functions of the library, and the list of their names and addresses. A row is what the call needs, its
/// name, its arguments, and a body that returns [`Done`].
macro_rules! calls {
    ($($needs:ident $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {
        /// The names and the addresses of these functions.
        pub(super) const TABLE: &[(&str, *const ())] = &[$((stringify!($name), $name as *const ())),*];

        $(
            #[unsafe(no_mangle)]
            pub(super) extern "C" fn $name($($argument: $type),*) -> u32 {
                crate::calls::make(stringify!($name), crate::calls::Needs::$needs, || $body)
            }
        )*
    };
}
use calls;
