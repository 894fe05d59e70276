fn main() {
    let graph = {
        {
            #[allow(unused_imports)]
            use ::graph_runtime::{self as __g, private as __p};
            #[allow(
                dead_code,
                non_snake_case,
                unreachable_pub,
                unused_variables,
                clippy::all,
                clippy::pedantic
            )]
            mod __cuda_graph {
                #[allow(unused_imports)]
                use ::graph_runtime::{self as __g, private as __p};
                /// The graph `Expression`, declared with `cuda_graph!`.
                #[allow(dead_code, non_snake_case)]
                pub struct Expression<
                    R0: __p::MovedSlot,
                    R1: __p::HostSlot,
                    P0,
                    F: __p::Nodes<(P0,)>,
                > {
                    __graph: ::graph_runtime::Graph,
                    data: R0,
                    output: R1,
                    factor: P0,
                    __nodes: ::core::cell::RefCell<F>,
                    __marker: ::core::marker::PhantomData<fn() -> (R0, R1, P0, F)>,
                }
                /// All host memory of a [`Expression`], lent at once.
                #[allow(dead_code, non_snake_case)]
                pub struct ExpressionMemory<
                    'memory,
                    R0: __p::MovedSlot,
                    R1: __p::HostSlot,
                    P0,
                    F: __p::Nodes<(P0,)>,
                > {
                    /// The host resource `output`.
                    pub output: <R1 as __p::HostSlot>::View<'memory>,
                    __marker: ::core::marker::PhantomData<fn() -> (R0, R1, P0, F)>,
                }
                impl<
                    R0: __p::MovedSlot,
                    R1: __p::HostSlot,
                    P0,
                    F: __p::Nodes<(P0,)>,
                > Expression<R0, R1, P0, F> {
                    /// Launches the graph on its own stream and returns at once; it may be launched again before it has ended.
                    #[inline]
                    pub fn launch(&mut self) -> __g::Result<()> {
                        __g::Graph::launch(&mut self.__graph)
                    }
                    /// Launches the graph on a stream of the same context that is not capturing.
                    pub fn launch_on(
                        &mut self,
                        stream: &__g::CudaStream,
                    ) -> __g::Result<()> {
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
                    pub fn memory_mut(
                        &mut self,
                    ) -> __g::Result<ExpressionMemory<'_, R0, R1, P0, F>> {
                        let mut __split = __g::Graph::split_host(&mut self.__graph)?;
                        ::core::result::Result::Ok(ExpressionMemory {
                            output: __p::HostSlot::take(&mut __split, &self.output)?,
                            __marker: ::core::marker::PhantomData,
                        })
                    }
                    /// Waits for launches in flight and lends `data` for reading.
                    pub fn data(&self) -> __g::Result<<R0 as __p::Slot>::Ref<'_>> {
                        __p::Slot::lend(&self.data, &self.__graph)
                    }
                    /// Waits for launches in flight and lends `data` for writing.
                    pub fn data_mut(
                        &mut self,
                    ) -> __g::Result<<R0 as __p::Slot>::Mut<'_>> {
                        __p::Slot::lend_mut(&mut self.data, &mut self.__graph)
                    }
                    /// Waits for launches in flight and lends `output` for reading.
                    pub fn output(&self) -> __g::Result<<R1 as __p::Slot>::Ref<'_>> {
                        __p::Slot::lend(&self.output, &self.__graph)
                    }
                    /// Waits for launches in flight and lends `output` for writing.
                    pub fn output_mut(
                        &mut self,
                    ) -> __g::Result<<R1 as __p::Slot>::Mut<'_>> {
                        __p::Slot::lend_mut(&mut self.output, &mut self.__graph)
                    }
                    /// The node `set`.
                    pub fn set(&mut self) -> __g::NodeHandle<'_> {
                        __p::node_handle(&mut self.__graph, 0)
                    }
                    /// The node `down`.
                    pub fn down(&mut self) -> __g::NodeHandle<'_> {
                        __p::node_handle(&mut self.__graph, 1)
                    }
                }
                impl<
                    R0: __p::MovedSlot,
                    R1: __p::HostSlot,
                    P0,
                    F: __p::Nodes<(P0,)>,
                > ::core::fmt::Debug for Expression<R0, R1, P0, F> {
                    fn fmt(
                        &self,
                        f: &mut ::core::fmt::Formatter<'_>,
                    ) -> ::core::fmt::Result {
                        ::core::fmt::Debug::fmt(&self.__graph, f)
                    }
                }
                impl<
                    R0: __p::MovedSlot,
                    R1: __p::HostSlot,
                    P0,
                    F: __p::Nodes<(P0,)>,
                > __g::AnyGraph for Expression<R0, R1, P0, F> {
                    fn __graph(&self) -> __p::LentGraph<&__g::Graph> {
                        ::core::convert::From::from(&self.__graph)
                    }
                    fn __graph_mut(&mut self) -> __p::LentGraph<&mut __g::Graph> {
                        ::core::convert::From::from(&mut self.__graph)
                    }
                }
                impl<
                    R0: __p::MovedSlot,
                    R1: __p::HostSlot,
                    P0,
                    F: __p::Nodes<(P0,)>,
                > Expression<R0, R1, P0, F> {
                    /// The value of the param `factor` in the next launch.
                    pub fn factor(&self) -> P0
                    where
                        P0: ::core::clone::Clone,
                    {
                        ::core::clone::Clone::clone(&self.factor)
                    }
                    /// Makes all changes of params, memory and nodes that `change` requests, or none, before the next launch.
                    pub fn edit<__R: __g::EditResult>(
                        &mut self,
                        change: impl ::core::ops::FnOnce(&mut Self) -> __R,
                    ) -> __g::Result<()>
                    where
                        P0: ::core::clone::Clone,
                    {
                        __p::edit(
                            self,
                            change,
                            (::core::clone::Clone::clone(&self.factor),),
                            |graph, params| {
                                ::core::mem::swap(&mut graph.factor, &mut params.0);
                            },
                        )
                    }
                }
                impl<
                    R0: __p::MovedSlot,
                    R1: __p::HostSlot,
                    P0,
                    F: __p::Nodes<(P0,)>,
                > Expression<R0, R1, P0, F> {
                    #[doc(hidden)]
                    pub fn __new(
                        __graph: __g::Graph,
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
                            __nodes: ::core::cell::RefCell::new(__nodes),
                            __marker: ::core::marker::PhantomData,
                        }
                    }
                    /// Sets the param `factor` for later launches: updates exactly the nodes that use it, in place.
                    pub fn set_factor(&mut self, __value: P0) -> __g::Result<()>
                    where
                        P0: ::core::clone::Clone,
                    {
                        __p::set_param(
                            self,
                            (0usize, "factor"),
                            __value,
                            |graph, other| {
                                ::core::mem::swap(&mut graph.factor, other)
                            },
                        )
                    }
                    /// The graph as data: nodes, what they touch, the edges that are lowered, levels.
                    pub fn plan(&self) -> __g::Plan {
                        __g::Graph::plan(&self.__graph)
                    }
                }
                impl<
                    R0: __p::MovedSlot,
                    R1: __p::HostSlot,
                    P0,
                    F: __p::Nodes<(P0,)>,
                > __p::ParamGraph for Expression<R0, R1, P0, F>
                where
                    P0: ::core::clone::Clone,
                {
                    fn graph(&self, _: __p::Only<Self>) -> &__g::Graph {
                        &self.__graph
                    }
                    fn graph_mut(&mut self, _: __p::Only<Self>) -> &mut __g::Graph {
                        &mut self.__graph
                    }
                    fn change(
                        &self,
                        update: &mut __g::Update<'_>,
                        param: usize,
                    ) -> __g::Result<()> {
                        match param {
                            0usize => {
                                let values = (::core::clone::Clone::clone(&self.factor),);
                                let nodes = &mut *::core::cell::RefCell::borrow_mut(
                                    &self.__nodes,
                                );
                                {
                                    nodes(
                                        &mut __p::AnyTarget::Update(update),
                                        0usize,
                                        ::core::option::Option::None,
                                        ::core::clone::Clone::clone(&values),
                                    )?;
                                    __g::Update::check_reached(update, 0usize)
                                }?;
                                ::core::result::Result::Ok(())
                            }
                            _ => ::core::result::Result::Ok(()),
                        }
                    }
                }
                /// The locals that were moved into a graph, given back.
                #[derive(Debug)]
                pub struct ExpressionParts<R0> {
                    pub data: R0,
                }
                impl<
                    R0: __p::MovedSlot,
                    R1: __p::HostSlot,
                    P0,
                    F: __p::Nodes<(P0,)>,
                > Expression<R0, R1, P0, F> {
                    /// Waits for launches in flight, and gives back the locals that were moved into the graph.
                    pub fn into_parts(
                        self,
                    ) -> __g::Result<ExpressionParts<<R0 as __p::MovedSlot>::Handle>> {
                        __g::Graph::synchronize(&self.__graph)?;
                        ::core::mem::drop(self.__graph);
                        ::core::result::Result::Ok(ExpressionParts {
                            data: __p::MovedSlot::give_back(self.data)?,
                        })
                    }
                }
            }
            let mut owner = __g::GraphBuilder::new(
                &device,
                ::core::concat!("graph@", ::core::file!(), ":", ::core::line!()),
            );
            let builder = &mut owner;
            let data = __p::move_in(builder, "data", data);
            let __place_data = __p::MovedSlot::place(&data);
            let __place_output = __p::own_slice::<
                f32,
                __p::kind::Host,
            >(builder, "output", ::core::option::Option::None, n);
            let factor: f32 = 0.5;
            let mut nodes = {
                __p::changing(move |
                    target,
                    index,
                    function,
                    #[allow(unused_variables)]
                    (factor,): (f32,)|
                match index {
                    0usize => {
                        __p::NodeTarget::memset(
                            target,
                            0usize,
                            "set",
                            __p::Memset::new::<
                                _,
                                _,
                            >(
                                &mut __p::on_device({ __place_data }),
                                __p::element_of(&__place_data, factor * step),
                            ),
                        )
                    }
                    _ => ::core::result::Result::Ok(()),
                })
            };
            __p::Nodes::add(
                &mut nodes,
                builder,
                0usize,
                ::core::option::Option::None,
                (::core::clone::Clone::clone(&factor),),
            );
            let _ = builder.memcpy("down", &__place_data, &mut { __place_output });
            __p::Declare::end_nodes(builder, 2);
            __p::Declare::edges(builder, &[[0, 1]]);
            ::core::result::Result::map(
                __g::GraphBuilder::build(owner),
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
