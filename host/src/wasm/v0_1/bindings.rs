//! Generated from `wit/stowage-driver/0.1.0`.

wasmtime::component::bindgen!({
    path: "../wit/stowage-driver/0.1.0",
    world: "driver",
    imports: { default: async | trappable },
    exports: { default: async },
    additional_derives: [Clone],
});

pub use exports::stowage::driver as guest;
pub use stowage::driver as host;
pub use stowage::driver::types;
