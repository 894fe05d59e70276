//! Host functions that use memory of graphs from outside, while others use it: nobody waits in a circle.

use crate::common::*;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

/// Two threads that meet. (CUDA may run all host functions on one thread: then the first waits in vain, and goes on.
/// The emulator runs those of two launches on two, however late one of them is.)
struct Meeting {
    arrive: Sender<()>,
    other: Receiver<()>,
}

impl Meeting {
    fn pair() -> (Self, Self) {
        let (first, second) = (mpsc::channel(), mpsc::channel());
        let meeting = |arrive, other| Self { arrive, other };
        (meeting(first.0, second.1), meeting(second.0, first.1))
    }

    fn meet(&self) {
        let _ = self.arrive.send(());
        let limit = if wants_cuda() { 2 } else { 600 };
        let _ = self.other.recv_timeout(Duration::from_secs(limit));
    }
}

/// A graph that writes `own`, and calls `function` while it does.
fn calling(device: &Device, own: &SharedHost<[u32; 4]>, function: impl FnMut() + Send + 'static) -> Result<Graph> {
    let mut function = function;
    let mut builder = GraphBuilder::new(device, "Calling");
    let mut own = builder.shared("own", own, true);
    builder.call("call", (&mut own,), move |(own,)| {
        own[0] += 1;
        function();
    });
    builder.build()
}

fn shared(device: &Device) -> Result<SharedHost<[u32; 4]>> {
    device.alloc_host::<[u32; 4]>().map(HostBuffer::share)
}

/// Launches both graphs at once, each on a thread.
fn launch_both(graphs: [Graph; 2]) -> Result<()> {
    let launch = |mut graph: Graph| {
        thread::spawn(move || {
            graph.launch()?;
            graph.synchronize()
        })
    };
    let mut threads = graphs.map(launch).into_iter();
    threads.try_for_each(|thread| thread.join().expect("no panic"))
}

fn is_in_use<T>(result: &Result<T>) -> bool {
    matches!(result, Err(Error::InUse { .. }))
}

#[test]
fn host_functions_read_the_memory_of_each_others_graphs() {
    let results = without_deadlock(|| -> Result<Vec<bool>> {
        let device = device();
        let memory = [shared(&device)?, shared(&device)?];
        let (sender, results) = mpsc::channel();
        let (here, there) = Meeting::pair();
        let graph = |own: usize, meeting: Meeting| {
            let (other, sender) = (memory[1 - own].clone(), sender.clone());
            calling(&device, &memory[own], move || {
                meeting.meet();
                let refused = is_in_use(&other.read());
                meeting.meet();
                let written = is_in_use(&other.write());
                meeting.meet();
                sender.send(refused && written).unwrap();
            })
        };
        launch_both([graph(0, here)?, graph(1, there)?])?;
        assert_eq!((memory[0].read()?[0], memory[1].read()?[0]), (1, 1));
        Ok(results.try_iter().collect())
    });
    let results = results.expect("both graphs run");
    assert_eq!(results.len(), 2);
    // On CUDA, the second function may run when the first launch has ended.
    assert!(results.iter().filter(|refused| **refused).count() >= if device().is_emulator() { 2 } else { 1 });
}

#[test]
fn host_functions_launch_graphs_that_use_each_others_memory() {
    let results = without_deadlock(|| -> Result<Vec<Result<()>>> {
        let device = device();
        let memory = [shared(&device)?, shared(&device)?];
        let (sender, results) = mpsc::channel();
        let (here, there) = Meeting::pair();
        let graph = |own: usize, meeting: Meeting| {
            let (mut inner, sender) = (calling(&device, &memory[1 - own], || ())?, sender.clone());
            calling(&device, &memory[own], move || {
                meeting.meet();
                sender.send(inner.launch()).unwrap();
                meeting.meet();
            })
        };
        launch_both([graph(0, here)?, graph(1, there)?])?;
        Ok(results.try_iter().collect())
    });
    for result in results.expect("both graphs run") {
        let error = result.unwrap_err();
        // On CUDA, the other launch may have let go of its memory. Then the launch here fails at its first CUDA call.
        let refused = !device().is_emulator() && error.to_string().contains("a CUDA call in a host function failed");
        assert!(refused || matches!(error, Error::InUse { .. }), "{error}");
    }
}

#[cuda_kernels("tests/kernels/print.ptx")]
unsafe extern "C" {
    fn say(out: &mut [u32]);
}

