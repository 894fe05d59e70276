//! Mistakes with arrays.
use graph_runtime::cuda_graph;
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

fn main() {}
