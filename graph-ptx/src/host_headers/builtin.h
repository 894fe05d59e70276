// The names of <stddef.h>, <string.h>, <stdlib.h>, <stdio.h>, <time.h> and <assert.h> that kernels may use: NVRTC has
// them without a header.
#pragma once
namespace std {
using ::size_t;
using ::ptrdiff_t;
typedef decltype(nullptr) nullptr_t;
using ::memcpy;
using ::memset;
using ::malloc;
using ::free;
using ::abs;
using ::printf;
using ::clock_t;
using ::clock;
}
