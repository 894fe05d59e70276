//! Ranges for the timelines of tools such as Nsight Systems: NVTX 3, by the feature `nvtx`.
//!
//! NVTX is no library: the header of each program loads the library of the tool, which `NVTX_INJECTION64_PATH` names,
//! and the tool fills tables of functions. This file does what `nvtxDetail/nvtxImpl.h` and `nvtxInit.h` do (NVTX 3.3).
//! cudarc's bindings need `libnvToolsExt`, which CUDA 13 does not have, and other crates need a compiler of C.
//!
//! Without a tool, a range is a look at a word in memory; without the feature it is nothing.

use std::marker::PhantomData;

/// A range on this thread's timeline, which ends when this is dropped. A tool pairs beginnings and ends by thread.
#[must_use = "the range ends when this is dropped"]
pub(crate) struct Range {
    #[cfg(feature = "nvtx")]
    tool: Option<&'static tool::Tool>,
    /// Keeps the end on the thread of the beginning.
    not_send: PhantomData<*const ()>,
}

/// Begins a range. Its name is made only if a tool listens.
#[inline]
pub(crate) fn range(name: impl FnOnce() -> String) -> Range {
    #[cfg(not(feature = "nvtx"))]
    let _ = name;
    Range {
        #[cfg(feature = "nvtx")]
        tool: tool::of_process().inspect(|tool| tool.push(name())),
        not_send: PhantomData,
    }
}

#[cfg(feature = "nvtx")]
impl Drop for Range {
    #[inline]
    fn drop(&mut self) {
        if let Some(tool) = self.tool {
            tool.pop();
        }
    }
}

