#[allow(unexpected_cfgs)]
const _: () = {
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
    #[allow(
        dead_code,
        non_snake_case,
        unreachable_pub,
        unused_variables,
        clippy::all,
        clippy::pedantic
    )]
    impl<const N: usize> Sample<N> {
        /// Launches the graph on its own stream and returns at once; it may be launched again before it has ended.
        #[inline]
        pub fn launch(&mut self) -> ::graph_runtime::Result<()> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Launches the graph on a stream of the same context that is not capturing.
        pub fn launch_on(
            &mut self,
            stream: &::graph_runtime::CudaStream,
        ) -> ::graph_runtime::Result<()> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Waits until all launches have ended; returns the error of any that failed.
        pub fn synchronize(&self) -> ::graph_runtime::Result<()> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// The CUDA handles, for what is not covered here; `None` on the emulator.
        pub fn raw(&self) -> ::core::option::Option<::graph_runtime::RawGraph> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Waits for launches in flight and lends all host memory at once, for writing.
        pub fn memory_mut(&mut self) -> ::graph_runtime::Result<SampleMemory<'_, N>> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Waits for launches in flight and lends `input` for reading.
        pub fn input(&self) -> ::graph_runtime::Result<&[f32; N]> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Waits for launches in flight and lends `input` for writing.
        pub fn input_mut(&mut self) -> ::graph_runtime::Result<&mut [f32; N]> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Waits for launches in flight and lends `data` for reading.
        pub fn data(
            &self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceRef<'_, [f32; N]>> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Waits for launches in flight and lends `data` for writing.
        pub fn data_mut(
            &mut self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceMut<'_, [f32; N]>> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Waits for launches in flight and lends `output` for reading.
        pub fn output(&self) -> ::graph_runtime::Result<&[f32; N]> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Waits for launches in flight and lends `output` for writing.
        pub fn output_mut(&mut self) -> ::graph_runtime::Result<&mut [f32; N]> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// The node `upload`.
        pub fn upload(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// The node `forward`.
        pub fn forward(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// The node `backward`.
        pub fn backward(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// The node `download`.
        pub fn download(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
    }
    #[cfg(rust_analyzer)]
    #[allow(unused_variables)]
    impl<const N: usize> ::core::fmt::Debug for Sample<N> {
        fn fmt(
            &self,
            formatter: &mut ::core::fmt::Formatter<'_>,
        ) -> ::core::fmt::Result {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
    }
    #[cfg(rust_analyzer)]
    #[allow(
        dead_code,
        non_snake_case,
        unreachable_pub,
        unused_variables,
        clippy::all,
        clippy::pedantic
    )]
    impl<const N: usize> Sample<N> {
        /// The graph as static data.
        pub const PLAN: ::graph_runtime::private::plan::Plan = ::graph_runtime::private::plan::Plan::new(
            "Sample",
            &[],
            &[],
        );
        /// Allocates the graph's memory, zeroed, builds it on the device and uploads it.
        pub fn build(device: &::graph_runtime::Device) -> ::graph_runtime::Result<Self> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
    }
    #[cfg(not(rust_analyzer))]
    #[allow(
        dead_code,
        non_snake_case,
        unreachable_pub,
        unused_variables,
        clippy::all,
        clippy::pedantic
    )]
    impl<const N: usize> Sample<N> {
        /// Launches the graph on its own stream and returns at once; it may be launched again before it has ended.
        #[inline]
        pub fn launch(&mut self) -> ::graph_runtime::Result<()> {
            ::graph_runtime::Graph::launch(&mut self.__graph)
        }
        /// Launches the graph on a stream of the same context that is not capturing.
        pub fn launch_on(
            &mut self,
            stream: &::graph_runtime::CudaStream,
        ) -> ::graph_runtime::Result<()> {
            ::graph_runtime::Graph::launch_on(&mut self.__graph, stream)
        }
        /// Waits until all launches have ended; returns the error of any that failed.
        pub fn synchronize(&self) -> ::graph_runtime::Result<()> {
            ::graph_runtime::Graph::synchronize(&self.__graph)
        }
        /// The CUDA handles, for what is not covered here; `None` on the emulator.
        pub fn raw(&self) -> ::core::option::Option<::graph_runtime::RawGraph> {
            ::graph_runtime::Graph::raw(&self.__graph)
        }
        /// Waits for launches in flight and lends all host memory at once, for writing.
        pub fn memory_mut(&mut self) -> ::graph_runtime::Result<SampleMemory<'_, N>> {
            let mut __split = ::graph_runtime::Graph::split_host(&mut self.__graph)?;
            ::core::result::Result::Ok(SampleMemory {
                input: ::graph_runtime::HostSplit::take(&mut __split, &self.input)?,
                output: ::graph_runtime::HostSplit::take(&mut __split, &self.output)?,
                __marker: ::core::marker::PhantomData,
            })
        }
        /// Waits for launches in flight and lends `input` for reading.
        pub fn input(&self) -> ::graph_runtime::Result<&[f32; N]> {
            ::graph_runtime::Graph::host(&self.__graph, &self.input)
        }
        /// Waits for launches in flight and lends `input` for writing.
        pub fn input_mut(&mut self) -> ::graph_runtime::Result<&mut [f32; N]> {
            ::graph_runtime::Graph::host_mut(&mut self.__graph, &self.input)
        }
        /// Waits for launches in flight and lends `data` for reading.
        pub fn data(
            &self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceRef<'_, [f32; N]>> {
            ::graph_runtime::Graph::device(&self.__graph, &self.data)
        }
        /// Waits for launches in flight and lends `data` for writing.
        pub fn data_mut(
            &mut self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceMut<'_, [f32; N]>> {
            ::graph_runtime::Graph::device_mut(&mut self.__graph, &self.data)
        }
        /// Waits for launches in flight and lends `output` for reading.
        pub fn output(&self) -> ::graph_runtime::Result<&[f32; N]> {
            ::graph_runtime::Graph::host(&self.__graph, &self.output)
        }
        /// Waits for launches in flight and lends `output` for writing.
        pub fn output_mut(&mut self) -> ::graph_runtime::Result<&mut [f32; N]> {
            ::graph_runtime::Graph::host_mut(&mut self.__graph, &self.output)
        }
        /// The node `upload`.
        pub fn upload(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::graph_runtime::Graph::node(
                &mut self.__graph,
                ::graph_runtime::NodeId::new(0usize),
            )
        }
        /// The node `forward`.
        pub fn forward(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::graph_runtime::Graph::node(
                &mut self.__graph,
                ::graph_runtime::NodeId::new(1usize),
            )
        }
        /// The node `backward`.
        pub fn backward(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::graph_runtime::Graph::node(
                &mut self.__graph,
                ::graph_runtime::NodeId::new(2usize),
            )
        }
        /// The node `download`.
        pub fn download(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::graph_runtime::Graph::node(
                &mut self.__graph,
                ::graph_runtime::NodeId::new(3usize),
            )
        }
    }
    #[cfg(not(rust_analyzer))]
    #[allow(unused_variables)]
    impl<const N: usize> ::core::fmt::Debug for Sample<N> {
        fn fmt(
            &self,
            formatter: &mut ::core::fmt::Formatter<'_>,
        ) -> ::core::fmt::Result {
            ::core::fmt::Debug::fmt(&self.__graph, formatter)
        }
    }
    #[cfg(not(rust_analyzer))]
    #[allow(non_camel_case_types, dead_code)]
    type __kernel_forward = kernel_forward;
    #[cfg(not(rust_analyzer))]
    #[allow(non_camel_case_types, dead_code)]
    type __kernel_backward = kernel_backward;
    #[cfg(not(rust_analyzer))]
    #[allow(
        dead_code,
        non_snake_case,
        unreachable_pub,
        unused_variables,
        clippy::all,
        clippy::pedantic
    )]
    impl<const N: usize> Sample<N> {
        #[doc(hidden)]
        const __RESOURCES: &'static [::graph_runtime::private::plan::PlanResource] = &[
            ::graph_runtime::private::plan::PlanResource::new(
                "input",
                ::graph_runtime::private::plan::Space::Host,
                ::core::mem::size_of::<[f32; N]>(),
            ),
            ::graph_runtime::private::plan::PlanResource::new(
                "data",
                ::graph_runtime::private::plan::Space::Device,
                ::core::mem::size_of::<[f32; N]>(),
            ),
            ::graph_runtime::private::plan::PlanResource::new(
                "output",
                ::graph_runtime::private::plan::Space::Host,
                ::core::mem::size_of::<[f32; N]>(),
            ),
        ];
        #[doc(hidden)]
        const __NODES: &'static [::graph_runtime::private::plan::PlanNode] = &[
            ::graph_runtime::private::plan::PlanNode::new(
                "upload",
                ::graph_runtime::private::plan::NodeKind::Memcpy,
                &[
                    ::graph_runtime::private::plan::PlanAccess {
                        resource: 0usize,
                        mode: ::graph_runtime::private::plan::Mode::Read,
                    },
                    ::graph_runtime::private::plan::PlanAccess {
                        resource: 1usize,
                        mode: ::graph_runtime::private::plan::Mode::Write,
                    },
                ],
                &[],
                0usize,
            ),
            ::graph_runtime::private::plan::PlanNode::new(
                "forward",
                ::graph_runtime::private::plan::NodeKind::Kernel,
                &[
                    ::graph_runtime::private::plan::PlanAccess {
                        resource: 1usize,
                        mode: ::graph_runtime::private::plan::Mode::ReadWrite,
                    },
                ],
                &[0usize],
                1usize,
            ),
            ::graph_runtime::private::plan::PlanNode::new(
                "backward",
                ::graph_runtime::private::plan::NodeKind::Kernel,
                &[
                    ::graph_runtime::private::plan::PlanAccess {
                        resource: 1usize,
                        mode: ::graph_runtime::private::plan::Mode::ReadWrite,
                    },
                ],
                &[1usize],
                2usize,
            ),
            ::graph_runtime::private::plan::PlanNode::new(
                "download",
                ::graph_runtime::private::plan::NodeKind::Memcpy,
                &[
                    ::graph_runtime::private::plan::PlanAccess {
                        resource: 1usize,
                        mode: ::graph_runtime::private::plan::Mode::Read,
                    },
                    ::graph_runtime::private::plan::PlanAccess {
                        resource: 2usize,
                        mode: ::graph_runtime::private::plan::Mode::Write,
                    },
                ],
                &[2usize],
                3usize,
            ),
        ];
        /// The graph as static data: nodes, what they touch, the edges that are lowered, levels, where scratch memory lies.
        pub const PLAN: ::graph_runtime::private::plan::Plan = ::graph_runtime::private::plan::Plan::new(
            "Sample",
            Self::__RESOURCES,
            Self::__NODES,
        );
        /// Allocates the graph's memory, zeroed, builds it on the device and uploads it.
        pub fn build(device: &::graph_runtime::Device) -> ::graph_runtime::Result<Self> {
            const {
                ::graph_runtime::private::check_launch::<
                    __kernel_forward,
                >(
                    &["forward"],
                    [(1) as ::core::primitive::i128, 1, 1],
                    [(N) as ::core::primitive::i128, 1, 1],
                    0,
                    &[
                        ::graph_runtime::private::plan::Argument::Buffer(
                            ::core::mem::size_of::<[f32; N]>() as ::core::primitive::u64,
                        ),
                    ],
                )
            };
            const {
                ::graph_runtime::private::check_launch::<
                    __kernel_backward,
                >(
                    &["backward"],
                    [(1) as ::core::primitive::i128, 1, 1],
                    [(N) as ::core::primitive::i128, 1, 1],
                    0,
                    &[
                        ::graph_runtime::private::plan::Argument::Buffer(
                            ::core::mem::size_of::<[f32; N]>() as ::core::primitive::u64,
                        ),
                    ],
                )
            };
            let mut builder = ::graph_runtime::GraphBuilder::new(device, "Sample");
            let __place_input = ::graph_runtime::GraphBuilder::host::<
                [f32; N],
            >(&mut builder, "input");
            let __place_data = ::graph_runtime::GraphBuilder::device::<
                [f32; N],
            >(&mut builder, "data");
            let __place_output = ::graph_runtime::GraphBuilder::host::<
                [f32; N],
            >(&mut builder, "output");
            let _ = ::graph_runtime::GraphBuilder::memcpy(
                &mut builder,
                "upload",
                &::graph_runtime::Place::<[f32; N], _>::whole(&__place_input),
                &mut ::graph_runtime::Place::<[f32; N], _>::whole(&__place_data),
            );
            let _ = ::graph_runtime::GraphBuilder::kernel(
                &mut builder,
                "forward",
                ::graph_runtime::Launch::new(1, N),
                __kernel_forward::call(
                    &mut ::graph_runtime::Place::<[f32; N], _>::whole(&__place_data),
                ),
            );
            let _ = ::graph_runtime::GraphBuilder::kernel(
                &mut builder,
                "backward",
                ::graph_runtime::Launch::new(1, N),
                __kernel_backward::call(
                    &mut ::graph_runtime::Place::<[f32; N], _>::whole(&__place_data),
                ),
            );
            let _ = ::graph_runtime::GraphBuilder::memcpy(
                &mut builder,
                "download",
                &::graph_runtime::Place::<[f32; N], _>::whole(&__place_data),
                &mut ::graph_runtime::Place::<[f32; N], _>::whole(&__place_output),
            );
            ::graph_runtime::GraphBuilder::edges(
                &mut builder,
                &[(0usize, 1usize), (1usize, 2usize), (2usize, 3usize)],
            );
            ::core::result::Result::Ok(Self {
                __graph: ::graph_runtime::GraphBuilder::build(builder)?,
                input: __place_input,
                data: __place_data,
                output: __place_output,
                __marker: ::core::marker::PhantomData,
            })
        }
        #[doc(hidden)]
        pub const __INTERFACE: ::graph_runtime::private::Interface = ::graph_runtime::private::Interface {
            graph: "Sample",
            memory: &[("input", false), ("data", true), ("output", true)],
            values: &[],
            unconditional: {
                #[allow(unused_imports)]
                use ::graph_runtime::private::NoGraph as _;
                ::graph_runtime::private::unconditional(&[])
            },
            scratch: 0,
        };
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __slots() -> (
            ::core::option::Option<
                ::graph_runtime::Place<[f32; N], ::graph_runtime::OnHost>,
            >,
            (
                ::core::option::Option<
                    ::graph_runtime::Place<[f32; N], ::graph_runtime::OnDevice>,
                >,
                (
                    ::core::option::Option<
                        ::graph_runtime::Place<[f32; N], ::graph_runtime::OnHost>,
                    >,
                    (),
                ),
            ),
        ) {
            (
                ::core::option::Option::None,
                (::core::option::Option::None, (::core::option::Option::None, ())),
            )
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __place_input(
            bound: &mut (
                ::core::option::Option<
                    ::graph_runtime::Place<[f32; N], ::graph_runtime::OnHost>,
                >,
                (
                    ::core::option::Option<
                        ::graph_runtime::Place<[f32; N], ::graph_runtime::OnDevice>,
                    >,
                    (
                        ::core::option::Option<
                            ::graph_runtime::Place<[f32; N], ::graph_runtime::OnHost>,
                        >,
                        (),
                    ),
                ),
            ),
            given: &::graph_runtime::Place<[f32; N], ::graph_runtime::OnHost>,
        ) {
            bound.0 = ::core::option::Option::Some(::core::clone::Clone::clone(given));
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __place_data(
            bound: &mut (
                ::core::option::Option<
                    ::graph_runtime::Place<[f32; N], ::graph_runtime::OnHost>,
                >,
                (
                    ::core::option::Option<
                        ::graph_runtime::Place<[f32; N], ::graph_runtime::OnDevice>,
                    >,
                    (
                        ::core::option::Option<
                            ::graph_runtime::Place<[f32; N], ::graph_runtime::OnHost>,
                        >,
                        (),
                    ),
                ),
            ),
            given: &::graph_runtime::Place<[f32; N], ::graph_runtime::OnDevice>,
        ) {
            bound.1.0 = ::core::option::Option::Some(::core::clone::Clone::clone(given));
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __place_output(
            bound: &mut (
                ::core::option::Option<
                    ::graph_runtime::Place<[f32; N], ::graph_runtime::OnHost>,
                >,
                (
                    ::core::option::Option<
                        ::graph_runtime::Place<[f32; N], ::graph_runtime::OnDevice>,
                    >,
                    (
                        ::core::option::Option<
                            ::graph_runtime::Place<[f32; N], ::graph_runtime::OnHost>,
                        >,
                        (),
                    ),
                ),
            ),
            given: &::graph_runtime::Place<[f32; N], ::graph_runtime::OnHost>,
        ) {
            bound.1.1.0 = ::core::option::Option::Some(
                ::core::clone::Clone::clone(given),
            );
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __add(
            builder: &mut ::graph_runtime::GraphBuilder,
            bound: (
                ::core::option::Option<
                    ::graph_runtime::Place<[f32; N], ::graph_runtime::OnHost>,
                >,
                (
                    ::core::option::Option<
                        ::graph_runtime::Place<[f32; N], ::graph_runtime::OnDevice>,
                    >,
                    (
                        ::core::option::Option<
                            ::graph_runtime::Place<[f32; N], ::graph_runtime::OnHost>,
                        >,
                        (),
                    ),
                ),
            ),
        ) -> ::graph_runtime::Result<()> {
            const {
                ::graph_runtime::private::check_launch::<
                    __kernel_forward,
                >(
                    &["forward"],
                    [(1) as ::core::primitive::i128, 1, 1],
                    [(N) as ::core::primitive::i128, 1, 1],
                    0,
                    &[
                        ::graph_runtime::private::plan::Argument::Buffer(
                            ::core::mem::size_of::<[f32; N]>() as ::core::primitive::u64,
                        ),
                    ],
                )
            };
            const {
                ::graph_runtime::private::check_launch::<
                    __kernel_backward,
                >(
                    &["backward"],
                    [(1) as ::core::primitive::i128, 1, 1],
                    [(N) as ::core::primitive::i128, 1, 1],
                    0,
                    &[
                        ::graph_runtime::private::plan::Argument::Buffer(
                            ::core::mem::size_of::<[f32; N]>() as ::core::primitive::u64,
                        ),
                    ],
                )
            };
            let __place_input: ::graph_runtime::Place<
                [f32; N],
                ::graph_runtime::OnHost,
            > = ::graph_runtime::private::bound(bound.0, builder, "input")?;
            let __place_data: ::graph_runtime::Place<
                [f32; N],
                ::graph_runtime::OnDevice,
            > = ::graph_runtime::private::bound(bound.1.0, builder, "data")?;
            let __place_output: ::graph_runtime::Place<
                [f32; N],
                ::graph_runtime::OnHost,
            > = ::graph_runtime::private::bound(bound.1.1.0, builder, "output")?;
            let _ = ::graph_runtime::GraphBuilder::memcpy(
                builder,
                "upload",
                &::graph_runtime::Place::<[f32; N], _>::whole(&__place_input),
                &mut ::graph_runtime::Place::<[f32; N], _>::whole(&__place_data),
            );
            let _ = ::graph_runtime::GraphBuilder::kernel(
                builder,
                "forward",
                ::graph_runtime::Launch::new(1, N),
                __kernel_forward::call(
                    &mut ::graph_runtime::Place::<[f32; N], _>::whole(&__place_data),
                ),
            );
            let _ = ::graph_runtime::GraphBuilder::kernel(
                builder,
                "backward",
                ::graph_runtime::Launch::new(1, N),
                __kernel_backward::call(
                    &mut ::graph_runtime::Place::<[f32; N], _>::whole(&__place_data),
                ),
            );
            let _ = ::graph_runtime::GraphBuilder::memcpy(
                builder,
                "download",
                &::graph_runtime::Place::<[f32; N], _>::whole(&__place_data),
                &mut ::graph_runtime::Place::<[f32; N], _>::whole(&__place_output),
            );
            ::graph_runtime::GraphBuilder::repeated_edges(
                builder,
                &[
                    (0usize, 1usize, 0usize),
                    (1usize, 2usize, 0usize),
                    (2usize, 3usize, 0usize),
                ],
            );
            ::core::result::Result::Ok(())
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __update(
            update: &mut ::graph_runtime::Update<'_>,
            bound: (
                ::core::option::Option<
                    ::graph_runtime::Place<[f32; N], ::graph_runtime::OnHost>,
                >,
                (
                    ::core::option::Option<
                        ::graph_runtime::Place<[f32; N], ::graph_runtime::OnDevice>,
                    >,
                    (
                        ::core::option::Option<
                            ::graph_runtime::Place<[f32; N], ::graph_runtime::OnHost>,
                        >,
                        (),
                    ),
                ),
            ),
        ) -> ::graph_runtime::Result<()> {
            ::core::result::Result::Ok(())
        }
    }
    #[cfg(not(rust_analyzer))]
    impl<const N: usize> ::graph_runtime::private::DeclaredGraph for Sample<N> {}
};
/// The graph `Sample`, declared with `cuda_graph!`.
#[allow(dead_code, non_snake_case)]
pub struct Sample<const N: usize> {
    __graph: ::graph_runtime::Graph,
    input: ::graph_runtime::Place<[f32; N], ::graph_runtime::OnHost>,
    data: ::graph_runtime::Place<[f32; N], ::graph_runtime::OnDevice>,
    output: ::graph_runtime::Place<[f32; N], ::graph_runtime::OnHost>,
    __marker: ::core::marker::PhantomData<fn() -> ()>,
}
/// All host memory of a [`Sample`], lent at once.
#[allow(dead_code, non_snake_case)]
pub struct SampleMemory<'memory, const N: usize> {
    /// The host resource `input`.
    pub input: &'memory mut [f32; N],
    /// The host resource `output`.
    pub output: &'memory mut [f32; N],
    __marker: ::core::marker::PhantomData<fn() -> ()>,
}
