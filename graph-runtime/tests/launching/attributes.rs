//! Attributes of nodes: priorities, clusters, cooperative launches, and nodes that are built disabled.

use crate::common::*;

/// `0, 1, 2, ..`
fn numbers<const N: usize>() -> [u32; N] {
    std::array::from_fn(|index| index as u32)
}

const LOW: i32 = 0;

cuda_graph! {
    graph Attributes(side: usize) {
        device a:   [u32; 256];
        device b:   [u32; 256];
        device c:   [u32; 256];
        device all: [[u32; 64]; 2];

        #[priority(LOW - 1)]
        kernel soon  = number<<<8, 32>>>(&mut a);
        #[priority(0)]
        #[cluster(2)]
        kernel pairs = number<<<8, 32>>>(&mut b);
        #[cluster(side, 2, 1)]
        kernel tiles = number<<<(4, 2), 32>>>(&mut c);
        for i in 0..2 {
            #[priority(-(i as i32))]
            kernel each = number<<<2, 32>>>(&mut all[i]);
        }
    }
}

#[test]
fn priorities_change_no_results_and_clusters_stay_whole() -> Result<()> {
    let mut graph = Attributes::build(&device(), 2)?;
    for _ in 0..3 {
        graph.launch()?;
    }
    assert_eq!((*graph.a()?.read()?, *graph.b()?.read()?), (numbers(), numbers()));
    assert_eq!(graph.c()?.read()?[32..64], numbers::<256>()[32..64]);
    assert_eq!(graph.all()?.read()?[1][..], numbers::<64>());

    mistakes(Attributes::build(&device(), 3))[0]
        .begins("node `tiles`: the grid (4, 2, 1) is not made of whole clusters of (3, 2, 1) blocks [launch-config]");

    let mut builder = GraphBuilder::new(&device(), "Update");
    let mut data = builder.device::<[u32; 256]>("data");
    let node = builder.kernel("node", Launch::new(4, 32).cluster(4), number::call(&mut data));
    let mut graph = builder.build()?;
    let mut update = |launch| graph.update("grid", |update| update.kernel(node, launch, number::call(&mut data)));
    update(Launch::new(8, 32))?;
    refused(update(Launch::new(6, 32))).says("is not made of whole clusters of (4, 1, 1) blocks");
    for launch in [Launch::new(8, 32).cluster(2), Launch::new(8, 32).cooperative()] {
        assert!(matches!(update(launch), Err(Error::Unsupported { .. })));
    }
    graph.launch()?;
    assert_eq!(*graph.device(&data)?.read()?, numbers());
    Ok(())
}

#[test]
fn blocks_of_a_cluster_know_each_other() -> Result<()> {
    let build = |device: &Device, blocks: usize| {
        let mut builder = GraphBuilder::new(device, "Ranks");
        let mut out = builder.device::<[u32; 16]>("out");
        builder.kernel("node", Launch::new(16, 1).cluster(blocks), rank::call(&mut out));
        builder.build().map(|graph| (graph, out))
    };
    for blocks in [1, 4, 16] {
        let (mut graph, out) = build(&device(), blocks)?;
        graph.launch()?;
        let expected: [u32; 16] = std::array::from_fn(|block| (block % blocks + 100 * blocks) as u32);
        assert_eq!(*graph.device(&out)?.read()?, expected);
    }
    Ok(())
}

#[test]
fn attributes_are_of_nodes_and_devices_that_can_have_them() -> Result<()> {
    let build = |device: &Device, priority| {
        let mut builder = GraphBuilder::new(device, "Priority");
        let mut data = builder.device::<[u32; 256]>("data");
        let node = builder.kernel("node", Launch::new(8, 32), number::call(&mut data));
        builder.priority(node, priority);
        builder.build().map(|_| ())
    };
    let device = device();
    build(&device, 0)?;
    if device.is_emulator() {
        return build(&device, 7); // it has no order of its own
    }
    refused(build(&device, 7)).begins("graph `Priority`, node `node`: kernel `number` has the priority 7, but");

    let declared = |say: fn(&mut GraphBuilder, NodeId)| {
        let mut builder = GraphBuilder::new(&Device::emulator(), "Refused");
        let node = builder.join("node");
        say(&mut builder, node);
        refused(builder.build())
    };
    declared(|builder, node| builder.priority(node, 0))
        .reads("graph `Refused`, node `node`: only kernel nodes have a priority");
    declared(|builder, node| builder.disable(node))
        .reads("graph `Refused`, node `node`: only kernel, memcpy and memset nodes can be disabled");
    declared(|builder, _| builder.disable(NodeId::new(5))).says("no node has index 5");
    Ok(())
}

