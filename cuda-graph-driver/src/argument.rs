//! The arguments that C passes by address: places to write to, values, lists and texts.
//!
//! Only the functions of the library have such arguments. Their callers promise what CUDA's documentation asks: an
//! address is null, or that of memory which is large enough, for the time of the call. Null is an error here.

use crate::code::{Done, INVALID_VALUE, fail};
use std::ffi::{CStr, c_char};

/// A place to write a value to.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

/// A value, or the first one of a list.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct In<T>(*const T);

/// A text that ends in 0.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Text(*const c_char);

impl<T: Copy> Out<T> {
    pub(crate) fn null() -> Self {
        Self(std::ptr::null_mut())
    }

    pub(crate) fn of(address: usize) -> Self {
        Self(std::ptr::with_exposed_provenance_mut(address))
    }

    pub(crate) fn to(place: &mut T) -> Self {
        Self(place)
    }

    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub(crate) fn put(self, value: T) -> Done {
        if self.is_null() {
            return fail(INVALID_VALUE, "a pointer to a result is null");
        }
        // SAFETY: the caller of the library has room for the value there.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// As [`Out::put`], but null means that nobody wants the value.
    pub(crate) fn offer(self, value: T) -> Done {
        if self.is_null() { Ok(()) } else { self.put(value) }
    }

    /// Writes the first values of a list, and as many as there is room for.
    pub(crate) fn put_list(self, values: impl IntoIterator<Item = T>, room: usize) -> Done {
        for (index, value) in values.into_iter().take(room).enumerate() {
            Self(self.0.wrapping_add(index)).put(value)?;
        }
        Ok(())
    }

    /// The value that is there.
    pub(crate) fn get(self) -> Done<T> {
        In(self.0.cast_const()).get()
    }

    /// A place of another type, so many bytes further on.
    pub(crate) fn at<U>(self, bytes: usize) -> Out<U> {
        Out(self.0.cast::<u8>().wrapping_add(bytes).cast())
    }
}

impl<T: Copy> In<T> {
    pub(crate) fn from(value: &T) -> Self {
        Self(value)
    }

    pub(crate) fn null() -> Self {
        Self(std::ptr::null())
    }

    pub(crate) fn from_out(out: Out<T>) -> Self {
        Self(out.0.cast_const())
    }

    pub(crate) fn of(address: usize) -> Self {
        Self(std::ptr::with_exposed_provenance(address))
    }

    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub(crate) fn get(self) -> Done<T> {
        if self.is_null() {
            return fail(INVALID_VALUE, "a pointer to a value is null");
        }
        // SAFETY: the caller of the library has a value there, of a type for which all bits are values.
        Ok(unsafe { self.0.read_unaligned() })
    }

    pub(crate) fn list(self, count: usize) -> Done<Vec<T>> {
        (0..count).map(|index| Self(self.0.wrapping_add(index)).get()).collect()
    }

    /// The value of another type, so many bytes further on.
    pub(crate) fn at<U>(self, bytes: usize) -> In<U> {
        In(self.0.cast::<u8>().wrapping_add(bytes).cast())
    }
}

impl Text {
    pub(crate) fn of(address: usize) -> Self {
        Self(std::ptr::with_exposed_provenance(address))
    }

    pub(crate) fn get(self) -> Done<String> {
        if self.0.is_null() {
            return fail(INVALID_VALUE, "a pointer to a text is null");
        }
        // SAFETY: the caller of the library has a text there that ends in 0.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }
}
