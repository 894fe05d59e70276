//! Finding the memory of copies and fills.

use crate::code::{Done, refuse};
use crate::memory::{Block, Place, Side};
use crate::state::State;
use crate::work::{ARRAY, Copy, DEVICE, Fill, HOST, UNIFIED};

impl Copy {
    /// Finds a side, with all rows of it.
    pub(crate) fn find(&self, state: &State, target: bool) -> Done<Side> {
        let side = self.side(target);
        let [width, rows, planes] = self.sides();
        let [x, y, z, pitch, height] = [0, 1, 2, 9, 10].map(|at| side[at]);
        if side[4] as u32 == ARRAY {
            let array = state.array(side[7])?.clone();
            let [row, column, depth] = array.sides;
            if x + width > row || y + rows > column || z + planes > depth {
                return refuse(format!(
                    "a copy of {:?} does not lie in the array of {:?}",
                    self.sides(),
                    array.sides
                ));
            }
            return Ok(Side {
                start: (z * column + y) * row + x,
                pitch: row,
                height: column,
                place: Place::Array(array),
            });
        }
        // Without several rows, a pitch of 0 stands for that of the row.
        let pitch = if pitch == 0 { width } else { pitch };
        let height = if height == 0 { rows } else { height };
        if rows > 1 && pitch < width || planes > 1 && height < rows {
            return refuse(format!("rows of {width} bytes at a pitch of {pitch} overlap"));
        }
        let start = (z * height + y) * pitch + x;
        let last = ((planes.max(1) - 1) * height + rows.max(1) - 1) * pitch + width;
        let place = match (side[4] as u32, &self.bytes) {
            (_, Some(bytes)) if !target => Place::Bytes(bytes.clone()),
            (HOST, _) => Place::Host(side[5]),
            (DEVICE | UNIFIED, _) => {
                let address = side[6] as u64;
                let Some(block) = state.blocks.find(address, start + last) else {
                    let kind = side[4] as u32;
                    if kind == UNIFIED && state.blocks.at(address).is_none() {
                        return Ok(Side {
                            place: Place::Host(side[6]),
                            start,
                            pitch,
                            height,
                        });
                    }
                    return refuse(format!("{} bytes from {address:#x} on are not allocated", start + last));
                };
                match block.kind.is_host() {
                    true => Place::Host(side[6]),
                    false => Place::Held(block.hold.clone(), offset(block, address)),
                }
            }
            (kind, _) => return refuse(format!("there is no memory of the kind {kind}")),
        };
        if matches!(place, Place::Host(0)) && width > 0 {
            return refuse("a copy of null");
        }
        Ok(Side {
            place,
            start,
            pitch,
            height,
        })
    }

    /// Refuses a copy of memory that is not there, and will not be.
    pub(crate) fn check(&self, state: &State) -> Done {
        let addresses = self.addresses();
        for (target, address) in [(false, addresses[0]), (true, addresses[1])] {
            match self.find(state, target) {
                Err(_) if self.is_one_row() && state.blocks.has(address as u64, self.sides()[0]) => {}
                found => drop(found?),
            }
        }
        Ok(())
    }
}

/// The offset of an address in the allocation of a block.
pub(crate) fn offset(block: &Block, address: u64) -> usize {
    let first = block
        .hold
        .allocation()
        .map_or(block.address, |allocation| allocation.address());
    (address - first) as usize
}

impl Fill {
    /// Refuses a fill of memory that is not there, or of elements that there are not.
    pub(crate) fn check(&self, state: &State) -> Done {
        if !matches!(self.element, 1 | 2 | 4) || !self.to.is_multiple_of(self.element.into()) {
            return refuse(format!(
                "a memset of elements of {} bytes at {:#x}",
                self.element, self.to
            ));
        }
        if self.height > 1 && self.pitch < self.width * self.element as usize {
            return refuse("the rows of a memset overlap");
        }
        match state.blocks.has(self.to, self.bytes()) {
            true => Ok(()),
            false => refuse(format!(
                "{} bytes from {:#x} on are not allocated",
                self.bytes(),
                self.to
            )),
        }
    }
}
