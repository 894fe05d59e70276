//! Mistakes of memory and its parts that rustc reports as E0277.
use graph_runtime::{Device, GraphBuilder, Result, Texel, cuda_graph, cuda_kernels};
use ui_tests::*;

// A surface is of an array.
cuda_graph! {
    graph DeviceMemory {
        device from: [[f32; 8]; 4];
        device to: [[f32; 8]; 4];
        kernel blur = soften<<<4, 8>>>(&from, &mut to);
    }
}

// A kernel that stores needs the array for itself.
cuda_graph! {
    graph LentShared {
        array from: [[f32; 8]; 4];
        array to: [[f32; 8]; 4];
        kernel blur = soften<<<4, 8>>>(&from, &to);
    }
}

// The rows of a texture have the length that the kernel knows.
cuda_graph! {
    graph OtherRows {
        array from: [[f32; 16]; 4];
        array to: [[f32; 8]; 4];
        kernel blur = soften<<<4, 8>>>(&from, &mut to);
    }
}

// A kernel that takes an address cannot take an array.
cuda_graph! {
    graph PlainParameter {
        array data: [f32; 64];
        kernel fill = write<<<1, 64>>>(&mut data);
    }
}

// Only arrays have three dimensions of texels.
cuda_graph! {
    graph VolumeOfDeviceMemory {
        device volume: [[[f32; 8]; 8]; 8];
        device out: [f32; 8];
        kernel view = look_into<<<1, 8>>>(&volume, &mut out);
    }
}

// The host looks at an array through a copy.
cuda_graph! {
    graph LookedAt {
        array from: [[f32; 8]; 4];
        array to: [[f32; 8]; 4];
        kernel blur = soften<<<4, 8>>>(&from, &mut to);
    }
}

fn looked_at() -> Result<()> {
    let mut graph = LookedAt::build(&Device::emulator())?;
    graph.launch()?;
    drop(graph.to()?);
    Ok(())
}

// Memory that is updated atomically has the elements that the kernel declares.
cuda_graph! {
    graph WrongElements {
        device bins: [f32; 4];
        kernel update = count<<<1, 4>>>(&bins);
    }
}

// A value in place of borrowed memory.
fn lend(device: &Device) -> Result<()> {
    let numbers = vec![0.0; 4];
    device.scope(|scope| scope.lend(numbers).map(drop))
}

// The host cannot reach device memory.
cuda_graph! {
    graph MappedDeviceMemory {
        device news: [u32; 4];
        kernel tell = announce<<<1, 4>>>(&news, 7);
    }
}

// A kernel that loads memory plainly does not get mapped memory.
cuda_graph! {
    graph MappedPlainParameter {
        mapped news: [u32; 4];
        device seen: [u32; 4];
        kernel read = look<<<1, 4>>>(&news, &mut seen);
    }
}

// The elements are words, whatever their type is called.
type Small = u8;

cuda_graph! {
    graph WrongType {
        #[allow(unused_resource)]
        mapped news: [Small; 4];
    }
}

// Memory holds plain data: types of which any bits are a value.
cuda_graph! {
    graph ElementNotPlain {
        #[allow(unused_resource)]
        device flags: [bool; 4];
    }
}

// A graph that is generic over what its memory holds says so.
cuda_graph! {
    graph ElementOfAnyType<T> {
        #[allow(unused_resource)]
        device data: [T; 4];
    }
}

// Scratch memory has no accessors: there is nothing in it between launches.
cuda_graph! {
    graph Accessor {
        scratch tmp: [f32; 4];
        device out: [f32; 4];
        memset fill = tmp <- 1.0;
        memcpy keep = tmp -> out after fill;
    }
}

fn accessor() -> graph_runtime::Result<()> {
    let mut graph = Accessor::build(&Device::emulator())?;
    graph.launch()?;
    graph.tmp()?;
    Ok(())
}

// A table has two to four dimensions.
fn builder_of_one_length() {
    let mut builder = GraphBuilder::new(&Device::emulator(), "BuilderOfOneLength");
    builder.device_table::<f32, 1>("data", [4]);
}

// A parameter of fixed lengths takes no table.
cuda_graph! {
    graph KernelOfFixedShape(n: usize, d: usize) {
        device data: [[f32; d]; n];
        kernel ones = tile<<<1, (16, 16)>>>(&mut data);
    }
}

// A kernel's elements are those of the table.
cuda_graph! {
    graph KernelOfOtherElement(n: usize, d: usize) {
        device data: [[u32; d]; n];
        kernel ones = write<<<1, 32>>>(&mut data);
    }
}

// CUDA has no texels of `f64`.
#[cuda_kernels("../../../kernels/textures.ptx")]
unsafe extern "C" {
    safe fn fetch(table: &[Texel<f64>], out: &mut [f32]);
}

fn main() {}
