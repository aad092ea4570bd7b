//! Whether a component fits what the host offers, said in words an author can act on.
//!
//! wasmtime would refuse a misfit too, but late and without naming the function. Here every function of every interface is
//! compared by its shape with the contract (a table made from `wit/` at build time) before anything is linked.

use wasmtime::{
    Engine,
    component::{
        Component,
        types::{ComponentFunc, ComponentInstance, ComponentItem, Type},
    },
};

use crate::driver::LoadError;

/// A function of the contract, shapes as text.
struct Function {
    name: &'static str,
    params: &'static [(&'static str, &'static str)],
    /// Empty for none.
    result: &'static str,
}

struct Interface {
    name: &'static str,
    functions: &'static [Function],
}

include!(concat!(env!("OUT_DIR"), "/contract_0_1.rs"));

const PACKAGE: &str = "stowage:driver/";
/// What this host serves.
const SERVED: &str = "0.1";
/// Every driver exports these.
const NEEDED: [&str; 2] = ["lifecycle", "capabilities"];

/// `stowage:driver/volumes@0.1.0` as its interface and version; none for other packages.
fn ours(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix(PACKAGE)?.split_once('@')
}

fn is_served(version: &str) -> bool {
    version.strip_prefix(SERVED).is_some_and(|rest| rest.starts_with('.'))
}

/// Compares a component with the contract. Gives the version it was built against.
///
/// # Errors
/// [`LoadError::Version`], [`LoadError::Imports`] or [`LoadError::Exports`], naming interface and function.
pub fn check(engine: &Engine, component: &Component) -> Result<String, LoadError> {
    let ty = component.component_type();
    let mut version = None;
    for (name, item) in ty.imports(engine).map(|(n, e)| (n, e.ty)).chain(ty.exports(engine).map(|(n, e)| (n, e.ty))) {
        if let (Some((interface, found)), ComponentItem::ComponentInstance(_)) = (ours(name), &item) {
            if !is_served(found) {
                return Err(LoadError::Version(format!(
                    "{interface} is of version {found} of stowage:driver, this host serves {SERVED}.x; build the driver with a matching SDK"
                )));
            }
            version.get_or_insert_with(|| found.to_owned());
        }
    }
    for (name, item) in ty.imports(engine) {
        import(engine, name, &item.ty).map_err(LoadError::Imports)?;
    }
    let mut exported = Vec::new();
    for (name, item) in ty.exports(engine) {
        let Some((interface, _)) = ours(name) else { continue };
        let ComponentItem::ComponentInstance(instance) = &item.ty else { continue };
        match EXPORTS.iter().find(|i| i.name == interface) {
            Some(known) => {
                export(engine, known, instance).map_err(LoadError::Exports)?;
                exported.push(interface);
            }
            None => tracing::info!(interface, "a driver exports an interface that this host does not know; it is not used"),
        }
    }
    if let Some(missing) = NEEDED.iter().find(|n| !exported.contains(n)) {
        return Err(LoadError::Exports(format!("the component does not export {missing}, which every driver must")));
    }
    Ok(version.unwrap_or_default())
}

fn import(engine: &Engine, name: &str, item: &ComponentItem) -> Result<(), String> {
    let Some((interface, _)) = ours(name) else {
        // what of WASI there is, the linker knows
        return if name.starts_with("wasi:") {
            Ok(())
        } else {
            Err(format!("the component imports {name}, which this host does not offer"))
        };
    };
    let Some(known) = IMPORTS.iter().find(|i| i.name == interface) else {
        return Err(format!("the component imports interface {interface}, which this host does not offer"));
    };
    let ComponentItem::ComponentInstance(instance) = item else {
        return Err(format!("the component imports {name} as something else than an interface"));
    };
    for (function, found) in functions(engine, instance) {
        let Some(expected) = known.functions.iter().find(|f| f.name == function) else {
            return Err(format!(
                "the component imports {interface}.{function}, which this host does not offer; it was built against a newer contract"
            ));
        };
        same(interface, expected, &found)?;
    }
    Ok(())
}

fn export(engine: &Engine, known: &Interface, instance: &ComponentInstance) -> Result<(), String> {
    for expected in known.functions {
        let found = functions(engine, instance).find(|(name, _)| name == expected.name);
        let Some((_, found)) = found else {
            return Err(format!("the component exports {} without its function {}", known.name, expected.name));
        };
        same(known.name, expected, &found)?;
    }
    Ok(())
}

