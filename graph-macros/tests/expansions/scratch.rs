#[allow(unexpected_cfgs)]
const _: () = {
    #[cfg(rust_analyzer)]
    const _: () = {
        trait __Editor {
            fn __statements();
        }
        impl<const N: usize> __Editor for Layer<N> {
            #[allow(warnings)]
            fn __statements() {
                let _: usize = N;
                let mut x: ::graph_runtime::Place<[f32; N], ::graph_runtime::OnDevice>;
                let _: usize = N;
                let _: usize = 4;
                let mut hidden: ::graph_runtime::Place<
                    [[f32; N]; 4],
                    ::graph_runtime::OnDevice,
                >;
                let _: usize = N;
                let mut query: ::graph_runtime::Place<
                    [f32; N],
                    ::graph_runtime::OnDevice,
                >;
                let _ = (1, N);
                unsafe { copy::call(&x, &mut query) };
                let _ = (1, N);
                unsafe { copy::call(&query, &mut hidden) };
                let _ = &(hidden[0]);
                let _ = &(x);
                {
                    let ask: ::graph_runtime::NodeId;
                    let answer: ::graph_runtime::NodeId;
                    let back: ::graph_runtime::NodeId;
                    let _ = (ask);
                    let _ = (answer);
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
    impl<const N: usize> Layer<N> {
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
        /// Waits for launches in flight and lends `x` for reading.
        pub fn x(
            &self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceRef<'_, [f32; N]>> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Waits for launches in flight and lends `x` for writing.
        pub fn x_mut(
            &mut self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceMut<'_, [f32; N]>> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// The node `ask`.
        pub fn ask(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// The node `answer`.
        pub fn answer(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// The node `back`.
        pub fn back(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
    }
    #[cfg(rust_analyzer)]
    #[allow(unused_variables)]
    impl<const N: usize> ::core::fmt::Debug for Layer<N> {
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
    impl<const N: usize> Layer<N> {
        /// The graph as static data.
        pub const PLAN: ::graph_runtime::private::plan::Plan = ::graph_runtime::private::plan::Plan::new(
            "Layer",
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
    impl<const N: usize> Layer<N> {
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
        /// Waits for launches in flight and lends `x` for reading.
        pub fn x(
            &self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceRef<'_, [f32; N]>> {
            ::graph_runtime::Graph::device(&self.__graph, &self.x)
        }
        /// Waits for launches in flight and lends `x` for writing.
        pub fn x_mut(
            &mut self,
        ) -> ::graph_runtime::Result<::graph_runtime::DeviceMut<'_, [f32; N]>> {
            ::graph_runtime::Graph::device_mut(&mut self.__graph, &self.x)
        }
        /// The node `ask`.
        pub fn ask(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::graph_runtime::Graph::node(
                &mut self.__graph,
                ::graph_runtime::NodeId::new(0usize),
            )
        }
        /// The node `answer`.
        pub fn answer(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::graph_runtime::Graph::node(
                &mut self.__graph,
                ::graph_runtime::NodeId::new(1usize),
            )
        }
        /// The node `back`.
        pub fn back(&mut self) -> ::graph_runtime::NodeHandle<'_> {
            ::graph_runtime::Graph::node(
                &mut self.__graph,
                ::graph_runtime::NodeId::new(2usize),
            )
        }
    }
    #[cfg(not(rust_analyzer))]
    #[allow(unused_variables)]
    impl<const N: usize> ::core::fmt::Debug for Layer<N> {
        fn fmt(
            &self,
            formatter: &mut ::core::fmt::Formatter<'_>,
        ) -> ::core::fmt::Result {
            ::core::fmt::Debug::fmt(&self.__graph, formatter)
        }
    }
    #[cfg(not(rust_analyzer))]
    #[allow(non_camel_case_types, dead_code)]
    type __kernel_ask = copy;
    #[cfg(not(rust_analyzer))]
    #[allow(non_camel_case_types, dead_code)]
    type __kernel_answer = copy;
    #[cfg(not(rust_analyzer))]
    #[allow(
        dead_code,
        non_snake_case,
        unreachable_pub,
        unused_variables,
        clippy::all,
        clippy::pedantic
    )]
    impl<const N: usize> Layer<N> {
        #[doc(hidden)]
        #[allow(long_running_const_eval)]
        const __PACKED: ::graph_runtime::private::plan::Arena<2usize> = ::graph_runtime::private::plan::Arena::new(
            [
                ::core::mem::size_of::<[f32; N]>(),
                ::core::mem::size_of::<[[f32; N]; 4]>(),
            ],
            &[&[1usize], &[0usize]],
        );
        #[doc(hidden)]
        const __ARENA: ::graph_runtime::private::plan::Arena<2usize> = ::graph_runtime::private::plan::Arena {
            offsets: [Self::__PACKED.offsets[1usize], Self::__PACKED.offsets[0usize]],
            bytes: Self::__PACKED.bytes,
        };
        #[doc(hidden)]
        const __RESOURCES: &'static [::graph_runtime::private::plan::PlanResource] = &[
            ::graph_runtime::private::plan::PlanResource::new(
                "x",
                ::graph_runtime::private::plan::Space::Device,
                ::core::mem::size_of::<[f32; N]>(),
            ),
            ::graph_runtime::private::plan::PlanResource::scratch(
                "hidden",
                ::core::mem::size_of::<[[f32; N]; 4]>(),
                Self::__ARENA.offsets[0usize],
            ),
            ::graph_runtime::private::plan::PlanResource::scratch(
                "query",
                ::core::mem::size_of::<[f32; N]>(),
                Self::__ARENA.offsets[1usize],
            ),
        ];
        #[doc(hidden)]
        const __NODES: &'static [::graph_runtime::private::plan::PlanNode] = &[
            ::graph_runtime::private::plan::PlanNode::new(
                "ask",
                ::graph_runtime::private::plan::NodeKind::Kernel,
                &[
                    ::graph_runtime::private::plan::PlanAccess {
                        resource: 0usize,
                        mode: ::graph_runtime::private::plan::Mode::Read,
                    },
                    ::graph_runtime::private::plan::PlanAccess {
                        resource: 2usize,
                        mode: ::graph_runtime::private::plan::Mode::ReadWrite,
                    },
                ],
                &[],
                0usize,
            ),
            ::graph_runtime::private::plan::PlanNode::new(
                "answer",
                ::graph_runtime::private::plan::NodeKind::Kernel,
                &[
                    ::graph_runtime::private::plan::PlanAccess {
                        resource: 2usize,
                        mode: ::graph_runtime::private::plan::Mode::Read,
                    },
                    ::graph_runtime::private::plan::PlanAccess {
                        resource: 1usize,
                        mode: ::graph_runtime::private::plan::Mode::ReadWrite,
                    },
                ],
                &[0usize],
                1usize,
            ),
            ::graph_runtime::private::plan::PlanNode::new(
                "back",
                ::graph_runtime::private::plan::NodeKind::Memcpy,
                &[
                    ::graph_runtime::private::plan::PlanAccess {
                        resource: 1usize,
                        mode: ::graph_runtime::private::plan::Mode::Read,
                    },
                    ::graph_runtime::private::plan::PlanAccess {
                        resource: 0usize,
                        mode: ::graph_runtime::private::plan::Mode::Write,
                    },
                ],
                &[1usize],
                2usize,
            ),
        ];
        /// The graph as static data: nodes, what they touch, the edges that are lowered, levels, where scratch memory lies.
        pub const PLAN: ::graph_runtime::private::plan::Plan = ::graph_runtime::private::plan::Plan::new(
            "Layer",
            Self::__RESOURCES,
            Self::__NODES,
        );
        /// Allocates the graph's memory, zeroed, builds it on the device and uploads it.
        pub fn build(device: &::graph_runtime::Device) -> ::graph_runtime::Result<Self> {
            const {
                ::graph_runtime::private::check_launch::<
                    __kernel_ask,
                >(
                    &["ask"],
                    [(1) as ::core::primitive::i128, 1, 1],
                    [(N) as ::core::primitive::i128, 1, 1],
                    0,
                    &[
                        ::graph_runtime::private::plan::Argument::Buffer(
                            ::core::mem::size_of::<[f32; N]>() as ::core::primitive::u64,
                        ),
                        ::graph_runtime::private::plan::Argument::Buffer(
                            ::core::mem::size_of::<[f32; N]>() as ::core::primitive::u64,
                        ),
                    ],
                )
            };
            const {
                ::graph_runtime::private::check_launch::<
                    __kernel_answer,
                >(
                    &["answer"],
                    [(1) as ::core::primitive::i128, 1, 1],
                    [(N) as ::core::primitive::i128, 1, 1],
                    0,
                    &[
                        ::graph_runtime::private::plan::Argument::Buffer(
                            ::core::mem::size_of::<[f32; N]>() as ::core::primitive::u64,
                        ),
                        ::graph_runtime::private::plan::Argument::Buffer(
                            ::core::mem::size_of::<[[f32; N]; 4]>()
                                as ::core::primitive::u64,
                        ),
                    ],
                )
            };
            let mut builder = ::graph_runtime::GraphBuilder::new(device, "Layer");
            let __place_x = ::graph_runtime::GraphBuilder::device::<
                [f32; N],
            >(&mut builder, "x");
            let __place_hidden = ::graph_runtime::GraphBuilder::scratch::<
                [[f32; N]; 4],
            >(&mut builder, "hidden");
            let __place_query = ::graph_runtime::GraphBuilder::scratch::<
                [f32; N],
            >(&mut builder, "query");
            ::graph_runtime::GraphBuilder::arena(
                &mut builder,
                &Self::__ARENA.offsets,
                Self::__ARENA.bytes,
            );
            let _ = ::graph_runtime::GraphBuilder::kernel(
                &mut builder,
                "ask",
                ::graph_runtime::Launch::new(1, N),
                __kernel_ask::call(
                    &::graph_runtime::Place::<[f32; N], _>::whole(&__place_x),
                    &mut ::graph_runtime::Place::<[f32; N], _>::whole(&__place_query),
                ),
            );
            let _ = ::graph_runtime::GraphBuilder::kernel(
                &mut builder,
                "answer",
                ::graph_runtime::Launch::new(1, N),
                __kernel_answer::call(
                    &::graph_runtime::Place::<[f32; N], _>::whole(&__place_query),
                    &mut ::graph_runtime::Place::<
                        [[f32; N]; 4],
                        _,
                    >::whole(&__place_hidden),
                ),
            );
            let _ = ::graph_runtime::GraphBuilder::memcpy(
                &mut builder,
                "back",
                &::graph_runtime::Place::<[[f32; N]; 4], _>::row(&__place_hidden, 0),
                &mut ::graph_runtime::Place::<[f32; N], _>::whole(&__place_x),
            );
            ::graph_runtime::GraphBuilder::edges(
                &mut builder,
                &[(0usize, 1usize), (1usize, 2usize)],
            );
            ::core::result::Result::Ok(Self {
                __graph: ::graph_runtime::GraphBuilder::build(builder)?,
                x: __place_x,
                hidden: __place_hidden,
                query: __place_query,
                __marker: ::core::marker::PhantomData,
            })
        }
        #[doc(hidden)]
        pub const __INTERFACE: ::graph_runtime::private::Interface = ::graph_runtime::private::Interface {
            graph: "Layer",
            memory: &[("x", true)],
            values: &[],
            unconditional: {
                #[allow(unused_imports)]
                use ::graph_runtime::private::NoGraph as _;
                ::graph_runtime::private::unconditional(&[])
            },
            scratch: Self::__PACKED.bytes,
        };
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __slots() -> (
            ::core::option::Option<
                ::graph_runtime::Place<[f32; N], ::graph_runtime::OnDevice>,
            >,
            (),
        ) {
            (::core::option::Option::None, ())
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __place_x(
            bound: &mut (
                ::core::option::Option<
                    ::graph_runtime::Place<[f32; N], ::graph_runtime::OnDevice>,
                >,
                (),
            ),
            given: &::graph_runtime::Place<[f32; N], ::graph_runtime::OnDevice>,
        ) {
            bound.0 = ::core::option::Option::Some(::core::clone::Clone::clone(given));
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __add(
            builder: &mut ::graph_runtime::GraphBuilder,
            bound: (
                ::core::option::Option<
                    ::graph_runtime::Place<[f32; N], ::graph_runtime::OnDevice>,
                >,
                (),
            ),
        ) -> ::graph_runtime::Result<()> {
            const {
                ::graph_runtime::private::check_launch::<
                    __kernel_ask,
                >(
                    &["ask"],
                    [(1) as ::core::primitive::i128, 1, 1],
                    [(N) as ::core::primitive::i128, 1, 1],
                    0,
                    &[
                        ::graph_runtime::private::plan::Argument::Buffer(
                            ::core::mem::size_of::<[f32; N]>() as ::core::primitive::u64,
                        ),
                        ::graph_runtime::private::plan::Argument::Buffer(
                            ::core::mem::size_of::<[f32; N]>() as ::core::primitive::u64,
                        ),
                    ],
                )
            };
            const {
                ::graph_runtime::private::check_launch::<
                    __kernel_answer,
                >(
                    &["answer"],
                    [(1) as ::core::primitive::i128, 1, 1],
                    [(N) as ::core::primitive::i128, 1, 1],
                    0,
                    &[
                        ::graph_runtime::private::plan::Argument::Buffer(
                            ::core::mem::size_of::<[f32; N]>() as ::core::primitive::u64,
                        ),
                        ::graph_runtime::private::plan::Argument::Buffer(
                            ::core::mem::size_of::<[[f32; N]; 4]>()
                                as ::core::primitive::u64,
                        ),
                    ],
                )
            };
            let __place_x: ::graph_runtime::Place<[f32; N], ::graph_runtime::OnDevice> = ::graph_runtime::private::bound(
                bound.0,
                builder,
                "x",
            )?;
            let __place_hidden = ::graph_runtime::GraphBuilder::scratch::<
                [[f32; N]; 4],
            >(builder, "hidden");
            let __place_query = ::graph_runtime::GraphBuilder::scratch::<
                [f32; N],
            >(builder, "query");
            let _ = ::graph_runtime::GraphBuilder::kernel(
                builder,
                "ask",
                ::graph_runtime::Launch::new(1, N),
                __kernel_ask::call(
                    &::graph_runtime::Place::<[f32; N], _>::whole(&__place_x),
                    &mut ::graph_runtime::Place::<[f32; N], _>::whole(&__place_query),
                ),
            );
            let _ = ::graph_runtime::GraphBuilder::kernel(
                builder,
                "answer",
                ::graph_runtime::Launch::new(1, N),
                __kernel_answer::call(
                    &::graph_runtime::Place::<[f32; N], _>::whole(&__place_query),
                    &mut ::graph_runtime::Place::<
                        [[f32; N]; 4],
                        _,
                    >::whole(&__place_hidden),
                ),
            );
            let _ = ::graph_runtime::GraphBuilder::memcpy(
                builder,
                "back",
                &::graph_runtime::Place::<[[f32; N]; 4], _>::row(&__place_hidden, 0),
                &mut ::graph_runtime::Place::<[f32; N], _>::whole(&__place_x),
            );
            ::graph_runtime::GraphBuilder::repeated_edges(
                builder,
                &[(0usize, 1usize, 0usize), (1usize, 2usize, 0usize)],
            );
            ::core::result::Result::Ok(())
        }
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __update(
            update: &mut ::graph_runtime::Update<'_>,
            bound: (
                ::core::option::Option<
                    ::graph_runtime::Place<[f32; N], ::graph_runtime::OnDevice>,
                >,
                (),
            ),
        ) -> ::graph_runtime::Result<()> {
            ::core::result::Result::Ok(())
        }
    }
    #[cfg(not(rust_analyzer))]
    impl<const N: usize> ::graph_runtime::private::DeclaredGraph for Layer<N> {}
    #[cfg(not(rust_analyzer))]
    const _: () = ::graph_runtime::private::check_initializes::<
        __kernel_ask,
    >("ask", "query", 1usize);
    #[cfg(not(rust_analyzer))]
    const _: () = ::graph_runtime::private::check_initializes::<
        __kernel_answer,
    >("answer", "hidden", 1usize);
};
/// The graph `Layer`, declared with `cuda_graph!`.
#[allow(dead_code, non_snake_case)]
struct Layer<const N: usize> {
    __graph: ::graph_runtime::Graph,
    x: ::graph_runtime::Place<[f32; N], ::graph_runtime::OnDevice>,
    hidden: ::graph_runtime::Place<[[f32; N]; 4], ::graph_runtime::OnDevice>,
    query: ::graph_runtime::Place<[f32; N], ::graph_runtime::OnDevice>,
    __marker: ::core::marker::PhantomData<fn() -> ()>,
}
