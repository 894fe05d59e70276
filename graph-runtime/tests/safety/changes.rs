//! Changes that safe code disturbs: by swapping the graph, by changing another one, by a refusal, or by calls of hidden
//! functions.

use crate::common::*;
use std::mem;

mod vouched {
    use super::*;

    cuda_graph! {
        /// `unsafe` vouches for `count`, which only this module sets: it is the length of `input` and of `output`.
        pub(super) graph Vouched(n: usize, first: u32) {
            device input:  [f32; n];
            device output: [f32; n];
            param  a: u32 = 1;
            pub(self) param count: u32 = first;
            device seen: [u32; 8];

            // SAFETY: `count` is the number of elements and of threads.
            kernel copy = unsafe copy_struct<<<1, n>>>(Affine { scale: 1.0, shift: 0.0, n: count }, &input, &mut output);
            memset clear = seen <- 0;
            kernel show = add_to<<<1, 8>>>(&mut seen, a + count) after clear;
        }
    }

    impl Vouched {
        pub(super) fn sized(device: &Device, n: usize) -> Result<Self> {
            Self::build(device, n, n as u32)
        }

        pub(super) fn definition(device: &Device, n: usize) -> Result<Definition<Self>> {
            Self::define(device, n, n as u32)
        }

        /// `a + count` as the graph's nodes have them.
        pub(super) fn shown(&mut self) -> Result<u32> {
            self.launch()?;
            Ok(self.seen()?.read()?[0])
        }
    }
}
use vouched::Vouched;

#[test]
fn an_edit_is_of_one_graph_only() -> Result<()> {
    let device = device();
    let [mut one, mut other] = [Vouched::sized(&device, 8)?, Vouched::sized(&device, 8)?];
    let error = one.edit(|e| {
        e.set_a(2)?;
        other.set_a(9)
    });
    let text =
        "graph `Vouched`: the edit of another graph is running on this thread, and it makes changes of that graph only";
    assert_eq!(error.unwrap_err().to_string(), text);
    for error in [
        one.edit(|_| other.edit(|e| e.set_a(9))).unwrap_err(),
        one.edit(|_| other.clear().set_enabled(false)).unwrap_err(),
        refused(one.edit(|_| other.update_from(Vouched::definition(&device, 8)?).map(drop))),
    ] {
        assert_eq!(error.to_string(), text);
    }
    assert_eq!((one.a(), other.a()), (1, 1));
    one.edit(|e| {
        e.set_a(2)?;
        other.launch()
    })?;
    assert_eq!((one.shown()?, other.shown()?), (2 + 8, 1 + 8));
    other.set_a(3)?;
    assert_eq!(other.shown()?, 3 + 8);

    let [mut large, mut small] = [Vouched::sized(&device, 64)?, Vouched::sized(&device, 4)?];
    let edited = large.edit(|e| {
        e.set_a(5)?;
        mem::swap(e, &mut small);
        Ok(())
    });
    refused(edited).says("another graph took the place of this one");
    // `large` is the graph of 4 elements now: a setter makes its nodes again, by its params.
    large.set_a(3)?;
    assert_eq!(large.shown()?, 3 + 4);
    // The other one was swapped out while it was edited.
    for error in [
        small.launch().unwrap_err(),
        small.set_a(7).unwrap_err(),
        small.edit(|_| ()).unwrap_err(),
    ] {
        assert!(error.to_string().contains("swapped"), "{error}");
    }
    small.update_from(Vouched::definition(&device, 64)?)?;
    small.set_a(2)?;
    assert_eq!(small.shown()?, 2 + 64);

    let mut graph = Vouched::sized(&device, 64)?;
    let definition = Vouched::definition(&device, 4)?;
    refused(graph.edit(|e| e.update_from(definition).map(drop))).says("the graph is being edited");
    graph.set_a(3)?;
    assert_eq!(graph.shown()?, 3 + 64);
    Ok(())
}

cuda_graph! {
    graph Draws(generator: &Generator, w: mut device [u32; 8]) {
        device numbers: [u32; 64];
        rng    noise = generator, draws 4;
        param  by: u32 = 1;

        kernel draw = draw_numbers<<<1, 16>>>(&noise, &mut numbers, 4);
        memset fill = w <- 100;
        kernel add  = add_to<<<1, 8>>>(&mut w, by) after fill;
    }
}