fn functions<'a>(engine: &'a Engine, instance: &'a ComponentInstance) -> impl Iterator<Item = (String, ComponentFunc)> + 'a {
    instance.exports(engine).filter_map(|(name, item)| match item.ty {
        ComponentItem::ComponentFunc(f) => Some((name.to_owned(), f)),
        _ => None,
    })
}

fn same(interface: &str, expected: &Function, found: &ComponentFunc) -> Result<(), String> {
    let at = format!("{interface}.{}", expected.name);
    if found.async_() {
        return Err(format!("{at} is an async function; the contract's are not"));
    }
    let params: Vec<String> = found.params().map(|(_, t)| shape(&t)).collect();
    if params.len() != expected.params.len() {
        return Err(format!("{at} has {} parameters, the contract {}", params.len(), expected.params.len()));
    }
    for (found, (name, expected)) in params.iter().zip(expected.params) {
        if let Some(difference) = difference(expected, found) {
            return Err(format!("{at}: parameter {name} differs from the contract: {difference}"));
        }
    }
    let result = found.results().map(|t| shape(&t)).next().unwrap_or_default();
    match difference(expected.result, &result) {
        Some(difference) => Err(format!("{at}: its result differs from the contract: {difference}")),
        None => Ok(()),
    }
}

/// The first place where two shapes differ.
fn difference(expected: &str, found: &str) -> Option<String> {
    if expected == found {
        return None;
    }
    let common = expected.bytes().zip(found.bytes()).take_while(|(a, b)| a == b).count();
    // shapes are ASCII; back to the beginning of the word
    let start = expected.get(..common).and_then(|s| s.rfind([' ', '{', '<'])).map_or(0, |n| n + 1);
    let from = |text: &str| text.get(start..).unwrap_or_default().chars().take(60).collect::<String>();
    Some(format!("the contract has `{}`, the component `{}`", from(expected), from(found)))
}

/// As `build/contract.rs` writes it.
fn shape(ty: &Type) -> String {
    let of = |t: Option<Type>| t.map_or_else(|| "_".to_owned(), |t| shape(&t));
    match ty {
        Type::Bool => "bool".into(),
        Type::S8 => "s8".into(),
        Type::U8 => "u8".into(),
        Type::S16 => "s16".into(),
        Type::U16 => "u16".into(),
        Type::S32 => "s32".into(),
        Type::U32 => "u32".into(),
        Type::S64 => "s64".into(),
        Type::U64 => "u64".into(),
        Type::Float32 => "f32".into(),
        Type::Float64 => "f64".into(),
        Type::Char => "char".into(),
        Type::String => "string".into(),
        Type::List(l) => format!("list<{}>", shape(&l.ty())),
        Type::Record(r) => list("record", r.fields().map(|f| format!("{}: {}", f.name, shape(&f.ty)))),
        Type::Tuple(t) => list("tuple", t.types().map(|t| shape(&t))),
        Type::Variant(v) => {
            list("variant", v.cases().map(|c| c.ty.map_or_else(|| c.name.to_owned(), |t| format!("{}: {}", c.name, shape(&t)))))
        }
        Type::Enum(e) => list("enum", e.names().map(str::to_owned)),
        Type::Flags(f) => list("flags", f.names().map(str::to_owned)),
        Type::Option(o) => format!("option<{}>", shape(&o.ty())),
        Type::Result(r) => format!("result<{}, {}>", of(r.ok()), of(r.err())),
        Type::Own(_) => "own".into(),
        Type::Borrow(_) => "borrow".into(),
        other => format!("{other:?}"),
    }
}

fn list(kind: &str, items: impl Iterator<Item = String>) -> String {
    format!("{kind} {{{}}}", items.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_served_by_their_minor() {
        assert!(is_served("0.1.0") && is_served("0.1.17"));
        assert!(!is_served("0.2.0") && !is_served("0.10.0") && !is_served("1.0.0"));
    }

    #[test]
    fn a_difference_names_the_member() {
        let expected = "record {id: string, size-gib: u64}";
        assert_eq!(difference(expected, expected), None);
        let text = difference(expected, "record {id: string, size-gib: u64, colour: string}").unwrap();
        assert!(text.contains("colour"), "{text}");
        let text = difference(expected, "record {id: string, size-mib: u64}").unwrap();
        assert!(text.contains("`size-gib: u64}`") && text.contains("`size-mib: u64}`"), "{text}");
    }

    #[test]
    fn the_table_holds_every_interface_of_the_contract() {
        assert_eq!(EXPORTS.len(), 26);
        for name in ["config", "log", "http", "session", "kv", "lock", "clock", "progress"] {
            assert!(IMPORTS.iter().any(|i| i.name == name && !i.functions.is_empty()), "{name}");
        }
    }
}
