//! Captured calls and raw nodes: every ending of a closure, generics, several parts of one resource, safe and unsafe
//! bodies. rustc warns of nothing, braces around one expression included.
#![deny(warnings)]
use graph_runtime::cudarc::driver::sys::{CUgraph, CUgraphNode, CUresult, CUstream, cuGraphAddEmptyNode};
use graph_runtime::{BoxError, CaptureStream, Element, cuda_graph};
use std::io::Error;

mod aliased {
    pub type Result<T> = std::result::Result<T, std::num::ParseIntError>;
}

fn library(_stream: CUstream, _from: u64, _to: u64) -> Result<(), Error> {
    Ok(())
}

fn helper<K>(stream: &CaptureStream<'_, K>) -> Result<CUstream, BoxError> {
    let workspace = stream.workspace(1 << 20)?;
    assert_eq!(workspace.bytes(), 1 << 20);
    Ok(stream.cu_stream())
}

unsafe fn empty(graph: CUgraph, after: &[CUgraphNode]) -> Result<CUgraphNode, Error> {
    let mut node = std::ptr::null_mut();
    // SAFETY: the caller passes what a `raw` closure got.
    let result = unsafe { cuGraphAddEmptyNode(&mut node, graph, after.as_ptr(), after.len()) };
    if result == CUresult::CUDA_SUCCESS {
        Ok(node)
    } else {
        Err(Error::other("refused"))
    }
}

cuda_graph! {
    pub graph Test<T: Element, const N: usize>(scale: f32, names: Vec<String>) {
        host staging: [T; N];
        device a: [[T; N]; 2];
        device b: [T; N];

        capture tail = (&a[0], &mut b) |stream| library(stream.cu_stream(), a.address(), b.address());
        capture tried = (&b, &mut a[1], scale) |stream| {
            let (from, to, twice) = stream.memory();
            library(helper(stream)?, from.address(), to.address())?;
            assert_eq!(twice, scale);
        } after tail;
        capture ok = (&a[0], &mut a[1]) |stream| {
            let (from, to) = stream.memory();
            let kept = stream.prepare(|| Ok(names.clone()))?;
            if kept.is_empty() {
                return Err("no names".into());
            }
            library(stream.cu_stream(), from.address(), to.address())?;
            Ok(())
        } after tried;
        capture nothing = () |_stream| ();
        capture in_braces = () |stream| { library(stream.cu_stream(), 0, 0) };
        capture nothing_in_braces = () |_stream| { () };
        capture of_result = () |_stream| Result::Ok(());
        capture of_std = () |stream| match stream.cu_stream().is_null() {
            true => std::result::Result::Ok(()),
            false => { Ok(()) }
        };
        capture of_alias = () |_stream| { aliased::Result::Ok(()) };
        capture of_known = () |_stream| Result::<(), Error>::Ok(());
        capture never = (&mut staging) |stream| unimplemented!("{stream:?}, {:?}", staging.as_mut_ptr::<T>());

        raw plain = unsafe (&a[1], &mut staging) |graph, after| empty(graph.graph(), after) after ok, never;
        raw careful = unsafe (&mut staging) |graph, after| {
            // SAFETY: graph and nodes are what this closure got.
            let node = unsafe { empty(graph.graph(), after) }?;
            Ok(node)
        } after plain;
        raw value = unsafe () |_graph, after| after[0] after careful;
        raw value_in_braces = unsafe () |_graph, after| { after[0] } after value;
        raw result_in_braces = unsafe () |_graph, after| { Ok(after[0]) } after value;
        raw of_result_too = unsafe () |_graph, after| Result::Ok(after[0]) after value;
        raw later = unsafe () |_graph, _after| todo!();
    }
}

cuda_graph! {
    pub graph InBodies {
        device flags: [u32; 2];
        device a: [f32; 4];
        device b: [f32; 4];

        if maybe = flags[0] {
            capture then = (&a, &mut b) |stream| library(stream.cu_stream(), a.address(), b.address());
        } else {
            for i in 0..3 {
                capture otherwise = (&mut a) |_stream| ();
            }
        };
        while repeat = flags[1] {
            graph child = Captured(data: &mut a);
            capture next = (&mut flags[1]) |_stream| () after child;
        } after maybe;
        switch pick = flags[0] {
            { capture zero = (&mut b) |_stream| (); }
        } after maybe;
    }
}

cuda_graph! {
    pub graph Captured {
        device data: [f32; 4];
        capture calls = (&mut data) |_stream| ();
    }
}
