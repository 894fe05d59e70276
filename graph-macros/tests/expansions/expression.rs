fn main() {
    let graph = {
        {
            #[allow(
                dead_code,
                non_snake_case,
                unreachable_pub,
                clippy::all,
                clippy::pedantic
            )]
            mod __cuda_graph {
                /// The graph `Expression`, declared with `cuda_graph!`.
                #[allow(dead_code, non_snake_case)]
                pub struct Expression<
                    R0: ::graph_runtime::private::CapturedSlot,
                    R1: ::graph_runtime::private::HostSlot,
                    P0,
                    F: ::graph_runtime::private::Nodes<(P0,)>,
                > {
                    __graph: ::graph_runtime::Graph,
                    data: R0,
                    output: R1,
                    factor: P0,
                    __nodes: F,
                    __marker: ::core::marker::PhantomData<fn() -> (R0, R1, P0, F)>,
                }
                /// All host memory of a [`Expression`], lent at once.
                #[allow(dead_code, non_snake_case)]
                pub struct ExpressionMemory<
                    'memory,
                    R0: ::graph_runtime::private::CapturedSlot,
                    R1: ::graph_runtime::private::HostSlot,
                    P0,
                    F: ::graph_runtime::private::Nodes<(P0,)>,
                > {
                    /// The host resource `output`.
                    pub output: &'memory mut <R1 as ::graph_runtime::private::HostSlot>::Shape,
                    __marker: ::core::marker::PhantomData<fn() -> (R0, R1, P0, F)>,
                }
                #[allow(
                    dead_code,
                    non_snake_case,
                    unreachable_pub,
                    unused_variables,
                    clippy::all,
                    clippy::pedantic
                )]
                impl<
                    R0: ::graph_runtime::private::CapturedSlot,
                    R1: ::graph_runtime::private::HostSlot,
                    P0,
                    F: ::graph_runtime::private::Nodes<(P0,)>,
                > Expression<R0, R1, P0, F> {
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
                    pub fn raw(
                        &self,
                    ) -> ::core::option::Option<::graph_runtime::RawGraph> {
                        ::graph_runtime::Graph::raw(&self.__graph)
                    }
                    /// Waits for launches in flight and lends all host memory at once, for writing.
                    pub fn memory_mut(
                        &mut self,
                    ) -> ::graph_runtime::Result<ExpressionMemory<'_, R0, R1, P0, F>> {
                        let mut __split = ::graph_runtime::Graph::split_host(
                            &mut self.__graph,
                        )?;
                        ::core::result::Result::Ok(ExpressionMemory {
                            output: ::graph_runtime::private::HostSlot::take(
                                &mut __split,
                                &self.output,
                            )?,
                            __marker: ::core::marker::PhantomData,
                        })
                    }
                    /// Waits for launches in flight and lends `data` for reading.
                    pub fn data(
                        &self,
                    ) -> ::graph_runtime::Result<
                        <R0 as ::graph_runtime::private::Slot>::Ref<'_>,
                    > {
                        ::graph_runtime::private::Slot::lend(&self.data, &self.__graph)
                    }
                    /// Waits for launches in flight and lends `data` for writing.
                    pub fn data_mut(
                        &mut self,
                    ) -> ::graph_runtime::Result<
                        <R0 as ::graph_runtime::private::Slot>::Mut<'_>,
                    > {
                        ::graph_runtime::private::Slot::lend_mut(
                            &mut self.data,
                            &mut self.__graph,
                        )
                    }
                    /// Waits for launches in flight and lends `output` for reading.
                    pub fn output(
                        &self,
                    ) -> ::graph_runtime::Result<
                        <R1 as ::graph_runtime::private::Slot>::Ref<'_>,
                    > {
                        ::graph_runtime::private::Slot::lend(&self.output, &self.__graph)
                    }
                    /// Waits for launches in flight and lends `output` for writing.
                    pub fn output_mut(
                        &mut self,
                    ) -> ::graph_runtime::Result<
                        <R1 as ::graph_runtime::private::Slot>::Mut<'_>,
                    > {
                        ::graph_runtime::private::Slot::lend_mut(
                            &mut self.output,
                            &mut self.__graph,
                        )
                    }
                    /// The value of the param `factor` in the next launch.
                    pub fn factor(&self) -> P0
                    where
                        P0: ::core::clone::Clone,
                    {
                        ::core::clone::Clone::clone(&self.factor)
                    }
                    /// The node `set`.
                    pub fn set(&mut self) -> ::graph_runtime::NodeHandle<'_> {
                        ::graph_runtime::Graph::node(
                            &mut self.__graph,
                            ::graph_runtime::NodeId::new(0usize),
                        )
                    }
                    /// The node `down`.
                    pub fn down(&mut self) -> ::graph_runtime::NodeHandle<'_> {
                        ::graph_runtime::Graph::node(
                            &mut self.__graph,
                            ::graph_runtime::NodeId::new(1usize),
                        )
                    }
                }
                #[allow(unused_variables)]
                impl<
                    R0: ::graph_runtime::private::CapturedSlot,
                    R1: ::graph_runtime::private::HostSlot,
                    P0,
                    F: ::graph_runtime::private::Nodes<(P0,)>,
                > ::core::fmt::Debug for Expression<R0, R1, P0, F> {
                    fn fmt(
                        &self,
                        formatter: &mut ::core::fmt::Formatter<'_>,
                    ) -> ::core::fmt::Result {
                        ::core::fmt::Debug::fmt(&self.__graph, formatter)
                    }
                }
                #[allow(
                    dead_code,
                    non_snake_case,
                    unreachable_pub,
                    unused_variables,
                    clippy::all,
                    clippy::pedantic
                )]
                impl<
                    R0: ::graph_runtime::private::CapturedSlot,
                    R1: ::graph_runtime::private::HostSlot,
                    P0,
                    F: ::graph_runtime::private::Nodes<(P0,)>,
                > Expression<R0, R1, P0, F> {
                    #[doc(hidden)]
                    pub fn __new(
                        __graph: ::graph_runtime::Graph,
                        data: R0,
                        output: R1,
                        factor: P0,
                        __nodes: F,
                    ) -> Self {
                        Self {
                            __graph,
                            data,
                            output,
                            factor,
                            __nodes,
                            __marker: ::core::marker::PhantomData,
                        }
                    }
                    /// Sets the param `factor` for later launches: updates exactly the nodes that use it, in place.
                    pub fn set_factor(
                        &mut self,
                        __value: P0,
                    ) -> ::graph_runtime::Result<()>
                    where
                        P0: ::core::clone::Clone,
                    {
                        let values = (::core::clone::Clone::clone(&__value),);
                        let nodes = &mut self.__nodes;
                        ::graph_runtime::Graph::update(
                            &mut self.__graph,
                            "factor",
                            |update| {
                                nodes(
                                    &mut ::graph_runtime::private::AnySink::Update(update),
                                    0usize,
                                    ::core::option::Option::None,
                                    ::core::clone::Clone::clone(&values),
                                )?;
                                ::core::result::Result::Ok(())
                            },
                        )?;
                        self.factor = __value;
                        ::core::result::Result::Ok(())
                    }
                    /// The graph as data: nodes, what they touch, the edges that are lowered, levels.
                    pub fn plan(&self) -> ::graph_runtime::Plan {
                        ::graph_runtime::Graph::plan(&self.__graph)
                    }
                }
                /// What a graph has captured, given back.
                #[derive(Debug)]
                pub struct ExpressionParts<R0> {
                    pub data: R0,
                }
                #[allow(
                    dead_code,
                    non_snake_case,
                    unreachable_pub,
                    unused_variables,
                    clippy::all,
                    clippy::pedantic
                )]
                impl<
                    R0: ::graph_runtime::private::CapturedSlot,
                    R1: ::graph_runtime::private::HostSlot,
                    P0,
                    F: ::graph_runtime::private::Nodes<(P0,)>,
                > Expression<R0, R1, P0, F> {
                    /// Waits for launches in flight, and gives back what the graph has captured.
                    pub fn into_parts(
                        self,
                    ) -> ::graph_runtime::Result<
                        ExpressionParts<
                            <R0 as ::graph_runtime::private::CapturedSlot>::Handle,
                        >,
                    > {
                        ::graph_runtime::Graph::synchronize(&self.__graph)?;
                        ::core::mem::drop(self.__graph);
                        ::core::result::Result::Ok(ExpressionParts {
                            data: ::graph_runtime::private::CapturedSlot::give_back(
                                self.data,
                            )?,
                        })
                    }
                }
            }
            let mut builder = ::graph_runtime::GraphBuilder::new(
                &device,
                ::core::concat!("graph@", ::core::file!(), ":", ::core::line!()),
            );
            let data = ::graph_runtime::private::capture(&mut builder, "data", data);
            let __place_data = ::graph_runtime::private::CapturedSlot::place(&data);
            let __place_output = ::graph_runtime::GraphBuilder::host_slice::<
                f32,
            >(&mut builder, "output", n);
            let factor: f32 = 0.5;
            let mut nodes = {
                ::graph_runtime::private::nodes(move |
                    sink,
                    index,
                    function,
                    #[allow(unused_variables)]
                    (factor,): (f32,)|
                match index {
                    0usize => {
                        ::graph_runtime::private::NodeSink::memset::<
                            _,
                            _,
                        >(
                            sink,
                            0usize,
                            "set",
                            &mut ::graph_runtime::private::on_device(
                                ::graph_runtime::Place::<_, _>::whole(&__place_data),
                            ),
                            ::graph_runtime::private::element_of(
                                &__place_data,
                                factor * step,
                            ),
                        )
                    }
                    _ => ::core::result::Result::Ok(()),
                })
            };
            ::graph_runtime::private::add(
                &mut nodes,
                &mut builder,
                0usize,
                ::core::option::Option::None,
                (::core::clone::Clone::clone(&factor),),
            );
            let _ = ::graph_runtime::GraphBuilder::memcpy(
                &mut builder,
                "down",
                &::graph_runtime::Place::<_, _>::whole(&__place_data),
                &mut ::graph_runtime::Place::<[f32], _>::whole(&__place_output),
            );
            ::graph_runtime::GraphBuilder::edges(&mut builder, &[(0usize, 1usize)]);
            ::core::result::Result::map(
                ::graph_runtime::GraphBuilder::build(builder),
                move |graph| __cuda_graph::Expression::__new(
                    graph,
                    data,
                    __place_output,
                    factor,
                    nodes,
                ),
            )
        }
    };
}
