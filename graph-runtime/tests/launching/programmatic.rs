//! The facts that `#[cuda_kernels]` records for programmatic edges, first writes and clusters, and messages about them.

use crate::common::*;
use graph_runtime::kernel::{GridDependency, KernelFacts, Source, Touched};
use graph_runtime::private::plan::SharedParam as Sharing;
use graph_runtime::private::{KernelChecks, ProgrammaticEdge, triggers};

#[cuda_kernels("../graph-ptx/tests/data/programmatic.ptx")]
#[allow(kernel_bounds)]
unsafe extern "C" {
    #[requires(threads <= input.len() && threads <= out.len())]
    safe fn right(input: &[f32], out: &mut [f32]);
    safe fn weights(weights: &[f32], input: &[f32], out: &mut [f32]);
    safe fn never_waits(input: &[f32], out: &mut [f32]);
    safe fn writes_early(input: &[f32], out: &mut [f32]);
    safe fn counts_early(count: &mut [u32]);
    safe fn returns_early(input: &[f32], out: &mut [f32], n: u32);
    safe fn restricted(input: &[f32], out: &mut [f32]);
    fn follows_early(list: &[u64]);
    safe fn variables(out: &mut [f32], n: u32);
    #[requires(threads <= out.len())]
    safe fn clustered(out: &mut [f32]);
}

const EDGE: ProgrammaticEdge<'_> = ProgrammaticEdge {
    upstream: "up",
    downstream: "down",
};

/// A parameter whose memory other nodes write: before this one, or elsewhere.
const fn written(param: usize, written_before: bool) -> Sharing {
    let written = true;
    Sharing {
        param,
        written,
        written_before,
    }
}

/// A parameter whose memory no node writes.
const fn only_read(param: usize) -> Sharing {
    Sharing {
        written: false,
        ..written(param, false)
    }
}

const BOTH: &[Sharing] = &[written(0, true), written(1, false)];

const _: () =
    KernelChecks::<right>::programmatic::<never_waits>("down", "up", BOTH, &[right::FACTS, never_waits::FACTS]);
const _: () = KernelChecks::<right>::initializes("down", "tmp", 1);

/// The message about the edge, as at build, after a look at what compile time says.
fn fault(kernel: &'static KernelFacts, memory: &[Sharing], all: &[&KernelFacts]) -> Option<String> {
    let text = EDGE.fault(kernel, memory, all);
    let mistake = EDGE.mistake(3, kernel, memory, all).map(|mistake| mistake.to_string());
    assert_eq!(text.as_ref().map(|text| text.as_str()), mistake.as_deref());
    mistake
}

const PATH: &str = "../graph-ptx/tests/data/programmatic.ptx";

/// The line of the first instruction of a kernel that starts so.
fn line(kernel: &str, instruction: &str) -> usize {
    let Source::Ptx(ptx) = right::FACTS.source else {
        panic!("it is declared with its PTX")
    };
    let lines = ptx.text.lines().enumerate();
    let mut body = lines.skip_while(|(_, line)| !line.contains(&format!(".entry {kernel}(")));
    body.find(|(_, line)| line.trim().starts_with(instruction)).unwrap().0 + 1
}

#[test]
fn facts_say_what_happens_before_the_wait() {
    let facts = right::FACTS.dependency;
    assert!(facts.triggers.is_some() && facts.waits > facts.triggers);
    let expected = (None, &[][..], &[][..]);
    assert_eq!((facts.early_exit, facts.early, facts.noncoherent), expected);
    assert_eq!(clustered::FACTS.dependency, GridDependency::NONE);
    let early = line("writes_early", "st.global") as u32;
    assert_eq!(writes_early::FACTS.dependency.early, [(Touched::Param(1), early)]);
    assert_eq!(variables::FACTS.dependency.early[0].0, Touched::Variable("bias"));
    assert!(triggers::<right>() && !triggers::<weights>());
}

#[test]
fn an_edge_to_a_kernel_that_waits_is_an_order() {
    assert_eq!(fault(right::FACTS, BOTH, &[]), None);
    // The weights are read early, which is well if no node writes them.
    let read = [only_read(0), written(1, true), written(2, false)];
    assert_eq!(fault(weights::FACTS, &read, &[]), None);
    // Not coherent, but what is loaded so is written after it only.
    let memory = [written(0, false), written(1, false)];
    assert_eq!(fault(restricted::FACTS, &memory, &[]), None);
}

