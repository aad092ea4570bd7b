//! Suite `driver_kit`: the built components keep the contract's promises, and the kit that says so can also say the contrary.

mod array;
mod conformance;
mod faults;
