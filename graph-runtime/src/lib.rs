//! graph-runtime
