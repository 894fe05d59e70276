//! Modules, libraries and functions.

use super::calls;
use crate::argument::{In, Out, Text};
use crate::code::refuse;
use crate::code::{Done, INVALID_CONTEXT, NOT_FOUND, fail};
use crate::device::{MAX_SHARED, SHARED};
use crate::handle::Handle;
use crate::memory::{Block, Hold, Kind};
use crate::module::{self, Function};
use crate::state::{Object, State, current, state};
use std::ffi::{CString, c_char};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering::Relaxed};

/// The options of the compiler that say where messages go, and how long they may be.
const ERROR_LOG: u32 = 5;
const ERROR_LOG_BYTES: u32 = 6;

/// Loads an image; messages are written where the options say.
fn load(out: Out<Handle>, image: Text, options: In<u32>, values: In<usize>, count: usize) -> Done {
    let Some(context) = current() else {
        return fail(INVALID_CONTEXT, "no context is current");
    };
    match module::load(context, &image.get()?) {
        Ok(loaded) => out.put(state().add(Object::Module(loaded))),
        Err(failure) => {
            let (options, values) = (options.list(count)?, values.list(count)?);
            let value = |wanted| options.iter().position(|option| *option == wanted).map(|at| values[at]);
            if let (Some(to), Some(room)) = (value(ERROR_LOG), value(ERROR_LOG_BYTES))
                && room > 0
            {
                let text = failure.text.bytes().take(room - 1).chain([0]);
                Out::<u8>::of(to).put_list(text, room)?;
            }
            Err(failure)
        }
    }
}

/// Finds a function of a module. It has the same handle every time.
fn function(state: &mut State, module: Handle, name: &str) -> Done<Handle> {
    let loaded = state.module(module)?.clone();
    let mut functions = loaded
        .functions
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(known) = functions.get(name) {
        return Ok(*known);
    }
    if loaded.module.kernel(name).is_none() {
        return fail(NOT_FOUND, format!("there is no kernel `{name}`"));
    }
    let made = state.add(Object::Function(Arc::new(Function {
        module: loaded.clone(),
        name: name.to_owned(),
        text: CString::new(name).unwrap_or_default(),
        dynamic: AtomicU32::new(
            SHARED.saturating_sub(loaded.module.kernel(name).map_or(0, |kernel| kernel.shared_bytes())),
        ),
        carveout: AtomicI32::new(-1),
        non_portable: AtomicI32::new(0),
    })));
    functions.insert(name.to_owned(), made);
    Ok(made)
}

fn unload(module: Handle) -> Done {
    let mut state = state();
    let loaded = state.module(module)?.clone();
    let functions = std::mem::take(
        &mut *loaded
            .functions
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner),
    );
    functions.into_values().for_each(|function| state.remove(function));
    state
        .blocks
        .retain(|block| !matches!(&block.hold, Hold::Module(of, _) if Arc::ptr_eq(of, &loaded)));
    state.remove(module);
    Ok(())
}

/// Finds a variable, which is memory from then on.
fn variable(address: Out<u64>, bytes: Out<usize>, module: Handle, name: Text) -> Done {
    let (name, mut state) = (name.get()?, state());
    let loaded = state.module(module)?.clone();
    let Some(found) = loaded.module.variable(&name) else {
        return fail(NOT_FOUND, format!("there is no variable `{name}`"));
    };
    address.offer(found.address())?;
    bytes.offer(found.len())?;
    state.blocks.insert(Block {
        address: found.address(),
        bytes: found.len(),
        kind: Kind::Variable,
        context: loaded.context,
        hold: Hold::Module(loaded.clone(), name),
    });
    Ok(())
}

/// An attribute of a function.
fn attribute(function: &Function, asked: u32) -> Done<i32> {
    let kernel = function.kernel()?;
    let [width, height, depth] = kernel.cluster().unwrap_or([0; 3]);
    Ok(match asked {
        0 => function.threads()? as i32,
        1 => kernel.shared_bytes() as i32,
        2 | 3 => 0,
        4 => 32,
        5 => function.module.architecture,
        6 => 90,
        7 => 0,
        8 => function.dynamic.load(Relaxed) as i32,
        9 => function.carveout.load(Relaxed),
        10 => i32::from(kernel.cluster().is_some()),
        11 => width as i32,
        12 => height as i32,
        13 => depth as i32,
        14 => function.non_portable.load(Relaxed),
        15 => 0,
        _ => return refuse(format!("there is no attribute {asked}")),
    })
}

fn set_attribute(function: &Function, asked: u32, value: i32) -> Done {
    let own = function.kernel()?.shared_bytes();
    match asked {
        8 if value < 0 || value as u32 + own > MAX_SHARED => refuse(format!("{value} bytes of shared memory")),
        8 => {
            function.dynamic.store(value as u32, Relaxed);
            Ok(())
        }
        9 if (-1..=100).contains(&value) => {
            function.carveout.store(value, Relaxed);
            Ok(())
        }
        14 => {
            function.non_portable.store(value, Relaxed);
            Ok(())
        }
        _ => refuse(format!("the attribute {asked} cannot be {value}")),
    }
}

/// The offset and the size of a parameter.
fn parameter(function: &Function, index: usize) -> Done<(usize, usize)> {
    let (mut end, kernel) = (0_usize, function.kernel()?);
    for (at, parameter) in kernel.parameters().iter().enumerate() {
        let start = end.next_multiple_of(parameter.align.max(1));
        if at == index {
            return Ok((start, parameter.size));
        }
        end = start + parameter.size;
    }
    crate::rules::NO_SUCH_PARAMETER.refuse()
}

