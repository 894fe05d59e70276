//! The built-in kernels: their modules, and the text that each device gets.

use crate::devices::cuda::Cuda;
use crate::error::CudaError;
use crate::kernel::PROGRAMMATIC_FROM;
use crate::program::communicator::number::Number;
use std::ffi::CStr;
use std::sync::OnceLock;

/// The first compute capability with programmatic launches.
pub(super) const PROGRAMMATIC: (i32, i32) = (PROGRAMMATIC_FROM as i32 / 10, PROGRAMMATIC_FROM as i32 % 10);

/// A built-in kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builtin {
    /// Sets memory, in words.
    FillWords,
    /// Sets memory, in bytes.
    FillBytes,
    /// Sets a condition to a value. Drivers before CUDA 12.3 cannot load the kernels that set conditions.
    Condition,
    /// Sets a condition to whether a value equals a number.
    ConditionEqual,
    /// Delays a node.
    Delay,
    /// Takes the time.
    Stamp,
    /// Copies a condition.
    Latch,
    /// Copies memory, in words.
    CopyWords,
    /// Copies memory, in bytes.
    CopyBytes,
    /// Combines numbers of this type of all ranks.
    Reduce(Number),
    /// Gets memory of other ranks.
    Gather,
    /// Sends and receives memory.
    Exchange,
    /// Tells the host which collective of NCCL's runs.
    Mark,
}

/// The module of a built-in kernel.
pub(super) struct BuiltinModule {
    /// The path that stands for it in messages.
    pub(super) path: &'static str,
    pub(super) text: &'static str,
    /// All of its kernels, by name.
    pub(super) kernels: &'static [(Builtin, &'static CStr)],
}

impl Builtin {
    /// The module of the kernel for a device.
    pub(super) fn module(self, cuda: &Cuda) -> Result<BuiltinModule, CudaError> {
        let (path, text, kernels) = self.parts();
        let text = match self {
            Builtin::Reduce(_) | Builtin::Gather | Builtin::Exchange => collectives_for(cuda, text)?,
            _ => text,
        };
        Ok(BuiltinModule { path, text, kernels })
    }

    /// The path and the text of its module, and all kernels in that, by name.
    fn parts(self) -> (&'static str, &'static str, &'static [(Builtin, &'static CStr)]) {
        match self {
            Builtin::FillWords | Builtin::FillBytes => (
                "graph-runtime/kernels/fill.ptx",
                include_str!("../../../kernels/fill.ptx"),
                &[
                    (Builtin::FillWords, c"graph_runtime_fill_words"),
                    (Builtin::FillBytes, c"graph_runtime_fill_bytes"),
                ],
            ),
            Builtin::Condition | Builtin::ConditionEqual => (
                "graph-runtime/kernels/condition.ptx",
                include_str!("../../../kernels/condition.ptx"),
                &[
                    (Builtin::Condition, c"graph_runtime_condition"),
                    (Builtin::ConditionEqual, c"graph_runtime_condition_equal"),
                ],
            ),
            Builtin::Delay | Builtin::Stamp => (
                "graph-runtime/kernels/delay.ptx",
                include_str!("../../../kernels/delay.ptx"),
                &[
                    (Builtin::Delay, c"graph_runtime_delay"),
                    (Builtin::Stamp, c"graph_runtime_stamp"),
                ],
            ),
            Builtin::Latch | Builtin::CopyWords | Builtin::CopyBytes => (
                "graph-runtime/kernels/predicate.ptx",
                include_str!("../../../kernels/predicate.ptx"),
                &[
                    (Builtin::Latch, c"graph_runtime_latch"),
                    (Builtin::CopyWords, c"graph_runtime_copy_words"),
                    (Builtin::CopyBytes, c"graph_runtime_copy_bytes"),
                ],
            ),
            Builtin::Mark => (
                "graph-runtime/kernels/mark.ptx",
                include_str!("../../../kernels/mark.ptx"),
                &[(Builtin::Mark, c"graph_runtime_mark")],
            ),
            Builtin::Reduce(_) | Builtin::Gather | Builtin::Exchange => (
                "graph-runtime/kernels/collective.ptx",
                include_str!("../../../kernels/collective.ptx"),
                &[
                    (Builtin::Reduce(Number::F16), c"graph_runtime_reduce_f16"),
                    (Builtin::Reduce(Number::Bf16), c"graph_runtime_reduce_bf16"),
                    (Builtin::Reduce(Number::F32), c"graph_runtime_reduce_f32"),
                    (Builtin::Reduce(Number::F64), c"graph_runtime_reduce_f64"),
                    (Builtin::Reduce(Number::I8), c"graph_runtime_reduce_i8"),
                    (Builtin::Reduce(Number::U8), c"graph_runtime_reduce_u8"),
                    (Builtin::Reduce(Number::I32), c"graph_runtime_reduce_i32"),
                    (Builtin::Reduce(Number::U32), c"graph_runtime_reduce_u32"),
                    (Builtin::Reduce(Number::I64), c"graph_runtime_reduce_i64"),
                    (Builtin::Reduce(Number::U64), c"graph_runtime_reduce_u64"),
                    (Builtin::Gather, c"graph_runtime_gather"),
                    (Builtin::Exchange, c"graph_runtime_exchange"),
                ],
            ),
        }
    }
}

/// The text of the kernels of collectives for a device: if it has programmatic launches, with the instructions for
/// them, of which the text has the places. Without such an edge, they do nothing.
fn collectives_for(cuda: &Cuda, text: &'static str) -> Result<&'static str, CudaError> {
    static TEXT: OnceLock<String> = OnceLock::new();
    if cuda.capability()? < PROGRAMMATIC {
        return Ok(text);
    }
    Ok(TEXT.get_or_init(|| with_programmatic_launches(text)))
}

fn with_programmatic_launches(text: &str) -> String {
    const PLACES: [(&str, &str); 2] = [
        ("// griddepcontrol: wait", "griddepcontrol.wait;"),
        (
            "// griddepcontrol: launch_dependents",
            "griddepcontrol.launch_dependents;",
        ),
    ];
    let Some(raised) = graph_ptx::raised_for_programmatic(text) else {
        return text.to_owned();
    };
    let replace = |text: String, (place, instruction): (&str, &str)| text.replace(place, instruction);
    PLACES.into_iter().fold(raised.into_owned(), replace)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text for newer devices differs from the other one in its head and in the places of the instructions.
    #[test]
    fn kernels_of_collectives_get_their_instructions() {
        let (_, text, _) = Builtin::Gather.parts();
        let newer = with_programmatic_launches(text);
        let changed: Vec<(&str, &str)> = text
            .lines()
            .zip(newer.lines())
            .filter(|(old, new)| old != new)
            .collect();
        assert_eq!(
            changed[..2],
            [(".version 7.7", ".version 7.8"), (".target sm_70", ".target sm_90")]
        );
        let instructions = [
            ("\t// griddepcontrol: wait", "\tgriddepcontrol.wait;"),
            (
                "\t// griddepcontrol: launch_dependents",
                "\tgriddepcontrol.launch_dependents;",
            ),
        ];
        assert!(
            changed.len() > 3 && changed[2..].iter().all(|pair| instructions.contains(pair)),
            "{changed:?}"
        );
        assert_eq!(text.lines().count(), newer.lines().count());
        graph_ptx::parse(&newer).unwrap();
    }
}
