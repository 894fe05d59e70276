//! Each rule of refusal, asked of the driver: `cuda-graph-driver/src/rules.rs` lists them.

use crate::rules::{self, Rule};
use crate::setup::{Setup, call, made};
use crate::{has_driver, is_software};
use graph_runtime::cudarc::driver::sys::{self, CUresult};
use std::env;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::process::Command;
use std::ptr;

/// Brings the condition of a rule about, and makes the call.
type Provoke = fn(&Setup) -> CUresult;

/// A value of zeros of a struct of C's.
fn zeroed<T: Copy>() -> T {
    // SAFETY: the structs of this file are numbers and addresses, for which all zeros are values.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

fn add_empty(graph: sys::CUgraph, after: &[sys::CUgraphNode]) -> CUresult {
    let mut node = ptr::null_mut();
    call!(cuGraphAddEmptyNode(&mut node, graph, after.as_ptr(), after.len()))
}

unsafe extern "C" fn nothing(_: *mut c_void) {}

fn host_params() -> sys::CUDA_HOST_NODE_PARAMS {
    sys::CUDA_HOST_NODE_PARAMS {
        fn_: Some(nothing),
        userData: ptr::null_mut(),
    }
}

/// Sets a node of [`Setup::four`] to a kernel.
fn set_kernel(setup: &Setup, node: usize, threads: u32) -> CUresult {
    let (exec, nodes) = setup.four();
    let mut data = setup.data;
    let mut pointers = [(&raw mut data).cast::<c_void>()];
    let params = setup.kernel_params(1, threads, 0, &mut pointers);
    call!(cuGraphExecKernelNodeSetParams_v2(exec, nodes[node], &params))
}

/// Sets a node of [`Setup::four`] to a copy.
fn set_copy(setup: &Setup, node: usize, from_host: bool, rows: usize) -> CUresult {
    let (exec, nodes) = setup.four();
    let params = setup.copy_params(from_host, rows);
    let context = setup.context.cu_ctx();
    call!(cuGraphExecMemcpyNodeSetParams(exec, nodes[node], &params, context))
}

/// Sets a node of [`Setup::four`] to a memset.
fn set_fill(setup: &Setup, node: usize, rows: usize) -> CUresult {
    let (exec, nodes) = setup.four();
    let params = setup.fill_params(4, rows);
    let context = setup.context.cu_ctx();
    call!(cuGraphExecMemsetNodeSetParams(exec, nodes[node], &params, context))
}

fn instantiate(graph: sys::CUgraph, flags: u64) -> CUresult {
    let mut exec = ptr::null_mut();
    let mut params: sys::CUDA_GRAPH_INSTANTIATE_PARAMS = zeroed();
    params.flags = flags;
    call!(cuGraphInstantiateWithParams(&mut exec, graph, &mut params))
}

/// Makes a call while the stream is captured.
fn captured(setup: &Setup, call: impl FnOnce() -> CUresult) -> CUresult {
    setup.begin(&setup.stream, 2);
    let code = call();
    setup.end(&setup.stream);
    code
}

/// Updates an executable graph of a copy and a memset from a graph that `other` makes.
fn update(setup: &Setup, other: fn(&Setup, sys::CUgraph)) -> CUresult {
    let graph = setup.graph();
    setup.copy(graph, false, 1);
    setup.fill(graph, 1);
    let exec = setup.exec(graph);
    let new = setup.graph();
    other(setup, new);
    let mut info = zeroed();
    call!(cuGraphExecUpdate_v2(exec, new, &mut info))
}

fn texture(address: sys::CUdeviceptr, kind: u32) -> ([u64; 18], [u32; 32]) {
    let (mut resource, mode) = ([0_u64; 18], [0_u32; 32]);
    // The kind; the address, the format and the channels, and the bytes.
    (resource[0], resource[1], resource[2], resource[3]) = (kind.into(), address, 32 | 1 << 32, 64);
    (resource, mode)
}

/// The rules, and how they are provoked.
const PROVOKED: &[(&str, Provoke)] = &[
    ("FOREIGN_DEPENDENCY", |setup| {
        add_empty(setup.graph(), &[setup.empty(setup.graph())])
    }),
    ("DEPENDENCY_TWICE", |setup| {
        let graph = setup.graph();
        let node = setup.empty(graph);
        add_empty(graph, &[node, node])
    }),
    ("NODE_IN_BODY", |setup| {
        let graph = setup.graph();
        match setup.conditional(graph, [0, 1], 0) {
            Ok(body) => {
                let mut node = ptr::null_mut();
                let added = call!(cuGraphAddHostNode(&mut node, body, ptr::null(), 0, &host_params()));
                assert_eq!(added, CUresult::CUDA_SUCCESS);
                instantiate(graph, 0)
            }
            Err(code) => code,
        }
    }),
    ("CONDITIONAL_IN_CHILD", |setup| {
        let (graph, child) = (setup.graph(), setup.graph());
        if let Err(code) = setup.conditional(child, [0, 1], 0) {
            return code;
        }
        let mut node = ptr::null_mut();
        call!(cuGraphAddChildGraphNode(&mut node, graph, ptr::null(), 0, child))
    }),
    ("ALLOCATION_IN_CHILD", |setup| {
        setup.begin(&setup.stream, 2);
        let mut address = 0;
        let allocated = call!(cuMemAllocAsync(&mut address, 64, setup.stream.cu_stream()));
        assert_eq!(allocated, CUresult::CUDA_SUCCESS);
        let (mut child, mut node) = (ptr::null_mut(), ptr::null_mut());
        let ended = call!(cuStreamEndCapture(setup.stream.cu_stream(), &mut child));
        assert_eq!(ended, CUresult::CUDA_SUCCESS);
        call!(cuGraphAddChildGraphNode(
            &mut node,
            setup.graph(),
            ptr::null(),
            0,
            child
        ))
    }),
    ("CONDITIONAL_SIZE", |setup| {
        match setup.conditional(setup.graph(), [1, 2], 0) {
            Ok(_) => CUresult::CUDA_SUCCESS,
            Err(code) => code,
        }
    }),
    ("ATTRIBUTE_OF_OTHER", |setup| {
        let node = setup.empty(setup.graph());
        let value = sys::CUkernelNodeAttrValue { pad: [0; 64] };
        call!(cuGraphKernelNodeSetAttribute(
            node,
            sys::CUkernelNodeAttrID::CU_LAUNCH_ATTRIBUTE_PRIORITY,
            &value
        ))
    }),
    ("FOREIGN_EDGE", |setup| {
        let graph = setup.graph();
        setup.edge(graph, setup.empty(setup.graph()), setup.empty(graph), false)
    }),
    ("EDGE_TO_ITSELF", |setup| {
        let graph = setup.graph();
        let node = setup.empty(graph);
        setup.edge(graph, node, node, false)
    }),
    ("EDGE_TWICE", |setup| {
        let graph = setup.graph();
        let (from, to) = (setup.empty(graph), setup.empty(graph));
        assert_eq!(setup.edge(graph, from, to, false), CUresult::CUDA_SUCCESS);
        setup.edge(graph, from, to, false)
    }),
    ("PROGRAMMATIC_BETWEEN_OTHERS", |setup| {
        let graph = setup.graph();
        setup.edge(graph, setup.empty(graph), setup.empty(graph), true)
    }),
    ("CIRCLE", |setup| {
        let graph = setup.graph();
        let (from, to) = (setup.empty(graph), setup.empty(graph));
        setup.edge(graph, from, to, false);
        let closed = setup.edge(graph, to, from, false);
        if closed != CUresult::CUDA_SUCCESS {
            return closed;
        }
        instantiate(graph, 0)
    }),
    ("UNKNOWN_FLAGS", |setup| instantiate(setup.graph(), 1 << 20)),
    ("FLAGS_APART", |setup| instantiate(setup.graph(), 1 | 4)),
    ("NODE_OF_ANOTHER_GRAPH", |setup| {
        let (exec, _) = setup.four();
        call!(cuGraphNodeSetEnabled(exec, setup.kernel(setup.graph()), 0))
    }),
    ("ENABLED_OF_OTHER_KINDS", |setup| {
        let (exec, nodes) = setup.four();
        call!(cuGraphNodeSetEnabled(exec, nodes[3], 0))
    }),
    ("SET_KERNEL_OF_OTHER", |setup| set_kernel(setup, 1, 1)),
    ("SET_COPY_OF_OTHER", |setup| set_copy(setup, 2, false, 1)),
    ("SET_FILL_OF_OTHER", |setup| set_fill(setup, 1, 1)),
    ("SET_CALL_OF_OTHER", |setup| {
        let (exec, nodes) = setup.four();
        call!(cuGraphExecHostNodeSetParams(exec, nodes[1], &host_params()))
    }),
    ("SET_COPY_ROWS", |setup| set_copy(setup, 1, false, 2)),
    ("SET_COPY_KIND", |setup| set_copy(setup, 1, true, 1)),
    ("SET_FILL_ROWS", |setup| set_fill(setup, 2, 2)),
    ("KERNEL_GRID", |setup| setup.add_kernel(setup.graph(), 0, 1, 0).0),
    ("KERNEL_THREADS", |setup| setup.add_kernel(setup.graph(), 1, 1025, 0).0),
    ("KERNEL_SHARED", |setup| {
        setup.add_kernel(setup.graph(), 1, 1, 64 << 10).0
    }),
    ("SET_KERNEL_THREADS", |setup| set_kernel(setup, 0, 1025)),
    ("FILL_ELEMENT", |setup| {
        let mut node = ptr::null_mut();
        let params = setup.fill_params(3, 1);
        call!(cuGraphAddMemsetNode(
            &mut node,
            setup.graph(),
            ptr::null(),
            0,
            &params,
            setup.context.cu_ctx()
        ))
    }),
    ("UPDATE_COUNT", |setup| {
        update(setup, |setup, graph| {
            setup.copy(graph, false, 1);
            setup.fill(graph, 1);
            setup.empty(graph);
        })
    }),
    ("UPDATE_KIND", |setup| {
        update(setup, |setup, graph| {
            setup.copy(graph, false, 1);
            setup.empty(graph);
        })
    }),
    ("UPDATE_EDGES", |setup| {
        update(setup, |setup, graph| {
            let (from, to) = (setup.copy(graph, false, 1), setup.fill(graph, 1));
            setup.edge(graph, from, to, false);
        })
    }),
    ("UPDATE_COPY_KIND", |setup| {
        update(setup, |setup, graph| {
            setup.copy(graph, true, 1);
            setup.fill(graph, 1);
        })
    }),
    ("LAUNCH_ON_CAPTURING", |setup| {
        let (exec, _) = setup.four();
        captured(setup, || call!(cuGraphLaunch(exec, setup.stream.cu_stream())))
    }),
    ("SYNCHRONIZE_CAPTURING", |setup| {
        captured(setup, || call!(cuStreamSynchronize(setup.stream.cu_stream())))
    }),
    ("QUERY_CAPTURING", |setup| {
        captured(setup, || call!(cuStreamQuery(setup.stream.cu_stream())))
    }),
    ("ALLOCATE_IN_CAPTURE", |setup| {
        setup.begin(&setup.stream, 1);
        let mut address = 0;
        let code = call!(cuMemAlloc_v2(&mut address, 64));
        setup.end(&setup.stream);
        code
    }),
    ("CAPTURE_TWICE", |setup| {
        captured(setup, || setup.begin(&setup.stream, 2))
    }),
    ("END_WITHOUT_CAPTURE", |setup| setup.end(&setup.stream)),
    ("END_UNJOINED", |setup| {
        fork(setup);
        call!(cuMemsetD8Async(setup.data, 1, 4, setup.other.cu_stream()));
        setup.end(&setup.stream)
    }),
    ("END_ON_OTHER_STREAM", |setup| {
        fork(setup);
        let code = setup.end(&setup.other);
        setup.end(&setup.stream);
        code
    }),
    ("END_INVALID", |setup| {
        setup.begin(&setup.stream, 2);
        call!(cuStreamSynchronize(setup.stream.cu_stream()));
        setup.end(&setup.stream)
    }),
    ("CAPTURE_NULL", |setup| setup.begin(&setup.context.default_stream(), 2)),
    ("ISOLATION", |setup| {
        let event = setup.event();
        call!(cuEventRecord(event, setup.other.cu_stream()));
        captured(setup, || call!(cuStreamWaitEvent(setup.stream.cu_stream(), event, 0)))
    }),
    ("MERGE", |setup| {
        let event = setup.event();
        setup.begin(&setup.stream, 2);
        setup.begin(&setup.other, 2);
        call!(cuEventRecord(event, setup.other.cu_stream()));
        let code = call!(cuStreamWaitEvent(setup.stream.cu_stream(), event, 0));
        setup.end(&setup.stream);
        setup.end(&setup.other);
        code
    }),
    ("QUERY_CAPTURED_EVENT", |setup| {
        let event = setup.event();
        call!(cuEventRecord(event, setup.stream.cu_stream()));
        call!(cuEventSynchronize(event));
        captured(setup, || {
            call!(cuEventRecord(event, setup.stream.cu_stream()));
            call!(cuEventQuery(event))
        })
    }),
    ("FREE_TWICE", |_| {
        let address = made!(cuMemAlloc_v2(address, 64));
        assert_eq!(call!(cuMemFree_v2(address)), CUresult::CUDA_SUCCESS);
        call!(cuMemFree_v2(address))
    }),
    ("ALLOCATE_NOTHING", |_| {
        let mut address = 0;
        call!(cuMemAlloc_v2(&mut address, 0))
    }),
    ("REGISTER_TWICE", |_| {
        let memory = vec![0_u8; 1 << 16].leak();
        let first = memory.as_mut_ptr().cast();
        assert_eq!(call!(cuMemHostRegister_v2(first, 1 << 16, 0)), CUresult::CUDA_SUCCESS);
        call!(cuMemHostRegister_v2(first, 1 << 16, 0))
    }),
    ("UNREGISTER_UNKNOWN", |_| {
        call!(cuMemHostUnregister(vec![0_u8; 1 << 16].leak().as_mut_ptr().cast()))
    }),
    ("NO_SUCH_FUNCTION", |setup| {
        let mut function = ptr::null_mut();
        call!(cuModuleGetFunction(&mut function, setup.module, c"two".as_ptr()))
    }),
    ("NO_SUCH_VARIABLE", |setup| {
        let (mut address, mut bytes) = (0, 0);
        call!(cuModuleGetGlobal_v2(
            &mut address,
            &mut bytes,
            setup.module,
            c"nothing".as_ptr()
        ))
    }),
    ("INVALID_PTX", |_| {
        let text = c".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { no_such_instruction; }\n";
        let mut module = ptr::null_mut();
        call!(cuModuleLoadData(&mut module, text.as_ptr().cast()))
    }),
    ("NO_SUCH_PARAMETER", |setup| {
        let (mut offset, mut bytes) = (0, 0);
        call!(cuFuncGetParamInfo(setup.function, 1, &mut offset, &mut bytes))
    }),
    ("NO_SUCH_DEVICE", |_| {
        let mut device = 0;
        call!(cuDeviceGet(&mut device, 1000))
    }),
    ("CHILD_OF_OTHER", |setup| {
        let mut graph = ptr::null_mut();
        call!(cuGraphChildGraphNodeGetGraph(setup.empty(setup.graph()), &mut graph))
    }),
    ("PARAMS_OF_OTHER", |setup| {
        let mut params = setup.copy_params(false, 1);
        call!(cuGraphMemcpyNodeGetParams(setup.empty(setup.graph()), &mut params))
    }),
    ("TEXTURE_ADDRESS", |setup| {
        let (resource, mode) = texture(setup.data + 4, 2);
        let mut made = 0;
        call!(cuTexObjectCreate(
            &mut made,
            resource.as_ptr().cast(),
            mode.as_ptr().cast(),
            ptr::null()
        ))
    }),
    ("ARRAY_WITHOUT_WIDTH", |_| {
        let mut descriptor: sys::CUDA_ARRAY3D_DESCRIPTOR = zeroed_array();
        (descriptor.Height, descriptor.NumChannels) = (4, 1);
        let mut array = ptr::null_mut();
        call!(cuArray3DCreate_v2(&mut array, &descriptor))
    }),
    ("SURFACE_OF_MEMORY", |setup| {
        let (resource, _) = texture(setup.data, 2);
        let mut made = 0;
        call!(cuSurfObjectCreate(&mut made, resource.as_ptr().cast()))
    }),
];

/// The description of an array of floats.
fn zeroed_array() -> sys::CUDA_ARRAY3D_DESCRIPTOR {
    sys::CUDA_ARRAY3D_DESCRIPTOR {
        Width: 0,
        Height: 0,
        Depth: 0,
        Format: sys::CUarray_format::CU_AD_FORMAT_FLOAT,
        NumChannels: 0,
        Flags: 0,
    }
}

/// Begins a capture of one stream, and forks it to the other.
fn fork(setup: &Setup) {
    let event = setup.event();
    setup.begin(&setup.stream, 2);
    call!(cuEventRecord(event, setup.stream.cu_stream()));
    call!(cuStreamWaitEvent(setup.other.cu_stream(), event, 0));
}

/// The fewest rules that a driver must agree with.
const LEAST: usize = 40;

/// The environment variable of a process that asks for one rule.
const RULE: &str = "CUDA_GRAPH_RULE";
const TEST: &str = "provoked::the_driver_refuses_what_the_rules_say";

/// Every rule is asked of the driver, each in a process of its own, since a driver may crash. The driver of a GPU must
/// be as the list says where that is sure, and the one in software everywhere.
#[test]
#[ignore = "needs a CUDA device"]
fn the_driver_refuses_what_the_rules_say() {
    assert!(has_driver());
    if let Ok(name) = env::var(RULE) {
        let provoked = PROVOKED.iter().find(|(provoked, _)| *provoked == name);
        let (_, provoke) = provoked.expect("a rule of the list");
        let setup = Setup::new();
        println!("returned {}.", provoke(&setup) as u32);
        setup.context.synchronize().expect("the context is of use");
        return;
    }
    let (mut agreed, mut others) = (0, Vec::new());
    for rule in rules::ALL {
        let Rule {
            name,
            call,
            code,
            when,
            sure,
        } = rule;
        if !PROVOKED.iter().any(|(provoked, _)| provoked == name) {
            continue;
        }
        let mut child = Command::new(env::current_exe().expect("this program has a path"));
        child
            .args(["--exact", TEST, "--nocapture", "--include-ignored"])
            .env(RULE, name);
        let output = child.output().expect("this program runs again");
        let text = String::from_utf8_lossy(&output.stdout);
        let found = text
            .split_once("returned ")
            .and_then(|(_, rest)| rest.split('.').next());
        let found = found.map_or_else(|| format!("it ended by {}", output.status), str::to_owned);
        let ended = if output.status.success() {
            ""
        } else {
            ", and then failed"
        };
        println!("driver: {name}: {call}, {when}: {found}{ended}; expected {code}, sure: {sure}");
        let is_other = found != code.to_string() || !output.status.success();
        agreed += usize::from(!is_other);
        if is_other && (*sure || is_software()) {
            others.push(format!("{name}: {found}{ended}, not {code}"));
        }
    }
    println!("driver: {agreed} of {} rules are as the list says", rules::ALL.len());
    assert!(others.is_empty(), "{others:#?}");
    assert!(agreed >= LEAST, "only {agreed} rules");
}

/// Rules that no call of this file brings about, each with the reason.
const UNASKED: &[(&str, &str)] = &[("CAPTURE_MODE", "Rust has no value for a mode that there is not")];

#[test]
fn every_rule_is_asked() {
    for rule in rules::ALL {
        let is_asked = PROVOKED.iter().any(|(name, _)| *name == rule.name);
        let is_unasked = UNASKED.iter().any(|(name, _)| *name == rule.name);
        assert!(is_asked != is_unasked, "{}", rule.name);
    }
    assert!(PROVOKED.len() >= LEAST, "{} rules", PROVOKED.len());
    assert!(
        PROVOKED
            .iter()
            .all(|(name, _)| rules::ALL.iter().any(|rule| rule.name == *name))
    );
}
