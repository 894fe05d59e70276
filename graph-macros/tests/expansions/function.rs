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
    impl Loaded {
        /// The value of the param `factor` in the next launch.
        pub fn factor(&self) -> f32 {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Sets the param `factor` for later launches: updates exactly the nodes that use it, in place.
        ///
        /// The promise of the [unsafe nodes](#unsafe-nodes) covers whatever this changes.
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
        pub const PLAN: __p::Plan = __p::Plan::new("Loaded", &[], &[]);
        /// Allocates the graph's memory, zeroed, builds it on the device and uploads it.
        ///
        /// The promise of the [unsafe nodes](#unsafe-nodes) covers whatever this changes.
        pub fn build(device: &__g::Device, functions: Functions) -> __g::Result<Self> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Checks the graph as `build` does, for graphs to be instantiated later.
        ///
        /// The promise of the [unsafe nodes](#unsafe-nodes) covers whatever this changes.
        pub fn define(
            device: &__g::Device,
            functions: Functions,
        ) -> __g::Result<__g::Definition<Self>> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
    }
    #[cfg(not(rust_analyzer))]
    #[doc(hidden)]
    pub struct __Bound {
        pub data: ::core::option::Option<__g::Place<[f32; 64], __g::OnDevice>>,
        pub functions: ::core::option::Option<Functions>,
        pub factor: ::core::option::Option<f32>,
        __marker: ::core::marker::PhantomData<fn() -> ()>,
    }
    #[cfg(not(rust_analyzer))]
    impl Loaded {
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
            __p::plan_resource::<[f32; 64]>("data", __p::Space::Device),
        ];
        const __ACCESSES: &'static [__p::PlanAccess] = {
            use __p::Mode::{Read, ReadWrite};
            &__p::plan_accesses([(0, ReadWrite), (0, Read)])
        };
        const __NODES: &'static [__p::PlanNode] = {
            use __p::NodeKind::Kernel;
            &__p::plan_nodes(
                [("first", Kernel, 1, 0, 0), ("second", Kernel, 1, 1, 1)],
                Self::__ACCESSES,
                &[0],
            )
        };
        /// The graph as static data: nodes, what they touch, the edges that are lowered, levels, where scratch memory
        /// lies.
        pub const PLAN: __p::Plan = __p::Plan::new(
            "Loaded",
            Self::__RESOURCES,
            Self::__NODES,
        );
        /// Allocates the graph's memory, zeroed, builds it on the device and uploads it.
        ///
        /// The promise of the [unsafe nodes](#unsafe-nodes) covers whatever this changes.
        pub fn build(device: &__g::Device, functions: Functions) -> __g::Result<Self> {
            __g::Definition::build(Self::define(device, functions)?)
        }
        /// Checks the graph as `build` does, for graphs to be instantiated later.
        ///
        /// The promise of the [unsafe nodes](#unsafe-nodes) covers whatever this changes.
        pub fn define(
            device: &__g::Device,
            functions: Functions,
        ) -> __g::Result<__g::Definition<Self>> {
            let builder = __g::GraphBuilder::new(device, "Loaded");
            let mut bound = Self::__unbound();
            bound.functions = ::core::option::Option::Some(functions);
            Self::__declare(builder, bound)
        }
        #[doc(hidden)]
        pub const __INTERFACE: __p::Interface = __p::Interface {
            graph: "Loaded",
            memory: &[("data", __p::Mode::ReadWrite)],
            values: &[("functions", true), ("factor", false)],
            restricted: &[],
            unconditional: ::core::option::Option::None,
            scratch: 0,
        };
        #[doc(hidden)]
        pub fn __unbound() -> __Bound {
            __Bound {
                data: ::core::option::Option::None,
                functions: ::core::option::Option::None,
                factor: ::core::option::Option::None,
                __marker: ::core::marker::PhantomData,
            }
        }
        #[doc(hidden)]
        pub fn __place_data(
            bound: &mut __Bound,
            given: &__g::Place<[f32; 64], __g::OnDevice>,
        ) {
            bound.data = ::core::option::Option::Some(*given);
        }
        #[doc(hidden)]
        pub fn __value_functions(bound: &mut __Bound, given: Functions) {
            bound.functions = ::core::option::Option::Some(given);
        }
        #[doc(hidden)]
        pub fn __value_factor(bound: &mut __Bound, given: f32) {
            bound.factor = ::core::option::Option::Some(given);
        }
        fn __scalars(
            bound: &mut __Bound,
            graph: &impl __p::Named,
        ) -> __g::Result<(Functions, f32)> {
            let functions: Functions = __p::bound(
                bound.functions.take(),
                graph,
                "functions",
            )?;
            let factor: f32 = 0.5;
            let factor: f32 = ::core::option::Option::unwrap_or(
                bound.factor.take(),
                factor,
            );
            ::core::result::Result::Ok((functions, factor))
        }
        #[doc(hidden)]
        pub fn __declare<__Owner: __p::Owner>(
            mut owner: __Owner,
            mut bound: __Bound,
        ) -> __g::Result<__Owner::Declared<Self>> {
            let builder = __p::Owner::builder(&mut owner);
            let (functions, factor) = Self::__scalars(&mut bound, builder)?;
            let __place_data = __p::device::<[f32; 64]>(builder, "data", bound.data);
            let _ = __g::GraphBuilder::kernel(
                builder,
                "first",
                __g::Launch::new(1, 64),
                {
                    let function = ::core::option::Option::Some(
                        __g::LoadedFunction::loaded(&(functions.first)),
                    );
                    unsafe {
                        __p::loaded_call(
                            function,
                            [
                                __g::CallArgument::write(
                                    &mut __g::Place::<[f32; 64], _>::whole(&__place_data),
                                ),
                                __g::CallArgument::value(64u32),
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
                    __g::LoadedFunction::loaded(&(functions.second)),
                ),
            )?;
            __p::Declare::end_nodes(builder, 2);
            __p::Declare::edges(builder, &[[0, 1]]);
            __p::Owner::finish(
                owner,
                move |graph| Self {
                    __graph: graph,
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
            let (functions, factor) = Self::__scalars(&mut bound, update)?;
            let __place_data = __p::bound(bound.data, update, "data")?;
            Self::__node_1(
                update,
                __place_data,
                ::core::clone::Clone::clone(&factor),
                ::core::option::Option::None,
            )?;
            __p::check_reached(update, 1usize)?;
            ::core::result::Result::Ok(())
        }
        fn __node_1(
            target: &mut impl __p::NodeTarget,
            __place_data: __g::Place<[f32; 64], __g::OnDevice>,
            factor: f32,
            function: ::core::option::Option<__g::cudarc::driver::CudaFunction>,
        ) -> __g::Result<()> {
            __p::NodeTarget::kernel(
                target,
                1usize,
                "second",
                __g::Launch::new(1, 64),
                {
                    let function = function;
                    unsafe {
                        __p::loaded_call(
                            function,
                            [
                                __g::CallArgument::read(
                                    &__g::Place::rows_from::<32>(&__place_data, 0),
                                ),
                                __g::CallArgument::value(factor),
                            ],
                        )
                    }
                },
            )
        }
        fn __change_0(&self, update: &mut __g::Update<'_>) -> __g::Result<()> {
            let __place_data = self.data;
            let factor = ::core::clone::Clone::clone(&self.factor);
            Self::__node_1(
                update,
                __place_data,
                ::core::clone::Clone::clone(&factor),
                ::core::option::Option::None,
            )?;
            __p::check_reached(update, 1usize)?;
            ::core::result::Result::Ok(())
        }
        /// Sets the param `factor` for later launches: updates exactly the nodes that use it, in place.
        ///
        /// The promise of the [unsafe nodes](#unsafe-nodes) covers whatever this changes.
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
    impl __p::ParamGraph for Loaded {
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
    impl Loaded {
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
        /// Waits for launches in flight and lends `data` for reading.
        pub fn data(&self) -> __g::Result<__g::DeviceRef<'_, [f32; 64]>> {
            __g::Graph::device(&self.__graph, &self.data)
        }
        /// Waits for launches in flight and lends `data` for writing.
        ///
        /// The promise of the [unsafe nodes](#unsafe-nodes) covers whatever this changes.
        pub fn data_mut(&mut self) -> __g::Result<__g::DeviceMut<'_, [f32; 64]>> {
            __g::Graph::device_mut(&mut self.__graph, &self.data)
        }
    }
    impl ::core::fmt::Debug for Loaded {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Debug::fmt(&self.__graph, f)
        }
    }
    impl __g::AnyGraph for Loaded {
        fn __graph(&self) -> __p::LentGraph<'_> {
            ::core::convert::From::from(&self.__graph)
        }
        fn __graph_mut(&mut self) -> __p::LentGraphMut<'_> {
            ::core::convert::From::from(&mut self.__graph)
        }
    }
    impl Loaded {
        /// The node `first`.
        ///
        /// The promise of the [unsafe nodes](#unsafe-nodes) covers whatever this changes.
        pub fn first(&mut self) -> __g::NodeHandle<'_> {
            __p::node_handle(&mut self.__graph, 0)
        }
        /// The node `second`.
        ///
        /// The promise of the [unsafe nodes](#unsafe-nodes) covers whatever this changes.
        pub fn second(&mut self) -> __g::NodeHandle<'_> {
            __p::node_handle(&mut self.__graph, 1)
        }
    }
    impl<'nodes> LoadedNodes<'nodes> {
        /// The node `first`.
        ///
        /// The promise of the [unsafe nodes](Loaded#unsafe-nodes) covers whatever this changes.
        pub fn first(&mut self) -> __g::NodeHandle<'_> {
            __p::inner_handle(&mut self.__node, 0, "first", &[])
        }
        /// The node `second`.
        ///
        /// The promise of the [unsafe nodes](Loaded#unsafe-nodes) covers whatever this changes.
        pub fn second(&mut self) -> __g::NodeHandle<'_> {
            __p::inner_handle(&mut self.__node, 1, "second", &[])
        }
    }
    impl<'nodes> ::core::ops::Deref for LoadedNodes<'nodes> {
        type Target = __g::NodeHandle<'nodes>;
        fn deref(&self) -> &Self::Target {
            &self.__node
        }
    }
    impl __p::DeclaredGraph for Loaded {
        type Nodes<'nodes> = LoadedNodes<'nodes>;
        fn __nodes<'nodes>(node: __g::NodeHandle<'nodes>) -> Self::Nodes<'nodes> {
            LoadedNodes {
                __node: node,
                __marker: ::core::marker::PhantomData,
            }
        }
    }
};
/// The graph `Loaded`, declared with `cuda_graph!`.
///
/// # Unsafe nodes
///
/// The author of this graph has written `unsafe` at these nodes:
/// `first`, `second`.
/// So the author promises that they touch only the memory that they name, within its bounds, and only as they
/// declare it, in every launch that other code can bring about without `unsafe`:
///
/// * for any contents of the memory, whoever has written them;
/// * for any values of params and build arguments;
/// * whichever nodes are disabled;
/// * for any memory that is given to `build`, bound or rebound;
/// * as a child of any graph.
#[allow(dead_code, non_snake_case)]
struct Loaded {
    __graph: ::graph_runtime::Graph,
    data: ::graph_runtime::Place<[f32; 64], ::graph_runtime::OnDevice>,
    factor: f32,
    __marker: ::core::marker::PhantomData<fn() -> ()>,
}
/// The nodes of a [`Loaded`] that is a node of another graph, and the handle of that node.
///
/// The promise of the [unsafe nodes](Loaded#unsafe-nodes) covers whatever this changes.
#[allow(dead_code, non_snake_case)]
struct LoadedNodes<'nodes> {
    __node: ::graph_runtime::NodeHandle<'nodes>,
    __marker: ::core::marker::PhantomData<fn() -> ()>,
}
