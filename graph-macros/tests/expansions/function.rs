#[allow(unexpected_cfgs)]
const _: () = {
    #[cfg(rust_analyzer)]
    const _: () = {
        trait __Editor {
            fn __statements();
        }
        impl __Editor for Loaded {
            #[allow(warnings)]
            fn __statements() {
                let mut functions: Functions;
                let _: usize = 64;
                let mut data: ::graph_runtime::Place<
                    [f32; 64],
                    ::graph_runtime::OnDevice,
                >;
                let mut factor: f32 = 0.5;
                let _ = (1, 64);
                let _ = (functions.first);
                let _ = (&mut data, 64u32);
                let _ = (1, 64);
                let _ = (functions.second);
                let _ = (&data[..32], factor);
                {
                    let first: ::graph_runtime::NodeId;
                    let second: ::graph_runtime::NodeId;
                    let _ = (first);
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
    impl Loaded {
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
        /// Waits for launches in flight and lends `data` for reading.
        pub fn data(
            &self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceRef<'_, [f32; 64]>> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Waits for launches in flight and lends `data` for writing.
        pub fn data_mut(
            &mut self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceMut<'_, [f32; 64]>> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// The value of the param `factor` in the next launch.
        pub fn factor(&self) -> f32 {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Sets the param `factor` for later launches: updates exactly the nodes that use it, in place.
        pub fn set_factor(&mut self, __value: f32) -> ::graph_runtime::Result<()> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// The node `first`.
        pub fn first(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// The node `second`.
        pub fn second(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
    }
    #[cfg(rust_analyzer)]
    #[allow(unused_variables)]
    impl ::core::fmt::Debug for Loaded {
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
    impl Loaded {
        /// The graph as static data.
        pub const PLAN: ::graph_runtime::private::plan::Plan = ::graph_runtime::private::plan::Plan::new(
            "Loaded",
            &[],
            &[],
        );
        /// Allocates the graph's memory, zeroed, builds it on the device and uploads it.
        pub fn build(
            device: &::graph_runtime::Device,
            functions: Functions,
        ) -> ::graph_runtime::Result<Self> {
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
    impl Loaded {
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
        /// Waits for launches in flight and lends `data` for reading.
        pub fn data(
            &self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceRef<'_, [f32; 64]>> {
            ::graph_runtime::Graph::device(&self.__graph, &self.data)
        }
        /// Waits for launches in flight and lends `data` for writing.
        pub fn data_mut(
            &mut self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceMut<'_, [f32; 64]>> {
            ::graph_runtime::Graph::device_mut(&mut self.__graph, &self.data)
        }
        /// The value of the param `factor` in the next launch.
        pub fn factor(&self) -> f32 {
            ::core::clone::Clone::clone(&self.factor)
        }
        /// The node `first`.
        pub fn first(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::graph_runtime::Graph::node(
                &mut self.__graph,
                ::graph_runtime::NodeId::new(0usize),
            )
        }
        /// The node `second`.
        pub fn second(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::graph_runtime::Graph::node(
                &mut self.__graph,
                ::graph_runtime::NodeId::new(1usize),
            )
        }
    }
    #[cfg(not(rust_analyzer))]
    #[allow(unused_variables)]
    impl ::core::fmt::Debug for Loaded {
        fn fmt(
            &self,
            formatter: &mut ::core::fmt::Formatter<'_>,
        ) -> ::core::fmt::Result {
            ::core::fmt::Debug::fmt(&self.__graph, formatter)
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
    impl Loaded {
        #[doc(hidden)]
        const __RESOURCES: &'static [::graph_runtime::private::plan::PlanResource] = &[
            ::graph_runtime::private::plan::PlanResource::new(
                "data",
                ::graph_runtime::private::plan::Space::Device,
                ::core::mem::size_of::<[f32; 64]>(),
            ),
        ];
        #[doc(hidden)]
        const __NODES: &'static [::graph_runtime::private::plan::PlanNode] = &[
            ::graph_runtime::private::plan::PlanNode::new(
                "first",
                ::graph_runtime::private::plan::NodeKind::Kernel,
                &[
                    ::graph_runtime::private::plan::PlanAccess {
                        resource: 0usize,
                        mode: ::graph_runtime::private::plan::Mode::ReadWrite,
                    },
                ],
                &[],
                0usize,
            ),
            ::graph_runtime::private::plan::PlanNode::new(
                "second",
                ::graph_runtime::private::plan::NodeKind::Kernel,
                &[
                    ::graph_runtime::private::plan::PlanAccess {
                        resource: 0usize,
                        mode: ::graph_runtime::private::plan::Mode::Read,
                    },
                ],
                &[0usize],
                1usize,
            ),
        ];
        /// The graph as static data: nodes, what they touch, the edges that are lowered, levels, where scratch memory lies.
        pub const PLAN: ::graph_runtime::private::plan::Plan = ::graph_runtime::private::plan::Plan::new(
            "Loaded",
            Self::__RESOURCES,
            Self::__NODES,
        );
        /// Allocates the graph's memory, zeroed, builds it on the device and uploads it.
        pub fn build(
            device: &::graph_runtime::Device,
            functions: Functions,
        ) -> ::graph_runtime::Result<Self> {
            let mut builder = ::graph_runtime::GraphBuilder::new(device, "Loaded");
            let __place_data = ::graph_runtime::GraphBuilder::device::<
                [f32; 64],
            >(&mut builder, "data");
            let factor: f32 = 0.5;
            let _ = ::graph_runtime::GraphBuilder::kernel(
                &mut builder,
                "first",
                ::graph_runtime::Launch::new(1, 64),
                {
                    let function = ::core::option::Option::Some(
                        ::graph_runtime::LoadedFunction::loaded(&(functions.first)),
                    );
                    unsafe {
                        ::graph_runtime::KernelCall::built_with(
                            function,
                            [
                                ::graph_runtime::CallArgument::write(
                                    &mut ::graph_runtime::Place::<
                                        [f32; 64],
                                        _,
                                    >::whole(&__place_data),
                                ),
                                ::graph_runtime::CallArgument::value(64u32),
                            ],
                        )
                    }
                },
            );
            Self::__node_1(
                &mut builder,
                __place_data,
                ::core::clone::Clone::clone(&factor),
                ::core::option::Option::Some(
                    ::graph_runtime::LoadedFunction::loaded(&(functions.second)),
                ),
            )?;
            ::graph_runtime::GraphBuilder::edges(&mut builder, &[(0usize, 1usize)]);
            ::core::result::Result::Ok(Self {
                __graph: ::graph_runtime::GraphBuilder::build(builder)?,
                data: __place_data,
                factor,
                __marker: ::core::marker::PhantomData,
            })
        }
        fn __node_1(
            sink: &mut impl ::graph_runtime::private::NodeSink,
            __place_data: ::graph_runtime::Place<[f32; 64], ::graph_runtime::OnDevice>,
            factor: f32,
            function: ::core::option::Option<
                ::graph_runtime::cudarc::driver::CudaFunction,
            >,
        ) -> ::graph_runtime::Result<()> {
            ::graph_runtime::private::NodeSink::kernel(
                sink,
                1usize,
                "second",
                ::graph_runtime::Launch::new(1, 64),
                {
                    let function = function;
                    unsafe {
                        ::graph_runtime::KernelCall::built_with(
                            function,
                            [
                                ::graph_runtime::CallArgument::read(
                                    &::graph_runtime::Place::<
                                        [f32; 64],
                                        _,
                                    >::rows_from::<32>(&__place_data, 0),
                                ),
                                ::graph_runtime::CallArgument::value(factor),
                            ],
                        )
                    }
                },
            )
        }
        /// Sets the param `factor` for later launches: updates exactly the nodes that use it, in place.
        pub fn set_factor(&mut self, __value: f32) -> ::graph_runtime::Result<()> {
            let __place_data = self.data;
            let factor = ::core::clone::Clone::clone(&__value);
            ::graph_runtime::Graph::update(
                &mut self.__graph,
                "factor",
                |update| {
                    Self::__node_1(
                        update,
                        __place_data,
                        ::core::clone::Clone::clone(&factor),
                        ::core::option::Option::None,
                    )?;
                    ::core::result::Result::Ok(())
                },
            )?;
            self.factor = __value;
            ::core::result::Result::Ok(())
        }
        #[doc(hidden)]
        pub const __INTERFACE: ::graph_runtime::private::Interface = ::graph_runtime::private::Interface {
            graph: "Loaded",
            memory: &[("data", true)],
            values: &[("functions", true), ("factor", false)],
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
                ::graph_runtime::Place<[f32; 64], ::graph_runtime::OnDevice>,
            >,
            (::core::option::Option<Functions>, (::core::option::Option<f32>, ())),
        ) {
            (
                ::core::option::Option::None,
                (::core::option::Option::None, (::core::option::Option::None, ())),
            )
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __place_data(
            bound: &mut (
                ::core::option::Option<
                    ::graph_runtime::Place<[f32; 64], ::graph_runtime::OnDevice>,
                >,
                (::core::option::Option<Functions>, (::core::option::Option<f32>, ())),
            ),
            given: &::graph_runtime::Place<[f32; 64], ::graph_runtime::OnDevice>,
        ) {
            bound.0 = ::core::option::Option::Some(::core::clone::Clone::clone(given));
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __value_functions(
            bound: &mut (
                ::core::option::Option<
                    ::graph_runtime::Place<[f32; 64], ::graph_runtime::OnDevice>,
                >,
                (::core::option::Option<Functions>, (::core::option::Option<f32>, ())),
            ),
            given: Functions,
        ) {
            bound.1.0 = ::core::option::Option::Some(given);
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __value_factor(
            bound: &mut (
                ::core::option::Option<
                    ::graph_runtime::Place<[f32; 64], ::graph_runtime::OnDevice>,
                >,
                (::core::option::Option<Functions>, (::core::option::Option<f32>, ())),
            ),
            given: f32,
        ) {
            bound.1.1.0 = ::core::option::Option::Some(given);
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __add(
            builder: &mut ::graph_runtime::GraphBuilder,
            bound: (
                ::core::option::Option<
                    ::graph_runtime::Place<[f32; 64], ::graph_runtime::OnDevice>,
                >,
                (::core::option::Option<Functions>, (::core::option::Option<f32>, ())),
            ),
        ) -> ::graph_runtime::Result<()> {
            let __place_data: ::graph_runtime::Place<
                [f32; 64],
                ::graph_runtime::OnDevice,
            > = ::graph_runtime::private::bound(bound.0, builder, "data")?;
            let functions: Functions = ::graph_runtime::private::bound(
                bound.1.0,
                builder,
                "functions",
            )?;
            let factor: f32 = 0.5;
            let factor: f32 = ::core::option::Option::unwrap_or(bound.1.1.0, factor);
            let _ = ::graph_runtime::GraphBuilder::kernel(
                builder,
                "first",
                ::graph_runtime::Launch::new(1, 64),
                {
                    let function = ::core::option::Option::Some(
                        ::graph_runtime::LoadedFunction::loaded(&(functions.first)),
                    );
                    unsafe {
                        ::graph_runtime::KernelCall::built_with(
                            function,
                            [
                                ::graph_runtime::CallArgument::write(
                                    &mut ::graph_runtime::Place::<
                                        [f32; 64],
                                        _,
                                    >::whole(&__place_data),
                                ),
                                ::graph_runtime::CallArgument::value(64u32),
                            ],
                        )
                    }
                },
            );
            Self::__node_1(
                builder,
                __place_data,
                ::core::clone::Clone::clone(&factor),
                ::core::option::Option::Some(
                    ::graph_runtime::LoadedFunction::loaded(&(functions.second)),
                ),
            )?;
            ::graph_runtime::GraphBuilder::repeated_edges(
                builder,
                &[(0usize, 1usize, 0usize)],
            );
            ::core::result::Result::Ok(())
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __update(
            update: &mut ::graph_runtime::Update<'_>,
            bound: (
                ::core::option::Option<
                    ::graph_runtime::Place<[f32; 64], ::graph_runtime::OnDevice>,
                >,
                (::core::option::Option<Functions>, (::core::option::Option<f32>, ())),
            ),
        ) -> ::graph_runtime::Result<()> {
            let __place_data: ::graph_runtime::Place<
                [f32; 64],
                ::graph_runtime::OnDevice,
            > = ::graph_runtime::private::bound(bound.0, update, "data")?;
            let functions: Functions = ::graph_runtime::private::bound(
                bound.1.0,
                update,
                "functions",
            )?;
            let factor: f32 = 0.5;
            let factor: f32 = ::core::option::Option::unwrap_or(bound.1.1.0, factor);
            Self::__node_1(
                update,
                __place_data,
                ::core::clone::Clone::clone(&factor),
                ::core::option::Option::None,
            )?;
            ::core::result::Result::Ok(())
        }
    }
    #[cfg(not(rust_analyzer))]
    impl ::graph_runtime::private::DeclaredGraph for Loaded {}
};
/// The graph `Loaded`, declared with `cuda_graph!`.
#[allow(dead_code, non_snake_case)]
struct Loaded {
    __graph: ::graph_runtime::Graph,
    data: ::graph_runtime::Place<[f32; 64], ::graph_runtime::OnDevice>,
    factor: f32,
    __marker: ::core::marker::PhantomData<fn() -> ()>,
}