/// The largest block of a function, and the blocks of that size that the device runs at a time.
fn largest_block(grid: Out<i32>, block: Out<i32>, function: Handle, shared: usize, limit: i32) -> Done {
    let function = state().function(function)?.clone();
    let most = function.threads()? as i32;
    let threads = if limit > 0 { most.min(limit) } else { most };
    grid.put(function.occupancy(threads as u32, shared)? * crate::device::PROCESSORS)?;
    block.put(threads)
}

calls! {
    Context cuModuleLoadData(out: Out<Handle>, image: Text) { load(out, image, In::null(), In::null(), 0) }
    Context cuModuleLoadDataEx(out: Out<Handle>, image: Text, count: u32, options: In<u32>, values: In<usize>) {
        load(out, image, options, values, count as usize)
    }
    Context cuModuleLoad(out: Out<Handle>, path: Text) {
        let text = std::fs::read_to_string(path.get()?);
        let Ok(text) = text.map(|text| CString::new(text).unwrap_or_default()) else {
            return fail(301, "there is no such file"); // CUDA_ERROR_FILE_NOT_FOUND
        };
        load(out, Text::of(text.as_ptr().expose_provenance()), In::null(), In::null(), 0)
    }
    AnyContext cuModuleUnload(module: Handle) { unload(module) }
    Context cuModuleGetFunction(out: Out<Handle>, module: Handle, name: Text) {
        let name = name.get()?;
        out.put(function(&mut state(), module, &name)?)
    }
    Context cuModuleGetGlobal_v2(address: Out<u64>, bytes: Out<usize>, module: Handle, name: Text) {
        variable(address, bytes, module, name)
    }
    Context cuModuleGetLoadingMode(out: Out<u32>) { out.put(1) }
    Context cuLibraryLoadData(
        out: Out<Handle>, image: Text, options: In<u32>, values: In<usize>, count: u32, _library_options: usize,
        _library_values: usize, _library_count: u32,
    ) {
        let mut module = 0;
        load(Out::to(&mut module), image, options, values, count as usize)?;
        out.put(state().add(Object::Library(module)))
    }
    AnyContext cuLibraryUnload(library: Handle) {
        let module = *state().library(library)?;
        unload(module)?;
        state().remove(library);
        Ok(())
    }
    Context cuLibraryGetModule(out: Out<Handle>, library: Handle) {
        let module = *state().library(library)?;
        out.put(module)
    }
    Context cuLibraryGetKernel(out: Out<Handle>, library: Handle, name: Text) {
        let (name, mut state) = (name.get()?, state());
        let module = *state.library(library)?;
        let function = function(&mut state, module, &name)?;
        out.put(state.add(Object::Kernel(function)))
    }
    Context cuLibraryGetGlobal(address: Out<u64>, bytes: Out<usize>, library: Handle, name: Text) {
        let module = *state().library(library)?;
        variable(address, bytes, module, name)
    }
    Context cuKernelGetFunction(out: Out<Handle>, kernel: Handle) {
        let function = *state().kernel(kernel)?;
        out.put(function)
    }
    Context cuKernelGetName(out: Out<*const c_char>, kernel: Handle) {
        let state = state();
        state.kernel(kernel)?;
        out.put(state.function(kernel)?.text.as_ptr())
    }
    Context cuFuncGetName(out: Out<*const c_char>, function: Handle) {
        out.put(state().function(function)?.text.as_ptr())
    }
    Context cuFuncGetModule(out: Out<Handle>, function: Handle) {
        let state = state();
        let module = &state.function(function)?.module;
        out.put(state.module_of(module).unwrap_or(0))
    }
    Context cuFuncGetAttribute(out: Out<i32>, asked: u32, function: Handle) {
        let function = state().function(function)?.clone();
        out.put(attribute(&function, asked)?)
    }
    Context cuFuncSetAttribute(function: Handle, asked: u32, value: i32) {
        let function = state().function(function)?.clone();
        set_attribute(&function, asked, value)
    }
    Context cuFuncSetCacheConfig(function: Handle, _config: u32) { state().function(function).map(drop) }
    Context cuFuncGetParamInfo(function: Handle, index: usize, offset: Out<usize>, bytes: Out<usize>) {
        let function = state().function(function)?.clone();
        let (start, size) = parameter(&function, index)?;
        offset.put(start)?;
        bytes.offer(size)
    }
    Context cuOccupancyMaxActiveBlocksPerMultiprocessor(out: Out<i32>, function: Handle, threads: i32, shared: usize) {
        let function = state().function(function)?.clone();
        out.put(function.occupancy(threads.max(0) as u32, shared)?)
    }
    Context cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        out: Out<i32>, function: Handle, threads: i32, shared: usize, _flags: u32,
    ) {
        let function = state().function(function)?.clone();
        out.put(function.occupancy(threads.max(0) as u32, shared)?)
    }
    Context cuOccupancyMaxPotentialBlockSize(
        grid: Out<i32>, block: Out<i32>, function: Handle, _shared_of: usize, shared: usize, limit: i32,
    ) {
        largest_block(grid, block, function, shared, limit)
    }
    Context cuOccupancyMaxPotentialBlockSizeWithFlags(
        grid: Out<i32>, block: Out<i32>, function: Handle, _shared_of: usize, shared: usize, limit: i32, _flags: u32,
    ) {
        largest_block(grid, block, function, shared, limit)
    }
    Context cuOccupancyAvailableDynamicSMemPerBlock(out: Out<usize>, function: Handle, _blocks: i32, _threads: i32) {
        let function = state().function(function)?.clone();
        out.put(function.dynamic.load(Relaxed) as usize)
    }
}
