//! `for` around every other statement: params, conditions, scratch memory, host functions, and many nodes.

use crate::common::*;
use crate::loops::mixed;

cuda_graph! {
    graph Params<const N: usize> {
        device data: [u32; N];
        device sets: [[u32; 2]; N];
        param step: u32 = 1;
        param start: u32 = 7;
        memset before = data <- start;
        for i in 0..N {
            kernel count = add_to<<<1, 1>>>(&mut data[i..], step * (i as u32 + 1)) after before;
            for j in 0..2 {
                memset set = sets[i] <- start + 10 * i as u32 + j as u32 + step;
            }
        }
    }
}

#[test]
fn params_change_the_nodes_of_every_iteration() -> Result<()> {
    let mut graph = launched(Params::<3>::build(&shuffling(1)))?;
    assert_eq!(*graph.data()?.read()?, [8, 9, 10]);
    assert_eq!(*graph.sets()?.read()?, [[9; 2], [19; 2], [29; 2]]);
    graph.set_step(100)?;
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [107, 207, 307]);
    assert_eq!(*graph.sets()?.read()?, [[108; 2], [118; 2], [128; 2]]);
    graph.set_start(0)?;
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [100, 200, 300]);
    assert_eq!(*graph.sets()?.read()?, [[101; 2], [111; 2], [121; 2]]);
    assert_eq!((graph.step(), graph.start()), (100, 0));
    let mut empty = Params::<0>::build(&device())?;
    empty.set_step(4)
}

cuda_graph! {
    /// Conditions in a loop, and a loop in the body of a `while`.
    graph Choices {
        device flags: [u32; 4];
        device data: [u32; 4];
        device rounds: u32;
        device sum: u32;
        memset clear = data <- 0;
        memset none = sum <- 0;
        memset begin = rounds <- 3;
        for i in 0..4 {
            if choice = flags[i] {
                kernel twice = add_to<<<1, 1>>>(&mut data[i..i + 1], 20 + i as u32);
                for k in 0..2 {
                    kernel again = add_to<<<1, 1>>>(&mut data[i..=i], 100 * (k as u32 + 1)) after twice;
                }
            } else {
                memset once = data[i] <- 1;
            } after clear;
        }
        while turn = rounds {
            for i in 0..2 {
                kernel add = mix<<<1, 1>>>(&data[i..i + 1], &mut sum);
            }
            kernel next = add_to<<<1, 1>>>(&mut rounds, u32::MAX);
        } after choice, none, begin;
    }
}

#[test]
fn conditions_stand_in_loops_and_loops_in_their_bodies() -> Result<()> {
    for seed in 0..3 {
        let mut graph = Choices::build(&shuffling(seed))?;
        for flags in [[0, 1, 2, 0], [1; 4], [0; 4]] {
            graph.flags_mut()?.copy_from(&flags)?;
            graph.launch()?;
            let chosen = |i: usize| if flags[i] == 0 { 1 } else { 320 + i as u32 };
            let data: [u32; 4] = std::array::from_fn(chosen);
            assert_eq!(*graph.data()?.read()?, data, "the conditions are {flags:?}");
            let mut sum = [0];
            (0..3).for_each(|_| (0..2).for_each(|i| mixed([data[i]], &mut sum)));
            assert_eq!(*graph.sum()?.read()?, sum[0]);
        }
        assert_eq!(graph.choice(2).name(), "choice[2]");
        assert_eq!(graph.again(3, 1).name(), "again[3][1]");
        graph.again(3, 1).set_enabled(false)?;
        graph.flags_mut()?.copy_from(&[1; 4])?;
        graph.launch()?;
        assert_eq!(graph.data()?.read()?[3], 123);
    }
    Ok(())
}

cuda_graph! {
    /// Each layer computes in scratch memory of its own, which all of them share.
    graph Temporaries<const LAYERS: usize> {
        host   input: [u32; 4];
        host   output: [u32; 4];
        device data: [u32; 4];
        scratch from: [u32; 4];
        scratch sum: [u32; 4];
        scratch copy: [u32; 4];
        scratch last: [u32; 4];

        memcpy upload = input -> data;
        for layer in 0..LAYERS {
            memcpy load = data -> from                         after upload;
            memset start = sum <- layer as u32                 after upload;
            kernel first = mix<<<1, 4>>>(&from, &mut sum)      after load, start;
            memcpy keep = sum -> copy                          after first;
            memcpy again = copy -> last                        after keep;
            kernel second = mix<<<1, 4>>>(&last, &mut data)    after again;
        }
        memcpy download = data -> output after second;
    }
}

