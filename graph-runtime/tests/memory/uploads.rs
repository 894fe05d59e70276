//! The two forms of copies from the host on a GPU, copy nodes and kernels: both do the same. On the emulator, which has
//! neither, the same programs show what that is.

use crate::common::*;

/// The device with each form of copies.
fn forms() -> [(Device, Uploads); 3] {
    [Uploads::Cheapest, Uploads::Copies, Uploads::Kernels].map(|uploads| (device().with_uploads(uploads), uploads))
}

/// The form of a copy as text; `None` on the emulator and in debug mode.
fn told(graph: &impl AnyGraph, node: &str) -> Option<String> {
    let form = graph.upload_forms().iter().find(|form| form.node == node);
    assert_eq!(form.is_none(), runs_node_by_node(), "{node}");
    form.map(ToString::to_string)
}

cuda_graph! {
    /// Copies of words, of bytes at odd places, of rows that lie apart, and of what a param chooses.
    graph Copied {
        host   input:  [[u32; 8]; 4];
        host   bytes:  [u8; 33];
        device words:  [[u32; 8]; 4];
        device corner: [[u32; 3]; 2];
        device odd:    [u8; 33];
        device prefix: [u8; 33];
        scratch temporary: [u32; 8];
        device sums:   [u32; 8];
        param  n: usize = 0;

        memcpy all   = input -> words;
        memcpy part  = input[1..3][2..5] -> corner;
        memcpy inner = bytes[3..30] -> odd[1..28];
        memcpy some  = bytes[..n] -> prefix[..n];
        memcpy first = input[0] -> temporary;
        kernel sum   = accumulate<<<1, 8>>>(&temporary, &mut sums) after first;
        call   next  = |&mut input| input[3][7] += 1 after all, part, first;
        memcpy again = input[3] -> words[0] after next;
    }
}

#[test]
fn copies_from_the_host_do_the_same_in_both_forms() -> Result<()> {
    for (device, asked) in forms() {
        let mut graph = Copied::build(&device)?;
        for node in ["all", "part", "inner", "some", "first", "again"] {
            let form = match asked {
                Uploads::Copies => "copy node",
                _ => "kernel",
            };
            if let Some(told) = told(&graph, node) {
                told.begins(&format!("`{node}` is a {form}: "));
            }
        }
        let mut sums = [0_u32; 8];
        for round in 1..4_u32 {
            let input: [[u32; 8]; 4] =
                std::array::from_fn(|row| std::array::from_fn(|at| 100 * round + (8 * row + at) as u32));
            *graph.input_mut()? = input;
            let bytes: [u8; 33] = std::array::from_fn(|at| at as u8 + round as u8);
            *graph.bytes_mut()? = bytes;
            let n = 7 * round as usize - 7;
            graph.set_n(n)?;
            graph.all().set_enabled(round != 2)?;
            let before = *graph.words()?.read()?;
            graph.launch()?;
            let mut last = input[3];
            last[7] += 1;
            let mut words = if round == 2 { before } else { input };
            words[0] = last;
            assert_eq!(*graph.words()?.read()?, words);
            assert_eq!(
                *graph.corner()?.read()?,
                [1, 2].map(|row| [2, 3, 4].map(|at| input[row][at]))
            );
            let mut odd = [0; 33];
            odd[1..28].copy_from_slice(&bytes[3..30]);
            assert_eq!(*graph.odd()?.read()?, odd);
            assert_eq!(graph.prefix()?.read()?[..n], bytes[..n]);
            assert_eq!(graph.prefix()?.read()?[n..], [0; 33][n..]);
            sums.iter_mut().zip(input[0]).for_each(|(sum, more)| *sum += more);
            assert_eq!(*graph.sums()?.read()?, sums);
        }
        let profile = graph.profile(1)?;
        assert!(profile.nodes().iter().any(|node| node.name == "all"), "{profile}");
    }
    Ok(())
}

cuda_graph! {
    /// Copies in bodies, in child graphs and from memory that is shared.
    graph Elsewhere(lent: host [u32; 4]) {
        host   input: [u32; 4];
        device flag:  u32;
        device here:  [u32; 4];
        device there: [u32; 4];
        device large: [[u32; 256]; 1025];
        host   much:  [[u32; 256]; 1025];
        memset yes = flag <- 1;
        while once = flag {
            memcpy up  = input -> here;
            memset no  = flag <- 0 after up;
        } after yes;
        memcpy of_others = lent -> there;
        memcpy whole = much -> large;
    }
}

#[test]
fn copies_that_cannot_be_kernels_say_why() -> Result<()> {
    for (device, asked) in forms() {
        let lent = device.alloc_host::<[u32; 4]>()?.share();
        lent.write()?.copy_from_slice(&[5, 6, 7, 8]);
        let mut graph = Elsewhere::build(&device, &lent)?;
        *graph.input_mut()? = [1, 2, 3, 4];
        graph.much_mut()?[1024][255] = 9;
        graph.launch()?;
        assert_eq!(
            (*graph.here()?.read()?, *graph.there()?.read()?),
            ([1, 2, 3, 4], [5, 6, 7, 8])
        );
        assert_eq!(graph.large()?.read()?[1024][255], 9);
        if let Some(told) = told(&graph, "of_others") {
            assert_eq!(told, "`of_others` is a copy node: `lent` is memory that graphs share");
        }
        if let Some(told) = told(&graph, "whole") {
            assert_eq!(told, "`whole` is a copy node: it copies 1049600 bytes");
        }
        if let Some(told) = told(&graph, "up") {
            match asked {
                Uploads::Copies => assert_eq!(told, "`up` is a copy node: the device asks for it"),
                Uploads::Kernels => assert_eq!(told, "`up` is a kernel: the device asks for it"),
                _ => told.begins("`up` is a kernel: it copies "),
            }
        }
    }
    Ok(())
}