/// The state of a graph that a refused edit must leave: its generator, its memory, its launch dimensions, and which
/// nodes run.
#[test]
fn a_refused_edit_leaves_all_of_the_graph() -> Result<()> {
    let device = device();
    let [one, two] = [device.alloc::<[u32; 8]>()?, device.alloc::<[u32; 8]>()?];
    let generators = [device.generator(1)?, device.generator(2)?];
    let mut graph = Draws::build(&device, &generators[0], &one)?;
    for chosen in [8, 4] {
        graph.add().set_block(chosen)?;
        let edited: Result<()> = graph.edit(|e| {
            e.noise().set_generator(&generators[1])?;
            e.rebind_w(&two)?;
            e.fill().set_enabled(false)?;
            e.add().set_block(2)?;
            e.set_by(9)?;
            Err(Error::NoDriver)
        });
        edited.unwrap_err();
        let edited = graph.edit(|e| {
            e.noise().set_generator(&generators[1])?;
            e.rebind_w(&two)?;
            e.fill().set_enabled(false)?;
            e.set_by(9)?;
            e.add().set_block(64) // more than `w` has: refused when all is checked
        });
        edited.unwrap_err();
        let expected = (1, 1, true);
        assert_eq!((graph.noise().seed(), graph.by(), graph.fill().is_enabled()), expected);
        assert_eq!(graph.noise().generator().map(Generator::seed), Some(1));
        assert_eq!(graph.add().block(), Some([chosen, 1, 1]));
        let drawn = generators[1].state()?;
        graph.launch()?;
        graph.synchronize()?;
        assert_eq!(generators[1].state()?, drawn, "launches draw from the first one");
        assert_eq!(graph.noise().state()?, generators[0].state()?);
        let ones = one.read()?.iter().filter(|&&value| value == 101).count();
        assert_eq!((ones, *two.read()?), (chosen as usize, [0; 8]));
        // The memory of the refused edit is not claimed, that of the graph is.
        let _guard = two.read()?;
        graph.launch()?;
        graph.synchronize()?;
    }
    graph.edit(|e| e.noise().set_generator(&generators[1]))?;
    assert_eq!(graph.noise().seed(), 2);
    let drawn: Philox = generators[1].state()?;
    graph.launch()?;
    assert_ne!(graph.noise().state()?, drawn);
    Ok(())
}

/// The memory of a `HostBuffer` that was moved into a graph is lent by references, so it may belong to one graph alone.
#[test]
fn moved_memory_belongs_to_one_graph() -> Result<()> {
    let device = device();
    let mut builder = GraphBuilder::new(&device, "Moved");
    let moved = private::move_in(&mut builder, "host", device.alloc_host::<[u32; 4]>()?);
    let mut place = private::MovedSlot::place(&moved);
    builder.call("set", (&mut place,), |(words,)| *words = [7; 4]);
    let mut definition = builder.define()?;
    let first = definition.instantiate(InstantiateOptions::default())?;
    let lent = private::Slot::lend(&moved, &first)?;
    assert_eq!(*lent, [0; 4]);
    assert!(definition.instantiate(InstantiateOptions::default()).is_err());
    assert_eq!(*lent, [0; 4]);
    Ok(())
}

#[cuda_kernels("tests/kernels/test_kernels.ptx")]
unsafe extern "C" {
    #[requires(threads <= 256)]
    #[link_name = "fill_index"]
    safe fn fill_all(out: &mut [u32; 256]);
    #[requires(threads <= out.len())]
    #[link_name = "fill_index"]
    safe fn fill_any(out: &mut [u32]);
}

cuda_graph! {
    graph Filled {
        device many: [u32; 256];
        device few:  [u32; 8];
        kernel all = fill_all<<<1, 256>>>(&mut many);
        kernel any = fill_any<<<1, 8>>>(&mut few);
    }
}

/// One kernel has two declarations, whose contracts differ.
#[test]
fn chosen_dimensions_keep_the_contract_of_their_own_declaration() -> Result<()> {
    let mut graph = Filled::build(&device())?;
    graph.all().set_launch(2, 128)?;
    let refused = graph.any().set_launch(1, 9).unwrap_err().to_string();
    assert!(refused.contains("[contract]") && refused.contains("`any`"), "{refused}");
    graph.launch()?;
    assert_eq!(*graph.few()?.read()?, [0, 1, 2, 3, 4, 5, 6, 7]);
    Ok(())
}
