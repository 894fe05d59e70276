//! Headers of the host that kernels may include. NVRTC, which compiles CUDA C++ to PTX, has none of them, so whoever
//! calls it gives it these texts in their place.

use std::borrow::Cow;

/// The header that NVRTC gets always: the one in CUDA's toolkit declares functions of the host.
pub const ALWAYS: &str = "cuda.h";

/// `(names, text)`
type Row = (&'static [&'static str], &'static str);

const TEXTS: [Row; 8] = [
    (&[ALWAYS], include_str!("host_headers/cuda.h")),
    (
        &["stdint.h", "cstdint", "inttypes.h", "cinttypes"],
        include_str!("host_headers/stdint.h"),
    ),
    (&["limits.h", "climits"], include_str!("host_headers/limits.h")),
    (&["float.h", "cfloat"], include_str!("host_headers/float.h")),
    (&["math.h", "cmath"], include_str!("host_headers/math.h")),
    (&["algorithm"], include_str!("host_headers/algorithm")),
    (
        &[
            "assert.h",
            "cassert",
            "stddef.h",
            "cstddef",
            "stdlib.h",
            "cstdlib",
            "stdio.h",
            "cstdio",
            "string.h",
            "cstring",
            "time.h",
            "ctime",
            "stdbool.h",
            "memory.h",
        ],
        include_str!("host_headers/builtin.h"),
    ),
    (
        &[
            "any",
            "cerrno",
            "condition_variable",
            "cstdarg",
            "deque",
            "errno.h",
            "exception",
            "fcntl.h",
            "filesystem",
            "fstream",
            "future",
            "iomanip",
            "ios",
            "iosfwd",
            "iostream",
            "istream",
            "list",
            "locale",
            "map",
            "memory",
            "mutex",
            "new",
            "omp.h",
            "ostream",
            "pthread.h",
            "queue",
            "random",
            "regex",
            "set",
            "sstream",
            "stack",
            "stdarg.h",
            "stdexcept",
            "string",
            "string_view",
            "sys/time.h",
            "sys/types.h",
            "system_error",
            "thread",
            "typeinfo",
            "unistd.h",
            "unordered_map",
            "unordered_set",
            "vector",
        ],
        include_str!("host_headers/host.h"),
    ),
];

/// The headers of C++ that libcu++ has for kernels, by the same names in `cuda/std/`.
const LIBRARY: [&str; 17] = [
    "array",
    "atomic",
    "bit",
    "chrono",
    "complex",
    "concepts",
    "functional",
    "initializer_list",
    "iterator",
    "limits",
    "numeric",
    "optional",
    "ratio",
    "span",
    "tuple",
    "type_traits",
    "utility",
];

/// Returns the text of a header of the host; `None` if it is none, or has nothing that would stand for it.
pub fn text(name: &str) -> Option<Cow<'static, str>> {
    if LIBRARY.contains(&name) {
        let text =
            format!("#pragma once\n#include <cuda/std/{name}>\nnamespace std {{\nusing namespace cuda::std;\n}}\n");
        return Some(text.into());
    }
    let found = TEXTS.iter().find(|(names, _)| names.contains(&name));
    found.map(|(_, text)| (*text).into())
}

/// Returns all texts, one after the other, for those who keep PTX that was compiled with some of them.
pub fn all() -> impl Iterator<Item = &'static str> {
    TEXTS.iter().map(|(_, text)| *text)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_names_the_missing_header() {
        let log = "kernels/x.cu(1): catastrophic error: cannot open source file \"cuda_fp16.h\"\n  #include\n";
        assert_eq!(missing(log), Some(("kernels/x.cu", "cuda_fp16.h")));
        let log = "x.cu(2): catastrophic error: could not open source file \"cmath\" (no directories in search list)\n";
        assert_eq!(missing(log), Some(("x.cu", "cmath")));
        assert_eq!(missing("kernels/x.cu(1): error: identifier \"x\" is undefined"), None);
    }

    #[test]
    fn headers_of_the_host_have_texts() {
        assert!(text("cstdint").unwrap().contains("typedef signed char int8_t;"));
        assert!(text("type_traits").unwrap().contains("#include <cuda/std/type_traits>"));
        for name in ["cuda_fp16.h", "my/stdint.h", "thrust/scan.h"] {
            assert!(text(name).is_none(), "{name}");
        }
    }

    /// A name has one text.
    #[test]
    fn names_are_in_one_row() {
        let all = TEXTS.iter().flat_map(|(names, _)| names.iter()).chain(&LIBRARY);
        let mut names: Vec<_> = all.collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
