//! Host functions of `call` nodes, and the host memory that they get as Rust references.

use crate::error::CudaError;
use crate::program::tuples::each_tuple;
use crate::shape::part::Part;
use crate::shape::place::{DeclaredAccess, OnHost, Place};
use crate::shape::table::{Table, TableMut, TableRef};
use crate::shape::{Element, Extent, Lengths};
use graph_plan::Mode;
use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError, TryLockError};
use std::thread::{self, ThreadId};

/// Seals the traits of borrowed memory: the references that a host function gets are sound only because these are the
/// only implementations.
mod sealed {
    pub trait HostArgument {}
    pub trait HostArguments {}
}

/// Host memory that a host function borrows: `&Place` to read it, `&mut Place` to read and write it.
#[diagnostic::on_unimplemented(
    message = "a host function cannot borrow `{Self}` [wrong-memory]",
    label = "not a place in host memory",
    note = "copy device memory to a `host` resource first, and borrow that"
)]
pub trait HostArgument: sealed::HostArgument {
    /// The argument that the function gets: `&S` or `&mut S`, if the memory has shape `S`; for a table, a view.
    type Reference<'a>;

    #[doc(hidden)]
    fn declared(&self) -> DeclaredAccess;

    /// # Safety
    ///
    /// From `pointer` on there are `bytes` bytes of the memory that the place was issued for, aligned for it. During
    /// `'a` nobody else writes them; if this borrows mutably, nobody else touches them. `lengths` are those of the
    /// place.
    #[doc(hidden)]
    unsafe fn reference<'a>(pointer: NonNull<u8>, bytes: usize, lengths: &Lengths) -> Self::Reference<'a>;
}

impl<S: ?Sized> sealed::HostArgument for &Place<S, OnHost> {}
impl<S: ?Sized> sealed::HostArgument for &mut Place<S, OnHost> {}

/// Implements the trait for places of a shape: borrowed, and borrowed mutably. Both make the reference that the
/// function gets of a reference to the elements.
macro_rules! host_arguments {
    (
        $([$($bound:tt)*] $shape:ty: $shared:ty, $exclusive:ty,
            $elements:ty, |$memory:ident, $lengths:ident| $make:expr, $make_mut:expr;)*
    ) => {$(
        impl<$($bound)*> HostArgument for &Place<$shape, OnHost> {
            type Reference<'a> = $shared;

            fn declared(&self) -> DeclaredAccess {
                DeclaredAccess::new(self, Mode::Read)
            }

            unsafe fn reference<'a>(pointer: NonNull<u8>, bytes: usize, $lengths: &Lengths) -> $shared {
                // SAFETY: by the caller's promise; any bytes are an `Element`, or several of them.
                let $memory: &'a $elements = unsafe { <$elements>::at(pointer, bytes).as_ref() };
                $make
            }
        }

        impl<$($bound)*> HostArgument for &mut Place<$shape, OnHost> {
            type Reference<'a> = $exclusive;

            fn declared(&self) -> DeclaredAccess {
                DeclaredAccess::new(self, Mode::ReadWrite)
            }

            unsafe fn reference<'a>(pointer: NonNull<u8>, bytes: usize, $lengths: &Lengths) -> $exclusive {
                // SAFETY: as above, and nobody else touches them.
                let $memory: &'a mut $elements = unsafe { <$elements>::at(pointer, bytes).as_mut() };
                $make_mut
            }
        }
    )*};
}
host_arguments! {
    [S: Element] S: &'a S, &'a mut S, S, |memory, _lengths| memory, memory;
    [T: Element] [T]: &'a [T], &'a mut [T], [T], |memory, _lengths| memory, memory;
    [T: Element, const D: usize] Table<T, D>: TableRef<'a, T, D>, TableMut<'a, T, D>, [T],
        |memory, lengths| TableRef::new(memory, lengths), TableMut::new(memory, lengths);
}

/// The memory that a host function borrows: a tuple of up to twelve [`HostArgument`]s.
#[diagnostic::on_unimplemented(
    message = "a host function cannot borrow `{Self}`",
    label = "not a tuple of places in host memory",
    note = "the arguments are a tuple of `&Place` and `&mut Place`: `(&input, &mut output)`, and `(&input,)` for one"
)]
pub trait HostArguments: sealed::HostArguments {
    /// The arguments that the function gets: a tuple of references.
    type References<'a>;

    #[doc(hidden)]
    fn declared(&self) -> Vec<DeclaredAccess>;

    /// # Safety
    ///
    /// As for [`HostArgument::reference`]: `memory` has a pointer and a length in bytes for each argument, and
    /// `lengths` has the lengths of its place.
    #[doc(hidden)]
    unsafe fn references<'a>(memory: &[(NonNull<u8>, usize)], lengths: &[Lengths]) -> Self::References<'a>;
}

impl sealed::HostArguments for () {}

impl HostArguments for () {
    type References<'a> = ();

    fn declared(&self) -> Vec<DeclaredAccess> {
        Vec::new()
    }

    unsafe fn references<'a>(_memory: &[(NonNull<u8>, usize)], _lengths: &[Lengths]) -> Self::References<'a> {}
}

