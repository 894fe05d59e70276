#[allow(unexpected_cfgs)]
const _: () = {
    #[cfg(rust_analyzer)]
    const _: () = {
        trait __Editor {
            fn __statements();
        }
        impl __Editor for Layers {
            #[allow(warnings)]
            fn __statements() {
                let mut n: usize;
                let _: usize = 4;
                let _: usize = n;
                let mut weights: ::graph_runtime::Place<
                    [[f32; 4]; n],
                    ::graph_runtime::OnDevice,
                >;
                let _: usize = 4;
                let mut data: ::graph_runtime::Place<
                    [f32; 4],
                    ::graph_runtime::OnDevice,
                >;
                let mut factor: f32 = 0.5;
                let _: usize = 4;
                let mut flags: ::graph_runtime::Place<
                    [u32; 4],
                    ::graph_runtime::OnDevice,
                >;
                for layer in (0..n) {
                    let _ = (1, 4);
                    unsafe { scale::call(&weights[layer], &mut data, factor) };
                    for i in (0..4) {
                        let _ = &(flags[i]);
                        {
                            let _ = &(data[i]);
                            let _ = &(1.0);
                        }
                    }
                }
                let _ = &(data);
                let _ = &(factor);
                {
                    let scale: ::graph_runtime::NodeId;
                    let choice: ::graph_runtime::NodeId;
                    let last: ::graph_runtime::NodeId;
                    let _ = (scale);
                    let _ = (choice);
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
    impl Layers {
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
        /// Waits for launches in flight and lends `weights` for reading.
        pub fn weights(
            &self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceRef<'_, [[f32; 4]]>> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Waits for launches in flight and lends `weights` for writing.
        pub fn weights_mut(
            &mut self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceMut<'_, [[f32; 4]]>> {
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
        /// Waits for launches in flight and lends `flags` for reading.
        pub fn flags(
            &self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceRef<'_, [u32; 4]>> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Waits for launches in flight and lends `flags` for writing.
        pub fn flags_mut(
            &mut self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceMut<'_, [u32; 4]>> {
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
        /// The node `scale`.
        pub fn scale(
            &mut self,
            layer: ::core::primitive::usize,
        ) -> ::graph_runtime::NodeHandle<'_> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// The node `choice`.
        pub fn choice(
            &mut self,
            layer: ::core::primitive::usize,
            i: ::core::primitive::usize,
        ) -> ::graph_runtime::NodeHandle<'_> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// The node `one`.
        pub fn one(
            &mut self,
            layer: ::core::primitive::usize,
            i: ::core::primitive::usize,
        ) -> ::graph_runtime::NodeHandle<'_> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// The node `last`.
        pub fn last(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
    }
    #[cfg(rust_analyzer)]
    #[allow(unused_variables)]
    impl ::core::fmt::Debug for Layers {
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
    impl Layers {
        /// The graph as static data.
        pub const PLAN: ::graph_runtime::private::plan::Plan = ::graph_runtime::private::plan::Plan::new(
            "Layers",
            &[],
            &[],
        );
        /// Allocates the graph's memory, zeroed, builds it on the device and uploads it.
        pub fn build(
            device: &::graph_runtime::Device,
            n: usize,
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
    impl Layers {
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
        /// Waits for launches in flight and lends `weights` for reading.
        pub fn weights(
            &self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceRef<'_, [[f32; 4]]>> {
            ::graph_runtime::Graph::device(&self.__graph, &self.weights)
        }
        /// Waits for launches in flight and lends `weights` for writing.
        pub fn weights_mut(
            &mut self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceMut<'_, [[f32; 4]]>> {
            ::graph_runtime::Graph::device_mut(&mut self.__graph, &self.weights)
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
        /// Waits for launches in flight and lends `flags` for reading.
        pub fn flags(
            &self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceRef<'_, [u32; 4]>> {
            ::graph_runtime::Graph::device(&self.__graph, &self.flags)
        }
        /// Waits for launches in flight and lends `flags` for writing.
        pub fn flags_mut(
            &mut self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceMut<'_, [u32; 4]>> {
            ::graph_runtime::Graph::device_mut(&mut self.__graph, &self.flags)
        }
        /// The value of the param `factor` in the next launch.
        pub fn factor(&self) -> f32 {
            ::core::clone::Clone::clone(&self.factor)
        }
        /// The node `scale`.
        pub fn scale(
            &mut self,
            layer: ::core::primitive::usize,
        ) -> ::graph_runtime::NodeHandle<'_> {
            ::graph_runtime::Graph::declared(
                &mut self.__graph,
                0usize,
                "scale",
                &[layer],
            )
        }
        /// The node `choice`.
        pub fn choice(
            &mut self,
            layer: ::core::primitive::usize,
            i: ::core::primitive::usize,
        ) -> ::graph_runtime::NodeHandle<'_> {
            ::graph_runtime::Graph::declared(
                &mut self.__graph,
                1usize,
                "choice",
                &[layer, i],
            )
        }
        /// The node `one`.
        pub fn one(
            &mut self,
            layer: ::core::primitive::usize,
            i: ::core::primitive::usize,
        ) -> ::graph_runtime::NodeHandle<'_> {
            ::graph_runtime::Graph::declared(
                &mut self.__graph,
                2usize,
                "one",
                &[layer, i],
            )
        }
        /// The node `last`.
        pub fn last(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::graph_runtime::Graph::declared(&mut self.__graph, 3usize, "last", &[])
        }
    }
    #[cfg(not(rust_analyzer))]
    #[allow(unused_variables)]
    impl ::core::fmt::Debug for Layers {
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
    impl Layers {
        #[doc(hidden)]
        const __RESOURCES: &'static [::graph_runtime::private::plan::PlanResource] = &[
            ::graph_runtime::private::plan::PlanResource::new(
                "weights",
                ::graph_runtime::private::plan::Space::Device,
                0,
            ),
            ::graph_runtime::private::plan::PlanResource::new(
                "data",
                ::graph_runtime::private::plan::Space::Device,
                ::core::mem::size_of::<[f32; 4]>(),
            ),
            ::graph_runtime::private::plan::PlanResource::new(
                "flags",
                ::graph_runtime::private::plan::Space::Device,
                ::core::mem::size_of::<[u32; 4]>(),
            ),
        ];
        #[doc(hidden)]
        const __NODES: &'static [::graph_runtime::private::plan::PlanNode] = &[
            ::graph_runtime::private::plan::PlanNode::new(
                    "scale",
                    ::graph_runtime::private::plan::NodeKind::Kernel,
                    &[
                        ::graph_runtime::private::plan::PlanAccess {
                            resource: 0usize,
                            mode: ::graph_runtime::private::plan::Mode::Read,
                        },
                        ::graph_runtime::private::plan::PlanAccess {
                            resource: 1usize,
                            mode: ::graph_runtime::private::plan::Mode::ReadWrite,
                        },
                    ],
                    &[],
                    0usize,
                )
                .in_loop(0usize),
            ::graph_runtime::private::plan::PlanNode::new(
                    "choice",
                    ::graph_runtime::private::plan::NodeKind::If,
                    &[
                        ::graph_runtime::private::plan::PlanAccess {
                            resource: 2usize,
                            mode: ::graph_runtime::private::plan::Mode::Read,
                        },
                    ],
                    &[0usize],
                    1usize,
                )
                .in_loop(1usize),
            ::graph_runtime::private::plan::PlanNode::new(
                    "one",
                    ::graph_runtime::private::plan::NodeKind::Memset,
                    &[
                        ::graph_runtime::private::plan::PlanAccess {
                            resource: 1usize,
                            mode: ::graph_runtime::private::plan::Mode::Write,
                        },
                    ],
                    &[],
                    0usize,
                )
                .in_body(1usize),
            ::graph_runtime::private::plan::PlanNode::new(
                "last",
                ::graph_runtime::private::plan::NodeKind::Memset,
                &[
                    ::graph_runtime::private::plan::PlanAccess {
                        resource: 1usize,
                        mode: ::graph_runtime::private::plan::Mode::Write,
                    },
                ],
                &[1usize],
                2usize,
            ),
        ];
        #[doc(hidden)]
        const __BODIES: &'static [::graph_runtime::private::plan::PlanBody] = &[
            ::graph_runtime::private::plan::PlanBody::GRAPH,
            ::graph_runtime::private::plan::PlanBody::new(
                1usize,
                ::graph_runtime::private::plan::Role::Then,
            ),
        ];
        #[doc(hidden)]
        const __LOOPS: &'static [::graph_runtime::private::plan::PlanLoop] = &[
            ::graph_runtime::private::plan::PlanLoop::new(
                "layer",
                ::core::option::Option::None,
            ),
            ::graph_runtime::private::plan::PlanLoop::new(
                "i",
                ::core::option::Option::Some(0usize),
            ),
        ];
        /// The graph as static data: nodes, what they touch, the edges that are lowered, levels, where scratch memory lies.
        pub const PLAN: ::graph_runtime::private::plan::Plan = ::graph_runtime::private::plan::Plan::nested(
            "Layers",
            Self::__RESOURCES,
            Self::__NODES,
            Self::__BODIES,
            Self::__LOOPS,
        );
        /// Allocates the graph's memory, zeroed, builds it on the device and uploads it.
        pub fn build(
            device: &::graph_runtime::Device,
            n: usize,
        ) -> ::graph_runtime::Result<Self> {
            let mut builder = ::graph_runtime::GraphBuilder::new(device, "Layers");
            let __place_weights = ::graph_runtime::GraphBuilder::device_slice::<
                [f32; 4],
            >(&mut builder, "weights", n);
            let __place_data = ::graph_runtime::GraphBuilder::device::<
                [f32; 4],
            >(&mut builder, "data");
            let __place_flags = ::graph_runtime::GraphBuilder::device::<
                [u32; 4],
            >(&mut builder, "flags");
            let factor: f32 = 0.5;
            for layer in ::graph_runtime::GraphBuilder::begin_loop(
                &mut builder,
                &[("scale", 1usize), ("choice", 2usize), ("one", 0usize)],
                0..n,
            ) {
                ::graph_runtime::GraphBuilder::begin_iteration(&mut builder, layer);
                Self::__node_0(
                    &mut builder,
                    __place_weights,
                    __place_data,
                    ::core::clone::Clone::clone(&factor),
                    layer,
                )?;
                for i in ::graph_runtime::GraphBuilder::begin_loop(
                    &mut builder,
                    &[("choice", 1usize), ("one", 0usize)],
                    0..4,
                ) {
                    ::graph_runtime::GraphBuilder::begin_iteration(&mut builder, i);
                    let _ = ::graph_runtime::GraphBuilder::begin_if(
                        &mut builder,
                        "choice",
                        &::graph_runtime::Place::<[u32; 4], _>::row(&__place_flags, i),
                    );
                    ::graph_runtime::GraphBuilder::begin_body(&mut builder);
                    let _ = ::graph_runtime::GraphBuilder::memset::<
                        _,
                        f32,
                    >(
                        &mut builder,
                        "one",
                        &mut ::graph_runtime::Place::<
                            [f32; 4],
                            _,
                        >::row(&__place_data, i),
                        1.0,
                    );
                    ::graph_runtime::GraphBuilder::end_body(&mut builder);
                }
                ::graph_runtime::GraphBuilder::end_loop(&mut builder);
            }
            ::graph_runtime::GraphBuilder::end_loop(&mut builder);
            Self::__node_3(
                &mut builder,
                __place_data,
                ::core::clone::Clone::clone(&factor),
            )?;
            ::graph_runtime::GraphBuilder::repeated_edges(
                &mut builder,
                &[(0usize, 1usize, 1usize), (1usize, 3usize, 0usize)],
            );
            ::core::result::Result::Ok(Self {
                __graph: ::graph_runtime::GraphBuilder::build(builder)?,
                weights: __place_weights,
                data: __place_data,
                flags: __place_flags,
                factor,
                __marker: ::core::marker::PhantomData,
            })
        }
        fn __node_0(
            sink: &mut impl ::graph_runtime::private::NodeSink,
            __place_weights: ::graph_runtime::Place<
                [[f32; 4]],
                ::graph_runtime::OnDevice,
            >,
            __place_data: ::graph_runtime::Place<[f32; 4], ::graph_runtime::OnDevice>,
            factor: f32,
            layer: ::core::primitive::usize,
        ) -> ::graph_runtime::Result<()> {
            ::graph_runtime::private::NodeSink::kernel(
                sink,
                0usize,
                "scale",
                ::graph_runtime::Launch::new(1, 4),
                __kernel_scale::call(
                    &::graph_runtime::Place::<
                        [[f32; 4]],
                        _,
                    >::row(&__place_weights, layer),
                    &mut ::graph_runtime::Place::<[f32; 4], _>::whole(&__place_data),
                    factor,
                ),
            )
        }
        fn __node_3(
            sink: &mut impl ::graph_runtime::private::NodeSink,
            __place_data: ::graph_runtime::Place<[f32; 4], ::graph_runtime::OnDevice>,
            factor: f32,
        ) -> ::graph_runtime::Result<()> {
            ::graph_runtime::private::NodeSink::memset::<
                _,
                f32,
            >(
                sink,
                3usize,
                "last",
                &mut ::graph_runtime::Place::<[f32; 4], _>::whole(&__place_data),
                factor,
            )
        }
        /// Sets the param `factor` for later launches: updates exactly the nodes that use it, in place.
        pub fn set_factor(&mut self, __value: f32) -> ::graph_runtime::Result<()> {
            let __place_data = self.data;
            let __place_weights = self.weights;
            let factor = ::core::clone::Clone::clone(&__value);
            ::graph_runtime::Graph::update(
                &mut self.__graph,
                "factor",
                |update| {
                    ::graph_runtime::Update::each(
                        update,
                        0usize,
                        |update, [layer]| {
                            Self::__node_0(
                                update,
                                __place_weights,
                                __place_data,
                                ::core::clone::Clone::clone(&factor),
                                layer,
                            )?;
                            ::core::result::Result::Ok(())
                        },
                    )?;
                    Self::__node_3(
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
            graph: "Layers",
            memory: &[("weights", false), ("data", true), ("flags", false)],
            values: &[("n", true), ("factor", false)],
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
                ::graph_runtime::Place<[[f32; 4]], ::graph_runtime::OnDevice>,
            >,
            (
                ::core::option::Option<
                    ::graph_runtime::Place<[f32; 4], ::graph_runtime::OnDevice>,
                >,
                (
                    ::core::option::Option<
                        ::graph_runtime::Place<[u32; 4], ::graph_runtime::OnDevice>,
                    >,
                    (::core::option::Option<usize>, (::core::option::Option<f32>, ())),
                ),
            ),
        ) {
            (
                ::core::option::Option::None,
                (
                    ::core::option::Option::None,
                    (
                        ::core::option::Option::None,
                        (
                            ::core::option::Option::None,
                            (::core::option::Option::None, ()),
                        ),
                    ),
                ),
            )
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __place_weights(
            bound: &mut (
                ::core::option::Option<
                    ::graph_runtime::Place<[[f32; 4]], ::graph_runtime::OnDevice>,
                >,
                (
                    ::core::option::Option<
                        ::graph_runtime::Place<[f32; 4], ::graph_runtime::OnDevice>,
                    >,
                    (
                        ::core::option::Option<
                            ::graph_runtime::Place<[u32; 4], ::graph_runtime::OnDevice>,
                        >,
                        (
                            ::core::option::Option<usize>,
                            (::core::option::Option<f32>, ()),
                        ),
                    ),
                ),
            ),
            given: &impl ::graph_runtime::private::BindTo<
                ::graph_runtime::Place<[[f32; 4]], ::graph_runtime::OnDevice>,
            >,
        ) {
            bound.0 = ::core::option::Option::Some(
                ::graph_runtime::private::BindTo::bind(given),
            );
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __place_data(
            bound: &mut (
                ::core::option::Option<
                    ::graph_runtime::Place<[[f32; 4]], ::graph_runtime::OnDevice>,
                >,
                (
                    ::core::option::Option<
                        ::graph_runtime::Place<[f32; 4], ::graph_runtime::OnDevice>,
                    >,
                    (
                        ::core::option::Option<
                            ::graph_runtime::Place<[u32; 4], ::graph_runtime::OnDevice>,
                        >,
                        (
                            ::core::option::Option<usize>,
                            (::core::option::Option<f32>, ()),
                        ),
                    ),
                ),
            ),
            given: &::graph_runtime::Place<[f32; 4], ::graph_runtime::OnDevice>,
        ) {
            bound.1.0 = ::core::option::Option::Some(::core::clone::Clone::clone(given));
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __place_flags(
            bound: &mut (
                ::core::option::Option<
                    ::graph_runtime::Place<[[f32; 4]], ::graph_runtime::OnDevice>,
                >,
                (
                    ::core::option::Option<
                        ::graph_runtime::Place<[f32; 4], ::graph_runtime::OnDevice>,
                    >,
                    (
                        ::core::option::Option<
                            ::graph_runtime::Place<[u32; 4], ::graph_runtime::OnDevice>,
                        >,
                        (
                            ::core::option::Option<usize>,
                            (::core::option::Option<f32>, ()),
                        ),
                    ),
                ),
            ),
            given: &::graph_runtime::Place<[u32; 4], ::graph_runtime::OnDevice>,
        ) {
            bound.1.1.0 = ::core::option::Option::Some(
                ::core::clone::Clone::clone(given),
            );
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __value_n(
            bound: &mut (
                ::core::option::Option<
                    ::graph_runtime::Place<[[f32; 4]], ::graph_runtime::OnDevice>,
                >,
                (
                    ::core::option::Option<
                        ::graph_runtime::Place<[f32; 4], ::graph_runtime::OnDevice>,
                    >,
                    (
                        ::core::option::Option<
                            ::graph_runtime::Place<[u32; 4], ::graph_runtime::OnDevice>,
                        >,
                        (
                            ::core::option::Option<usize>,
                            (::core::option::Option<f32>, ()),
                        ),
                    ),
                ),
            ),
            given: usize,
        ) {
            bound.1.1.1.0 = ::core::option::Option::Some(given);
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __value_factor(
            bound: &mut (
                ::core::option::Option<
                    ::graph_runtime::Place<[[f32; 4]], ::graph_runtime::OnDevice>,
                >,
                (
                    ::core::option::Option<
                        ::graph_runtime::Place<[f32; 4], ::graph_runtime::OnDevice>,
                    >,
                    (
                        ::core::option::Option<
                            ::graph_runtime::Place<[u32; 4], ::graph_runtime::OnDevice>,
                        >,
                        (
                            ::core::option::Option<usize>,
                            (::core::option::Option<f32>, ()),
                        ),
                    ),
                ),
            ),
            given: f32,
        ) {
            bound.1.1.1.1.0 = ::core::option::Option::Some(given);
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __add(
            builder: &mut ::graph_runtime::GraphBuilder,
            bound: (
                ::core::option::Option<
                    ::graph_runtime::Place<[[f32; 4]], ::graph_runtime::OnDevice>,
                >,
                (
                    ::core::option::Option<
                        ::graph_runtime::Place<[f32; 4], ::graph_runtime::OnDevice>,
                    >,
                    (
                        ::core::option::Option<
                            ::graph_runtime::Place<[u32; 4], ::graph_runtime::OnDevice>,
                        >,
                        (
                            ::core::option::Option<usize>,
                            (::core::option::Option<f32>, ()),
                        ),
                    ),
                ),
            ),
        ) -> ::graph_runtime::Result<()> {
            let __place_weights: ::graph_runtime::Place<
                [[f32; 4]],
                ::graph_runtime::OnDevice,
            > = ::graph_runtime::private::bound(bound.0, builder, "weights")?;
            let __place_data: ::graph_runtime::Place<
                [f32; 4],
                ::graph_runtime::OnDevice,
            > = ::graph_runtime::private::bound(bound.1.0, builder, "data")?;
            let __place_flags: ::graph_runtime::Place<
                [u32; 4],
                ::graph_runtime::OnDevice,
            > = ::graph_runtime::private::bound(bound.1.1.0, builder, "flags")?;
            let n: usize = ::graph_runtime::private::bound(bound.1.1.1.0, builder, "n")?;
            let factor: f32 = 0.5;
            let factor: f32 = ::core::option::Option::unwrap_or(bound.1.1.1.1.0, factor);
            let like = {
                let mut blank = ::graph_runtime::GraphBuilder::blank(builder);
                let __place_weights = ::graph_runtime::GraphBuilder::device_slice::<
                    [f32; 4],
                >(&mut blank, "weights", n);
                __place_weights
            };
            ::graph_runtime::GraphBuilder::require_like(
                builder,
                &__place_weights,
                &like,
            );
            for layer in ::graph_runtime::GraphBuilder::begin_loop(
                builder,
                &[("scale", 1usize), ("choice", 2usize), ("one", 0usize)],
                0..n,
            ) {
                ::graph_runtime::GraphBuilder::begin_iteration(builder, layer);
                Self::__node_0(
                    builder,
                    __place_weights,
                    __place_data,
                    ::core::clone::Clone::clone(&factor),
                    layer,
                )?;
                for i in ::graph_runtime::GraphBuilder::begin_loop(
                    builder,
                    &[("choice", 1usize), ("one", 0usize)],
                    0..4,
                ) {
                    ::graph_runtime::GraphBuilder::begin_iteration(builder, i);
                    let _ = ::graph_runtime::GraphBuilder::begin_if(
                        builder,
                        "choice",
                        &::graph_runtime::Place::<[u32; 4], _>::row(&__place_flags, i),
                    );
                    ::graph_runtime::GraphBuilder::begin_body(builder);
                    let _ = ::graph_runtime::GraphBuilder::memset::<
                        _,
                        f32,
                    >(
                        builder,
                        "one",
                        &mut ::graph_runtime::Place::<
                            [f32; 4],
                            _,
                        >::row(&__place_data, i),
                        1.0,
                    );
                    ::graph_runtime::GraphBuilder::end_body(builder);
                }
                ::graph_runtime::GraphBuilder::end_loop(builder);
            }
            ::graph_runtime::GraphBuilder::end_loop(builder);
            Self::__node_3(builder, __place_data, ::core::clone::Clone::clone(&factor))?;
            ::graph_runtime::GraphBuilder::repeated_edges(
                builder,
                &[(0usize, 1usize, 1usize), (1usize, 3usize, 0usize)],
            );
            ::core::result::Result::Ok(())
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __update(
            update: &mut ::graph_runtime::Update<'_>,
            bound: (
                ::core::option::Option<
                    ::graph_runtime::Place<[[f32; 4]], ::graph_runtime::OnDevice>,
                >,
                (
                    ::core::option::Option<
                        ::graph_runtime::Place<[f32; 4], ::graph_runtime::OnDevice>,
                    >,
                    (
                        ::core::option::Option<
                            ::graph_runtime::Place<[u32; 4], ::graph_runtime::OnDevice>,
                        >,
                        (
                            ::core::option::Option<usize>,
                            (::core::option::Option<f32>, ()),
                        ),
                    ),
                ),
            ),
        ) -> ::graph_runtime::Result<()> {
            let __place_weights: ::graph_runtime::Place<
                [[f32; 4]],
                ::graph_runtime::OnDevice,
            > = ::graph_runtime::private::bound(bound.0, update, "weights")?;
            let __place_data: ::graph_runtime::Place<
                [f32; 4],
                ::graph_runtime::OnDevice,
            > = ::graph_runtime::private::bound(bound.1.0, update, "data")?;
            let __place_flags: ::graph_runtime::Place<
                [u32; 4],
                ::graph_runtime::OnDevice,
            > = ::graph_runtime::private::bound(bound.1.1.0, update, "flags")?;
            let n: usize = ::graph_runtime::private::bound(bound.1.1.1.0, update, "n")?;
            let factor: f32 = 0.5;
            let factor: f32 = ::core::option::Option::unwrap_or(bound.1.1.1.1.0, factor);
            ::graph_runtime::Update::each(
                update,
                0usize,
                |update, [layer]| {
                    Self::__node_0(
                        update,
                        __place_weights,
                        __place_data,
                        ::core::clone::Clone::clone(&factor),
                        layer,
                    )?;
                    ::core::result::Result::Ok(())
                },
            )?;
            Self::__node_3(update, __place_data, ::core::clone::Clone::clone(&factor))?;
            ::core::result::Result::Ok(())
        }
    }
    #[cfg(not(rust_analyzer))]
    impl ::graph_runtime::private::DeclaredGraph for Layers {}
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
            ::graph_runtime::private::plan::Argument::Buffer(
                ::core::mem::size_of::<[f32; 4]>() as ::core::primitive::u64,
            ),
            ::graph_runtime::private::plan::Argument::Unknown,
        ],
    );
};
/// The graph `Layers`, declared with `cuda_graph!`.
#[allow(dead_code, non_snake_case)]
struct Layers {
    __graph: ::graph_runtime::Graph,
    weights: ::graph_runtime::Place<[[f32; 4]], ::graph_runtime::OnDevice>,
    data: ::graph_runtime::Place<[f32; 4], ::graph_runtime::OnDevice>,
    flags: ::graph_runtime::Place<[u32; 4], ::graph_runtime::OnDevice>,
    factor: f32,
    __marker: ::core::marker::PhantomData<fn() -> ()>,
}