/// The text of a kernel is received on threads of the emulator's, while the launch has the memory.
#[test]
fn receivers_of_printed_text_wait_for_nobody() {
    let refused = without_deadlock(|| -> Result<Vec<bool>> {
        let plain = Device::emulator();
        let data = plain.alloc_slice::<u32>(64)?;
        let (sender, results) = mpsc::channel();
        let inner = data.clone();
        let device = plain.with_printer(move |_| {
            let _ = sender.send(is_in_use(&inner.read_vec()));
        });
        let mut builder = GraphBuilder::new(&device, "Printing");
        let mut out = builder.shared("out", &data, true);
        // SAFETY: the kernel stores two elements.
        builder.kernel("say", Launch::new(1, 32), unsafe { say::call(&mut out) });
        let graph = launched(builder.build())?;
        graph.synchronize()?;
        Ok(results.try_iter().collect())
    });
    let refused = refused.expect("the graph runs");
    assert!(
        !refused.is_empty() && refused.iter().all(|refused| *refused),
        "{refused:?}"
    );
}

/// `data += 1`, after a while; then calls `function`.
fn slow_then(device: &Device, data: &DeviceBuffer<[f32]>, function: impl FnMut() + Send + 'static) -> Result<Graph> {
    let mut function = function;
    let mut builder = GraphBuilder::new(device, "Slow");
    let mut data = builder.shared("data", data, true);
    let mut flag = builder.device::<[u32; 1]>("flag");
    let delay = builder.kernel("delay", Launch::new(1, 1), slow::call(slow_steps(), &mut flag));
    let write = builder.kernel("bounded", Launch::new(1, 64), bounded::call(&mut data));
    let call = builder.call("call", (), move |()| function());
    in_order(&mut builder, &[delay, write, call]);
    builder.build()
}

/// On CUDA, the copy outside holds the memory while it waits for the launch, and the function asks for it.
#[test]
fn a_copy_waits_for_a_launch_whose_function_copies() {
    let (inside, outside) = without_deadlock(|| -> Result<_> {
        let device = device();
        let data = device.alloc_slice::<f32>(64)?;
        let (sender, inside) = mpsc::channel();
        let inner = data.clone();
        let mut graph = slow_then(&device, &data, move || {
            sender.send(inner.copy_from(&[9.0; 64])).unwrap()
        })?;
        graph.launch()?;
        let outside = data.read_vec()?;
        graph.synchronize()?;
        Ok((inside.recv().unwrap(), outside))
    })
    .expect("the graph runs");
    assert!(is_in_use(&inside), "{inside:?}");
    assert_eq!(outside, [1.0; 64]);
}

/// The copy outside waits for all of the context, since cudarc may still read another part of the memory.
#[test]
#[ignore = "needs a CUDA device"]
fn a_copy_waits_for_cudarc_while_a_function_copies_another_part() {
    let device = cuda_device();
    let inside = without_deadlock(move || -> Result<_> {
        let (data, other) = (device.alloc_slice::<f32>(64)?, device.alloc_slice::<f32>(64)?);
        let stream = device.context().expect("a context").new_stream().expect("a stream");
        let (sender, inside) = mpsc::channel();
        let half = data.rows(32..)?;
        let mut graph = slow_then(&device, &other, move || sender.send(half.read_vec().map(drop)).unwrap())?;
        read_by_cudarc(&data, &stream)?;
        graph.launch()?;
        data.rows(..32)?.copy_from(&[1.0; 32])?;
        graph.synchronize()?;
        Ok(inside.recv().unwrap())
    })
    .expect("the graph runs");
    refused(inside).says("a CUDA call in a host function failed");
}

/// Nothing has waited for the launch; that it has ended is known to another library alone.
#[test]
fn host_functions_use_memory_when_its_launches_have_ended() {
    let result = without_deadlock(|| -> Result<Result<u32>> {
        let device = device();
        let (written, own) = (shared(&device)?, shared(&device)?);
        let mut write = calling(&device, &written, || ())?;
        write.launch()?;
        if let Some(context) = device.context() {
            context.synchronize().expect("all work has ended");
        }
        let (sender, results) = mpsc::channel();
        let mut read = calling(&device, &own, move || {
            sender.send(written.read().map(|guard| guard[0])).unwrap();
        })?;
        read.launch()?;
        read.synchronize()?;
        Ok(results.recv().unwrap())
    });
    assert_eq!(result.expect("the graphs run").expect("the launch has ended"), 1);
}