fn temporaries<const LAYERS: usize>() -> Result<()> {
    for seed in 0..4 {
        let mut graph = Temporaries::<LAYERS>::build(&shuffling(seed))?;
        for mut data in [[1, 2, 3, 4], [u32::MAX; 4]] {
            *graph.input_mut()? = data;
            graph.launch()?;
            for layer in 0..LAYERS {
                let mut sum = [layer as u32; 4];
                mixed(data, &mut sum);
                mixed(sum, &mut data);
            }
            assert_eq!(graph.output()?, &data);
        }
    }
    Ok(())
}

#[test]
fn iterations_have_scratch_memory_and_numbers() -> Result<()> {
    temporaries::<1>()?;
    temporaries::<5>()?;
    temporaries::<24>()?;

    let mut graph = launched(Calls::build(&shuffling(1), vec!["a", "bc", "def"], 3))?;
    assert_eq!(graph.lengths()?, &[11, 13, 15, 0]);
    assert_eq!(graph.note(1).name(), "note[1]");
    Ok(())
}

cuda_graph! {
    /// Host functions that are told which iteration it is.
    graph Calls(names: Vec<&'static str>, n: usize) {
        host   numbers: [u32; 4];
        host   lengths: [u32; 4];
        device data: [u32; 4];
        for i in 0..n {
            memset set = data[i] <- 10 + i as u32;
            memcpy down = data[i] -> numbers[i] after set;
            call note = |&numbers, &mut lengths| lengths[i] = numbers[i] + names[i].len() as u32 after down;
        }
    }
}

macro_rules! long {
    ($($join:ident)*) => {
        cuda_graph! {
            /// More in one iteration than one function of the expansion has.
            graph Long(n: usize, from: u32) {
                device data: [u32; 4];
                param step: u32 = 1;
                memset clear = data <- from;
                for i in 0..n {
                    kernel add = add_to<<<1, 1>>>(&mut data[i..], step * i as u32 + from) after clear;
                    $(join $join after add;)*
                    kernel last = add_to<<<1, 1>>>(&mut data[i..], from) after $($join),*;
                    for k in i..n {
                        memset set = data[3] <- from + step + k as u32 after last;
                    }
                }
            }
        }
    };
}
long! {
        jaa jab jac jad jae jaf jag jah jai jaj jak jal jam jan jao jap jaq jar
        jba jbb jbc jbd jbe jbf jbg jbh jbi jbj jbk jbl jbm jbn jbo jbp jbq jbr
        jca jcb jcc jcd jce jcf jcg jch jci jcj jck jcl jcm jcn jco jcp jcq jcr
        jda jdb jdc jdd jde jdf jdg jdh jdi jdj jdk jdl jdm jdn jdo jdp jdq jdr
        jea jeb jec jed jee jef jeg jeh jei jej jek jel jem jen jeo jep jeq jer
        jfa jfb jfc jfd jfe jff jfg jfh jfi jfj jfk jfl jfm jfn jfo jfp jfq jfr
        jga jgb jgc jgd jge jgf jgg jgh jgi jgj jgk jgl jgm jgn jgo jgp jgq jgr
        jha jhb jhc jhd jhe jhf jhg jhh jhi jhj jhk jhl jhm jhn jho jhp jhq jhr
}

#[test]
fn long_loops_are_several_functions() -> Result<()> {
    let mut graph = Long::build(&device(), 3, 100)?;
    for step in [1, 5] {
        graph.set_step(step)?;
        graph.launch()?;
        assert_eq!(*graph.data()?.read()?, [300, 300 + step, 300 + 2 * step, 102 + step]);
    }
    assert_eq!(graph.jhr(2).name(), "jhr[2]");
    assert_eq!(graph.set(1, 2).name(), "set[1][2]");
    Ok(())
}

#[test]
fn expressions_have_loops() -> Result<()> {
    let (device, factors, threads) = (shuffling(4), [3_u32, 5, 7], 2);
    let mut graph = cuda_graph! { &device =>
        device data: [u32; 6];
        param base: u32 = 10;
        param more: u32 = 0;
        memset clear = data <- more;
        for row in 0..factors.len() {
            kernel add = add_to<<<1, threads>>>(&mut data[2 * row..2 * row + 2], base * factors[row]) after clear;
            for column in 0..2 {
                kernel one = add_to<<<1, 1>>>(&mut data[2 * row + column..], (row + column) as u32 + more) after add;
            }
        }
    }?;
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [30, 31, 51, 52, 72, 73]);
    graph.set_base(100)?;
    graph.set_more(1)?;
    graph.one(2, 1).set_enabled(false)?;
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [302, 303, 503, 504, 704, 701]);
    Ok(())
}
