"""The questions: one statement with the cursor `‸` in it, beside correct statements and beside broken ones."""

# The mistakes in the same graph: the mark at which each is put (in the graph that is an expression, `first` and
# `last`), and the codes of the errors that editors show for it.
BESIDE = {
    "nothing": ({}, []),
    "a misspelt name in `after`": ({"before": "join broken after uplaod;"}, ["unknown-node"]),
    "an unknown resource": ({"behind": "memset broken = nothing <- 0.0;"}, ["unknown-resource"]),
    "`kernel broken =` before it": ({"before": "kernel broken ="}, ["syntax"]),
    "`kernel broken =` behind it": ({"behind": "kernel broken ="}, ["syntax"]),
    "half a copy": ({"before": "memcpy broken = input -> ;"}, ["syntax"]),
    "a misspelt keyword": ({"before": "kernle broken = kernel_forward<<<1, 1>>>(&mut data);"}, ["syntax"]),
    "half an argument": ({"before": "kernel broken = kernel_forward<<<1, CONFIG.>>>(&mut data);"}, ["syntax"]),
}

K = "kernel k = kernel_forward<<<1, N>>>"

# Kind of request, what it is about, text at the mark `here` (or `main`), what the answer has, what it must not have.
HERE = [
    # Paths of kernels.
    ("completion", "path of a kernel", "kernel k = kern‸<<<1, N>>>(&mut data) after download;", ["kernel_forward", "kernels"], ["forward"]),
    ("completion", "path not begun", "kernel k = ‸<<<1, N>>>(&mut data) after download;", ["kernel_forward", "kernels"], ["forward"]),
    ("completion", "path in a module", "kernel k = kernels::‸<<<1, N>>>(&mut data) after download;", ["kernel_forward"], ["Config"]),
    ("completion", "path, no more typed", "kernel k = kern‸", ["kernel_forward", "kernels"], []),
    ("completion", "path in a module, no more typed", "kernel k = kernels::‸", ["kernel_forward"], ["Config"]),
    ("completion", "path, then `;`", "kernel k = kernels::kernel‸;", ["kernel_forward"], ["Config"]),
    ("completion", "path of an unsafe kernel", "kernel k = unsafe kern‸<<<1, N>>>(&mut data);", ["kernel_forward"], []),
    ("completion", "path of a function value", "kernel k = unsafe (CON‸)<<<1, N>>>(&mut data);", ["CONFIG"], []),
    ("completion", "path of a child graph", "graph g = Sam‸", ["Sample"], []),
    ("hover", "path of a kernel", "kernel k = kernel_‸forward<<<1, N>>>(&mut data) after download;", ["Doubles every element"], ["extern crate"]),
    ("definition", "path of a kernel", "kernel k = kernel_‸forward<<<1, N>>>(&mut data) after download;", ["pub safe fn kernel_forward"], []),
    # Launch dimensions.
    ("completion", "dimension", "kernel k = kernel_forward<<<CON‸, N>>>(&mut data) after download;", ["CONFIG"], []),
    ("completion", "dimension not begun", "kernel k = kernel_forward<<<1, ‸>>>(&mut data) after download;", ["N", "CONFIG", "scale"], []),
    ("completion", "field in a dimension", "kernel k = kernel_forward<<<CONFIG.‸, N>>>(&mut data) after download;", ["rows", "rate"], ["CONFIG"]),
    ("completion", "field in a dimension, no more typed", "kernel k = kernel_forward<<<1, CONFIG.ro‸", ["rows"], ["CONFIG"]),
    ("hover", "constant in a dimension", "kernel k = kernel_forward<<<1, CON‸FIG.rows>>>(&mut data) after download;", ["The settings"], []),
    ("hover", "field in a dimension", "kernel k = kernel_forward<<<1, CONFIG.ro‸ws>>>(&mut data) after download;", ["How many rows"], []),
    ("hover", "generic in a dimension", "kernel k = kernel_forward<<<1, ‸N>>>(&mut data) after download;", ["const N: usize"], []),
    # Arguments by value.
    ("completion", "value", f"{K}(&mut data, CON‸) after download;", ["CONFIG", "scale"], []),
    ("completion", "field in a value", f"{K}(&mut data, CONFIG.‸) after download;", ["rate"], ["CONFIG"]),
    ("completion", "method in a value", f"{K}(&mut data, scale.‸) after download;", ["sqrt"], []),
    ("completion", "value of a memset", "memset m = data <- CONFIG.‸;", ["rate"], ["CONFIG"]),
    ("completion", "param in the value of a memset", "memset m = data <- sca‸ after download;", ["scale"], []),
    ("completion", "initial value of a param", "param p: f32 = CONFIG.‸;", ["rate"], ["CONFIG"]),
    ("hover", "param in a value", "memset m = data <- sca‸le * 2.0 after download;", ["scale: f32"], []),
    ("definition", "param in a value", "memset m = data <- sca‸le * 2.0 after download;", ["param  scale"], []),
    ("signatureHelp", "arguments of a kernel", f"{K}(‸) after download;", ["data: &mut Place"], []),
    # Places.
    ("completion", "place", f"{K}(&mut da‸) after download;", ["data"], ["upload"]),
    ("completion", "place not begun", f"{K}(&mut ‸) after download;", ["data"], ["upload"]),
    ("completion", "place, no more typed", "memcpy m = input -> da‸", ["data"], []),
    ("completion", "source of a copy", "memcpy m = inp‸ -> data after download;", ["input"], []),
    ("completion", "field in an index", "memset m = data[CONFIG.‸] <- 0.0;", ["rows"], []),
    ("hover", "place", f"{K}(&mut da‸ta) after download;", ["Place<[f32; N], OnDevice>"], ["extern crate"]),
    ("hover", "source of a copy", "memcpy m = in‸put -> data after download;", ["Place<[f32; N], OnHost>"], []),
    ("hover", "place with a part", "memset m = da‸ta[1..] <- 0.0 after download;", ["Place<[f32; N], OnDevice>"], []),
    ("definition", "place", f"{K}(&mut da‸ta) after download;", ["device data"], []),
    ("definition", "source of a copy", "memcpy m = in‸put -> data after download;", ["host   input"], []),
    # Types and lengths.
    ("completion", "type of a param", "param p: Conf‸ = CONFIG;", ["Config"], []),
    ("completion", "type of elements", "device x: [Conf‸; N];", ["Config"], []),
    ("completion", "length", "device x: [f32; CONFIG.‸];", ["rows"], []),
    ("completion", "length by a build argument", "device x: [f32; cou‸];", ["count", "CONFIG"], []),
    ("hover", "length by a build argument", "device x: [f32; cou‸nt];", ["count: usize"], []),
    ("definition", "length by a build argument", "device x: [f32; cou‸nt];", ["pub graph Sample"], []),
    ("completion", "dimension by a build argument", "kernel k = kernel_forward<<<1, cou‸>>>(&mut data) after download;", ["count"], []),
    # Names of nodes.
    ("completion", "node", "join j after downl‸;", ["download", "upload"], []),
    ("completion", "node not begun", "join j after ‸;", ["download"], []),
    ("completion", "second node", "join j after upload, downl‸", ["download"], []),
    ("completion", "node of a programmatic edge", f"{K}(&mut data) after programmatic(forw‸);", ["forward"], []),
    ("hover", "node", "join j after down‸load;", ["download: NodeId"], ["extern crate"]),
    ("definition", "node", "join j after down‸load;", ["memcpy download"], []),
    # Closures.
    ("completion", "body of a call", "call c = |&input, &mut output| { output.‸ } after download;", ["fill", "len"], []),
    ("completion", "method in a call", "call c = |&input, &mut output| output.fi‸ after download;", ["fill"], []),
    ("completion", "name in a call", "call c = |&input, &mut output| { outp‸ };", ["output"], []),
    ("completion", "parameter of a call", "call c = |&inp‸| {};", ["input"], []),
    ("completion", "field in a call", "call c = |&mut output| output[0] = CONFIG.‸;", ["rate"], []),
    ("hover", "name in a call", "call c = |&input, &mut output| { out‸put.len(); } after download;", ["output: &mut [f32; N]"], []),
    ("definition", "name in a call", "call c = |&mut output| { out‸put.len(); } after download;", ["call c"], []),
    ("completion", "argument of a capture", "capture c = (&da‸) |stream| {} after download;", ["data"], []),
    ("completion", "stream of a capture", "capture c = (&data) |stream| stream.‸ after download;", ["memory", "cu_stream", "workspace"], []),
    ("completion", "memory of a capture", "capture c = (&data) |stream| { let (data,) = stream.memory(); data.‸ };", ["address", "bytes"], []),
    ("hover", "stream of a capture", "capture c = (&data, &mut rest) |stream| { str‸eam.cu_stream(); Ok(()) } after download;", ["CaptureStream"], []),
    ("completion", "graph of a raw node", "raw r = unsafe (&mut data) |graph, after| { graph.‸ } after download;", ["memory"], []),
    ("completion", "nodes before a raw node", "raw r = unsafe (&mut data) |graph, after| after.‸;", ["len", "iter"], []),
    ("completion", "body of a capture", "capture c = (&data) |stream| { CONFIG.‸ } after download;", ["rate"], []),
    # Bodies.
    ("completion", "path in an if", "if i = flag { kernel k = kern‸ } after download;", ["kernel_forward"], []),
    ("completion", "condition", "if i = fl‸ { join j; } after download;", ["flag"], []),
    ("completion", "value in an else", "if i = flag { join j; } else { memset m = data <- CONFIG.‸; } after download;", ["rate"], []),
    ("completion", "node in a while", "while w = flag { join inner; join j after inn‸; } after download;", ["inner"], ["download"]),
    ("completion", "place in a switch", "switch s = flag { { join j; } { memset m = da‸ <- 0.0; } } after download;", ["data"], []),
    ("completion", "range of a for", "for i in 0..CONFIG.‸ { join j; }", ["rows"], []),
    ("completion", "variable of a for", "for step in 0..4 { memset m = data[st‸] <- 0.0; }", ["step"], []),
    ("completion", "argument of a child graph", "graph g = Sample(data: &mut da‸) after download;", ["data"], []),
    ("completion", "event", "record r = CONF‸ after download;", ["CONFIG"], []),
]