/// The tool that listens.
#[cfg(feature = "nvtx")]
mod tool {
    use libloading::Library;
    use std::env;
    use std::ffi::{c_char, c_int, c_void};
    use std::ptr;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicPtr, Ordering};

    /// The domain of all ranges: tools show and filter them by it.
    const DOMAIN: &std::ffi::CStr = c"cuda_graph";
    /// The version that this speaks (`NVTX_VERSION`).
    const VERSION: u16 = 3;
    /// The variable by which a tool names its library.
    const PATH: &str = if cfg!(target_pointer_width = "64") {
        "NVTX_INJECTION64_PATH"
    } else {
        "NVTX_INJECTION32_PATH"
    };
    /// The path that stands for no tool.
    const NONE: &str = "./.";
    /// The function of a tool's library.
    const INITIALIZE: &[u8] = b"InitializeInjectionNvtx2\0";
    /// `NVTX_ETID_CALLBACKS` and `NVTX_ETID_VERSIONINFO`.
    const CALLBACKS: u32 = 1;
    const VERSION_INFO: u32 = 3;
    /// The functions of each module of NVTX (`NvtxCallbackModule`), the first of which is none.
    const MODULES: [usize; 7] = [0, 16, 9, 15, 7, 16, 7];
    /// The module of domains (`NVTX_CB_MODULE_CORE2`), and its functions (`NvtxCallbackIdCore2`).
    const CORE2: usize = 5;
    const DOMAIN_RANGE_PUSH_EX: usize = 4;
    const DOMAIN_RANGE_POP: usize = 5;
    const DOMAIN_CREATE_A: usize = 12;

    /// `nvtxEventAttributes_t`, with a message alone.
    #[repr(C)]
    struct EventAttributes {
        version: u16,
        size: u16,
        category: u32,
        color_type: i32,
        color: u32,
        payload_type: i32,
        reserved: i32,
        payload: u64,
        message_type: i32,
        message: *const c_char,
    }

    /// `NVTX_MESSAGE_TYPE_ASCII`, which may be UTF-8.
    const TEXT: i32 = 1;

    type CreateDomain = unsafe extern "C" fn(*const c_char) -> *mut c_void;
    type Push = unsafe extern "C" fn(*mut c_void, *const EventAttributes) -> c_int;
    type Pop = unsafe extern "C" fn(*mut c_void) -> c_int;
    type GetExportTable = unsafe extern "C" fn(u32) -> *const c_void;
    type Initialize = unsafe extern "C" fn(GetExportTable) -> c_int;

    /// A place for a function of the tool.
    type Slot = AtomicPtr<c_void>;

    /// The places of a module. The tool gets the addresses of the places, and a null after the last.
    struct Module {
        slots: &'static [Slot],
        addresses: &'static [AtomicPtr<*mut c_void>],
    }

    impl Module {
        /// Places for this number of functions. The first is none: functions are counted from 1.
        fn new(functions: usize) -> Self {
            let slots: &[Slot] = Vec::leak((0..functions).map(|_| Slot::default()).collect());
            let address = |(index, slot): (usize, &Slot)| match index {
                0 => AtomicPtr::default(),
                _ => AtomicPtr::new(slot.as_ptr()),
            };
            let addresses = slots.iter().enumerate().map(address).chain([AtomicPtr::default()]);
            Self {
                slots,
                addresses: Vec::leak(addresses.collect()),
            }
        }
    }

    /// The tables that the tool fills.
    fn modules() -> &'static [Module; 7] {
        static MADE: OnceLock<[Module; 7]> = OnceLock::new();
        MADE.get_or_init(|| MODULES.map(Module::new))
    }

    /// `NvtxExportTableCallbacks`.
    #[repr(C)]
    struct Callbacks {
        size: usize,
        get_module: unsafe extern "C" fn(c_int, *mut *const AtomicPtr<*mut c_void>, *mut u32) -> c_int,
    }

    /// `NvtxExportTableVersionInfo`.
    #[repr(C)]
    struct VersionInfo {
        size: usize,
        version: u32,
        reserved: u32,
        set_version_of_tool: unsafe extern "C" fn(u32),
    }

    static EXPORTED_CALLBACKS: Callbacks = Callbacks {
        size: size_of::<Callbacks>(),
        get_module,
    };
    static EXPORTED_VERSION: VersionInfo = VersionInfo {
        size: size_of::<VersionInfo>(),
        version: VERSION as u32,
        reserved: 0,
        set_version_of_tool,
    };

    /// The table of this number; null if there is none. The tool calls this.
    unsafe extern "C" fn export_table(id: u32) -> *const c_void {
        match id {
            CALLBACKS => ptr::from_ref(&EXPORTED_CALLBACKS).cast(),
            VERSION_INFO => ptr::from_ref(&EXPORTED_VERSION).cast(),
            _ => ptr::null(),
        }
    }

    /// Gives the tool a module's places for functions, and their number. Returns whether there is such a module.
    unsafe extern "C" fn get_module(
        module: c_int,
        table: *mut *const AtomicPtr<*mut c_void>,
        count: *mut u32,
    ) -> c_int {
        let known = usize::try_from(module).ok().filter(|module| *module > 0);
        let Some(module) = known.and_then(|module| modules().get(module)) else {
            return 0;
        };
        if !count.is_null() {
            // SAFETY: the tool passes null or the address of a number.
            unsafe { count.write(module.slots.len() as u32) };
        }
        if !table.is_null() {
            // SAFETY: the tool passes null or the address of a pointer.
            unsafe { table.write(module.addresses.as_ptr()) };
        }
        1
    }

    unsafe extern "C" fn set_version_of_tool(_: u32) {}

    /// A tool, with its functions for ranges.
    pub(super) struct Tool {
        /// The domain, by its address: null is one, too.
        domain: AtomicPtr<c_void>,
        push: Push,
        pop: Pop,
    }

    /// The tool of this process, if there is one. The first call looks for it.
    #[inline]
    pub(super) fn of_process() -> Option<&'static Tool> {
        static FOUND: OnceLock<Option<Tool>> = OnceLock::new();
        FOUND.get_or_init(find).as_ref()
    }

    /// Loads the library that the environment names.
    #[cold]
    fn find() -> Option<Tool> {
        let path = env::var_os(PATH).filter(|path| !path.is_empty() && path != NONE)?;
        // SAFETY: whoever starts the process with a tool wants its library loaded, and its initialisers run.
        let library = unsafe { Library::new(&path) };
        let library = library.inspect_err(
            |error| tracing::warn!(target: "graph_runtime", ?path, %error, "the tool's library cannot be loaded"),
        );
        let library: &Library = Box::leak(Box::new(library.ok()?)); // its functions are called for ever
        // SAFETY: the type is that of NVTX's header.
        let initialize = unsafe { library.get::<Initialize>(INITIALIZE) }.ok()?;
        // SAFETY: it is the function of a tool, which stays loaded.
        unsafe { Tool::start(*initialize) }
    }

    impl Tool {
        /// Lets a tool fill the tables. `None` if it fails, or has no ranges.
        ///
        /// # Safety
        ///
        /// The function does what NVTX asks of tools: it writes only functions of the right types into the places that
        /// it is given, and these may be called from any thread from now on.
        unsafe fn start(initialize: Initialize) -> Option<Self> {
            // SAFETY: by the caller's promise.
            if unsafe { initialize(export_table) } == 0 {
                return None;
            }
            let slots = modules()[CORE2].slots;
            let function = |index: usize| {
                let function = slots[index].load(Ordering::Acquire);
                (!function.is_null()).then_some(function)
            };
            let (push, pop) = (function(DOMAIN_RANGE_PUSH_EX)?, function(DOMAIN_RANGE_POP)?);
            // SAFETY: by the caller's promise, the place of this number has a function of this type.
            let push = unsafe { std::mem::transmute::<*mut c_void, Push>(push) };
            // SAFETY: as above.
            let pop = unsafe { std::mem::transmute::<*mut c_void, Pop>(pop) };
            let domain = function(DOMAIN_CREATE_A).map_or(ptr::null_mut(), |create| {
                // SAFETY: as above.
                let create = unsafe { std::mem::transmute::<*mut c_void, CreateDomain>(create) };
                // SAFETY: the name ends with a NUL.
                unsafe { create(DOMAIN.as_ptr()) }
            });
            Some(Self {
                domain: AtomicPtr::new(domain),
                push,
                pop,
            })
        }

        /// Begins a range of this name.
        #[cold]
        pub(super) fn push(&self, name: String) {
            let mut bytes = name.into_bytes();
            bytes.retain(|byte| *byte != 0);
            bytes.push(0);
            let attributes = EventAttributes {
                version: VERSION,
                size: size_of::<EventAttributes>() as u16,
                category: 0,
                color_type: 0,
                color: 0,
                payload_type: 0,
                reserved: 0,
                payload: 0,
                message_type: TEXT,
                message: bytes.as_ptr().cast(),
            };
            // SAFETY: the function is that of the tool (`start`); the attributes and the text live until it returns.
            unsafe { (self.push)(self.domain.load(Ordering::Relaxed), &attributes) };
        }

        /// Ends the range that this thread began last.
        #[cold]
        pub(super) fn pop(&self) {
            // SAFETY: as in `push`.
            unsafe { (self.pop)(self.domain.load(Ordering::Relaxed)) };
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::ffi::CStr;
        use std::sync::Mutex;

        static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

        fn tell(text: String) {
            TOLD.lock().unwrap().push(text);
        }

        unsafe extern "C" fn create(name: *const c_char) -> *mut c_void {
            // SAFETY: the name ends with a NUL.
            tell(format!("domain {}", unsafe { CStr::from_ptr(name) }.to_str().unwrap()));
            ptr::without_provenance_mut(7)
        }

        unsafe extern "C" fn push(domain: *mut c_void, attributes: *const EventAttributes) -> c_int {
            // SAFETY: the attributes live.
            let attributes = unsafe { &*attributes };
            assert_eq!(
                (attributes.version, attributes.size, attributes.message_type),
                (3, 48, 1)
            );
            // SAFETY: the message ends with a NUL.
            let message = unsafe { CStr::from_ptr(attributes.message) }.to_str().unwrap();
            tell(format!("{} {message}", domain.addr()));
            0
        }

        unsafe extern "C" fn pop(domain: *mut c_void) -> c_int {
            tell(format!("{} end", domain.addr()));
            0
        }

        /// A tool as NVIDIA's are: it takes the tables by their numbers, and fills what it knows.
        #[expect(
            clippy::multiple_unsafe_ops_per_block,
            reason = "each is a call of a function, or a read of a table, of this file"
        )]
        unsafe extern "C" fn initialize(get: GetExportTable) -> c_int {
            // SAFETY: the functions and tables are those of this file.
            unsafe {
                assert!(get(0).is_null() && get(2).is_null());
                let info = &*get(VERSION_INFO).cast::<VersionInfo>();
                (info.set_version_of_tool)(info.version);
                assert_eq!((info.size, info.version), (24, 3));
                let callbacks = &*get(CALLBACKS).cast::<Callbacks>();
                assert_eq!(callbacks.size, 16);
                for module in [0, 7, -1] {
                    assert_eq!((callbacks.get_module)(module, ptr::null_mut(), ptr::null_mut()), 0);
                }
                for (module, functions) in MODULES.into_iter().enumerate().skip(1) {
                    let (mut table, mut count) = (ptr::null(), 0);
                    assert_eq!((callbacks.get_module)(module as c_int, &mut table, &mut count), 1);
                    assert_eq!(count as usize, functions);
                    let place = |index: usize| (*table.add(index)).load(Ordering::Relaxed);
                    assert!(place(0).is_null() && place(functions).is_null());
                    assert!((1..functions).all(|index| !place(index).is_null()));
                    if module == CORE2 {
                        *place(DOMAIN_CREATE_A) = create as *mut c_void;
                        *place(DOMAIN_RANGE_PUSH_EX) = push as *mut c_void;
                        *place(DOMAIN_RANGE_POP) = pop as *mut c_void;
                    }
                }
            }
            1
        }

        unsafe extern "C" fn fail(_: GetExportTable) -> c_int {
            0
        }

        #[test]
        fn a_tool_hears_of_ranges() {
            // SAFETY: `fail` writes no functions.
            assert!(unsafe { Tool::start(fail) }.is_none());
            // SAFETY: `initialize` writes functions of the right types.
            let tool = unsafe { Tool::start(initialize) }.expect("it has ranges");
            tool.push("launch Train".to_owned());
            tool.push("a\0b".to_owned());
            tool.pop();
            tool.pop();
            let told = std::mem::take(&mut *TOLD.lock().unwrap());
            assert_eq!(told, ["domain cuda_graph", "7 launch Train", "7 ab", "7 end", "7 end"]);
        }
    }
}
