//! Calls of a library that is loaded when the program runs. One row declares a call: the `unsafe fn` that makes it, the
//! library's function, and the arguments that it gets.
//!
//! A driver may be newer than the bindings, and return a code that they do not list. In Rust, a value of an enum that
//! its declaration does not list is undefined behaviour. So every function is declared here as returning an integer,
//! and every enum that a library writes into memory is an integer, too.

use std::ptr;

/// Declares calls of a library, and `names`, the list of the library's names for them. The library is given by the
/// function that finds a function in it, the function that makes an error of a name and a code, the type of that error,
/// and the word `driver`, `runtime` or `nvrtc`. A row is
///
/// ```text
/// /// More documentation than the name of the library's function.
/// fn method(argument: Type, ..) -> out: Result = function(parameter: Type as Binding = value, ..), newer;
/// ```
///
/// The function's parameters are the arguments if they are not listed. The value of a parameter is the argument of its
/// name, if none is given. `out` is a local variable, which the call writes: a parameter has its address. A type that
/// is not that of cudarc's bindings (`types` has its own structs and enums, and what a library writes is an integer)
/// comes with the one of the bindings, `sys::Type`. A function that is `newer` is not in all versions of the bindings,
/// so nothing compares it: its types are those of CUDA's header.
macro_rules! calls {
    (
        $library:tt $names:ident;
        $(
            $(#[$meta:meta])*
            $vis:vis fn $method:ident($($argument:ident: $type:ty),* $(,)?) $(-> $out:ident: $result:ty)?
                = $function:ident $(($($parameters:tt)*))? $(, $newer:ident)?;
        )*
    ) => {
        /// The library's names of the calls above.
        pub(super) const $names: &[&str] = &[$(stringify!($function)),*];
        // Only some libraries' names are used without the feature `fault-injection`.
        const _: &[&str] = $names;
        $($crate::driver::calls::call! {
            $library [$($newer)?] {$(#[$meta])*} $vis $method [] ($($argument: $type),*) [$($out: $result)?]
            $function [] [$(($($parameters)*))?]
        })*
    };
}
pub(super) use calls;

/// Declares one call of [`calls`]. The arguments, and the parameters of the library's function, each have a first part,
/// which may be empty.
macro_rules! call {
    (
        $library:tt $newer:tt $meta:tt $vis:vis $method:ident $first:tt ($($argument:ident: $type:ty),*) $out:tt
        $function:ident $first_parameters:tt []
    ) => {
        $crate::driver::calls::call! {
            $library $newer $meta $vis $method $first ($($argument: $type),*) $out
            $function $first_parameters [($($argument: $type),*)]
        }
    };
    (
        {$find:path, $fail:path, $failure:ty, $library:ident} [$($newer:ident)?] {$(#[$meta:meta])*} $vis:vis $method:ident
        [$($first:ident: $first_type:ty),*] ($($argument:ident: $type:ty),*) [$($out:ident: $result:ty)?]
        $function:ident [$($first_parameter:ident: $first_raw:ty $(= $first_value:expr)?),*]
        [($($parameter:ident: $raw:ty $(as $binding:ty)? $(= $value:expr)?),* $(,)?)]
    ) => {
        #[doc = concat!("`", stringify!($function), "`")]
        ///
        $(#[$meta])*
        ///
        /// # Safety
        ///
        /// The arguments are as CUDA asks.
        #[inline]
        $vis unsafe fn $method(
            $($first: $first_type,)* $($argument: $type),*
        ) -> Result<$crate::driver::calls::result!($($result)?), $failure> {
            type Function = unsafe extern "C" fn($($first_raw,)* $($raw),*) -> u32;
            static FOUND: std::sync::OnceLock<Option<Function>> = std::sync::OnceLock::new();
            const NAME: &str = stringify!($function);
            $crate::driver::calls::compare!(
                $library $function [$($newer)?] [$($first_raw,)* $($crate::driver::calls::binding!($raw $(as $binding)?)),*]
            );
            // SAFETY: the type is that of the bindings, with integers for enums, or that of CUDA's header.
            let Some(function) = *FOUND.get_or_init(|| unsafe { $find(NAME) }) else {
                return Err($fail(NAME, $crate::driver::calls::MISSING));
            };
            $(let mut $out: $result = $crate::driver::calls::Out::EMPTY;)?
            // SAFETY: by the caller's promise; out-parameters point to a local variable.
            let call = || unsafe {
                function(
                    $($crate::driver::calls::value!($first_parameter $(= $first_value)?),)*
                    $($crate::driver::calls::value!($parameter $(= $value)?)),*
                )
            };
            match $crate::driver::calls::make(NAME, call) {
                0 => Ok($crate::driver::calls::output!($($out)?)),
                code => Err($fail(NAME, code)),
            }
        }
    };
}
pub(super) use call;

/// Makes a call, or lets it fail if a test has planned that. Returns its code.
#[cfg(feature = "fault-injection")]
pub(super) use super::faults::call as make;

/// Makes a call. Returns its code.
#[cfg(not(feature = "fault-injection"))]
#[inline]
pub(super) fn make(_name: &'static str, call: impl FnOnce() -> u32) -> u32 {
    call()
}

/// Compares the type of a function with cudarc's bindings, which the runtime library has none of. The tests do that:
/// their build has bindings that load the library, whatever other crates ask of cudarc.
macro_rules! compare {
    (driver $function:ident [] [$($type:ty),* $(,)?]) => {
        #[cfg(all(test, feature = "cudarc"))]
        const _: () = {
            use cudarc::driver::sys;
            let _: unsafe fn($($type),*) -> sys::CUresult = sys::$function;
        };
    };
    (nvrtc $function:ident [] [$($type:ty),* $(,)?]) => {
        #[cfg(all(test, feature = "cudarc"))]
        const _: () = {
            use cudarc::nvrtc::sys;
            let _: unsafe fn($($type),*) -> sys::nvrtcResult = sys::$function;
        };
    };
    (runtime $function:ident $newer:tt $types:tt) => {};
    ($library:ident $function:ident [newer] $types:tt) => {};
}
pub(super) use compare;

/// The type of a parameter in the bindings.
#[cfg(all(test, feature = "cudarc"))]
macro_rules! binding {
    ($type:ty) => {
        $type
    };
    ($type:ty as $binding:ty) => {
        $binding
    };
}
#[cfg(all(test, feature = "cudarc"))]
pub(super) use binding;

/// The value of a parameter.
macro_rules! value {
    ($parameter:ident) => {
        $parameter
    };
    ($parameter:ident = $value:expr) => {
        $value
    };
}
pub(super) use value;

/// The type of the result of a call.
macro_rules! result {
    () => {
        ()
    };
    ($result:ty) => {
        $result
    };
}
pub(super) use result;

/// The result of a call.
macro_rules! output {
    () => {
        ()
    };
    ($out:ident) => {
        $out
    };
}
pub(super) use output;

/// A type that calls write.
pub(super) trait Out {
    /// The value before the call.
    const EMPTY: Self;
}

impl<T> Out for *mut T {
    const EMPTY: Self = ptr::null_mut();
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(impl Out for $number {
            const EMPTY: Self = 0;
        })*
    };
}
numbers!(i32, u32, u64, usize);

impl Out for f32 {
    const EMPTY: Self = 0.0;
}

impl Out for super::types::CUipcMemHandle {
    const EMPTY: Self = Self { reserved: [0; 64] };
}

/// The code of a call that the library lacks: `CUDA_ERROR_NOT_SUPPORTED`.
pub(crate) const MISSING: u32 = 801;
