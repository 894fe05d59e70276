//! The functions by their names.

use super::{
    calls, context, copy, executable, graph, launch, memory, module, node, runtime_graph, stream, texture, update,
    virtual_memory,
};
use crate::argument::{Out, Text};
use crate::code::{Done, NOT_FOUND, fail};

/// The address of a function.
fn find(name: Text) -> Done<Option<*const ()>> {
    let name = name.get()?;
    let tables = [
        TABLE,
        context::TABLE,
        memory::TABLE,
        virtual_memory::TABLE,
        copy::TABLE,
        module::TABLE,
        launch::TABLE,
        stream::TABLE,
        texture::TABLE,
        graph::TABLE,
        node::TABLE,
        executable::TABLE,
        update::TABLE,
        runtime_graph::TABLE,
    ];
    let find = |wanted: &str| {
        let mut all = tables.iter().copied().flatten();
        all.find(|(known, _)| *known == wanted).map(|(_, address)| *address)
    };
    // Programs ask for names without their versions.
    Ok(["", "_v4", "_v3", "_v2"]
        .iter()
        .find_map(|version| find(&format!("{name}{version}"))))
}

calls! {
    Nothing cuGetProcAddress_v2(name: Text, out: Out<*const ()>, _version: i32, _flags: u64, found: Out<u32>) {
        let address = find(name)?;
        out.put(address.unwrap_or(std::ptr::null()))?;
        found.offer(u32::from(address.is_none()))?; // 0 is found, 1 is not
        match address {
            Some(_) => Ok(()),
            None => fail(NOT_FOUND, "there is no such function"),
        }
    }
    Nothing cuGetProcAddress(name: Text, out: Out<*const ()>, _version: i32, _flags: u64) {
        let address = find(name)?;
        out.put(address.unwrap_or(std::ptr::null()))?;
        match address {
            Some(_) => Ok(()),
            None => fail(NOT_FOUND, "there is no such function"),
        }
    }
}
