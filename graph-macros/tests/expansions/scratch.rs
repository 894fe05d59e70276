#[allow(
    unexpected_cfgs,
    dead_code,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unreachable_pub,
    unused_variables,
    clippy::all,
    clippy::pedantic
)]
const _: () = {
    #[allow(unused_imports)]
    use ::graph_runtime::{self as __g, private as __p};
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
    impl<const N: usize> Layer<N> {
        /// Makes the changes that `change` requests of the graph together, all or none, before the next launch: params
        /// that it sets, memory that it rebinds, and nodes that it enables, disables or launches in other dimensions.
        pub fn edit<__R: __g::EditResult>(
            &mut self,
            change: impl ::core::ops::FnOnce(&mut Self) -> __R,
        ) -> __g::Result<()> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// The graph as static data.
        pub const PLAN: __p::Plan = __p::Plan::new("Layer", &[], &[]);
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
    type __kernel_ask = copy;
    #[cfg(not(rust_analyzer))]
    type __kernel_answer = copy;
    #[cfg(not(rust_analyzer))]
    #[doc(hidden)]
    pub struct __Bound<const N: usize> {
        pub x: ::core::option::Option<__g::Place<[f32; N], __g::OnDevice>>,
        __marker: ::core::marker::PhantomData<fn() -> ()>,
    }
    #[cfg(not(rust_analyzer))]
    impl<const N: usize> Layer<N> {
        /// Makes the changes that `change` requests of the graph together, all or none, before the next launch: params
        /// that it sets, memory that it rebinds, and nodes that it enables, disables or launches in other dimensions.
        pub fn edit<__R: __g::EditResult>(
            &mut self,
            change: impl ::core::ops::FnOnce(&mut Self) -> __R,
        ) -> __g::Result<()> {
            __p::edit_nodes(self, |graph| &mut graph.__graph, change)
        }
        #[doc(hidden)]
        #[allow(long_running_const_eval)]
        const __PACKED: __p::plan::Arena<2usize> = __p::plan::Arena::new(
            [
                ::core::mem::size_of::<[f32; N]>(),
                ::core::mem::size_of::<[[f32; N]; 4]>(),
            ],
            &[&[1usize], &[0usize]],
        );
        #[doc(hidden)]
        const __ARENA: __p::plan::Arena<2usize> = __p::plan::Arena {
            offsets: [Self::__PACKED.offsets[1usize], Self::__PACKED.offsets[0usize]],
            bytes: Self::__PACKED.bytes,
        };
        const __RESOURCES: &'static [__p::PlanResource] = &[
            __p::plan_resource::<[f32; N]>("x", __p::Space::Device),
            __p::PlanResource::scratch(
                "hidden",
                ::core::mem::size_of::<[[f32; N]; 4]>(),
                Self::__ARENA.offsets[0usize],
            ),
            __p::PlanResource::scratch(
                "query",
                ::core::mem::size_of::<[f32; N]>(),
                Self::__ARENA.offsets[1usize],
            ),
        ];
        const __ACCESSES: &'static [__p::PlanAccess] = {
            use __p::Mode::{Read, ReadWrite, Write};
            &__p::exact_accesses(
                __p::plan_accesses([
                    (0, Read),
                    (2, ReadWrite),
                    (2, Read),
                    (1, ReadWrite),
                    (1, Read),
                    (0, Write),
                ]),
                &[<__kernel_ask as __g::Kernel>::FACTS],
                &[(0, 0), (2, 0)],
            )
        };
        const __NODES: &'static [__p::PlanNode] = {
            use __p::NodeKind::{Kernel, Memcpy};
            &__p::plan_nodes(
                [
                    ("ask", Kernel, 2, 0, 0),
                    ("answer", Kernel, 2, 1, 1),
                    ("back", Memcpy, 2, 1, 2),
                ],
                Self::__ACCESSES,
                &[0, 1],
            )
        };
        /// The graph as static data: nodes, what they touch, the edges that are lowered, levels, where scratch memory
        /// lies.
        pub const PLAN: __p::Plan = __p::Plan::new(
            "Layer",
            Self::__RESOURCES,
            Self::__NODES,
        );
        /// Allocates the graph's memory, zeroed, builds it on the device and uploads it.
        pub fn build(device: &__g::Device) -> __g::Result<Self> {
            let () = Self::__ASSERTED;
            __g::Definition::build(Self::define(device)?)
        }
        /// Checks the graph as `build` does, for graphs to be instantiated later.
        pub fn define(device: &__g::Device) -> __g::Result<__g::Definition<Self>> {
            let mut builder = __g::GraphBuilder::new(device, "Layer");
            __p::Declare::arena(
                &mut builder,
                &Self::__ARENA.offsets,
                Self::__ARENA.bytes,
            );
            let bound = Self::__unbound();
            Self::__declare(builder, bound)
        }
        #[doc(hidden)]
        pub const __INTERFACE: __p::Interface = __p::Interface {
            graph: "Layer",
            memory: &[("x", __p::Mode::ReadWrite)],
            values: &[],
            restricted: &[],
            unconditional: ::core::option::Option::None,
            scratch: Self::__PACKED.bytes,
        };
        #[doc(hidden)]
        pub fn __unbound() -> __Bound<N> {
            __Bound {
                x: ::core::option::Option::None,
                __marker: ::core::marker::PhantomData,
            }
        }
        #[doc(hidden)]
        pub fn __place_x(
            bound: &mut __Bound<N>,
            given: &__g::Place<[f32; N], __g::OnDevice>,
        ) {
            bound.x = ::core::option::Option::Some(*given);
        }
        const __ASSERTED: () = {
            const {
                __p::check_launch::<
                    __kernel_ask,
                >(
                    &["ask"],
                    &["x", "query"],
                    [1, 1, 1],
                    [(N) as ::core::primitive::i128, 1, 1],
                    0,
                    &[__p::buffer::<[f32; N]>(), __p::buffer::<[f32; N]>()],
                )
            };
            const {
                __p::check_launch::<
                    __kernel_answer,
                >(
                    &["answer"],
                    &["query", "hidden"],
                    [1, 1, 1],
                    [(N) as ::core::primitive::i128, 1, 1],
                    0,
                    &[__p::buffer::<[f32; N]>(), __p::buffer::<[[f32; N]; 4]>()],
                )
            };
        };
        #[doc(hidden)]
        pub fn __declare<__Owner: __p::Owner>(
            mut owner: __Owner,
            bound: __Bound<N>,
        ) -> __g::Result<__Owner::Declared<Self>> {
            let () = Self::__ASSERTED;
            let builder = __p::Owner::builder(&mut owner);
            let __place_x = __p::device::<[f32; N]>(builder, "x", bound.x);
            let __place_hidden = __g::GraphBuilder::scratch::<
                [[f32; N]; 4],
            >(builder, "hidden");
            let __place_query = __g::GraphBuilder::scratch::<[f32; N]>(builder, "query");
            let _ = __g::GraphBuilder::kernel(
                builder,
                "ask",
                __p::launch::<__kernel_ask>(1, N),
                __kernel_ask::__launch(
                    &__place_x,
                    &mut __g::Place::<[f32; N], _>::whole(&__place_query),
                ),
            );
            let _ = __g::GraphBuilder::kernel(
                builder,
                "answer",
                __p::launch::<__kernel_answer>(1, N),
                __kernel_answer::__launch(
                    &__place_query,
                    &mut __g::Place::<[[f32; N]; 4], _>::whole(&__place_hidden),
                ),
            );
            let _ = __g::GraphBuilder::memcpy(
                builder,
                "back",
                &__g::Place::row(&__place_hidden, 0),
                &mut __g::Place::<[f32; N], _>::whole(&__place_x),
            );
            __p::Declare::end_nodes(builder, 3);
            __p::Declare::edges(builder, &[[0, 1], [1, 2]]);
            __p::Owner::finish(
                owner,
                move |graph| Self {
                    __graph: graph,
                    x: __place_x,
                    hidden: __place_hidden,
                    query: __place_query,
                    __marker: ::core::marker::PhantomData,
                },
            )
        }
    }
    #[cfg(not(rust_analyzer))]
    const NODE_ask: () = __p::check_initializes::<__kernel_ask>("ask", "query", 1usize);
    #[cfg(not(rust_analyzer))]
    const NODE_answer: () = __p::check_initializes::<
        __kernel_answer,
    >("answer", "hidden", 1usize);
    impl<const N: usize> Layer<N> {
        /// Launches the graph on its own stream and returns at once; it may be launched again before it has ended.
        #[inline]
        pub fn launch(&mut self) -> __g::Result<()> {
            __g::Graph::launch(&mut self.__graph)
        }
        /// Launches the graph on a stream of the same context that is not capturing.
        pub fn launch_on(&mut self, stream: &__g::CudaStream) -> __g::Result<()> {
            __g::Graph::launch_on(&mut self.__graph, stream)
        }
        /// Waits until all launches have ended; returns the error of any that failed.
        pub fn synchronize(&self) -> __g::Result<()> {
            __g::Graph::synchronize(&self.__graph)
        }
        /// The CUDA handles, for what is not covered here; `None` on the emulator.
        pub fn raw(&self) -> ::core::option::Option<__g::RawGraph> {
            __g::Graph::raw(&self.__graph)
        }
        /// Waits for launches in flight and lends `x` for reading.
        pub fn x(&self) -> __g::Result<__g::DeviceRef<'_, [f32; N]>> {
            __g::Graph::device(&self.__graph, &self.x)
        }
        /// Waits for launches in flight and lends `x` for writing.
        pub fn x_mut(&mut self) -> __g::Result<__g::DeviceMut<'_, [f32; N]>> {
            __g::Graph::device_mut(&mut self.__graph, &self.x)
        }
    }
    impl<const N: usize> ::core::fmt::Debug for Layer<N> {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Debug::fmt(&self.__graph, f)
        }
    }
    impl<const N: usize> __g::AnyGraph for Layer<N> {
        fn __graph(&self) -> __p::LentGraph<'_> {
            ::core::convert::From::from(&self.__graph)
        }
        fn __graph_mut(&mut self) -> __p::LentGraphMut<'_> {
            ::core::convert::From::from(&mut self.__graph)
        }
    }
    impl<const N: usize> Layer<N> {
        /// The node `ask`.
        pub fn ask(&mut self) -> __g::NodeHandle<'_> {
            __p::node_handle(&mut self.__graph, 0)
        }
        /// The node `answer`.
        pub fn answer(&mut self) -> __g::NodeHandle<'_> {
            __p::node_handle(&mut self.__graph, 1)
        }
        /// The node `back`.
        pub fn back(&mut self) -> __g::NodeHandle<'_> {
            __p::node_handle(&mut self.__graph, 2)
        }
    }
    impl<'nodes, const N: usize> LayerNodes<'nodes, N> {
        /// The node `ask`.
        pub fn ask(&mut self) -> __g::NodeHandle<'_> {
            __p::inner_handle(&mut self.__node, 0, "ask", &[])
        }
        /// The node `answer`.
        pub fn answer(&mut self) -> __g::NodeHandle<'_> {
            __p::inner_handle(&mut self.__node, 1, "answer", &[])
        }
        /// The node `back`.
        pub fn back(&mut self) -> __g::NodeHandle<'_> {
            __p::inner_handle(&mut self.__node, 2, "back", &[])
        }
    }
    impl<'nodes, const N: usize> ::core::ops::Deref for LayerNodes<'nodes, N> {
        type Target = __g::NodeHandle<'nodes>;
        fn deref(&self) -> &Self::Target {
            &self.__node
        }
    }
    impl<const N: usize> __p::DeclaredGraph for Layer<N> {
        type Nodes<'nodes> = LayerNodes<'nodes, N>;
        fn __nodes<'nodes>(node: __g::NodeHandle<'nodes>) -> Self::Nodes<'nodes> {
            LayerNodes {
                __node: node,
                __marker: ::core::marker::PhantomData,
            }
        }
    }
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
/// The nodes of a [`Layer`] that is a node of another graph, and the handle of that node.
#[allow(dead_code, non_snake_case)]
struct LayerNodes<'nodes, const N: usize> {
    __node: ::graph_runtime::NodeHandle<'nodes>,
    __marker: ::core::marker::PhantomData<fn() -> ()>,
}
