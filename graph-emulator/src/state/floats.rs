//! The search for the stores that leave values in memory which are not finite.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most addresses whose stores are kept.
const MAX_KEPT: usize = 1 << 16;

/// Memory of floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatMemory {
    /// The address of the first number.
    pub address: u64,
    /// The number of bytes.
    pub len: usize,
    /// The bits of a number: 16, 32 or 64.
    pub bits: u32,
    /// The bits of a number's mantissa, the lowest ones. Between them and the sign is the exponent.
    pub mantissa: u32,
}

impl FloatMemory {
    /// Whether the lowest bits are a number that is neither infinite nor NaN.
    fn is_finite(&self, bits: u64) -> bool {
        let exponent = (1_u64 << (self.bits - 1 - self.mantissa)) - 1;
        bits >> self.mantissa & exponent != exponent
    }
}

/// The last store of such a value to each address.
pub(crate) struct FloatStores<'a> {
    memory: &'a [FloatMemory],
    found: Mutex<HashMap<u64, Store>>,
}

/// The place of a store.
#[derive(Clone, Copy)]
pub(crate) struct Store {
    pub(crate) block: [u32; 3],
    pub(crate) thread: [u32; 3],
    pub(crate) pc: u32,
}

impl<'a> FloatStores<'a> {
    pub(crate) fn new(memory: &'a [FloatMemory]) -> Self {
        Self {
            memory,
            found: Mutex::default(),
        }
    }

    /// Whether stores are examined.
    pub(crate) fn is_active(&self) -> bool {
        !self.memory.is_empty()
    }

    /// Examines a store of at most eight bytes.
    pub(crate) fn note(&self, address: u64, bytes: u32, value: u64, store: Store) {
        let within = |memory: &&FloatMemory| address.wrapping_sub(memory.address) < memory.len as u64;
        let Some(memory) = self.memory.iter().find(within) else {
            return;
        };
        let elements = (0..bytes).step_by((memory.bits / 8).max(1) as usize);
        for offset in elements.filter(|offset| !memory.is_finite(value >> (8 * offset))) {
            let element = address + u64::from(offset);
            let mut found = self.lock();
            if found.len() < MAX_KEPT || found.contains_key(&element) {
                found.insert(element, store);
            }
        }
    }

    /// The stores, by address.
    pub(crate) fn stores(&self) -> Vec<(u64, Store)> {
        let mut stores: Vec<(u64, Store)> = self.lock().iter().map(|(&address, &store)| (address, store)).collect();
        stores.sort_unstable_by_key(|(address, _)| *address);
        stores
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Store>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
