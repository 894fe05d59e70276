//! Headers of the host that kernels may include: NVRTC has none, so it gets these texts in their place.

use std::borrow::Cow;

/// A header that NVRTC gets always: the one in the wheel of CUDA's runtime declares functions of the host.
pub(crate) const ALWAYS: &str = "cuda.h";

/// `(names, text)`
type Row = (&'static [&'static str], &'static str);

const TEXTS: [Row; 8] = [
    (&[ALWAYS], include_str!("answers/cuda.h")),
    (
        &["stdint.h", "cstdint", "inttypes.h", "cinttypes"],
        include_str!("answers/stdint.h"),
    ),
    (&["limits.h", "climits"], include_str!("answers/limits.h")),
    (&["float.h", "cfloat"], include_str!("answers/float.h")),
    (&["math.h", "cmath"], include_str!("answers/math.h")),
    (&["algorithm"], include_str!("answers/algorithm")),
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
        include_str!("answers/builtin.h"),
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
        include_str!("answers/host.h"),
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

/// The text of a header of the host; `None` if it is none, or has nothing that would stand for it.
pub(crate) fn text(name: &str) -> Option<Cow<'static, str>> {
    if LIBRARY.contains(&name) {
        let text =
            format!("#pragma once\n#include <cuda/std/{name}>\nnamespace std {{\nusing namespace cuda::std;\n}}\n");
        return Some(text.into());
    }
    let found = TEXTS.iter().find(|(names, _)| names.contains(&name));
    found.map(|(_, text)| (*text).into())
}

#[cfg(test)]
mod tests {
    use super::*;

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
