//! Makes a component of a core wasm module that carries wit-bindgen's metadata.

/// Fails when the module was not built with wit-bindgen, imports what no WIT declares, or lacks a function of an interface
/// that it says it exports. The component is validated.
///
/// # Errors
/// One line with every cause.
pub fn componentize(module: &[u8]) -> Result<Vec<u8>, String> {
    let mut encoder = wit_component::ComponentEncoder::default();
    encoder.module(module).map_err(|e| format!("{e:#}"))?;
    encoder.validate(true).encode().map_err(|e| format!("{e:#}"))
}
