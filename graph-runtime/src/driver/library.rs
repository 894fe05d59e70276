//! Functions of a library that is loaded when the program runs: declaring them, and finding them at their first call.
//!
//! A driver may be newer than the bindings, and return a code that they do not list. In Rust, a value of an enum that
//! its declaration does not list is undefined behaviour. So every function is declared here as returning an integer,
//! and every enum that a library writes into memory is an integer, too.

/// Declares functions of a library. `find` looks one up by name, `fail` makes the error of a call and its code, and
/// `bindings` is cudarc's module of declarations, which these are compared with. `NAMES` becomes the list of all names.
///
/// An argument whose type is not that of the bindings, since that would be an enum that the library writes, is written
/// `name: type as type of the bindings`. Functions after `newer:` are not in all versions of the bindings, so nothing
/// compares them: their types are those of CUDA's header.
macro_rules! functions {
    (
        $(#[$names:meta])* NAMES;
        find: $find:path, fail: $fail:path, error: $error:ty, bindings: $bindings:ident -> $result:ty;
        $(fn $name:ident($($argument:ident: $type:ty $(as $binding:ty)?),* $(,)?);)*
        newer:
        $(fn $newer:ident($($newer_argument:ident: $newer_type:ty),* $(,)?);)*
    ) => {
        $(
            const _: unsafe fn($($crate::driver::library::binding!($type $(as $binding)?)),*) -> $result =
                $bindings::$name;
        )*
        $(#[$names])*
        /// The names of all functions that are declared here.
        pub(crate) const NAMES: &[&str] = &[$(stringify!($name),)* $(stringify!($newer)),*];
        $crate::driver::library::callable! {
            $find, $fail, $error;
            $($name($($argument: $type),*);)*
            $($newer($($newer_argument: $newer_type),*);)*
        }
    };
}
pub(super) use functions;

/// The type of an argument in the bindings.
macro_rules! binding {
    ($type:ty) => {
        $type
    };
    ($type:ty as $binding:ty) => {
        $binding
    };
}
pub(super) use binding;

/// Makes a Rust function of each declaration. It finds the library's function, calls it, and turns a code other than 0
/// into an error. A library that lacks the function gives the error `MISSING`.
macro_rules! callable {
    ($find:path, $fail:path, $error:ty; $($name:ident($($argument:ident: $type:ty),*);)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`")]
            ///
            /// # Safety
            ///
            /// The arguments are as CUDA asks.
            #[inline]
            #[expect(non_snake_case, reason = "the name is CUDA's")]
            pub(super) unsafe fn $name($($argument: $type),*) -> Result<(), $error> {
                type Function = unsafe extern "C" fn($($type),*) -> u32;
                static FOUND: std::sync::OnceLock<Option<Function>> = std::sync::OnceLock::new();
                const NAME: &str = stringify!($name);
                // SAFETY: the type is that of the bindings, with integers for enums, or that of CUDA's header.
                let Some(function) = *FOUND.get_or_init(|| unsafe { $find(NAME) }) else {
                    return Err($fail(NAME, $crate::driver::library::MISSING));
                };
                // SAFETY: by the caller's promise.
                let call = || unsafe { function($($argument),*) };
                #[cfg(feature = "fault-injection")]
                let call = || $crate::driver::faults::call(NAME, call);
                match call() {
                    0 => Ok(()),
                    code => Err($fail(NAME, code)),
                }
            }
        )*
    };
}
pub(super) use callable;

/// The code of a call that the library lacks: `CUDA_ERROR_NOT_SUPPORTED`.
pub(crate) const MISSING: u32 = 801;