macro_rules! tuples {
    ($([$($argument:ident $index:tt)*])*) => {$(
        impl<$($argument: HostArgument),*> sealed::HostArguments for ($($argument,)*) {}

        impl<$($argument: HostArgument),*> HostArguments for ($($argument,)*) {
            type References<'a> = ($($argument::Reference<'a>,)*);

            fn declared(&self) -> Vec<DeclaredAccess> {
                vec![$(self.$index.declared()),*]
            }

            unsafe fn references<'a>(memory: &[(NonNull<u8>, usize)], lengths: &[Lengths]) -> Self::References<'a> {
                ($({
                    let (pointer, bytes) = memory[$index];
                    // SAFETY: by the caller's promise about this argument.
                    unsafe { $argument::reference(pointer, bytes, &lengths[$index]) }
                },)*)
            }
        }
    )*};
}
each_tuple!(tuples);

pub(crate) type Function = Box<dyn FnMut(&[(NonNull<u8>, usize)]) + Send>;

/// A host function, without the types of its arguments.
///
/// The mutex is contended only by graphs of one definition, which share the function: CUDA runs the launches of a graph
/// one after the other, and each node once in a launch. With it, soundness does not depend on CUDA: the function is
/// never entered twice at the same time. A thread that runs a host function does not wait for the mutex, so whoever
/// holds it gets done: fact 5 of [`Uses`](crate::in_flight::uses::Uses).
pub(crate) struct HostCall {
    /// The memory that it borrows, in order.
    pub(crate) declared: Vec<(Part, Mode)>,
    function: Mutex<Function>,
    /// The thread that runs the function.
    owner: Mutex<Option<ThreadId>>,
}

impl HostCall {
    pub(crate) fn new<A, F>(arguments: &A, mut function: F) -> Self
    where
        A: HostArguments,
        F: for<'a> FnMut(A::References<'a>) + Send + 'static,
    {
        let declared = arguments.declared();
        let lengths: Vec<Lengths> = declared.iter().map(|declared| declared.lengths).collect();
        Self::of(
            &declared,
            Box::new(move |memory| {
                // SAFETY: `run`, the only caller, was promised this; the references end with the call.
                function(unsafe { A::references(memory, &lengths) });
            }),
        )
    }

    /// A function that gets the memory of these accesses, which `run` is promised.
    pub(crate) fn of(declared: &[DeclaredAccess], function: Function) -> Self {
        let declared = declared.iter();
        Self {
            declared: declared
                .map(|declared| (Part::of(declared.span), declared.mode))
                .collect(),
            function: Mutex::new(function),
            owner: Mutex::default(),
        }
    }

    /// Calls the function. If it panics, returns the panic's message as the error.
    ///
    /// # Safety
    ///
    /// `memory` has, for each of `declared`, the first byte of that part and its length. While this runs, nobody else
    /// writes memory that is declared to be read, or touches memory that is declared to be written.
    pub(crate) unsafe fn run(&self, memory: &[(NonNull<u8>, usize)]) -> Result<(), String> {
        let owner = || self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        // On the emulator, the function may launch another graph that shares it, which would wait for this call.
        let thread = Some(thread::current().id());
        if *owner() == thread {
            return Err(
                "it was called while it was running, by a launch of another graph of its definition".to_owned(),
            );
        }
        let mut function = match self.function.try_lock() {
            Ok(function) => function,
            Err(TryLockError::Poisoned(function)) => function.into_inner(),
            // Two functions whose launches call each other's would wait for ever: fact 5 of `Uses`.
            Err(TryLockError::WouldBlock) if is_running() => {
                return Err(
                    "it is running on another thread, in a launch of another graph of its definition, and a host function \
                     does not wait for another one"
                        .to_owned(),
                );
            }
            Err(TryLockError::WouldBlock) => self.function.lock().unwrap_or_else(PoisonError::into_inner),
        };
        let _running = Running::enter();
        // A panic can leave only the function's own state half-done, as in a thread that panics: plain data, and the
        // values that it captured.
        *owner() = thread;
        let called = catch_unwind(AssertUnwindSafe(|| function(memory)));
        *owner() = None;
        called.map_err(message)
    }
}

thread_local! {
    static RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread runs a host function, which must not use CUDA.
pub(crate) fn is_running() -> bool {
    RUNNING.get()
}

/// Fails if this thread runs a host function. CUDA forbids its calls there, and waiting could be for work that comes
/// after the function.
pub(crate) fn refuse_in_host_function() -> Result<(), CudaError> {
    if !is_running() {
        return Ok(());
    }
    Err(CudaError::new(
        "a CUDA call in a host function",
        "CUDA_ERROR_NOT_PERMITTED",
        800,
    ))
}

/// Marks this thread as running a host function, as long as it lives.
pub(crate) struct Running {
    before: bool,
}

impl Running {
    pub(crate) fn enter() -> Self {
        Self {
            before: RUNNING.replace(true),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.set(self.before);
    }
}

/// The message of a panic.
pub(crate) fn message(payload: Box<dyn Any + Send>) -> String {
    let payload = match payload.downcast::<String>() {
        Ok(text) => return *text,
        Err(other) => other,
    };
    match payload.downcast::<&'static str>() {
        Ok(text) => (*text).to_owned(),
        Err(other) => {
            std::mem::forget(other); // its `drop` could panic, and no panic may leave this function
            "a value that is no text".to_owned()
        }
    }
}

impl fmt::Debug for HostCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostCall({:?})", self.declared)
    }
}