#[test]
fn blocks_of_a_cooperative_launch_all_run_at_once() -> Result<()> {
    let mut graph = cuda_graph! { &device() =>
        device arrived: u32;
        device input:   [u32; 64];
        device out:     [u32; 64];

        #[cooperative]
        // SAFETY: all blocks run at the same time, so none waits for one that cannot start; every buffer has room for
        // the 64 blocks.
        kernel all = unsafe meet<<<64, 1>>>(&mut arrived, &mut input, &mut out);
    }?;
    for _ in 0..3 {
        graph.launch()?;
    }
    assert_eq!(*graph.out()?.read()?, [64 * 65 / 2; 64]);

    const BLOCKS: usize = 1 << 20;
    let device = device();
    let build = |blocks: usize| {
        let mut builder = GraphBuilder::new(&device, "Large");
        let mut data = builder.device_slice::<u32>("data", BLOCKS);
        let node = builder.kernel("node", Launch::new(blocks, 1).cooperative(), number::call(&mut data));
        builder.build().map(|graph| (graph, node, data))
    };
    let text = "graph `Large`, node `node`: kernel `number` is launched cooperatively in 1048576 blocks";
    let error = refused(build(BLOCKS));
    error.begins(text);
    error.ends("at the same time");
    let (mut graph, node, mut data) = build(64)?;
    let changed = graph.update("blocks", |update| {
        update.kernel(node, Launch::new(BLOCKS, 1), number::call(&mut data))
    });
    refused(changed).reads(&error.to_string());
    graph.launch()?;
    graph.synchronize()
}

#[test]
fn disabled_nodes_run_once_they_are_enabled() -> Result<()> {
    let mut graph = cuda_graph! { &device() =>
        device flag: u32;
        device a:    [u32; 256];
        device b:    [u32; 256];
        host   out:  [u32; 256];

        memset first  = a <- 7_u32;
        #[disabled]
        kernel second = number<<<8, 32>>>(&mut a) after first;
        #[disabled]
        memset third  = b <- 9_u32;
        #[disabled]
        memcpy fourth = a -> b                    after second, third;
        memcpy down   = b -> out                  after fourth;
        if maybe = flag {
            #[disabled]
            memset inner = b <- 1_u32;
        } after down;
    }?;
    assert!(graph.first().is_enabled() && !graph.second().is_enabled());
    graph.launch()?;
    assert_eq!((*graph.a()?.read()?, graph.out()?), ([7; 256], &[0; 256]));
    graph.third().set_enabled(true)?;
    graph.launch()?;
    assert_eq!((*graph.a()?.read()?, graph.out()?), ([7; 256], &[9; 256]));
    graph.second().set_enabled(true)?;
    graph.fourth().set_enabled(true)?;
    graph.launch()?;
    assert_eq!((*graph.a()?.read()?, graph.out()?), (numbers(), &numbers()));
    graph.flag_mut()?.copy_from(&1)?;
    graph.launch()?;
    assert_eq!(*graph.b()?.read()?, numbers(), "in a body, too");
    graph.inner().set_enabled(true)?;
    graph.launch()?;
    assert_eq!(*graph.b()?.read()?, [1; 256]);
    graph.fourth().set_enabled(false)?;
    assert!(!graph.fourth().is_enabled());

    let mut graph = launched(OnlySometimes::build(&device()))?;
    assert_eq!(*graph.a()?.read()?, [1; 256]);
    graph.second().set_enabled(true)?;
    graph.launch()?;
    assert_eq!(*graph.a()?.read()?, [2; 256]);
    graph.first().set_enabled(false)?;
    let error = graph.second().set_enabled(false).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    Ok(())
}

cuda_graph! {
    graph OnlySometimes {
        scratch tmp: [u32; 256];
        device  a:   [u32; 256];

        memset first  = tmp <- 1_u32;
        #[disabled]
        memset second = tmp <- 2_u32 after first;
        memcpy use_it = tmp -> a     after second;
    }
}

#[test]
fn what_only_a_disabled_node_does_is_missing() {
    let mut builder = GraphBuilder::new(&device(), "Missing");
    let mut tmp = builder.scratch::<[u32; 4]>("tmp");
    let mut out = builder.host::<[u32; 4]>("out");
    let mut flag = builder.device::<u32>("flag");
    let fill = builder.memset("fill", &mut tmp, 1_u32);
    let read = builder.memcpy("read", &tmp, &mut out);
    builder.after(read, &[fill]);
    builder.disable(fill);
    let mut stop = None;
    builder.while_loop("repeat", &flag.whole(), |body| {
        stop = Some(body.memset("stop", &mut flag, 0_u32))
    });
    builder.disable(stop.unwrap());
    let found = mistakes(builder.build());
    assert_eq!(
        (found[0].code, found[1].code),
        (Code::EndlessWhile, Code::Uninitialized)
    );
    assert_eq!(found[1].notes, ["`fill` writes `tmp`, but is disabled"]);
}
