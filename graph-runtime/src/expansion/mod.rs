//! The items that expansions of the macros use besides the public ones. They are public as [`private`](crate::private).

pub(crate) mod moved;
pub(crate) mod expression;
pub(crate) mod interface;
pub(crate) mod node_target;
pub(crate) mod declare;
pub(crate) mod update;
pub(crate) mod group;
pub(crate) mod argument;
pub(crate) mod passed;
pub(crate) mod assert;
pub(crate) mod launch;
pub(crate) mod closure_value;
pub(crate) mod plan;
pub(crate) mod no_accessor;
