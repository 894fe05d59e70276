//! The objects of the fake driver, and the checks of their handles.

use super::*;

/// Returns the object of a handle, or ends the process if the handle stands for something else.
macro_rules! object {
    ($found:expr, $call:ident, $handle:ident, $pattern:pat => $value:expr, $what:literal) => {
        match $found {
            Some($pattern) => $value,
            other => mistake($call, &format!("{:#x} is no {}: {other:?}", $handle, $what)),
        }
    };
}

#[derive(Debug)]
pub enum Object {
    Stream { capture: u32, nodes: usize },
    /// Whether its recording was captured; whether it has not come.
    Event { captured: bool, busy: bool },
    Graph { nodes: Vec<Handle> },
    /// Its kind, and the graphs that belong to it. They are leaked, since CUDA hands out a pointer to the list.
    Node { kind: u32, graphs: &'static [Handle], after: Vec<(Handle, u64)>, params: Vec<u8>, attributes: Attributes },
    /// The number of nodes.
    Exec { nodes: usize },
    Module { text: String, variables: Vec<(String, usize, usize)> },
    /// The module of a library.
    Library { module: Handle },
    /// The kernel of a library: a function of its module.
    Kernel { function: Handle },
    Function { name: CString, sizes: Vec<usize> },
    /// Memory without addresses, of this length.
    Memory { bytes: usize },
    Texture,
    /// A CUDA array, with the bytes of a texel and those of a plane or layer.
    Array { texel: usize, plane: usize },
    Surface,
}

#[derive(Default)]
pub struct State {
    pub last: Handle,
    pub objects: HashMap<Handle, Object>,
    /// The lengths of allocations: of device memory, and of host memory.
    pub memory: [HashMap<usize, usize>; 2],
    /// The lengths of reserved addresses, which are host memory here, and of memory that was mapped there.
    pub reserved: HashMap<usize, usize>,
    pub mapped: HashMap<usize, usize>,
    /// The host memory of others that is page-locked: addresses and bytes.
    pub registered: HashMap<usize, usize>,
    /// The event that each stream waits for.
    pub waits: HashMap<Handle, Handle>,
}

impl State {
    pub fn add(&mut self, object: Object) -> Handle {
        self.last += 0x10;
        let handle = CONTEXT + self.last;
        self.objects.insert(handle, object);
        handle
    }

    pub fn remove(&mut self, call: &str, handle: Handle) -> Object {
        match self.objects.remove(&handle) {
            Some(object) => object,
            None => mistake(call, &format!("{handle:#x} does not live")),
        }
    }

    pub fn stream(&mut self, call: &str, handle: Handle) -> (&mut u32, &mut usize) {
        object!(self.objects.get_mut(&handle), call, handle, Object::Stream { capture, nodes } => (capture, nodes), "stream")
    }

    pub fn nodes(&mut self, call: &str, handle: Handle) -> &mut Vec<Handle> {
        object!(self.objects.get_mut(&handle), call, handle, Object::Graph { nodes } => nodes, "graph")
    }

    pub fn event(&mut self, call: &str, handle: Handle) -> &mut bool {
        object!(self.objects.get_mut(&handle), call, handle, Object::Event { captured, .. } => captured, "event")
    }

    pub fn set_busy(&mut self, event: Handle, value: bool) {
        if let Some(Object::Event { busy, .. }) = self.objects.get_mut(&event) {
            *busy = value;
        }
    }

    pub fn node(&self, call: &str, handle: Handle) -> (u32, &'static [Handle]) {
        object!(self.objects.get(&handle), call, handle, Object::Node { kind, graphs, .. } => (*kind, graphs), "node")
    }

    pub fn exec(&self, call: &str, handle: Handle) -> usize {
        object!(self.objects.get(&handle), call, handle, Object::Exec { nodes } => *nodes, "executable graph")
    }

    pub fn module(&self, call: &str, handle: Handle) -> (&str, &[(String, usize, usize)]) {
        object!(self.objects.get(&handle), call, handle, Object::Module { text, variables } => (text, variables), "module")
    }

    pub fn library(&self, call: &str, handle: Handle) -> Handle {
        object!(self.objects.get(&handle), call, handle, Object::Library { module } => *module, "library")
    }

    /// The function of a kernel.
    pub fn kernel(&self, call: &str, handle: Handle) -> Handle {
        object!(self.objects.get(&handle), call, handle, Object::Kernel { function } => *function, "kernel")
    }

    pub fn function(&self, call: &str, handle: Handle) -> &[usize] {
        object!(self.objects.get(&handle), call, handle, Object::Function { sizes, .. } => sizes, "function")
    }

    /// Removes a graph with all its nodes and their graphs.
    pub fn remove_graph(&mut self, call: &str, handle: Handle) {
        let nodes = std::mem::take(self.nodes(call, handle));
        self.remove(call, handle);
        for node in nodes {
            let (_, graphs) = self.node(call, node);
            self.remove(call, node);
            graphs.iter().for_each(|&graph| self.remove_graph(call, graph));
        }
    }

    pub unsafe fn allocate(&mut self, kind: usize, bytes: usize) -> usize {
        // SAFETY: nobody asks for more than a test needs; 0 bytes become 1.
        let address = unsafe { alloc_zeroed(Layout::from_size_align(bytes.max(1), 512).expect("it is small")) } as usize;
        self.memory[kind].insert(address, bytes.max(1));
        address
    }

