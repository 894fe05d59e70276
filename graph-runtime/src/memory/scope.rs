//! Memory of others, lent to graphs for a time.

use crate::devices::Backend;
use crate::devices::cuda::twice;
use crate::devices::page_lock::PageLock;
use crate::error::{At, CudaError, Error, Result, Site};
use crate::in_flight::uses::{Patience, Terms};
use crate::memory::SharedHost;
use crate::ownership::block::{Piece, SharedMemory};
use crate::ownership::host_memory::HostMemory;
use crate::shape::{Element, NO_LENGTHS};
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A scope in which memory that others own is lent to graphs: [`Device::scope`](crate::Device::scope) makes it.
///
/// `'env` is the time for which the memory is borrowed. It is longer than the scope, which ends when no launch uses the
/// memory any more.
pub struct Scope<'env> {
    pub(super) backend: Backend,
    pub(super) loans: RefCell<Vec<Loan>>,
    /// `'env` neither shrinks nor grows: so nothing is lent that only the closure of the scope borrows.
    env: PhantomData<&'env mut &'env ()>,
}

/// Memory that has been lent.
pub(super) struct Loan {
    pub(super) memory: SharedMemory,
    #[expect(dead_code, reason = "it keeps host memory page-locked until it is dropped")]
    pub(super) page_lock: Option<PageLock>,
}

impl Scope<'_> {
    /// Calls `f` with a scope, and ends that.
    pub(crate) fn run<'env, R>(backend: &Backend, f: impl FnOnce(&Scope<'env>) -> Result<R>) -> Result<R> {
        backend.check()?;
        // The end of the scope waits for launches and claims, which must not wait for this thread: facts 5 and 6 of
        // `Uses`.
        if Patience::of_this_thread() == Patience::Refuses {
            return Err(Error::InUse {
                site: Site::default(),
                message: "memory cannot be lent in code that a launch calls: the scope would wait for the launch",
            });
        }
        let mut scope = EndedWhenDropped(Scope::<'env> {
            backend: backend.clone(),
            loans: RefCell::default(),
            env: PhantomData,
        });
        let result = f(&scope.0);
        let ended = scope.0.end().at(Site::lent);
        result.and_then(|value| ended.map(|()| value))
    }

    /// Takes back all that was lent: when this returns, nothing uses the memory, and nothing will. Returns the error of
    /// a launch that used it.
    fn end(&mut self) -> Result<(), CudaError> {
        let loans = self.loans.get_mut();
        let mut ended = Ok(());
        for loan in &*loans {
            if let Err(error) = twice(|| loan.memory.uses().end()) {
                self.backend.drain(); // the launches may run all the same
                ended = ended.and(Err(error));
            }
        }
        loans.clear(); // unlocks memory that no launch uses any more
        ended
    }
}

/// A scope that also ends if its closure panics. It is a local variable of [`Scope::run`], so nobody can forget it.
struct EndedWhenDropped<'env>(Scope<'env>);

impl Drop for EndedWhenDropped<'_> {
    fn drop(&mut self) {
        let _ = self.0.end();
    }
}

