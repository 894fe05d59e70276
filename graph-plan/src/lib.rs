//! graph-plan
