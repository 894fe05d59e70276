#[allow(unexpected_cfgs, dead_code, nonstandard_style, unreachable_pub)]
#[allow(unused_imports, unused_variables, clippy::all, clippy::pedantic)]
const _: () = {
    use ::graph_runtime::{self as __g, private as __p};
    #[cfg(rust_analyzer)]
    const _: () = {
        trait __Editor {
            fn __statements();
        }
        impl<const N: usize> __Editor for Sample<N> {
            #[allow(warnings)]
            fn __statements() {
                let _: usize = N;
                let mut input: ::graph_runtime::Place<[f32; N], ::graph_runtime::OnHost>;
                let _: usize = N;
                let mut data: ::graph_runtime::Place<
                    [f32; N],
                    ::graph_runtime::OnDevice,
                >;
                let _: usize = N;
                let mut output: ::graph_runtime::Place<
                    [f32; N],
                    ::graph_runtime::OnHost,
                >;
                let _ = &(input);
                let _ = &(data);
                let _ = (1, N);
                unsafe { kernel_forward::call(&mut data) };
                let _ = (1, N);
                unsafe { kernel_backward::call(&mut data) };
                let _ = &(data);
                let _ = &(output);
                {
                    let upload: ::graph_runtime::NodeId;
                    let forward: ::graph_runtime::NodeId;
                    let backward: ::graph_runtime::NodeId;
                    let download: ::graph_runtime::NodeId;
                    let _ = (upload);
                    let _ = (forward);
                    let _ = (backward);
                }
            }
        }
    };
    #[cfg(rust_analyzer)]
    impl<const N: usize> Sample<N> {
        /// Makes all changes of params, memory and nodes that `change` requests, or none, before the next launch.
        pub fn edit<__R: __g::EditResult>(
            &mut self,
            change: impl ::core::ops::FnOnce(&mut Self) -> __R,
        ) -> __g::Result<()> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// The graph as static data.
        pub const PLAN: __g::Plan = __g::Plan::new("Sample", &[], &[]);
        /// Allocates the graph's memory, zeroed, builds it on the device and uploads it.
        pub fn build(device: &__g::Device) -> __g::Result<Self> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Checks the graph as `build` does, for graphs to be instantiated later.
        pub fn define(device: &__g::Device) -> __g::Result<__g::Definition<Self>> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
    }
    #[cfg(not(rust_analyzer))]
    type __kernel_forward = kernel_forward;
    #[cfg(not(rust_analyzer))]
    type __kernel_backward = kernel_backward;
    #[cfg(not(rust_analyzer))]
    #[doc(hidden)]
    pub struct __Bound<const N: usize> {
        pub input: ::core::option::Option<__g::Place<[f32; N], __g::OnHost>>,
        pub data: ::core::option::Option<__g::Place<[f32; N], __g::OnDevice>>,
        pub output: ::core::option::Option<__g::Place<[f32; N], __g::OnHost>>,
    }
    #[cfg(not(rust_analyzer))]
    impl<const N: usize> __Bound<N> {
        pub fn __place_input(&mut self, given: &__g::Place<[f32; N], __g::OnHost>) {
            self.input = ::core::option::Option::Some(*given);
        }
        pub fn __place_data(&mut self, given: &__g::Place<[f32; N], __g::OnDevice>) {
            self.data = ::core::option::Option::Some(*given);
        }
        pub fn __place_output(&mut self, given: &__g::Place<[f32; N], __g::OnHost>) {
            self.output = ::core::option::Option::Some(*given);
        }
    }
    #[cfg(not(rust_analyzer))]
    impl<const N: usize> Sample<N> {
        /// Makes all changes of params, memory and nodes that `change` requests, or none, before the next launch.
        pub fn edit<__R: __g::EditResult>(
            &mut self,
            change: impl ::core::ops::FnOnce(&mut Self) -> __R,
        ) -> __g::Result<()> {
            __p::edit_nodes(self, |graph| &mut graph.__graph, change)
        }
        /// The graph as static data: nodes, accesses, the edges that are lowered, levels, places of scratch memory.
        pub const PLAN: __g::Plan = Self::__plan::<()>();
        const fn __plan<Lazy>() -> __g::Plan {
            __g::Plan::new(
                "Sample",
                const {
                    &[
                        __p::plan_resource::<[f32; N]>("input", __g::MemoryKind::Host),
                        __p::plan_resource::<[f32; N]>("data", __g::MemoryKind::Device),
                        __p::plan_resource::<[f32; N]>("output", __g::MemoryKind::Host),
                    ]
                },
                const {
                    use __g::NodeKind::{Kernel, Memcpy};
                    &__p::PlanNodes::new(
                            [
                                ("upload", Memcpy, 2, 0, 0),
                                ("forward", Kernel, 1, 1, 1),
                                ("backward", Kernel, 1, 1, 2),
                                ("download", Memcpy, 2, 1, 3),
                            ],
                            const {
                                &__p::plan_accesses(
                                    [0, 1, 1, 1, 1, 2],
                                    b"rwbbrw",
                                    &[
                                        <__kernel_forward as __g::Kernel>::FACTS,
                                        <__kernel_backward as __g::Kernel>::FACTS,
                                    ],
                                    &[(2, 0, &[]), (3, 1, &[])],
                                )
                            },
                            &[0, 1, 2],
                        )
                        .0
                },
            )
        }
        /// Allocates the graph's memory, zeroed, builds it on the device and uploads it.
        pub fn build(device: &__g::Device) -> __g::Result<Self> {
            let () = Self::__ASSERTED;
            __g::Definition::build(Self::define(device)?)
        }
        /// Checks the graph as `build` does, for graphs to be instantiated later.
        pub fn define(device: &__g::Device) -> __g::Result<__g::Definition<Self>> {
            Self::__declare(__g::GraphBuilder::new(device, "Sample"), Self::__unbound())
        }
        #[doc(hidden)]
        pub const __INTERFACE: __p::Interface = __p::Interface {
            graph: "Sample",
            memory: &[
                ("input", __g::Mode::Read),
                ("data", __g::Mode::ReadWrite),
                ("output", __g::Mode::ReadWrite),
            ],
            ..__p::Interface::EMPTY
        };
        #[doc(hidden)]
        pub fn __unbound() -> __Bound<N> {
            __Bound {
                input: ::core::option::Option::None,
                data: ::core::option::Option::None,
                output: ::core::option::Option::None,
            }
        }
        const __ASSERTED: () = {
            const {
                __p::check_launch::<
                    __kernel_forward,
                >(
                    &["forward"],
                    &["data"],
                    &[[1, 1, 1], [(N) as ::core::primitive::i128, 1, 1]],
                    0,
                    &[__p::buffer::<[f32; N]>(1)],
                )
            };
            const {
                __p::check_launch::<
                    __kernel_backward,
                >(
                    &["backward"],
                    &["data"],
                    &[[1, 1, 1], [(N) as ::core::primitive::i128, 1, 1]],
                    0,
                    &[__p::buffer::<[f32; N]>(1)],
                )
            };
        };
        #[doc(hidden)]
        pub fn __declare<__Owner: __p::Owner>(
            mut owner: __Owner,
            bound: __Bound<N>,
        ) -> __g::Result<__Owner::Declared<Self>> {
            let () = Self::__ASSERTED;
            let builder = owner.builder();
            let __place_input = __p::own::<
                [f32; N],
                __p::kind::Host,
            >(builder, "input", bound.input);
            let __place_data = __p::own::<
                [f32; N],
                __p::kind::Device,
            >(builder, "data", bound.data);
            let __place_output = __p::own::<
                [f32; N],
                __p::kind::Host,
            >(builder, "output", bound.output);
            let _ = builder.memcpy("upload", &__place_input, &mut { __place_data });
            let _ = builder
                .kernel(
                    "forward",
                    __p::launch::<__kernel_forward>(1, N),
                    __kernel_forward::__launch(&mut { __place_data }),
                );
            let _ = builder
                .kernel(
                    "backward",
                    __p::launch::<__kernel_backward>(1, N),
                    __kernel_backward::__launch(&mut { __place_data }),
                );
            let _ = builder.memcpy("download", &__place_data, &mut { __place_output });
            __p::Declare::end_nodes(builder, 4);
            __p::Declare::edges(builder, &[[0, 1], [1, 2], [2, 3]]);
            owner
                .finish(move |graph| Self {
                    __graph: graph,
                    input: __place_input,
                    data: __place_data,
                    output: __place_output,
                })
        }
    }
    impl<const N: usize> Sample<N> {
        /// Launches the graph on its own stream and returns at once; it may be launched again before it has ended.
        #[inline]
        pub fn launch(&mut self) -> __g::Result<()> {
            __g::Graph::launch(&mut self.__graph)
        }
        /// Launches the graph on a stream of the same context that is not capturing.
        pub fn launch_on(&mut self, stream: &__g::CudaStream) -> __g::Result<()> {
            __g::Graph::launch_on(&mut self.__graph, stream)
        }
        /// Launches the graph on its own stream, and returns a future that resolves when this launch has ended.
        pub fn launch_async(&mut self) -> __g::Result<__g::LaunchFuture> {
            __g::Graph::launch_async(&mut self.__graph)
        }
        /// Waits until all launches have ended; returns the error of any that failed.
        pub fn synchronize(&self) -> __g::Result<()> {
            __g::Graph::synchronize(&self.__graph)
        }
        /// The CUDA handles, for what is not covered here; `None` on the emulator.
        pub fn raw(&self) -> ::core::option::Option<__g::RawGraph> {
            __g::Graph::raw(&self.__graph)
        }
        /// Waits for launches in flight and lends all host memory at once, for writing.
        pub fn memory_mut(&mut self) -> __g::Result<SampleMemory<'_, N>> {
            let mut __split = __g::Graph::split_host(&mut self.__graph)?;
            ::core::result::Result::Ok(SampleMemory {
                input: __g::HostSplit::take(&mut __split, &self.input)?,
                output: __g::HostSplit::take(&mut __split, &self.output)?,
            })
        }
        /// Waits for launches in flight and lends `input` for reading.
        pub fn input(&self) -> __g::Result<&[f32; N]> {
            __g::Graph::host(&self.__graph, &self.input)
        }
        /// Waits for launches in flight and lends `input` for writing.
        pub fn input_mut(&mut self) -> __g::Result<&mut [f32; N]> {
            __g::Graph::host_mut(&mut self.__graph, &self.input)
        }
        /// Waits for launches in flight and lends `data` for reading.
        pub fn data(&self) -> __g::Result<__g::DeviceRef<'_, [f32; N]>> {
            __g::Graph::device(&self.__graph, &self.data)
        }
        /// Waits for launches in flight and lends `data` for writing.
        pub fn data_mut(&mut self) -> __g::Result<__g::DeviceMut<'_, [f32; N]>> {
            __g::Graph::device_mut(&mut self.__graph, &self.data)
        }
        /// Waits for launches in flight and lends `output` for reading.
        pub fn output(&self) -> __g::Result<&[f32; N]> {
            __g::Graph::host(&self.__graph, &self.output)
        }
        /// Waits for launches in flight and lends `output` for writing.
        pub fn output_mut(&mut self) -> __g::Result<&mut [f32; N]> {
            __g::Graph::host_mut(&mut self.__graph, &self.output)
        }
        /// The node `upload`.
        pub fn upload(&mut self) -> __g::NodeHandle<'_> {
            __p::node_handle(&mut self.__graph, 0)
        }
        /// The node `forward`.
        pub fn forward(&mut self) -> __g::NodeHandle<'_> {
            __p::node_handle(&mut self.__graph, 1)
        }
        /// The node `backward`.
        pub fn backward(&mut self) -> __g::NodeHandle<'_> {
            __p::node_handle(&mut self.__graph, 2)
        }
        /// The node `download`.
        pub fn download(&mut self) -> __g::NodeHandle<'_> {
            __p::node_handle(&mut self.__graph, 3)
        }
    }
    impl<const N: usize> ::core::fmt::Debug for Sample<N> {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Debug::fmt(&self.__graph, f)
        }
    }
    impl<const N: usize> __g::AnyGraph for Sample<N> {
        fn __graph(&self) -> __p::LentGraph<&__g::Graph> {
            ::core::convert::From::from(&self.__graph)
        }
        fn __graph_mut(&mut self) -> __p::LentGraph<&mut __g::Graph> {
            ::core::convert::From::from(&mut self.__graph)
        }
    }
    impl<'nodes, const N: usize> SampleNodes<'nodes, N> {
        /// The node `upload`.
        pub fn upload(&mut self) -> __g::NodeHandle<'_> {
            __p::Handles::handle(&mut self.__node, 0, "upload", &[])
        }
        /// The node `forward`.
        pub fn forward(&mut self) -> __g::NodeHandle<'_> {
            __p::Handles::handle(&mut self.__node, 1, "forward", &[])
        }
        /// The node `backward`.
        pub fn backward(&mut self) -> __g::NodeHandle<'_> {
            __p::Handles::handle(&mut self.__node, 2, "backward", &[])
        }
        /// The node `download`.
        pub fn download(&mut self) -> __g::NodeHandle<'_> {
            __p::Handles::handle(&mut self.__node, 3, "download", &[])
        }
    }
    impl<'nodes, const N: usize> ::core::ops::Deref for SampleNodes<'nodes, N> {
        type Target = __g::NodeHandle<'nodes>;
        fn deref(&self) -> &Self::Target {
            &self.__node
        }
    }
    impl<const N: usize> __p::DeclaredGraph for Sample<N> {
        type Nodes<'nodes> = SampleNodes<'nodes, N>;
        fn __nodes<'nodes>(node: __g::NodeHandle<'nodes>) -> Self::Nodes<'nodes> {
            SampleNodes { __node: node }
        }
    }
};
/// The graph `Sample`, declared with `cuda_graph!`.
#[allow(dead_code, non_snake_case)]
pub struct Sample<const N: usize> {
    __graph: ::graph_runtime::Graph,
    input: ::graph_runtime::Place<[f32; N], ::graph_runtime::OnHost>,
    data: ::graph_runtime::Place<[f32; N], ::graph_runtime::OnDevice>,
    output: ::graph_runtime::Place<[f32; N], ::graph_runtime::OnHost>,
}
/// All host memory of a [`Sample`], lent at once.
#[allow(dead_code, non_snake_case)]
pub struct SampleMemory<'memory, const N: usize> {
    /// The host resource `input`.
    pub input: &'memory mut [f32; N],
    /// The host resource `output`.
    pub output: &'memory mut [f32; N],
}
/// The nodes of a [`Sample`] that is a node of another graph, and the handle of that node.
#[allow(dead_code, non_snake_case)]
pub struct SampleNodes<'nodes, const N: usize> {
    __node: ::graph_runtime::NodeHandle<'nodes>,
}
