//! Private memory and params of a graph are not bound where they are not visible.
mod graphs {
    use graph_runtime::cuda_graph;

    cuda_graph! {
        pub graph Save {
            pub(self) device from: [f32; 32];
            device to: [f32; 32];
            pub(self) param value: f32 = 1.0;
            memcpy save = from -> to;
            memset clear = from <- value after save;
        }
        pub graph Inside {
            device a: [f32; 32];
            device b: [f32; 32];
            graph step = Save(from: &mut a, to: &mut b, value: 2.0);
        }
    }
}

graph_runtime::cuda_graph! {
    pub graph Parent {
        device a: [f32; 32];
        device b: [f32; 32];
        graph step = graphs::Save(from: &mut a, to: &mut b, value: 2.0);
    }
}

fn main() {}