impl<'env> Scope<'env> {
    /// Lends memory to graphs until the scope ends, without copying it: `&` memory to be read, `&mut` memory to be
    /// read and written. The handle stands wherever a graph shares memory: in `build` and `rebind_x`,
    /// [`GraphBuilder::shared`](crate::GraphBuilder::shared) and [`Graph::rebind`](crate::Graph::rebind).
    ///
    /// See [`Lend`] for what can be lent. This waits for all work of the context if it lends a slice of cudarc's. Host
    /// memory is page-locked meanwhile.
    ///
    /// Neither a guard ([`SharedHost::read`]) nor [`DeviceBuffer::as_cudarc`](crate::DeviceBuffer::as_cudarc) lends the
    /// memory on.
    ///
    /// # Errors
    /// * [`Error::ForeignMemory`] for a slice of another context;
    /// * [`Error::Cuda`] if the driver refuses to wait, or to page-lock the memory.
    pub fn lend<L: Lend<'env>>(&self, memory: L) -> Result<L::Handle> {
        memory.lend(self)
    }

    /// Lends host memory of `bytes` bytes to be read.
    fn read<S: ?Sized>(&self, memory: &'env S, bytes: usize) -> Result<SharedHost<S>> {
        // SAFETY: the memory is borrowed for `'env`.
        unsafe { self.host(NonNull::from(memory), bytes, false) }
    }

    /// Lends host memory of `bytes` bytes to be read and written.
    fn write<S: ?Sized>(&self, memory: &'env mut S, bytes: usize) -> Result<SharedHost<S>> {
        // SAFETY: the memory is borrowed for `'env`, exclusively.
        unsafe { self.host(NonNull::from(memory), bytes, true) }
    }

    /// Lends the host memory at `pointer`, which has `bytes` bytes.
    ///
    /// # Safety
    ///
    /// The memory is borrowed for `'env`, exclusively if `write`. Its contents are elements, of which any bytes are a
    /// value.
    unsafe fn host<S: ?Sized>(&self, pointer: NonNull<S>, bytes: usize, write: bool) -> Result<SharedHost<S>> {
        let first = pointer.cast::<u8>();
        let page_lock = match &self.backend {
            // SAFETY: by the caller's promise; `end` drops the lock before the borrow ends.
            Backend::Cuda(cuda) if bytes > 0 => Some(unsafe { PageLock::new(cuda, first, bytes, write) }?),
            Backend::Cuda(_) | Backend::Emulator(_) => None,
        };
        // SAFETY: by the caller's promise. Before the borrow ends, `end` has taken the memory back: nothing uses it
        // from then on (fact 6 of `Uses`).
        let memory = unsafe { HostMemory::borrowed(&self.backend, first, bytes) };
        let piece = Piece::new(memory, bytes, NO_LENGTHS, Terms::Lent { write });
        self.loans.borrow_mut().push(Loan {
            memory: SharedMemory::Host(piece.clone()),
            page_lock,
        });
        Ok(SharedHost::new(pointer, piece))
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scope({} loans)", self.loans.borrow().len())
    }
}

/// Keeps others from implementing [`Lend`]: scopes rely on the borrows.
pub(super) mod sealed {
    pub trait Lend {}
}

/// Borrowed memory that a [`Scope`] lends to graphs:
///
/// * `&CudaSlice<T>`, `&mut CudaSlice<T>`, and the views that are made of them, as a
///   [`DeviceBuffer`](crate::DeviceBuffer) of `[T]`;
/// * `&[T]`, `&mut [T]`, and references to vectors, as a [`SharedHost`] of `[T]`; `&[T; N]` and `&mut [T; N]` as one of
///   `[T; N]`.
///
/// Graphs only read memory that is lent by `&`: building one that writes it is an error, and so is rebinding.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be lent to graphs",
    label = "not borrowed memory",
    note = "lend `&` or `&mut` of a `CudaSlice`, an array, a slice or a vector of elements",
    note = "graphs share a `DeviceBuffer` and a `SharedHost` as they are"
)]
pub trait Lend<'env>: sealed::Lend {
    /// The handle for graphs.
    type Handle;

    /// Lends it: see [`Scope::lend`].
    #[doc(hidden)]
    fn lend(self, scope: &Scope<'env>) -> Result<Self::Handle>;
}

/// Makes borrowed memory of a type a [`Lend`].
macro_rules! lend {
    ($([$($generics:tt)*] $ty:ty => $handle:ty: |$memory:ident, $scope:ident| $lent:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<'env, $($generics)*> sealed::Lend for $ty {}

        #[diagnostic::do_not_recommend]
        impl<'env, $($generics)*> Lend<'env> for $ty {
            type Handle = $handle;

            fn lend(self, $scope: &Scope<'env>) -> Result<$handle> {
                let $memory = self;
                $lent
            }
        }
    )*};
}
#[cfg(feature = "cudarc")]
pub(super) use lend;

lend! {
    [T: Element] &'env [T] => SharedHost<[T]>: |slice, scope| scope.read(slice, size_of_val(slice));
    [T: Element] &'env mut [T] => SharedHost<[T]>: |slice, scope| scope.write(slice, size_of_val(slice));
    [T: Element] &'env Vec<T> => SharedHost<[T]>: |vector, scope| vector.as_slice().lend(scope);
    [T: Element] &'env mut Vec<T> => SharedHost<[T]>: |vector, scope| vector.as_mut_slice().lend(scope);
    [T: Element, const N: usize] &'env [T; N] => SharedHost<[T; N]>: |array, scope| scope.read(array, size_of::<[T; N]>());
    [T: Element, const N: usize] &'env mut [T; N] => SharedHost<[T; N]>: |array, scope| scope.write(array, size_of::<[T; N]>());
}
