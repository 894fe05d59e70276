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
    impl Loop {
        /// The value of the param `factor` in the next launch.
        pub fn factor(&self) -> f32 {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Sets the param `factor` for later launches: updates exactly the nodes that use it, in place.
        pub fn set_factor(&mut self, __value: f32) -> __g::Result<()> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Makes the changes that `change` requests of the graph together, all or none, before the next launch: params
        /// that it sets, memory that it rebinds, and nodes that it enables, disables or launches in other dimensions.
        pub fn edit<__R: __g::EditResult>(
            &mut self,
            change: impl ::core::ops::FnOnce(&mut Self) -> __R,
        ) -> __g::Result<()> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// The graph as static data.
        pub const PLAN: __p::Plan = __p::Plan::new("Loop", &[], &[]);
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
    type __kernel_scale = scale;
    #[cfg(not(rust_analyzer))]
    #[doc(hidden)]
    pub struct __Bound {
        pub more: ::core::option::Option<__g::Place<u32, __g::OnDevice>>,
        pub data: ::core::option::Option<__g::Place<[f32; 4], __g::OnDevice>>,
        pub factor: ::core::option::Option<f32>,
        __marker: ::core::marker::PhantomData<fn() -> ()>,
    }
    #[cfg(not(rust_analyzer))]
    impl Loop {
        /// The value of the param `factor` in the next launch.
        pub fn factor(&self) -> f32 {
            ::core::clone::Clone::clone(&self.factor)
        }
        /// Makes the changes that `change` requests of the graph together, all or none, before the next launch: params
        /// that it sets, memory that it rebinds, and nodes that it enables, disables or launches in other dimensions.
        pub fn edit<__R: __g::EditResult>(
            &mut self,
            change: impl ::core::ops::FnOnce(&mut Self) -> __R,
        ) -> __g::Result<()> {
            __p::edit(
                self,
                change,
                (::core::clone::Clone::clone(&self.factor),),
                |graph, params| {
                    ::core::mem::swap(&mut graph.factor, &mut params.0);
                },
            )
        }
        const __RESOURCES: &'static [__p::PlanResource] = &[
            __p::plan_resource::<u32>("more", __p::Space::Device),
            __p::plan_resource::<[f32; 4]>("data", __p::Space::Device),
        ];
        const __ACCESSES: &'static [__p::PlanAccess] = {
            use __p::Mode::{Read, ReadWrite, Write};
            &__p::exact_accesses(
                __p::plan_accesses([(0, Read), (1, ReadWrite), (0, Read), (0, Write)]),
                &[<__kernel_scale as __g::Kernel>::FACTS],
                &[(1, 0)],
            )
        };
        const __NODES: &'static [__p::PlanNode] = {
            use __p::NodeKind::{If, Kernel, Memset, While};
            &__p::in_bodies(
                __p::plan_nodes(
                    [
                        ("repeat", While, 1, 0, 0),
                        ("scale", Kernel, 1, 0, 0),
                        ("choice", If, 1, 1, 1),
                        ("stop", Memset, 1, 0, 0),
                    ],
                    Self::__ACCESSES,
                    &[1],
                ),
                &[(1, 1), (2, 1), (3, 3)],
            )
        };
        const __BODIES: &'static [__p::PlanBody] = &[
            __p::PlanBody::GRAPH,
            __p::PlanBody::new(0, __p::Role::While),
            __p::PlanBody::new(2, __p::Role::Then),
            __p::PlanBody::new(2, __p::Role::Else),
        ];
        const __LOOPS: &'static [__p::PlanLoop] = &[];
        /// The graph as static data: nodes, what they touch, the edges that are lowered, levels, where scratch memory
        /// lies.
        pub const PLAN: __p::Plan = __p::Plan::nested(
            "Loop",
            Self::__RESOURCES,
            Self::__NODES,
            Self::__BODIES,
            Self::__LOOPS,
        );
        /// Allocates the graph's memory, zeroed, builds it on the device and uploads it.
        pub fn build(device: &__g::Device) -> __g::Result<Self> {
            __g::Definition::build(Self::define(device)?)
        }
        /// Checks the graph as `build` does, for graphs to be instantiated later.
        pub fn define(device: &__g::Device) -> __g::Result<__g::Definition<Self>> {
            let builder = __g::GraphBuilder::new(device, "Loop");
            let bound = Self::__unbound();
            Self::__declare(builder, bound)
        }
        #[doc(hidden)]
        pub const __INTERFACE: __p::Interface = __p::Interface {
            graph: "Loop",
            memory: &[("more", __p::Mode::ReadWrite), ("data", __p::Mode::ReadWrite)],
            values: &[("factor", false)],
            restricted: &[],
            unconditional: ::core::option::Option::None,
            scratch: 0,
        };
        #[doc(hidden)]
        pub fn __unbound() -> __Bound {
            __Bound {
                more: ::core::option::Option::None,
                data: ::core::option::Option::None,
                factor: ::core::option::Option::None,
                __marker: ::core::marker::PhantomData,
            }
        }
        #[doc(hidden)]
        pub fn __place_more(
            bound: &mut __Bound,
            given: &__g::Place<u32, __g::OnDevice>,
        ) {
            bound.more = ::core::option::Option::Some(*given);
        }
        #[doc(hidden)]
        pub fn __place_data(
            bound: &mut __Bound,
            given: &__g::Place<[f32; 4], __g::OnDevice>,
        ) {
            bound.data = ::core::option::Option::Some(*given);
        }
        #[doc(hidden)]
        pub fn __value_factor(bound: &mut __Bound, given: f32) {
            bound.factor = ::core::option::Option::Some(given);
        }
        fn __scalars(
            bound: &mut __Bound,
            graph: &impl __p::Named,
        ) -> __g::Result<(f32,)> {
            let factor: f32 = 0.5;
            let factor: f32 = ::core::option::Option::unwrap_or(
                bound.factor.take(),
                factor,
            );
            ::core::result::Result::Ok((factor,))
        }
        #[doc(hidden)]
        pub fn __declare<__Owner: __p::Owner>(
            mut owner: __Owner,
            mut bound: __Bound,
        ) -> __g::Result<__Owner::Declared<Self>> {
            let builder = __p::Owner::builder(&mut owner);
            let (factor,) = Self::__scalars(&mut bound, builder)?;
            let __place_more = __p::device::<u32>(builder, "more", bound.more);
            let __place_data = __p::device::<[f32; 4]>(builder, "data", bound.data);
            let _ = __p::Declare::begin_while(builder, "repeat", &__place_more);
            __p::Declare::begin_body(builder);
            Self::__node_1(builder, __place_data, ::core::clone::Clone::clone(&factor))?;
            let _ = __p::Declare::begin_if(builder, "choice", &__place_more);
            __p::Declare::begin_body(builder);
            __p::Declare::end_body(builder);
            __p::Declare::begin_body(builder);
            let _ = __g::GraphBuilder::memset::<
                _,
                u32,
            >(builder, "stop", &mut __g::Place::<u32, _>::whole(&__place_more), 0);
            __p::Declare::end_body(builder);
            __p::Declare::end_body(builder);
            __p::Declare::end_nodes(builder, 4);
            __p::Declare::edges(builder, &[[1, 2]]);
            __p::Owner::finish(
                owner,
                move |graph| Self {
                    __graph: graph,
                    more: __place_more,
                    data: __place_data,
                    factor,
                    __marker: ::core::marker::PhantomData,
                },
            )
        }
        #[doc(hidden)]
        pub fn __update(
            update: &mut __g::Update<'_>,
            mut bound: __Bound,
        ) -> __g::Result<()> {
            let (factor,) = Self::__scalars(&mut bound, update)?;
            let __place_data = __p::bound(bound.data, update, "data")?;
            Self::__node_1(update, __place_data, ::core::clone::Clone::clone(&factor))?;
            __p::check_reached(update, 1usize)?;
            ::core::result::Result::Ok(())
        }
        fn __node_1(
            target: &mut impl __p::NodeTarget,
            __place_data: __g::Place<[f32; 4], __g::OnDevice>,
            factor: f32,
        ) -> __g::Result<()> {
            __p::NodeTarget::kernel(
                target,
                1usize,
                "scale",
                __p::launch::<__kernel_scale>(1, 4),
                __kernel_scale::__launch(
                    &mut __g::Place::<[f32; 4], _>::whole(&__place_data),
                    factor,
                ),
            )
        }
        fn __change_0(&self, update: &mut __g::Update<'_>) -> __g::Result<()> {
            let __place_data = self.data;
            let factor = ::core::clone::Clone::clone(&self.factor);
            Self::__node_1(update, __place_data, ::core::clone::Clone::clone(&factor))?;
            __p::check_reached(update, 1usize)?;
            ::core::result::Result::Ok(())
        }
        /// Sets the param `factor` for later launches: updates exactly the nodes that use it, in place.
        pub fn set_factor(&mut self, __value: f32) -> __g::Result<()> {
            __p::set_param(
                self,
                (0usize, "factor"),
                __value,
                |graph, other| { ::core::mem::swap(&mut graph.factor, other) },
            )
        }
    }
    #[cfg(not(rust_analyzer))]
    impl __p::ParamGraph for Loop {
        fn graph(&self, _: __p::Only<Self>) -> &__g::Graph {
            &self.__graph
        }
        fn graph_mut(&mut self, _: __p::Only<Self>) -> &mut __g::Graph {
            &mut self.__graph
        }
        fn change(&self, update: &mut __g::Update<'_>, param: usize) -> __g::Result<()> {
            match param {
                0usize => Self::__change_0(self, update),
                _ => ::core::result::Result::Ok(()),
            }
        }
        fn direct(&self, param: usize) -> ::core::option::Option<__p::DirectParam> {
            match param {
                0usize => __p::direct_param(&[(1usize, 1usize)], &self.factor),
                _ => ::core::option::Option::None,
            }
        }
    }
    #[cfg(not(rust_analyzer))]
    const NODE_scale: () = __p::check_launch::<
        __kernel_scale,
    >(
        &["scale"],
        &["data", ""],
        [1, 1, 1],
        [4, 1, 1],
        0,
        &[__p::buffer::<[f32; 4]>(), ::graph_runtime::private::plan::Argument::Unknown],
    );
    impl Loop {
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
        /// Waits for launches in flight and lends `more` for reading.
        pub fn more(&self) -> __g::Result<__g::DeviceRef<'_, u32>> {
            __g::Graph::device(&self.__graph, &self.more)
        }
        /// Waits for launches in flight and lends `more` for writing.
        pub fn more_mut(&mut self) -> __g::Result<__g::DeviceMut<'_, u32>> {
            __g::Graph::device_mut(&mut self.__graph, &self.more)
        }
        /// Waits for launches in flight and lends `data` for reading.
        pub fn data(&self) -> __g::Result<__g::DeviceRef<'_, [f32; 4]>> {
            __g::Graph::device(&self.__graph, &self.data)
        }
        /// Waits for launches in flight and lends `data` for writing.
        pub fn data_mut(&mut self) -> __g::Result<__g::DeviceMut<'_, [f32; 4]>> {
            __g::Graph::device_mut(&mut self.__graph, &self.data)
        }
    }
    impl ::core::fmt::Debug for Loop {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Debug::fmt(&self.__graph, f)
        }
    }
    impl __g::AnyGraph for Loop {
        fn __graph(&self) -> __p::LentGraph<'_> {
            ::core::convert::From::from(&self.__graph)
        }
        fn __graph_mut(&mut self) -> __p::LentGraphMut<'_> {
            ::core::convert::From::from(&mut self.__graph)
        }
    }
    impl Loop {
        /// The node `repeat`.
        pub fn repeat(&mut self) -> __g::NodeHandle<'_> {
            __p::node_handle(&mut self.__graph, 0)
        }
        /// The node `scale`.
        pub fn scale(&mut self) -> __g::NodeHandle<'_> {
            __p::node_handle(&mut self.__graph, 1)
        }
        /// The node `choice`.
        pub fn choice(&mut self) -> __g::NodeHandle<'_> {
            __p::node_handle(&mut self.__graph, 2)
        }
        /// The node `stop`.
        pub fn stop(&mut self) -> __g::NodeHandle<'_> {
            __p::node_handle(&mut self.__graph, 3)
        }
    }
    impl<'nodes> LoopNodes<'nodes> {
        /// The node `repeat`.
        pub fn repeat(&mut self) -> __g::NodeHandle<'_> {
            __p::inner_handle(&mut self.__node, 0, "repeat", &[])
        }
        /// The node `scale`.
        pub fn scale(&mut self) -> __g::NodeHandle<'_> {
            __p::inner_handle(&mut self.__node, 1, "scale", &[])
        }
        /// The node `choice`.
        pub fn choice(&mut self) -> __g::NodeHandle<'_> {
            __p::inner_handle(&mut self.__node, 2, "choice", &[])
        }
        /// The node `stop`.
        pub fn stop(&mut self) -> __g::NodeHandle<'_> {
            __p::inner_handle(&mut self.__node, 3, "stop", &[])
        }
    }
    impl<'nodes> ::core::ops::Deref for LoopNodes<'nodes> {
        type Target = __g::NodeHandle<'nodes>;
        fn deref(&self) -> &Self::Target {
            &self.__node
        }
    }
    impl __p::DeclaredGraph for Loop {
        type Nodes<'nodes> = LoopNodes<'nodes>;
        fn __nodes<'nodes>(node: __g::NodeHandle<'nodes>) -> Self::Nodes<'nodes> {
            LoopNodes {
                __node: node,
                __marker: ::core::marker::PhantomData,
            }
        }
    }
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
/// The nodes of a [`Loop`] that is a node of another graph, and the handle of that node.
#[allow(dead_code, non_snake_case)]
struct LoopNodes<'nodes> {
    __node: ::graph_runtime::NodeHandle<'nodes>,
    __marker: ::core::marker::PhantomData<fn() -> ()>,
}