#[test]
fn each_way_to_be_no_order_is_explained() {
    const FIRST: &str = "node `down` may run before `up` has ended [programmatic-edge]";
    const WAIT: &str =
        "help: call `cudaGridDependencySynchronize()` (`griddepcontrol.wait`) first in the kernel, or write `after up`";
    let expect = |kernel: &'static KernelFacts, memory: &[Sharing], note: String, help: &str| {
        let expected = format!("{FIRST}\nnote: its kernel `{}` {note}\n{help}", kernel.name);
        assert_eq!(fault(kernel, memory, &[kernel]), Some(expected));
    };
    expect(never_waits::FACTS, BOTH, "never waits for it".into(), WAIT);
    let at = line("returns_early", "ret;");
    let note = format!("can end before it has waited, on line {at} of `{PATH}`");
    expect(returns_early::FACTS, BOTH, note, WAIT);
    let at = line("writes_early", "st.global");
    let note =
        format!("may access `out`, which a node of the graph writes, before it has waited, on line {at} of `{PATH}`");
    expect(writes_early::FACTS, BOTH, note.clone(), WAIT);
    // Memory that the facts do not mention may be written.
    expect(writes_early::FACTS, &[], note, WAIT);
    let at = line("counts_early", "red.");
    let note =
        format!("may access `count`, which a node of the graph writes, before it has waited, on line {at} of `{PATH}`");
    expect(counts_early::FACTS, &[written(0, false)], note, WAIT);
    let at = line("weights", "ld.global");
    let note = format!(
        "may access `weights`, which a node of the graph writes, before it has waited, on line {at} of `{PATH}`"
    );
    let memory = [written(0, false), only_read(1), only_read(2)];
    expect(weights::FACTS, &memory, note, WAIT);
    let at = line("follows_early", "st.u32");
    let note = format!("may access memory of unknown origin before it has waited, on line {at} of `{PATH}`");
    expect(follows_early::FACTS, &[only_read(0)], note, WAIT);
    let at = line("restricted", "ld.global.nc");
    let note = format!(
        "may load `input`, which a node before it writes, from a cache that is not coherent (`ld.global.nc`), on line {at} of `{PATH}`"
    );
    let help = "help: load that memory without `const __restrict__`, `__ldg` or a texture, or write `after up`";
    expect(restricted::FACTS, BOTH, note, help);
}

#[test]
fn variables_are_early_where_a_kernel_of_the_graph_writes_them() {
    let at = line("variables", "ld.global.f32");
    let expected = format!(
        "may access the variable `bias`, which a node of the graph writes, before it has waited, on line {at} of `{PATH}`"
    );
    let message = fault(variables::FACTS, &[written(0, false)], &[]).unwrap();
    assert!(message.contains(&expected), "{message}");
    // This kernel, if it only read the variable.
    static READS: KernelFacts = KernelFacts {
        name: "reads",
        variables: &[("bias", graph_runtime::private::plan::Mode::Read)],
        ..*variables::FACTS
    };
    assert_eq!(fault(&READS, &[written(0, false)], &[&READS, right::FACTS]), None);
    let message = fault(&READS, &[written(0, false)], &[&READS, variables::FACTS]).unwrap();
    assert!(message.contains(&expected), "{message}");
}

#[test]
fn compile_time_and_build_say_the_same() {
    let panic = std::panic::catch_unwind(|| {
        KernelChecks::<never_waits>::programmatic::<right>("down", "up", BOTH, &[]);
    });
    let message = panic.unwrap_err().downcast::<String>().unwrap();
    assert_eq!(Some(*message), fault(never_waits::FACTS, BOTH, &[]));

    assert!(EDGE.never_triggers(right::FACTS).is_none());
    let expected = "node `down` starts no sooner than `up` has ended [programmatic-edge]\n\
         note: its kernel `weights` never executes `griddepcontrol.launch_dependents`\n\
         help: call `cudaTriggerProgrammaticLaunchCompletion()` in it";
    assert_eq!(EDGE.never_triggers(weights::FACTS).unwrap().as_str(), expected);
}

/// The error of `cuda_graph!` for a kernel whose first `&mut` parameter gets scratch memory that nothing has written.
fn uninitialized<K: Kernel>() -> Option<String> {
    let panic = std::panic::catch_unwind(|| KernelChecks::<K>::initializes("down", "tmp", 1)).err()?;
    Some(*panic.downcast().unwrap())
}

#[test]
fn a_kernel_that_loads_what_it_writes_does_not_initialize_it() {
    assert_eq!(right::FACTS.loads, []);
    assert_eq!(uninitialized::<right>(), None);
    // An atomic operation reads too.
    assert_eq!(counts_early::FACTS.loads, [(0, line("counts_early", "red.") as u32)]);
    let at = line("writes_early", "ld.global.f32 \t%f2");
    let expected = format!(
        "node `down` reads `tmp`, which no node before it has written [uninitialized]\n\
             note: its kernel `writes_early` loads from `out`, on line {at} of `{PATH}`\n\
             help: write `tmp` in a node that it names in its `after` list, for example a `memset`; or, if the \
             kernel writes each element before it reads it, declare `out: &mut [MaybeUninit<..>]`"
    );
    assert_eq!(uninitialized::<writes_early>().unwrap(), expected);
}

#[test]
fn kernels_run_behind_plain_edges_and_in_clusters_that_they_require() {
    let graph = launched(cuda_graph! { &device() =>
        host   output: [f32; 32];
        device data: [f32; 32];
        device sums: [f32; 32];

        memset ones = data <- 1.0;
        kernel sum  = right<<<1, 32>>>(&data, &mut sums) after ones;
        memcpy down = sums -> output after sum;
    })
    .unwrap();
    let expected: [f32; 32] = std::array::from_fn(|i| 32.0 - i as f32);
    assert_eq!(graph.output().unwrap(), &expected);

    let graph = launched(Clusters::build(&device())).unwrap();
    assert_eq!(graph.data().unwrap().read().unwrap()[0], 1.0);
}

cuda_graph! {
    graph Clusters {
        device data: [f32; 64];
        kernel fill = clustered<<<2, 32>>>(&mut data);
    }
}
