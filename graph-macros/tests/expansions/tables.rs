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
        impl __Editor for Rows {
            #[allow(warnings)]
            fn __statements() {
                let mut n: usize;
                let mut d: usize;
                let mut w: ::graph_runtime::Place<
                    [[f32; d]; n],
                    ::graph_runtime::OnDevice,
                >;
                let _: usize = d;
                let _: usize = n;
                let mut input: ::graph_runtime::Place<
                    [[f32; d]; n],
                    ::graph_runtime::OnHost,
                >;
                let _: usize = 16;
                let _: usize = d;
                let _: usize = n;
                let mut cube: ::graph_runtime::Place<
                    [[[f32; 16]; d]; n],
                    ::graph_runtime::OnDevice,
                >;
                let _: usize = d;
                let _: usize = 4;
                let mut half: ::graph_runtime::Place<
                    [[f32; d]; 4],
                    ::graph_runtime::OnDevice,
                >;
                let mut factor: f32 = 0.5;
                let _ = &(input[..4]);
                let _ = &(half);
                let _ = &(cube[n - 1][1..d]);
                let _ = &(factor);
                let _ = (1, 4);
                unsafe { scale::call(&w[2], &half[1][..d], 4) };
                let _ = (&input);
                {
                    let input: &[[f32; d]; n];
                    { look(input) }
                }
                {
                    let up: ::graph_runtime::NodeId;
                    let clear: ::graph_runtime::NodeId;
                    let scale: ::graph_runtime::NodeId;
                    let look: ::graph_runtime::NodeId;
                    let _ = (up);
                }
            }
        }
    };
    #[cfg(rust_analyzer)]
    impl Rows {
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
        pub const PLAN: __p::Plan = __p::Plan::new("Rows", &[], &[]);
        /// Allocates the graph's memory, zeroed, builds it on the device and uploads it.
        pub fn build(
            device: &__g::Device,
            n: usize,
            d: usize,
            w: impl __g::DeviceShare<__g::Table<f32, 2>>,
        ) -> __g::Result<Self> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
        /// Checks the graph as `build` does, for graphs to be instantiated later.
        pub fn define(
            device: &__g::Device,
            n: usize,
            d: usize,
            w: impl __g::DeviceShare<__g::Table<f32, 2>>,
        ) -> __g::Result<__g::Definition<Self>> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
    }
    #[cfg(not(rust_analyzer))]
    type __kernel_scale = scale;
    #[cfg(not(rust_analyzer))]
    #[doc(hidden)]
    pub struct __Bound {
        pub w: ::core::option::Option<__g::Place<__g::Table<f32, 2>, __g::OnDevice>>,
        pub input: ::core::option::Option<__g::Place<__g::Table<f32, 2>, __g::OnHost>>,
        pub cube: ::core::option::Option<
            __g::Place<__g::Table<[f32; 16], 2>, __g::OnDevice>,
        >,
        pub n: ::core::option::Option<usize>,
        pub d: ::core::option::Option<usize>,
        pub factor: ::core::option::Option<f32>,
        __marker: ::core::marker::PhantomData<fn() -> ()>,
    }
    #[cfg(not(rust_analyzer))]
    impl Rows {
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
            __p::PlanResource::new("w", __p::Space::Device, 0),
            __p::PlanResource::new("input", __p::Space::Host, 0),
            __p::PlanResource::new("cube", __p::Space::Device, 0),
            __p::PlanResource::new("half", __p::Space::Device, 0),
        ];
        const __ACCESSES: &'static [__p::PlanAccess] = {
            use __p::Mode::{Read, Write};
            &__p::exact_accesses(
                __p::plan_accesses([
                    (1, Read),
                    (3, Write),
                    (2, Write),
                    (0, Read),
                    (3, Read),
                    (1, Read),
                ]),
                &[<__kernel_scale as __g::Kernel>::FACTS],
                &[(3, 0)],
            )
        };
        const __NODES: &'static [__p::PlanNode] = {
            use __p::NodeKind::{Call, Kernel, Memcpy, Memset};
            &__p::plan_nodes(
                [
                    ("up", Memcpy, 2, 0, 0),
                    ("clear", Memset, 1, 0, 0),
                    ("scale", Kernel, 2, 1, 1),
                    ("look", Call, 1, 0, 0),
                ],
                Self::__ACCESSES,
                &[0],
            )
        };
        /// The graph as static data: nodes, what they touch, the edges that are lowered, levels, where scratch memory
        /// lies.
        pub const PLAN: __p::Plan = __p::Plan::new(
            "Rows",
            Self::__RESOURCES,
            Self::__NODES,
        );
        /// Allocates the graph's memory, zeroed, builds it on the device and uploads it.
        pub fn build(
            device: &__g::Device,
            n: usize,
            d: usize,
            w: impl __g::DeviceShare<__g::Table<f32, 2>>,
        ) -> __g::Result<Self> {
            __g::Definition::build(Self::define(device, n, d, w)?)
        }
        /// Checks the graph as `build` does, for graphs to be instantiated later.
        pub fn define(
            device: &__g::Device,
            n: usize,
            d: usize,
            w: impl __g::DeviceShare<__g::Table<f32, 2>>,
        ) -> __g::Result<__g::Definition<Self>> {
            let mut builder = __g::GraphBuilder::new(device, "Rows");
            let mut bound = Self::__unbound();
            bound.n = ::core::option::Option::Some(n);
            bound.d = ::core::option::Option::Some(d);
            bound.w = ::core::option::Option::Some(
                __p::device_argument::<__g::Table<f32, 2>>(&mut builder, "w", w, false),
            );
            Self::__declare(builder, bound)
        }
        #[doc(hidden)]
        pub const __INTERFACE: __p::Interface = __p::Interface {
            graph: "Rows",
            memory: &[
                ("w", __p::usage(false, &[__p::is_atomic::<__kernel_scale>(0)])),
                ("input", __p::Mode::Read),
                ("cube", __p::Mode::ReadWrite),
            ],
            values: &[("n", true), ("d", true), ("factor", false)],
            restricted: &[],
            unconditional: ::core::option::Option::Some(("look", "call")),
            scratch: 0,
        };
        #[doc(hidden)]
        pub fn __unbound() -> __Bound {
            __Bound {
                w: ::core::option::Option::None,
                input: ::core::option::Option::None,
                cube: ::core::option::Option::None,
                n: ::core::option::Option::None,
                d: ::core::option::Option::None,
                factor: ::core::option::Option::None,
                __marker: ::core::marker::PhantomData,
            }
        }
        #[doc(hidden)]
        pub fn __place_w(
            bound: &mut __Bound,
            given: &impl __p::BindTo<__g::Place<__g::Table<f32, 2>, __g::OnDevice>>,
        ) {
            bound.w = ::core::option::Option::Some(__p::BindTo::bind(given));
        }
        #[doc(hidden)]
        pub fn __place_input(
            bound: &mut __Bound,
            given: &impl __p::BindTo<__g::Place<__g::Table<f32, 2>, __g::OnHost>>,
        ) {
            bound.input = ::core::option::Option::Some(__p::BindTo::bind(given));
        }
        #[doc(hidden)]
        pub fn __place_cube(
            bound: &mut __Bound,
            given: &impl __p::BindTo<__g::Place<__g::Table<[f32; 16], 2>, __g::OnDevice>>,
        ) {
            bound.cube = ::core::option::Option::Some(__p::BindTo::bind(given));
        }
        #[doc(hidden)]
        pub fn __value_n(bound: &mut __Bound, given: usize) {
            bound.n = ::core::option::Option::Some(given);
        }
        #[doc(hidden)]
        pub fn __value_d(bound: &mut __Bound, given: usize) {
            bound.d = ::core::option::Option::Some(given);
        }
        #[doc(hidden)]
        pub fn __value_factor(bound: &mut __Bound, given: f32) {
            bound.factor = ::core::option::Option::Some(given);
        }
        fn __scalars(
            bound: &mut __Bound,
            graph: &impl __p::Named,
        ) -> __g::Result<(usize, usize, f32)> {
            let n: usize = __p::bound(bound.n.take(), graph, "n")?;
            let d: usize = __p::bound(bound.d.take(), graph, "d")?;
            let factor: f32 = 0.5;
            let factor: f32 = ::core::option::Option::unwrap_or(
                bound.factor.take(),
                factor,
            );
            ::core::result::Result::Ok((n, d, factor))
        }
        #[doc(hidden)]
        pub fn __declare<__Owner: __p::Owner>(
            mut owner: __Owner,
            mut bound: __Bound,
        ) -> __g::Result<__Owner::Declared<Self>> {
            let builder = __p::Owner::builder(&mut owner);
            let (n, d, factor) = Self::__scalars(&mut bound, builder)?;
            let __place_w = __p::bound(bound.w, builder, "w")?;
            __g::GraphBuilder::require_lengths(builder, &__place_w, [n, d]);
            let __place_input = __p::host_table::<
                f32,
                _,
            >(builder, "input", bound.input, [n, d]);
            let __place_cube = __p::device_table::<
                [f32; 16],
                _,
            >(builder, "cube", bound.cube, [n, d]);
            let __place_half = __g::GraphBuilder::scratch_table::<
                f32,
                _,
            >(builder, "half", [4, d]);
            let _ = __g::GraphBuilder::memcpy(
                builder,
                "up",
                &__g::Place::rows_from::<4>(&__place_input, 0),
                &mut __g::Place::<__g::Table<f32, 2>, _>::whole(&__place_half),
            );
            Self::__node_1(
                builder,
                __place_cube,
                ::core::clone::Clone::clone(&n),
                ::core::clone::Clone::clone(&d),
                ::core::clone::Clone::clone(&factor),
            )?;
            let _ = __g::GraphBuilder::kernel(
                builder,
                "scale",
                __p::launch::<__kernel_scale>(1, 4),
                __kernel_scale::__launch(
                    &__g::Place::row(&__place_w, 2),
                    &__g::Place::rows(
                        &__g::Place::row(&__place_half, 1),
                        ::core::ops::Range::<::core::primitive::usize> {
                            start: 0,
                            end: d,
                        },
                    ),
                    4,
                ),
            );
            {
                let _ = __g::GraphBuilder::call(
                    builder,
                    "look",
                    (&__place_input,),
                    move |(input,): (__g::TableRef<'_, f32, 2>,)| look(input),
                );
            }
            __p::Declare::end_nodes(builder, 4);
            __p::Declare::edges(builder, &[[0, 2]]);
            __p::Owner::finish(
                owner,
                move |graph| Self {
                    __graph: graph,
                    w: __place_w,
                    input: __place_input,
                    cube: __place_cube,
                    half: __place_half,
                    factor,
                    n,
                    d,
                    __marker: ::core::marker::PhantomData,
                },
            )
        }
        #[doc(hidden)]
        pub fn __update(
            update: &mut __g::Update<'_>,
            mut bound: __Bound,
        ) -> __g::Result<()> {
            let (n, d, factor) = Self::__scalars(&mut bound, update)?;
            let __place_cube = __p::bound(bound.cube, update, "cube")?;
            Self::__node_1(
                update,
                __place_cube,
                ::core::clone::Clone::clone(&n),
                ::core::clone::Clone::clone(&d),
                ::core::clone::Clone::clone(&factor),
            )?;
            __p::check_reached(update, 1usize)?;
            ::core::result::Result::Ok(())
        }
        fn __node_1(
            target: &mut impl __p::NodeTarget,
            __place_cube: __g::Place<__g::Table<[f32; 16], 2>, __g::OnDevice>,
            n: usize,
            d: usize,
            factor: f32,
        ) -> __g::Result<()> {
            __p::NodeTarget::memset::<
                _,
                f32,
            >(
                target,
                1usize,
                "clear",
                &mut __g::Place::rows(
                    &__g::Place::row(&__place_cube, n - 1),
                    ::core::ops::Range::<::core::primitive::usize> {
                        start: 1,
                        end: d,
                    },
                ),
                factor,
            )
        }
        fn __change_0(&self, update: &mut __g::Update<'_>) -> __g::Result<()> {
            let __place_cube = self.cube;
            let n = ::core::clone::Clone::clone(&self.n);
            let d = ::core::clone::Clone::clone(&self.d);
            let factor = ::core::clone::Clone::clone(&self.factor);
            Self::__node_1(
                update,
                __place_cube,
                ::core::clone::Clone::clone(&n),
                ::core::clone::Clone::clone(&d),
                ::core::clone::Clone::clone(&factor),
            )?;
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
    impl __p::ParamGraph for Rows {
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
        &["w", "half", ""],
        [1, 1, 1],
        [4, 1, 1],
        0,
        &[
            __p::plan::Argument::Unknown,
            __p::plan::Argument::Unknown,
            ::graph_runtime::private::plan::Argument::Int(4),
        ],
    );
    #[cfg(not(rust_analyzer))]
    const NODE2_scale: () = __p::check_clash(
        [__p::is_atomic::<__kernel_scale>(0), false],
        [
            "node `scale` atomically updates `w`, which is shared without `mut` [access]\nnote: `w` is declared elsewhere\nhelp: declare it `w: mut device ..`",
            "",
        ],
    );
    impl Rows {
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
        /// Waits for launches in flight and lends all host memory at once, for writing.
        pub fn memory_mut(&mut self) -> __g::Result<RowsMemory<'_>> {
            let mut __split = __g::Graph::split_host(&mut self.__graph)?;
            ::core::result::Result::Ok(RowsMemory {
                input: __g::HostSplit::take_table(&mut __split, &self.input)?,
                __marker: ::core::marker::PhantomData,
            })
        }
        /// Waits for launches in flight and lends `w` for reading.
        pub fn w(&self) -> __g::Result<__g::DeviceRef<'_, __g::Table<f32, 2>>> {
            __g::Graph::device(&self.__graph, &self.w)
        }
        /// Puts other memory in the place of `w` for later launches: see `Graph::rebind`.
        pub fn rebind_w(
            &mut self,
            memory: impl __g::DeviceShare<__g::Table<f32, 2>>,
        ) -> __g::Result<()> {
            __p::rebind_device(&mut self.__graph, &self.w, memory)
        }
        /// Waits for launches in flight and lends `input` for reading.
        pub fn input(&self) -> __g::Result<__g::TableRef<'_, f32, 2>> {
            __g::Graph::host_table(&self.__graph, &self.input)
        }
        /// Waits for launches in flight and lends `input` for writing.
        pub fn input_mut(&mut self) -> __g::Result<__g::TableMut<'_, f32, 2>> {
            __g::Graph::host_table_mut(&mut self.__graph, &self.input)
        }
        /// Waits for launches in flight and lends `cube` for reading.
        pub fn cube(&self) -> __g::Result<__g::DeviceRef<'_, __g::Table<[f32; 16], 2>>> {
            __g::Graph::device(&self.__graph, &self.cube)
        }
        /// Waits for launches in flight and lends `cube` for writing.
        pub fn cube_mut(
            &mut self,
        ) -> __g::Result<__g::DeviceMut<'_, __g::Table<[f32; 16], 2>>> {
            __g::Graph::device_mut(&mut self.__graph, &self.cube)
        }
    }
    impl ::core::fmt::Debug for Rows {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            ::core::fmt::Debug::fmt(&self.__graph, f)
        }
    }
    impl __g::AnyGraph for Rows {
        fn __graph(&self) -> __p::LentGraph<'_> {
            ::core::convert::From::from(&self.__graph)
        }
        fn __graph_mut(&mut self) -> __p::LentGraphMut<'_> {
            ::core::convert::From::from(&mut self.__graph)
        }
    }
    impl Rows {
        /// The node `up`.
        pub fn up(&mut self) -> __g::NodeHandle<'_> {
            __p::node_handle(&mut self.__graph, 0)
        }
        /// The node `clear`.
        pub fn clear(&mut self) -> __g::NodeHandle<'_> {
            __p::node_handle(&mut self.__graph, 1)
        }
        /// The node `scale`.
        pub fn scale(&mut self) -> __g::NodeHandle<'_> {
            __p::node_handle(&mut self.__graph, 2)
        }
        /// The node `look`.
        pub fn look(&mut self) -> __g::NodeHandle<'_> {
            __p::node_handle(&mut self.__graph, 3)
        }
    }
    impl<'nodes> RowsNodes<'nodes> {
        /// The node `up`.
        pub fn up(&mut self) -> __g::NodeHandle<'_> {
            __p::inner_handle(&mut self.__node, 0, "up", &[])
        }
        /// The node `clear`.
        pub fn clear(&mut self) -> __g::NodeHandle<'_> {
            __p::inner_handle(&mut self.__node, 1, "clear", &[])
        }
        /// The node `scale`.
        pub fn scale(&mut self) -> __g::NodeHandle<'_> {
            __p::inner_handle(&mut self.__node, 2, "scale", &[])
        }
        /// The node `look`.
        pub fn look(&mut self) -> __g::NodeHandle<'_> {
            __p::inner_handle(&mut self.__node, 3, "look", &[])
        }
    }
    impl<'nodes> ::core::ops::Deref for RowsNodes<'nodes> {
        type Target = __g::NodeHandle<'nodes>;
        fn deref(&self) -> &Self::Target {
            &self.__node
        }
    }
    impl __p::DeclaredGraph for Rows {
        type Nodes<'nodes> = RowsNodes<'nodes>;
        fn __nodes<'nodes>(node: __g::NodeHandle<'nodes>) -> Self::Nodes<'nodes> {
            RowsNodes {
                __node: node,
                __marker: ::core::marker::PhantomData,
            }
        }
    }
};
/// The graph `Rows`, declared with `cuda_graph!`.
#[allow(dead_code, non_snake_case)]
struct Rows {
    __graph: ::graph_runtime::Graph,
    w: ::graph_runtime::Place<::graph_runtime::Table<f32, 2>, ::graph_runtime::OnDevice>,
    input: ::graph_runtime::Place<
        ::graph_runtime::Table<f32, 2>,
        ::graph_runtime::OnHost,
    >,
    cube: ::graph_runtime::Place<
        ::graph_runtime::Table<[f32; 16], 2>,
        ::graph_runtime::OnDevice,
    >,
    half: ::graph_runtime::Place<
        ::graph_runtime::Table<f32, 2>,
        ::graph_runtime::OnDevice,
    >,
    factor: f32,
    n: usize,
    d: usize,
    __marker: ::core::marker::PhantomData<fn() -> ()>,
}
/// All host memory of a [`Rows`], lent at once.
#[allow(dead_code, non_snake_case)]
struct RowsMemory<'memory> {
    /// The host resource `input`.
    pub input: ::graph_runtime::TableMut<'memory, f32, 2>,
    __marker: ::core::marker::PhantomData<fn() -> ()>,
}
/// The nodes of a [`Rows`] that is a node of another graph, and the handle of that node.
#[allow(dead_code, non_snake_case)]
struct RowsNodes<'nodes> {
    __node: ::graph_runtime::NodeHandle<'nodes>,
    __marker: ::core::marker::PhantomData<fn() -> ()>,
}
