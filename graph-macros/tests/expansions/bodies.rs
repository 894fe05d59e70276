#[allow(unexpected_cfgs)]
const _: () = {
    #[cfg(rust_analyzer)]
    const _: () = {
        trait __Editor {
            fn __statements();
        }
        impl __Editor for Loop {
            #[allow(warnings)]
            fn __statements() {
                let mut more: ::graph_runtime::Place<u32, ::graph_runtime::OnDevice>;
                let _: usize = 4;
                let mut data: ::graph_runtime::Place<
                    [f32; 4],
                    ::graph_runtime::OnDevice,
                >;
                let mut factor: f32 = 0.5;
                let _ = &(more);
                {
                    let _ = (1, 4);
                    unsafe { scale::call(&mut data, factor) };
                    let _ = &(more);
                    {}
                    {
                        let _ = &(more);
                        let _ = &(0);
                    }
                    {
                        let scale: ::graph_runtime::NodeId;
                        let choice: ::graph_runtime::NodeId;
                        let _ = (scale);
                    }
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
    impl Loop {
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
        /// Waits for launches in flight and lends `more` for reading.
        pub fn more(
            &self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceRef<'_, u32>> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Waits for launches in flight and lends `more` for writing.
        pub fn more_mut(
            &mut self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceMut<'_, u32>> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Waits for launches in flight and lends `data` for reading.
        pub fn data(
            &self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceRef<'_, [f32; 4]>> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Waits for launches in flight and lends `data` for writing.
        pub fn data_mut(
            &mut self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceMut<'_, [f32; 4]>> {
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
        /// The node `repeat`.
        pub fn repeat(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// The node `scale`.
        pub fn scale(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// The node `choice`.
        pub fn choice(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// The node `stop`.
        pub fn stop(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
    }
    #[cfg(rust_analyzer)]
    #[allow(unused_variables)]
    impl ::core::fmt::Debug for Loop {
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
    impl Loop {
        /// The graph as static data.
        pub const PLAN: ::graph_runtime::private::plan::Plan = ::graph_runtime::private::plan::Plan::new(
            "Loop",
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
    impl Loop {
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
        /// Waits for launches in flight and lends `more` for reading.
        pub fn more(
            &self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceRef<'_, u32>> {
            ::graph_runtime::Graph::device(&self.__graph, &self.more)
        }
        /// Waits for launches in flight and lends `more` for writing.
        pub fn more_mut(
            &mut self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceMut<'_, u32>> {
            ::graph_runtime::Graph::device_mut(&mut self.__graph, &self.more)
        }
        /// Waits for launches in flight and lends `data` for reading.
        pub fn data(
            &self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceRef<'_, [f32; 4]>> {
            ::graph_runtime::Graph::device(&self.__graph, &self.data)
        }
        /// Waits for launches in flight and lends `data` for writing.
        pub fn data_mut(
            &mut self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceMut<'_, [f32; 4]>> {
            ::graph_runtime::Graph::device_mut(&mut self.__graph, &self.data)
        }
        /// The value of the param `factor` in the next launch.
        pub fn factor(&self) -> f32 {
            ::core::clone::Clone::clone(&self.factor)
        }
        /// The node `repeat`.
        pub fn repeat(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::graph_runtime::Graph::node(
                &mut self.__graph,
                ::graph_runtime::NodeId::new(0usize),
            )
        }
        /// The node `scale`.
        pub fn scale(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::graph_runtime::Graph::node(
                &mut self.__graph,
                ::graph_runtime::NodeId::new(1usize),
            )
        }
        /// The node `choice`.
        pub fn choice(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::graph_runtime::Graph::node(
                &mut self.__graph,
                ::graph_runtime::NodeId::new(2usize),
            )
        }
        /// The node `stop`.
        pub fn stop(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::graph_runtime::Graph::node(
                &mut self.__graph,
                ::graph_runtime::NodeId::new(3usize),
            )
        }
    }
    #[cfg(not(rust_analyzer))]
    #[allow(unused_variables)]
    impl ::core::fmt::Debug for Loop {
        fn fmt(
            &self,
            formatter: &mut ::core::fmt::Formatter<'_>,
        ) -> ::core::fmt::Result {
            ::core::fmt::Debug::fmt(&self.__graph, formatter)
        }
    }
    #[cfg(not(rust_analyzer))]
    #[allow(non_camel_case_types, dead_code)]
    type __kernel_scale = scale;
    #[cfg(not(rust_analyzer))]
    #[allow(
        dead_code,
        non_snake_case,
        unreachable_pub,
        unused_variables,
        clippy::all,
        clippy::pedantic
    )]
    impl Loop {
        #[doc(hidden)]
        const __RESOURCES: &'static [::graph_runtime::private::plan::PlanResource] = &[
            ::graph_runtime::private::plan::PlanResource::new(
                "more",
                ::graph_runtime::private::plan::Space::Device,
                ::core::mem::size_of::<u32>(),
            ),
            ::graph_runtime::private::plan::PlanResource::new(
                "data",
                ::graph_runtime::private::plan::Space::Device,
                ::core::mem::size_of::<[f32; 4]>(),
            ),
        ];
        #[doc(hidden)]
        const __NODES: &'static [::graph_runtime::private::plan::PlanNode] = &[
            ::graph_runtime::private::plan::PlanNode::new(
                "repeat",
                ::graph_runtime::private::plan::NodeKind::While,
                &[
                    ::graph_runtime::private::plan::PlanAccess {
                        resource: 0usize,
                        mode: ::graph_runtime::private::plan::Mode::Read,
                    },
                ],
                &[],
                0usize,
            ),
            ::graph_runtime::private::plan::PlanNode::new(
                    "scale",
                    ::graph_runtime::private::plan::NodeKind::Kernel,
                    &[
                        ::graph_runtime::private::plan::PlanAccess {
                            resource: 1usize,
                            mode: ::graph_runtime::private::plan::Mode::ReadWrite,
                        },
                    ],
                    &[],
                    0usize,
                )
                .in_body(1usize),
            ::graph_runtime::private::plan::PlanNode::new(
                    "choice",
                    ::graph_runtime::private::plan::NodeKind::If,
                    &[
                        ::graph_runtime::private::plan::PlanAccess {
                            resource: 0usize,
                            mode: ::graph_runtime::private::plan::Mode::Read,
                        },
                    ],
                    &[1usize],
                    1usize,
                )
                .in_body(1usize),
            ::graph_runtime::private::plan::PlanNode::new(
                    "stop",
                    ::graph_runtime::private::plan::NodeKind::Memset,
                    &[
                        ::graph_runtime::private::plan::PlanAccess {
                            resource: 0usize,
                            mode: ::graph_runtime::private::plan::Mode::Write,
                        },
                    ],
                    &[],
                    0usize,
                )
                .in_body(3usize),
        ];
        #[doc(hidden)]
        const __BODIES: &'static [::graph_runtime::private::plan::PlanBody] = &[
            ::graph_runtime::private::plan::PlanBody::GRAPH,
            ::graph_runtime::private::plan::PlanBody::new(
                0usize,
                ::graph_runtime::private::plan::Role::While,
            ),
            ::graph_runtime::private::plan::PlanBody::new(
                2usize,
                ::graph_runtime::private::plan::Role::Then,
            ),
            ::graph_runtime::private::plan::PlanBody::new(
                2usize,
                ::graph_runtime::private::plan::Role::Else,
            ),
        ];
        #[doc(hidden)]
        const __LOOPS: &'static [::graph_runtime::private::plan::PlanLoop] = &[];
        /// The graph as static data: nodes, what they touch, the edges that are lowered, levels, where scratch memory lies.
        pub const PLAN: ::graph_runtime::private::plan::Plan = ::graph_runtime::private::plan::Plan::nested(
            "Loop",
            Self::__RESOURCES,
            Self::__NODES,
            Self::__BODIES,
            Self::__LOOPS,
        );
        /// Allocates the graph's memory, zeroed, builds it on the device and uploads it.
        pub fn build(device: &::graph_runtime::Device) -> ::graph_runtime::Result<Self> {
            let mut builder = ::graph_runtime::GraphBuilder::new(device, "Loop");
            let __place_more = ::graph_runtime::GraphBuilder::device::<
                u32,
            >(&mut builder, "more");
            let __place_data = ::graph_runtime::GraphBuilder::device::<
                [f32; 4],
            >(&mut builder, "data");
            let factor: f32 = 0.5;
            let _ = ::graph_runtime::GraphBuilder::begin_while(
                &mut builder,
                "repeat",
                &::graph_runtime::Place::<u32, _>::whole(&__place_more),
            );
            ::graph_runtime::GraphBuilder::begin_body(&mut builder);
            Self::__node_1(
                &mut builder,
                __place_data,
                ::core::clone::Clone::clone(&factor),
            )?;
            let _ = ::graph_runtime::GraphBuilder::begin_if(
                &mut builder,
                "choice",
                &::graph_runtime::Place::<u32, _>::whole(&__place_more),
            );
            ::graph_runtime::GraphBuilder::begin_body(&mut builder);
            ::graph_runtime::GraphBuilder::end_body(&mut builder);
            ::graph_runtime::GraphBuilder::begin_body(&mut builder);
            let _ = ::graph_runtime::GraphBuilder::memset::<
                _,
                u32,
            >(
                &mut builder,
                "stop",
                &mut ::graph_runtime::Place::<u32, _>::whole(&__place_more),
                0,
            );
            ::graph_runtime::GraphBuilder::end_body(&mut builder);
            ::graph_runtime::GraphBuilder::end_body(&mut builder);
            ::graph_runtime::GraphBuilder::edges(&mut builder, &[(1usize, 2usize)]);
            ::core::result::Result::Ok(Self {
                __graph: ::graph_runtime::GraphBuilder::build(builder)?,
                more: __place_more,
                data: __place_data,
                factor,
                __marker: ::core::marker::PhantomData,
            })
        }
        fn __node_1(
            sink: &mut impl ::graph_runtime::private::NodeSink,
            __place_data: ::graph_runtime::Place<[f32; 4], ::graph_runtime::OnDevice>,
            factor: f32,
        ) -> ::graph_runtime::Result<()> {
            ::graph_runtime::private::NodeSink::kernel(
                sink,
                1usize,
                "scale",
                ::graph_runtime::Launch::new(1, 4),
                __kernel_scale::call(
                    &mut ::graph_runtime::Place::<[f32; 4], _>::whole(&__place_data),
                    factor,
                ),
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
                    )?;
                    ::core::result::Result::Ok(())
                },
            )?;
            self.factor = __value;
            ::core::result::Result::Ok(())
        }
        #[doc(hidden)]
        pub const __INTERFACE: ::graph_runtime::private::Interface = ::graph_runtime::private::Interface {
            graph: "Loop",
            memory: &[("more", true), ("data", true)],
            values: &[("factor", false)],
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
                ::graph_runtime::Place<u32, ::graph_runtime::OnDevice>,
            >,
            (
                ::core::option::Option<
                    ::graph_runtime::Place<[f32; 4], ::graph_runtime::OnDevice>,
                >,
                (::core::option::Option<f32>, ()),
            ),
        ) {
            (
                ::core::option::Option::None,
                (::core::option::Option::None, (::core::option::Option::None, ())),
            )
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __place_more(
            bound: &mut (
                ::core::option::Option<
                    ::graph_runtime::Place<u32, ::graph_runtime::OnDevice>,
                >,
                (
                    ::core::option::Option<
                        ::graph_runtime::Place<[f32; 4], ::graph_runtime::OnDevice>,
                    >,
                    (::core::option::Option<f32>, ()),
                ),
            ),
            given: &::graph_runtime::Place<u32, ::graph_runtime::OnDevice>,
        ) {
            bound.0 = ::core::option::Option::Some(::core::clone::Clone::clone(given));
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __place_data(
            bound: &mut (
                ::core::option::Option<
                    ::graph_runtime::Place<u32, ::graph_runtime::OnDevice>,
                >,
                (
                    ::core::option::Option<
                        ::graph_runtime::Place<[f32; 4], ::graph_runtime::OnDevice>,
                    >,
                    (::core::option::Option<f32>, ()),
                ),
            ),
            given: &::graph_runtime::Place<[f32; 4], ::graph_runtime::OnDevice>,
        ) {
            bound.1.0 = ::core::option::Option::Some(::core::clone::Clone::clone(given));
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __value_factor(
            bound: &mut (
                ::core::option::Option<
                    ::graph_runtime::Place<u32, ::graph_runtime::OnDevice>,
                >,
                (
                    ::core::option::Option<
                        ::graph_runtime::Place<[f32; 4], ::graph_runtime::OnDevice>,
                    >,
                    (::core::option::Option<f32>, ()),
                ),
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
                    ::graph_runtime::Place<u32, ::graph_runtime::OnDevice>,
                >,
                (
                    ::core::option::Option<
                        ::graph_runtime::Place<[f32; 4], ::graph_runtime::OnDevice>,
                    >,
                    (::core::option::Option<f32>, ()),
                ),
            ),
        ) -> ::graph_runtime::Result<()> {
            let __place_more: ::graph_runtime::Place<u32, ::graph_runtime::OnDevice> = ::graph_runtime::private::bound(
                bound.0,
                builder,
                "more",
            )?;
            let __place_data: ::graph_runtime::Place<
                [f32; 4],
                ::graph_runtime::OnDevice,
            > = ::graph_runtime::private::bound(bound.1.0, builder, "data")?;
            let factor: f32 = 0.5;
            let factor: f32 = ::core::option::Option::unwrap_or(bound.1.1.0, factor);
            let _ = ::graph_runtime::GraphBuilder::begin_while(
                builder,
                "repeat",
                &::graph_runtime::Place::<u32, _>::whole(&__place_more),
            );
            ::graph_runtime::GraphBuilder::begin_body(builder);
            Self::__node_1(builder, __place_data, ::core::clone::Clone::clone(&factor))?;
            let _ = ::graph_runtime::GraphBuilder::begin_if(
                builder,
                "choice",
                &::graph_runtime::Place::<u32, _>::whole(&__place_more),
            );
            ::graph_runtime::GraphBuilder::begin_body(builder);
            ::graph_runtime::GraphBuilder::end_body(builder);
            ::graph_runtime::GraphBuilder::begin_body(builder);
            let _ = ::graph_runtime::GraphBuilder::memset::<
                _,
                u32,
            >(
                builder,
                "stop",
                &mut ::graph_runtime::Place::<u32, _>::whole(&__place_more),
                0,
            );
            ::graph_runtime::GraphBuilder::end_body(builder);
            ::graph_runtime::GraphBuilder::end_body(builder);
            ::graph_runtime::GraphBuilder::repeated_edges(
                builder,
                &[(1usize, 2usize, 0usize)],
            );
            ::core::result::Result::Ok(())
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __update(
            update: &mut ::graph_runtime::Update<'_>,
            bound: (
                ::core::option::Option<
                    ::graph_runtime::Place<u32, ::graph_runtime::OnDevice>,
                >,
                (
                    ::core::option::Option<
                        ::graph_runtime::Place<[f32; 4], ::graph_runtime::OnDevice>,
                    >,
                    (::core::option::Option<f32>, ()),
                ),
            ),
        ) -> ::graph_runtime::Result<()> {
            let __place_more: ::graph_runtime::Place<u32, ::graph_runtime::OnDevice> = ::graph_runtime::private::bound(
                bound.0,
                update,
                "more",
            )?;
            let __place_data: ::graph_runtime::Place<
                [f32; 4],
                ::graph_runtime::OnDevice,
            > = ::graph_runtime::private::bound(bound.1.0, update, "data")?;
            let factor: f32 = 0.5;
            let factor: f32 = ::core::option::Option::unwrap_or(bound.1.1.0, factor);
            Self::__node_1(update, __place_data, ::core::clone::Clone::clone(&factor))?;
            ::core::result::Result::Ok(())
        }
    }
    #[cfg(not(rust_analyzer))]
    impl ::graph_runtime::private::DeclaredGraph for Loop {}
    #[cfg(not(rust_analyzer))]
    const _: () = ::graph_runtime::private::check_launch::<
        __kernel_scale,
    >(
        &["scale"],
        [(1) as ::core::primitive::i128, 1, 1],
        [(4) as ::core::primitive::i128, 1, 1],
        0,
        &[
            ::graph_runtime::private::plan::Argument::Buffer(
                ::core::mem::size_of::<[f32; 4]>() as ::core::primitive::u64,
            ),
            ::graph_runtime::private::plan::Argument::Unknown,
        ],
    );
};
/// The graph `Loop`, declared with `cuda_graph!`.
#[allow(dead_code, non_snake_case)]
struct Loop {
    __graph: ::graph_runtime::Graph,
    more: ::graph_runtime::Place<u32, ::graph_runtime::OnDevice>,
    data: ::graph_runtime::Place<[f32; 4], ::graph_runtime::OnDevice>,
    factor: f32,
    __marker: ::core::marker::PhantomData<fn() -> ()>,
}
