//! Launches of arbitrary kernels, which may fault but must not crash or hang.

use graph_emulator::{
    Access, Addressing, Buffer, Channel, Extent, Filter, Launch, Memory, Module, Options, Surface, Texture,
};

/// Loads a module and launches those of its kernels that have one of these names, each with arguments that point to a
/// buffer. The length of the text decides which checks are on. Returns whether the module could be loaded.
pub(crate) fn launch_all<'a>(text: &str, names: impl IntoIterator<Item = &'a str>, step_limit: u64) -> bool {
    let memory = Memory::new();
    let Ok(module) = Module::load(&memory, text) else {
        return false;
    };
    let data = memory.allocate("data", 4096).expect("the host has 4096 bytes");
    let options = Options {
        step_limit: Some(step_limit),
        threads: Some(1),
        cooperative: text.len().is_multiple_of(7),
        cluster: text.len().is_multiple_of(11).then_some([2, 1, 1]),
        check_uninitialized: text.len().is_multiple_of(2),
        check_shared_races: text.len().is_multiple_of(3),
        record_footprint: text.len().is_multiple_of(5),
        ..Options::default()
    };
    let texels = Texture {
        address: data.address(),
        channel: Channel::I16,
        channels: 2,
        extent: Extent::Linear { texels: 1024 },
        filter: Filter::Nearest,
        addressing: Addressing::Clamp,
        normalized_coordinates: false,
        normalized_values: false,
    };
    let square = Texture {
        extent: Extent::Plane {
            width: 32,
            height: 32,
            layers: None,
        },
        ..texels
    };
    let smooth = Texture {
        filter: Filter::Linear,
        addressing: Addressing::Border,
        normalized_values: true,
        ..square
    };
    let unit = |extent| Texture {
        extent,
        normalized_coordinates: true,
        addressing: Addressing::Wrap,
        ..smooth
    };
    let line = unit(Extent::Line {
        width: 40,
        layers: None,
    });
    let layers = unit(Extent::Plane {
        width: 16,
        height: 8,
        layers: Some(5),
    });
    let volume = Extent::Volume {
        width: 16,
        height: 5,
        depth: 4,
    };
    let plane = Surface {
        address: data.address(),
        channel: Channel::U8,
        channels: 4,
        extent: Extent::Plane {
            width: 40,
            height: 16,
            layers: None,
        },
    };
    let lines = Surface {
        extent: Extent::Line {
            width: 16,
            layers: Some(7),
        },
        ..plane
    };
    let slices = Surface {
        channel: Channel::F32,
        extent: volume,
        channels: 2,
        ..plane
    };
    for name in names {
        let Some(kernel) = module.kernel(name) else {
            continue;
        };
        let arguments: Vec<Vec<u8>> = kernel
            .parameters()
            .iter()
            .map(|parameter| {
                let mut bytes = data.address().to_le_bytes().to_vec();
                bytes.resize(parameter.size.min(1 << 16), 0);
                bytes
            })
            .collect();
        let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
        let buffers = [Buffer {
            name: "data",
            address: data.address(),
            len: data.len(),
            access: Access::ReadWrite,
        }];
        let launch = Launch {
            grid: [2, 1, 1],
            block: [40, 1, 1],
            shared_bytes: 64,
            arguments: &arguments,
            buffers: &buffers,
            textures: &[texels, smooth, square, line, layers, unit(volume)],
            surfaces: &[plane, lines, slices],
            options: &options,
        };
        if let Err(fault) = module.launch(name, &launch) {
            assert!(!fault.to_string().is_empty());
        }
    }
    true
}
