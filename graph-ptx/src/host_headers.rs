//! Headers of the host that kernels may include. NVRTC, which compiles CUDA C++ to PTX, has none of them, so whoever
//! calls it gives it these texts in their place.

use std::borrow::Cow;

/// The header that NVRTC gets always: the one in CUDA's toolkit declares functions of the host.
pub const ALWAYS: &str = "cuda.h";

const CUDA: &str = include_str!("host_headers/cuda.h");
const INTEGERS: &str = include_str!("host_headers/stdint.h");
const LIMITS: &str = include_str!("host_headers/limits.h");
const FLOATS: &str = include_str!("host_headers/float.h");
const MATH: &str = include_str!("host_headers/math.h");
const ALGORITHM: &str = include_str!("host_headers/algorithm");
/// The text of headers whose declarations NVRTC has without them.
const BUILTIN: &str = include_str!("host_headers/builtin.h");
/// The text of headers that only functions of the host can use.
const HOST: &str = include_str!("host_headers/host.h");

/// Returns the text of a header of the host; `None` if it is none, or has nothing that would stand for it.
pub fn text(name: &str) -> Option<Cow<'static, str>> {
    let text = match name {
        ALWAYS => CUDA,
        "stdint.h" | "cstdint" | "inttypes.h" | "cinttypes" => INTEGERS,
        "limits.h" | "climits" => LIMITS,
        "float.h" | "cfloat" => FLOATS,
        "math.h" | "cmath" => MATH,
        "algorithm" => ALGORITHM,
        "assert.h" | "cassert" | "stddef.h" | "cstddef" | "stdlib.h" | "cstdlib" | "stdio.h" | "cstdio"
        | "string.h" | "cstring" | "time.h" | "ctime" | "stdbool.h" | "memory.h" => BUILTIN,
        "any" | "cerrno" | "condition_variable" | "cstdarg" | "deque" | "errno.h" | "exception" | "fcntl.h"
        | "filesystem" | "fstream" | "future" | "iomanip" | "ios" | "iosfwd" | "iostream" | "istream" | "list"
        | "locale" | "map" | "memory" | "mutex" | "new" | "omp.h" | "ostream" | "pthread.h" | "queue" | "random"
        | "regex" | "set" | "sstream" | "stack" | "stdarg.h" | "stdexcept" | "string" | "string_view"
        | "sys/time.h" | "sys/types.h" | "system_error" | "thread" | "typeinfo" | "unistd.h" | "unordered_map"
        | "unordered_set" | "vector" => HOST,
        // libcu++ has them for kernels, by the same names in `cuda/std/`.
        "array" | "atomic" | "bit" | "chrono" | "complex" | "concepts" | "functional" | "initializer_list"
        | "iterator" | "limits" | "numeric" | "optional" | "ratio" | "span" | "tuple" | "type_traits" | "utility" => {
            let text =
                format!("#pragma once\n#include <cuda/std/{name}>\nnamespace std {{\nusing namespace cuda::std;\n}}\n");
            return Some(text.into());
        }
        _ => return None,
    };
    Some(text.into())
}

/// Returns all texts, one after the other, for those who keep PTX that was compiled with some of them.
pub fn all() -> impl Iterator<Item = &'static str> {
    [CUDA, INTEGERS, LIMITS, FLOATS, MATH, ALGORITHM, BUILTIN, HOST].into_iter()
}

/// Returns the file that includes the header which NVRTC could not open, and the header, as its log tells.
pub fn missing(log: &str) -> Option<(&str, &str)> {
    // It says "cannot" or, if no option names a folder of headers, "could not".
    let (place, rest) = log.split_once("not open source file \"")?;
    let (name, _) = rest.split_once('"')?;
    let line = place.rsplit('\n').next().unwrap_or_default();
    Some((line.split_once('(').map_or("", |(file, _)| file), name))
}

/// The words in NVRTC's messages about functions and variables of the host, which it does not compile.
const OF_HOST: [&str; 3] = [
    "is considered a host function",
    "marked as a __host__ function",
    "is considered a host variable",
];

/// Whether a message of NVRTC's log is about code of the host.
pub fn is_about_host(message: &str) -> bool {
    OF_HOST.iter().any(|part| message.contains(part))
}
