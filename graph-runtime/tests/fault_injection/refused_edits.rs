//! Edits that the driver refuses, at each of the calls that they make: the graph is as before.

use crate::common::*;
use crate::software::device;
use graph_runtime::fault_injection as faults;
use std::collections::BTreeMap;

cuda_graph! {
    graph Edited(w: mut device [u32; 8], text: mut host [u32; 8]) {
        param n:  u32 = 8;
        param by: u32 = 1;

        memset fill = w <- 100;
        kernel add  = add_to<<<1, n>>>(&mut w, by) after fill;
        memcpy down = w -> text                    after add;
    }
}

/// The memory of two graphs, and one of them.
struct Setting {
    buffers: [DeviceBuffer<[u32; 8]>; 2],
    texts: [SharedHost<[u32; 8]>; 2],
    graph: Edited,
}

impl Setting {
    /// A graph whose handle has chosen other dimensions than its declaration.
    fn new(device: &Device) -> Result<Self> {
        let buffers = [device.alloc()?, device.alloc()?];
        let texts = [
            device.alloc_host().map(HostBuffer::share)?,
            device.alloc_host().map(HostBuffer::share)?,
        ];
        let mut graph = Edited::build(device, &buffers[0], &texts[0])?;
        graph.add().set_block(4)?;
        Ok(Self { buffers, texts, graph })
    }

    /// Changes memory, values, the nodes that run, and dimensions by their declaration.
    fn edit(&mut self) -> Result<()> {
        let Self { buffers, texts, graph } = self;
        graph.edit(|e| {
            e.rebind_w(&buffers[1])?;
            e.rebind_text(&texts[1])?;
            e.fill().set_enabled(false)?;
            e.set_n(2)?;
            e.set_by(9)
        })
    }

    /// Looks for traces of an edit that was refused.
    fn assert_unchanged(mut self, what: &str) -> Result<()> {
        let Self { texts, graph, .. } = &mut self;
        assert_eq!((graph.n(), graph.by()), (8, 1), "{what}");
        assert!(graph.fill().is_enabled(), "{what}");
        assert_eq!(graph.add().block(), Some([4, 1, 1]), "{what}");
        let guard = texts[1].write()?;
        graph.launch()?; // it claims the memory that it had before
        drop(guard);
        graph.synchronize()?;
        let guard = texts[0].read()?;
        assert!(matches!(graph.launch(), Err(Error::InUse { .. })), "{what}");
        drop(guard);
        graph.set_n(8)?; // as declared, so what the handle has chosen still counts
        assert_eq!(
            graph.add().block(),
            Some([4, 1, 1]),
            "{what}: what the handle has chosen is forgotten"
        );
        Ok(())
    }
}

#[test]
fn an_edit_that_the_driver_refuses_leaves_all_of_the_graph() -> Result<()> {
    let Some((device, _turn)) = device("refused_edits::an_edit_that_the_driver_refuses_leaves_all_of_the_graph") else {
        return Ok(());
    };
    let mut setting = Setting::new(&device)?;
    faults::start();
    setting.edit()?;
    let calls = faults::counts();
    assert_eq!(setting.graph.add().block(), Some([2, 1, 1]));
    let mut refused = BTreeMap::new();
    for (call, count) in calls {
        for number in 1..=count {
            faults::start();
            let mut setting = Setting::new(&device)?;
            faults::start();
            faults::fail(call, number);
            let edited = setting.edit();
            faults::start();
            if edited.is_err() {
                setting.assert_unchanged(&format!("call {number} of {call}"))?;
                *refused.entry(call).or_insert(0) += 1;
            }
        }
    }
    println!("refused edits: {refused:?}");
    assert!(refused.values().sum::<usize>() >= 3, "{refused:?}");
    Ok(())
}