    pub unsafe fn free(&mut self, call: &str, kind: usize, address: usize) -> u32 {
        let Some(bytes) = self.memory[kind].remove(&address) else {
            mistake(call, &format!("{address:#x} is not allocated"));
        };
        // SAFETY: it was allocated so.
        unsafe { dealloc(address as *mut u8, Layout::from_size_align(bytes, 512).expect("it was one")) };
        0
    }

    /// Whether there are so many bytes of device memory, in an allocation or a variable of a module.
    pub fn check(&self, call: &str, address: usize, bytes: usize) {
        let holds = |(first, len): (usize, usize)| first <= address && address + bytes <= first + len;
        let variables = self.objects.values().filter_map(|object| match object {
            Object::Module { variables, .. } => Some(variables.iter().map(|(_, first, len)| (*first, *len))),
            _ => None,
        });
        let allocations = self.memory[0].iter().chain(&self.mapped).map(|(first, len)| (*first, *len));
        if !allocations.chain(variables.flatten()).any(holds) {
            mistake(call, &format!("{bytes} bytes from {address:#x} on are not allocated"));
        }
    }

    /// The bytes of a texel of an array, and of a plane or layer.
    pub fn array(&self, call: &str, handle: Handle) -> (usize, usize) {
        object!(self.objects.get(&handle), call, handle, Object::Array { texel, plane } => (*texel, *plane), "array")
    }

    /// Whether there is page-locked memory of the host.
    pub fn is_page_locked(&self, address: usize) -> bool {
        let allocated = self.memory[1].iter().filter(|(first, _)| !self.reserved.contains_key(first));
        let mut locked = allocated.chain(&self.registered);
        locked.any(|(first, len)| (*first..first + len).contains(&address))
    }

    /// Adds a node to a graph.
    pub unsafe fn add_node(
        &mut self,
        call: &str,
        out: *mut Handle,
        graph: Handle,
        after: *const Handle,
        count: usize,
        (kind, graphs): (u32, usize),
    ) -> u32 {
        let mut edges = Vec::new();
        for index in 0..count {
            // SAFETY: the caller has `count` handles there.
            let before = unsafe { *after.add(index) };
            if !self.nodes(call, graph).contains(&before) {
                mistake(call, &format!("{before:#x} is no node of the graph"));
            }
            edges.push((before, 0));
        }
        let graphs: Vec<Handle> = (0..graphs).map(|_| self.add(Object::Graph { nodes: Vec::new() })).collect();
        let graphs = Vec::leak(graphs);
        let (params, attributes) = (Vec::new(), Attributes::new());
        let node = self.add(Object::Node { kind, graphs, after: edges, params, attributes });
        self.nodes(call, graph).push(node);
        // SAFETY: the caller has room for the handle.
        unsafe { *out = node };
        0
    }

    /// Notes the parameters of a node, if it was added.
    pub unsafe fn note(&mut self, added: u32, node: *const Handle, from: *const c_void, bytes: usize) -> u32 {
        // SAFETY: the caller has a handle there if the node was added, and so many bytes of parameters.
        if added == 0 && let Some(Object::Node { params, .. }) = self.objects.get_mut(unsafe { &*node }) {
            // SAFETY: as above.
            *params = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), bytes) }.to_vec();
        }
        added
    }

    /// Changes the parameters of a node.
    pub unsafe fn change(&mut self, call: &str, node: Handle, from: *const c_void, bytes: usize) -> u32 {
        self.node(call, node);
        // SAFETY: by the caller's promise.
        unsafe { self.note(0, &node, from, bytes) }
    }

    /// The nodes of a graph, in the order in which they were added.
    pub fn copy_of(&self, call: &str, graph: Handle) -> Vec<(Handle, u32, Vec<u8>)> {
        let Some(Object::Graph { nodes }) = self.objects.get(&graph) else {
            mistake(call, &format!("{graph:#x} is no graph"));
        };
        let node = |handle: &Handle| match self.objects.get(handle) {
            Some(Object::Node { kind, params, .. }) => (*handle, *kind, params.clone()),
            other => mistake(call, &format!("{handle:#x} is no node: {other:?}")),
        };
        nodes.iter().map(node).collect()
    }

    /// Tells the parameters of a node of a kind.
    pub unsafe fn params(&self, call: &str, node: Handle, kind: u32, out: *mut c_void) -> u32 {
        match self.objects.get(&node) {
            Some(Object::Node { kind: found, params, .. }) if *found == kind => {
                // SAFETY: the caller has room for them.
                unsafe { ptr::copy_nonoverlapping(params.as_ptr(), out.cast(), params.len()) };
                0
            }
            other => mistake(call, &format!("{node:#x} is no node of that kind: {other:?}")),
        }
    }

    /// Something is queued on a stream: it runs at once, or is captured.
    pub fn queue(&mut self, call: &str, stream: Handle) -> Result<bool, u32> {
        let (capture, nodes) = self.stream(call, stream);
        match *capture {
            0 => Ok(true),
            1 => {
                *nodes += 1;
                Ok(false)
            }
            _ => Err(CAPTURE_INVALIDATED),
        }
    }
}
