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
    impl Layers {
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
        pub const PLAN: __p::Plan = __p::Plan::new("Layers", &[], &[]);
        /// Allocates the graph's memory, zeroed, builds it on the device and uploads it.
        pub fn build(device: &__g::Device, n: usize) -> __g::Result<Self> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Checks the graph as `build` does, for graphs to be instantiated later.
        pub fn define(
            device: &__g::Device,
            n: usize,
        ) -> __g::Result<__g::Definition<Self>> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
    }
    #[cfg(not(rust_analyzer))]
    type __kernel_scale = scale;
    #[cfg(not(rust_analyzer))]
    #[doc(hidden)]
    pub struct __Bound {
        pub weights: ::core::option::Option<__g::Place<[[f32; 4]], __g::OnDevice>>,
        pub data: ::core::option::Option<__g::Place<[f32; 4], __g::OnDevice>>,
        pub flags: ::core::option::Option<__g::Place<[u32; 4], __g::OnDevice>>,
        pub n: ::core::option::Option<usize>,
        pub factor: ::core::option::Option<f32>,
        __marker: ::core::marker::PhantomData<fn() -> ()>,
    }
    #[cfg(not(rust_analyzer))]
    impl Layers {
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
            __p::PlanResource::new("weights", __p::Space::Device, 0),
            __p::plan_resource::<[f32; 4]>("data", __p::Space::Device),
            __p::plan_resource::<[u32; 4]>("flags", __p::Space::Device),
        ];
        const __ACCESSES: &'static [__p::PlanAccess] = {
            use __p::Mode::{Read, ReadWrite, Write};
            &__p::exact_accesses(
                __p::plan_accesses([
                    (0, Read),
                    (1, ReadWrite),
                    (2, Read),
                    (1, Write),
                    (1, Write),
                ]),
                &[<__kernel_scale as __g::Kernel>::FACTS],
                &[(0, 0)],
            )
        };
        const __NODES: &'static [__p::PlanNode] = {
            use __p::NodeKind::{If, Kernel, Memset};
            &__p::in_loops(
                __p::in_bodies(
                    __p::plan_nodes(
                        [
                            ("scale", Kernel, 2, 0, 0),
                            ("choice", If, 1, 1, 1),
                            ("one", Memset, 1, 0, 0),
                            ("last", Memset, 1, 1, 2),
                        ],
                        Self::__ACCESSES,
                        &[0, 1],
                    ),
                    &[(2, 1)],
                ),
                &[(0, 0), (1, 1)],
            )
        };
        const __BODIES: &'static [__p::PlanBody] = &[
            __p::PlanBody::GRAPH,
            __p::PlanBody::new(1, __p::Role::Then),
        ];
        const __LOOPS: &'static [__p::PlanLoop] = &[
            __p::PlanLoop::new("layer", ::core::option::Option::None),
            __p::PlanLoop::new("i", ::core::option::Option::Some(0)),
        ];
        /// The graph as static data: nodes, what they touch, the edges that are lowered, levels, where scratch memory
        /// lies.
        pub const PLAN: __p::Plan = __p::Plan::nested(
            "Layers",
            Self::__RESOURCES,
            Self::__NODES,
            Self::__BODIES,
            Self::__LOOPS,
        );
        /// Allocates the graph's memory, zeroed, builds it on the device and uploads it.
        pub fn build(device: &__g::Device, n: usize) -> __g::Result<Self> {
            __g::Definition::build(Self::define(device, n)?)
        }
        /// Checks the graph as `build` does, for graphs to be instantiated later.
        pub fn define(
            device: &__g::Device,
            n: usize,
        ) -> __g::Result<__g::Definition<Self>> {
            let builder = __g::GraphBuilder::new(device, "Layers");
            let mut bound = Self::__unbound();
            bound.n = ::core::option::Option::Some(n);
            Self::__declare(builder, bound)
        }
        #[doc(hidden)]
        pub const __INTERFACE: __p::Interface = __p::Interface {
            graph: "Layers",
            memory: &[
                ("weights", __p::usage(false, &[__p::is_atomic::<__kernel_scale>(0)])),
                ("data", __p::Mode::ReadWrite),
                ("flags", __p::Mode::Read),
            ],
            values: &[("n", true), ("factor", false)],
            restricted: &[],
            unconditional: ::core::option::Option::None,
            scratch: 0,
        };
        #[doc(hidden)]
        pub fn __unbound() -> __Bound {
            __Bound {
                weights: ::core::option::Option::None,
                data: ::core::option::Option::None,
                flags: ::core::option::Option::None,
                n: ::core::option::Option::None,
                factor: ::core::option::Option::None,
                __marker: ::core::marker::PhantomData,
            }
        }
        #[doc(hidden)]
        pub fn __place_weights(
            bound: &mut __Bound,
            given: &impl __p::BindTo<__g::Place<[[f32; 4]], __g::OnDevice>>,
        ) {
            bound.weights = ::core::option::Option::Some(__p::BindTo::bind(given));
        }
        #[doc(hidden)]
        pub fn __place_data(
            bound: &mut __Bound,
            given: &__g::Place<[f32; 4], __g::OnDevice>,
        ) {
            bound.data = ::core::option::Option::Some(*given);
        }
        #[doc(hidden)]
        pub fn __place_flags(
            bound: &mut __Bound,
            given: &__g::Place<[u32; 4], __g::OnDevice>,
        ) {
            bound.flags = ::core::option::Option::Some(*given);
        }
        #[doc(hidden)]
        pub fn __value_n(bound: &mut __Bound, given: usize) {
            bound.n = ::core::option::Option::Some(given);
        }
        #[doc(hidden)]
        pub fn __value_factor(bound: &mut __Bound, given: f32) {
            bound.factor = ::core::option::Option::Some(given);
        }
        fn __scalars(
            bound: &mut __Bound,
            graph: &impl __p::Named,
        ) -> __g::Result<(usize, f32)> {
            let n: usize = __p::bound(bound.n.take(), graph, "n")?;
            let factor: f32 = 0.5;
            let factor: f32 = ::core::option::Option::unwrap_or(
                bound.factor.take(),
                factor,
            );
            ::core::result::Result::Ok((n, factor))
        }
        #[doc(hidden)]
        pub fn __declare<__Owner: __p::Owner>(
            mut owner: __Owner,
            mut bound: __Bound,
        ) -> __g::Result<__Owner::Declared<Self>> {
            let builder = __p::Owner::builder(&mut owner);
            let (n, factor) = Self::__scalars(&mut bound, builder)?;
            let __place_weights = __p::device_slice::<
                [f32; 4],
            >(builder, "weights", bound.weights, n);
            let __place_data = __p::device::<[f32; 4]>(builder, "data", bound.data);
            let __place_flags = __p::device::<[u32; 4]>(builder, "flags", bound.flags);
            for layer in __p::Declare::begin_loop(
                builder,
                &[("scale", 1usize), ("choice", 2usize), ("one", 0usize)],
                0..n,
            ) {
                __p::Declare::begin_iteration(builder, layer);
                Self::__node_0(
                    builder,
                    __place_weights,
                    __place_data,
                    ::core::clone::Clone::clone(&factor),
                    layer,
                )?;
                for i in __p::Declare::begin_loop(
                    builder,
                    &[("choice", 1usize), ("one", 0usize)],
                    0..4,
                ) {
                    __p::Declare::begin_iteration(builder, i);
                    let _ = __p::Declare::begin_if(
                        builder,
                        "choice",
                        &__g::Place::row(&__place_flags, i),
                    );
                    __p::Declare::begin_body(builder);
                    let _ = __g::GraphBuilder::memset::<
                        _,
                        f32,
                    >(builder, "one", &mut __g::Place::row(&__place_data, i), 1.0);
                    __p::Declare::end_body(builder);
                }
                __p::Declare::end_loop(builder);
            }
            __p::Declare::end_loop(builder);
            Self::__node_3(builder, __place_data, ::core::clone::Clone::clone(&factor))?;
            __p::Declare::end_nodes(builder, 4);
            __p::Declare::edges(builder, &[[0, 1, 1], [1, 3, 0]]);
            __p::Owner::finish(
                owner,
                move |graph| Self {
                    __graph: graph,
                    weights: __place_weights,
                    data: __place_data,
                    flags: __place_flags,
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
            let (n, factor) = Self::__scalars(&mut bound, update)?;
            let __place_weights = __p::bound(bound.weights, update, "weights")?;
            let __place_data = __p::bound(bound.data, update, "data")?;
            __p::each(
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
                    __p::check_reached(update, 0usize)
                },
            )?;
            Self::__node_3(update, __place_data, ::core::clone::Clone::clone(&factor))?;
            __p::check_reached(update, 3usize)?;
            ::core::result::Result::Ok(())
        }
        fn __node_0(
            target: &mut impl __p::NodeTarget,
            __place_weights: __g::Place<[[f32; 4]], __g::OnDevice>,
            __place_data: __g::Place<[f32; 4], __g::OnDevice>,
            factor: f32,
            layer: ::core::primitive::usize,
        ) -> __g::Result<()> {
            __p::NodeTarget::kernel(
                target,
                0usize,
                "scale",
                __p::launch::<__kernel_scale>(1, 4),
                __kernel_scale::__launch(
                    &__g::Place::row(&__place_weights, layer),
                    &mut __g::Place::<[f32; 4], _>::whole(&__place_data),
                    factor,
                ),
            )
        }
        fn __node_3(
            target: &mut impl __p::NodeTarget,
            __place_data: __g::Place<[f32; 4], __g::OnDevice>,
            factor: f32,
        ) -> __g::Result<()> {
            __p::NodeTarget::memset::<
                _,
                f32,
            >(
                target,
                3usize,
                "last",
                &mut __g::Place::<[f32; 4], _>::whole(&__place_data),
                factor,
            )
        }
        fn __change_0(&self, update: &mut __g::Update<'_>) -> __g::Result<()> {
            let __place_data = self.data;
            let __place_weights = self.weights;
            let factor = ::core::clone::Clone::clone(&self.factor);
            __p::each(
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
                    __p::check_reached(update, 0usize)
                },
            )?;
            Self::__node_3(update, __place_data, ::core::clone::Clone::clone(&factor))?;
            __p::check_reached(update, 3usize)?;
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
    impl __p::ParamGraph for Layers {
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
    }
    #[cfg(not(rust_analyzer))]
    const NODE_scale: () = __p::check_launch::<
        __kernel_scale,
    >(
        &["scale"],
        &["weights", "data", ""],
        [1, 1, 1],
        [4, 1, 1],
        0,
        &[
            __p::buffer::<[f32; 4]>(),
            __p::buffer::<[f32; 4]>(),
            ::graph_runtime::private::plan::Argument::Unknown,
        ],
    );
    impl Layers {
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
        /// Waits for launches in flight and lends `weights` for reading.
        pub fn weights(&self) -> __g::Result<__g::DeviceRef<'_, [[f32; 4]]>> {
            __g::Graph::device(&self.__graph, &self.weights)
        }
        /// Waits for launches in flight and lends `weights` for writing.
        pub fn weights_mut(&mut self) -> __g::Result<__g::DeviceMut<'_, [[f32; 4]]>> {
            __g::Graph::device_mut(&mut self.__graph, &self.weights)
        }
        /// Waits for launches in flight and lends `data` for reading.
        pub fn data(&self) -> __g::Result<__g::DeviceRef<'_, [f32; 4]>> {
            __g::Graph::device(&self.__graph, &self.data)
        }
        /// Waits for launches in flight and lends `data` for writing.
        pub fn data_mut(&mut self) -> __g::Result<__g::DeviceMut<'_, [f32; 4]>> {
            __g::Graph::device_mut(&mut self.__graph, &self.data)
        }
        /// Waits for launches in flight and lends `flags` for reading.
        pub fn flags(&self) -> __g::Result<__g::DeviceRef<'_, [u32; 4]>> {
            __g::Graph::device(&self.__graph, &self.flags)
        }
        /// Waits for launches in flight and lends `flags` for writing.
        pub fn flags_mut(&mut self) -> __g::Result<__g::DeviceMut<'_, [u32; 4]>> {
            __g::Graph::device_mut(&mut self.__graph, &self.flags)
        }
    }
    impl ::core::fmt::Debug for Layers {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Debug::fmt(&self.__graph, f)
        }
    }
    impl __g::AnyGraph for Layers {
        fn __graph(&self) -> __p::LentGraph<'_> {
            ::core::convert::From::from(&self.__graph)
        }
        fn __graph_mut(&mut self) -> __p::LentGraphMut<'_> {
            ::core::convert::From::from(&mut self.__graph)
        }
    }
    impl Layers {
        /// The node `scale`.
        pub fn scale(&mut self, layer: ::core::primitive::usize) -> __g::NodeHandle<'_> {
            __p::iteration_handle(&mut self.__graph, 0, "scale", &[layer])
        }
        /// The node `choice`.
        pub fn choice(
            &mut self,
            layer: ::core::primitive::usize,
            i: ::core::primitive::usize,
        ) -> __g::NodeHandle<'_> {
            __p::iteration_handle(&mut self.__graph, 1, "choice", &[layer, i])
        }
        /// The node `one`.
        pub fn one(
            &mut self,
            layer: ::core::primitive::usize,
            i: ::core::primitive::usize,
        ) -> __g::NodeHandle<'_> {
            __p::iteration_handle(&mut self.__graph, 2, "one", &[layer, i])
        }
        /// The node `last`.
        pub fn last(&mut self) -> __g::NodeHandle<'_> {
            __p::iteration_handle(&mut self.__graph, 3, "last", &[])
        }
    }
    impl<'nodes> LayersNodes<'nodes> {
        /// The node `scale`.
        pub fn scale(&mut self, layer: ::core::primitive::usize) -> __g::NodeHandle<'_> {
            __p::inner_handle(&mut self.__node, 0, "scale", &[layer])
        }
        /// The node `choice`.
        pub fn choice(
            &mut self,
            layer: ::core::primitive::usize,
            i: ::core::primitive::usize,
        ) -> __g::NodeHandle<'_> {
            __p::inner_handle(&mut self.__node, 1, "choice", &[layer, i])
        }
        /// The node `one`.
        pub fn one(
            &mut self,
            layer: ::core::primitive::usize,
            i: ::core::primitive::usize,
        ) -> __g::NodeHandle<'_> {
            __p::inner_handle(&mut self.__node, 2, "one", &[layer, i])
        }
        /// The node `last`.
        pub fn last(&mut self) -> __g::NodeHandle<'_> {
            __p::inner_handle(&mut self.__node, 3, "last", &[])
        }
    }
    impl<'nodes> ::core::ops::Deref for LayersNodes<'nodes> {
        type Target = __g::NodeHandle<'nodes>;
        fn deref(&self) -> &Self::Target {
            &self.__node
        }
    }
    impl __p::DeclaredGraph for Layers {
        type Nodes<'nodes> = LayersNodes<'nodes>;
        fn __nodes<'nodes>(node: __g::NodeHandle<'nodes>) -> Self::Nodes<'nodes> {
            LayersNodes {
                __node: node,
                __marker: ::core::marker::PhantomData,
            }
        }
    }
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
/// The nodes of a [`Layers`] that is a node of another graph, and the handle of that node.
#[allow(dead_code, non_snake_case)]
struct LayersNodes<'nodes> {
    __node: ::graph_runtime::NodeHandle<'nodes>,
    __marker: ::core::marker::PhantomData<fn() -> ()>,
}