MAIN = [
    ("completion", "accessors", "graph.‸", ["input", "input_mut", "scale", "set_scale", "forward", "launch"], []),
    ("completion", "accessor begun", "graph.inp‸", ["input", "input_mut"], []),
    ("completion", "what an accessor lends", "graph.input()?.‸", ["len", "iter"], []),
    ("completion", "handle of a node", "graph.forward().‸", ["set_enabled"], []),
    ("completion", "associated items", "Sample::<4>::‸", ["build", "PLAN"], ["__statements"]),
    ("hover", "accessor", "graph.in‸put();", ["What goes in"], []),
    ("definition", "accessor", "graph.in‸put();", ["host   input"], []),
]

INSIDE = [
    ("completion", "path, in an expression", "kernel k = kern‸", ["kernel_forward", "kernels"], []),
    ("completion", "local", "memset m = values <- spe‸ after twice;", ["speed", "level"], []),
    ("completion", "field of a local", "memset m = values <- settings.‸;", ["rate"], ["settings"]),
    ("completion", "captured memory", "memcpy m = sou‸ -> values after twice;", ["source"], []),
    ("completion", "memory beside it", "kernel k = kernel_forward<<<1, 64>>>(&mut val‸) after twice;", ["values", "source"], []),
    ("completion", "captured memory in a call", "call c = |&source| source.‸ after twice;", ["len", "iter"], []),
    ("hover", "captured memory in a call", "call c = |&mut source| { sou‸rce[0] = speed; } after twice;", ["source: &mut [f32; 64]"], []),
    ("completion", "node, in an expression", "join j after twi‸;", ["twice", "load"], []),
    ("hover", "captured memory", "memcpy m = sou‸rce -> values after twice;", ["HostBuffer"], []),
    ("hover", "local", "memset m = values <- spe‸ed after twice;", ["speed: f32"], ["extern crate"]),
    ("hover", "memory beside it", "kernel k = kernel_forward<<<1, 64>>>(&mut val‸ues) after twice;", ["Place<[f32; 64], OnDevice>"], ["extern crate"]),
    ("definition", "captured memory", "memcpy m = sou‸rce -> values after twice;", ["pub fn anonymous"], []),
]

END = [
    ("completion", "accessors of an expression", "graph.‸", ["source", "values", "set_level", "load", "launch", "into_parts"], []),
    ("completion", "captured memory, lent", "graph.source()?.‸", ["len", "iter"], []),
]

CASES = [(*case[:2], {"here": case[2]}, *case[3:]) for case in HERE]
CASES += [(*case[:2], {"main": case[2]}, *case[3:]) for case in MAIN]
CASES += [(*case[:2], {"inside": case[2]}, *case[3:]) for case in INSIDE]
CASES += [(*case[:2], {"end": case[2]}, *case[3:]) for case in END]
