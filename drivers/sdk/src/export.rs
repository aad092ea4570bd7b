//! Naming what a component exports.

/// Makes the component's exports: `lifecycle` and `capabilities` always, and each interface named.
///
/// ```text
/// export!(Acme: volumes, volume_snapshots, connection_info);
/// ```
///
/// Names are those of the interfaces in `wit/`, with underscores; each needs the trait of the same name. Outside
/// WebAssembly it makes nothing, so that a driver's tests build and run like any other.
#[macro_export]
macro_rules! export {
    ($driver:ident $(: $($interface:ident),* $(,)?)?) => {
        #[cfg(target_arch = "wasm32")]
        #[allow(unsafe_code, missing_docs, clippy::all, clippy::pedantic, reason = "made by wit-bindgen")]
        const _: () = {
            type ExportedDriver = $crate::Glue<$driver>;
            $crate::bindings::lifecycle::export!(ExportedDriver with_types_in $crate::bindings::lifecycle);
            $crate::bindings::capabilities::export!(ExportedDriver with_types_in $crate::bindings::capabilities);
            $($($crate::bindings::$interface::export!(ExportedDriver with_types_in $crate::bindings::$interface);)*)?
        };
        #[cfg(not(target_arch = "wasm32"))]
        const _: fn() = || {
            fn is_a_driver<D: $crate::Driver>() {}
            is_a_driver::<$driver>();
            $($(
                fn $interface<D: $crate::bindings::$interface::Guest>() {}
                $interface::<$crate::Glue<$driver>>();
            )*)?
        };
    };
}
