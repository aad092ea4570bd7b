//! What somebody else made (the option `foreign`) or what was released, under its old name.

use stowage_driver_sdk::prelude::*;

use crate::{
    Memory,
    array::{Array, FOREIGN, Object},
};

/// Marks what the configuration has as adopted: it takes no room of its own.
pub const TAKEN: &str = "taken";

impl Memory {
    /// A repeat finds the object under its new name from here on; the old name goes away or is marked, whichever it was.
    pub fn adopted(&self, array: &dyn Array, name: &str, pool: &str) -> Result<()> {
        array.remove(FOREIGN, name)?;
        if self.config.foreign.iter().any(|f| f.name == name) {
            array.create(FOREIGN, name, &Object::new(pool, 0, &TAKEN)?, None)?;
        }
        Ok(())
    }
}
