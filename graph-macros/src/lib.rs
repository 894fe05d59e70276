//! graph-macros
