#[allow(unexpected_cfgs)]
const _: () = {
    #[cfg(rust_analyzer)]
    const _: () = {
        trait __Editor {
            fn __statements();
        }
        impl __Editor for Scale {
            #[allow(warnings)]
            fn __statements() {
                let _: usize = 4;
                let _: usize = 8;
                let mut data: ::graph_runtime::Place<
                    [[f32; 4]; 8],
                    ::graph_runtime::OnDevice,
                >;
                let mut factor: f32 = 0.5;
                let _ = &(data[HALF..]);
                let _ = &(0.0);
                let _ = (1, 4);
                unsafe { kernels::scale::call(&mut data[..HALF], factor * 2.0, 4) };
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
    impl Scale {
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
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceRef<'_, [[f32; 4]; 8]>> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Waits for launches in flight and lends `data` for writing.
        pub fn data_mut(
            &mut self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceMut<'_, [[f32; 4]; 8]>> {
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
        /// The node `clear`.
        pub fn clear(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// The node `scale`.
        pub fn scale(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
    }
    #[cfg(rust_analyzer)]
    #[allow(unused_variables)]
    impl ::core::fmt::Debug for Scale {
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
    impl Scale {
        /// The graph as static data.
        pub const PLAN: ::graph_runtime::private::plan::Plan = ::graph_runtime::private::plan::Plan::new(
            "Scale",
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
    impl Scale {
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
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceRef<'_, [[f32; 4]; 8]>> {
            ::graph_runtime::Graph::device(&self.__graph, &self.data)
        }
        /// Waits for launches in flight and lends `data` for writing.
        pub fn data_mut(
            &mut self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceMut<'_, [[f32; 4]; 8]>> {
            ::graph_runtime::Graph::device_mut(&mut self.__graph, &self.data)
        }
        /// The value of the param `factor` in the next launch.
        pub fn factor(&self) -> f32 {
            ::core::clone::Clone::clone(&self.factor)
        }
        /// The node `clear`.
        pub fn clear(&mut self) -> ::graph_runtime::NodeHandle<'_> {
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
    }
    #[cfg(not(rust_analyzer))]
    #[allow(unused_variables)]
    impl ::core::fmt::Debug for Scale {
        fn fmt(
            &self,
            formatter: &mut ::core::fmt::Formatter<'_>,
        ) -> ::core::fmt::Result {
            ::core::fmt::Debug::fmt(&self.__graph, formatter)
        }
    }
    #[cfg(not(rust_analyzer))]
    #[allow(non_camel_case_types, dead_code)]
    type __kernel_scale = kernels::scale;
    #[cfg(not(rust_analyzer))]
    #[allow(
        dead_code,
        non_snake_case,
        unreachable_pub,
        unused_variables,
        clippy::all,
        clippy::pedantic
    )]
    impl Scale {
        #[doc(hidden)]
        const __RESOURCES: &'static [::graph_runtime::private::plan::PlanResource] = &[
            ::graph_runtime::private::plan::PlanResource::new(
                "data",
                ::graph_runtime::private::plan::Space::Device,
                ::core::mem::size_of::<[[f32; 4]; 8]>(),
            ),
        ];
        #[doc(hidden)]
        const __NODES: &'static [::graph_runtime::private::plan::PlanNode] = &[
            ::graph_runtime::private::plan::PlanNode::new(
                "clear",
                ::graph_runtime::private::plan::NodeKind::Memset,
                &[
                    ::graph_runtime::private::plan::PlanAccess {
                        resource: 0usize,
                        mode: ::graph_runtime::private::plan::Mode::Write,
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
                        resource: 0usize,
                        mode: ::graph_runtime::private::plan::Mode::ReadWrite,
                    },
                ],
                &[],
                0usize,
            ),
        ];
        /// The graph as static data: nodes, what they touch, the edges that are lowered, levels, where scratch memory lies.
        pub const PLAN: ::graph_runtime::private::plan::Plan = ::graph_runtime::private::plan::Plan::new(
            "Scale",
            Self::__RESOURCES,
            Self::__NODES,
        );
        /// Allocates the graph's memory, zeroed, builds it on the device and uploads it.
        pub fn build(device: &::graph_runtime::Device) -> ::graph_runtime::Result<Self> {
            let mut builder = ::graph_runtime::GraphBuilder::new(device, "Scale");
            let __place_data = ::graph_runtime::GraphBuilder::device::<
                [[f32; 4]; 8],
            >(&mut builder, "data");
            let factor: f32 = 0.5;
            let _ = ::graph_runtime::GraphBuilder::memset::<
                _,
                f32,
            >(
                &mut builder,
                "clear",
                &mut ::graph_runtime::Place::<
                    [[f32; 4]; 8],
                    _,
                >::rows_from::<
                    { ::graph_runtime::private::distance(HALF, 8) },
                >(&__place_data, HALF),
                0.0,
            );
            Self::__node_1(
                &mut builder,
                __place_data,
                ::core::clone::Clone::clone(&factor),
            )?;
            ::core::result::Result::Ok(Self {
                __graph: ::graph_runtime::GraphBuilder::build(builder)?,
                data: __place_data,
                factor,
                __marker: ::core::marker::PhantomData,
            })
        }
        fn __node_1(
            sink: &mut impl ::graph_runtime::private::NodeSink,
            __place_data: ::graph_runtime::Place<
                [[f32; 4]; 8],
                ::graph_runtime::OnDevice,
            >,
            factor: f32,
        ) -> ::graph_runtime::Result<()> {
            ::graph_runtime::private::NodeSink::kernel(
                sink,
                1usize,
                "scale",
                ::graph_runtime::Launch::new(1, 4),
                unsafe {
                    __kernel_scale::call(
                        &mut ::graph_runtime::Place::<
                            [[f32; 4]; 8],
                            _,
                        >::rows_from::<
                            { ::graph_runtime::private::distance(0, HALF) },
                        >(&__place_data, 0),
                        factor * 2.0,
                        4,
                    )
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
                    )?;
                    ::core::result::Result::Ok(())
                },
            )?;
            self.factor = __value;
            ::core::result::Result::Ok(())
        }
        #[doc(hidden)]
        pub const __INTERFACE: ::graph_runtime::private::Interface = ::graph_runtime::private::Interface {
            graph: "Scale",
            memory: &[("data", true)],
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
                ::graph_runtime::Place<[[f32; 4]; 8], ::graph_runtime::OnDevice>,
            >,
            (::core::option::Option<f32>, ()),
        ) {
            (::core::option::Option::None, (::core::option::Option::None, ()))
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __place_data(
            bound: &mut (
                ::core::option::Option<
                    ::graph_runtime::Place<[[f32; 4]; 8], ::graph_runtime::OnDevice>,
                >,
                (::core::option::Option<f32>, ()),
            ),
            given: &::graph_runtime::Place<[[f32; 4]; 8], ::graph_runtime::OnDevice>,
        ) {
            bound.0 = ::core::option::Option::Some(::core::clone::Clone::clone(given));
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __value_factor(
            bound: &mut (
                ::core::option::Option<
                    ::graph_runtime::Place<[[f32; 4]; 8], ::graph_runtime::OnDevice>,
                >,
                (::core::option::Option<f32>, ()),
            ),
            given: f32,
        ) {
            bound.1.0 = ::core::option::Option::Some(given);
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __add(
            builder: &mut ::graph_runtime::GraphBuilder,
            bound: (
                ::core::option::Option<
                    ::graph_runtime::Place<[[f32; 4]; 8], ::graph_runtime::OnDevice>,
                >,
                (::core::option::Option<f32>, ()),
            ),
        ) -> ::graph_runtime::Result<()> {
            let __place_data: ::graph_runtime::Place<
                [[f32; 4]; 8],
                ::graph_runtime::OnDevice,
            > = ::graph_runtime::private::bound(bound.0, builder, "data")?;
            let factor: f32 = 0.5;
            let factor: f32 = ::core::option::Option::unwrap_or(bound.1.0, factor);
            let _ = ::graph_runtime::GraphBuilder::memset::<
                _,
                f32,
            >(
                builder,
                "clear",
                &mut ::graph_runtime::Place::<
                    [[f32; 4]; 8],
                    _,
                >::rows_from::<
                    { ::graph_runtime::private::distance(HALF, 8) },
                >(&__place_data, HALF),
                0.0,
            );
            Self::__node_1(builder, __place_data, ::core::clone::Clone::clone(&factor))?;
            ::core::result::Result::Ok(())
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __update(
            update: &mut ::graph_runtime::Update<'_>,
            bound: (
                ::core::option::Option<
                    ::graph_runtime::Place<[[f32; 4]; 8], ::graph_runtime::OnDevice>,
                >,
                (::core::option::Option<f32>, ()),
            ),
        ) -> ::graph_runtime::Result<()> {
            let __place_data: ::graph_runtime::Place<
                [[f32; 4]; 8],
                ::graph_runtime::OnDevice,
            > = ::graph_runtime::private::bound(bound.0, update, "data")?;
            let factor: f32 = 0.5;
            let factor: f32 = ::core::option::Option::unwrap_or(bound.1.0, factor);
            Self::__node_1(update, __place_data, ::core::clone::Clone::clone(&factor))?;
            ::core::result::Result::Ok(())
        }
    }
    #[cfg(not(rust_analyzer))]
    impl ::graph_runtime::private::DeclaredGraph for Scale {}
    #[cfg(not(rust_analyzer))]
    const _: () = ::graph_runtime::private::check_range("data", HALF, 8, 8);
    #[cfg(not(rust_analyzer))]
    const _: () = ::graph_runtime::private::check_range("data", 0, HALF, 8);
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
                (::graph_runtime::private::distance(0, HALF)
                    * ::core::mem::size_of::<[f32; 4]>()) as ::core::primitive::u64,
            ),
            ::graph_runtime::private::plan::Argument::Unknown,
            ::graph_runtime::private::plan::Argument::Int(4),
        ],
    );
};
/// The graph `Scale`, declared with `cuda_graph!`.
#[allow(dead_code, non_snake_case)]
pub(crate) struct Scale {
    __graph: ::graph_runtime::Graph,
    data: ::graph_runtime::Place<[[f32; 4]; 8], ::graph_runtime::OnDevice>,
    factor: f32,
    __marker: ::core::marker::PhantomData<fn() -> ()>,
}
