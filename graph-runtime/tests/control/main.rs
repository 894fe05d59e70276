//! Statements that hold other statements: `if`, `while`, `switch`, `for`, and graphs as nodes of others.

#[path = "../common/mod.rs"]
mod common;

mod body_forms;
mod child_handles;
mod children;
mod children_memory;
mod children_params;
mod conditional_calls;
mod conditionals;
mod each_calls;
mod each_statements;
mod exits;
mod loop_bodies;
mod loop_calls;
mod loops;
mod parity;
