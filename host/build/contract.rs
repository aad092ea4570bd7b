//! Writes the contract as a table: for each function its parameters' and its result's shapes as text. `wasm/contract.rs`
//! renders a component's functions the same way and compares, so that a refusal can name what differs.

use std::{env, fmt::Write as _, fs, path::Path};

use wit_parser::{Function, Handle, Resolve, Type, TypeDefKind, WorldItem, WorldKey};

const PACKAGE: &str = "../wit/stowage-driver/0.1.0";
const WORLD: &str = "driver";

pub fn write() {
    let Some(out) = env::var_os("OUT_DIR") else { return };
    let table = match table() {
        Ok(table) => table,
        Err(e) => {
            println!("cargo:error={PACKAGE}: {e}");
            return;
        }
    };
    if let Err(e) = fs::write(Path::new(&out).join("contract_0_1.rs"), table) {
        println!("cargo:error=cannot write the contract's table: {e}");
    }
}

fn table() -> Result<String, String> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(PACKAGE).map_err(|e| format!("{e:?}"))?;
    let world = resolve.select_world(&[package], Some(WORLD)).map_err(|e| format!("{e:?}"))?;
    let world = &resolve.worlds[world];
    let mut text = String::new();
    for (name, items) in [("IMPORTS", &world.imports), ("EXPORTS", &world.exports)] {
        text.push_str(&format!("const {name}: &[Interface] = &[\n"));
        for (key, item) in items {
            let (WorldKey::Interface(id), WorldItem::Interface { .. }) = (key, item) else { continue };
            let interface = &resolve.interfaces[*id];
            let _ = writeln!(text, "Interface {{ name: {:?}, functions: &[", interface.name.as_deref().unwrap_or_default());
            for function in interface.functions.values() {
                row(&mut text, &resolve, function);
            }
            text.push_str("] },\n");
        }
        text.push_str("];\n");
    }
    Ok(text)
}

fn row(text: &mut String, resolve: &Resolve, function: &Function) {
    let params: Vec<(String, String)> = function.params.iter().map(|p| (p.name.clone(), shape(resolve, &p.ty))).collect();
    let result = function.result.as_ref().map(|t| shape(resolve, t)).unwrap_or_default();
    let _ = writeln!(text, "    Function {{ name: {:?}, params: &{params:?}, result: {result:?} }},", function.name);
}

fn shape(resolve: &Resolve, ty: &Type) -> String {
    match ty {
        Type::Bool => "bool".into(),
        Type::U8 => "u8".into(),
        Type::U16 => "u16".into(),
        Type::U32 => "u32".into(),
        Type::U64 => "u64".into(),
        Type::S8 => "s8".into(),
        Type::S16 => "s16".into(),
        Type::S32 => "s32".into(),
        Type::S64 => "s64".into(),
        Type::F32 => "f32".into(),
        Type::F64 => "f64".into(),
        Type::Char => "char".into(),
        Type::String => "string".into(),
        Type::ErrorContext => "error-context".into(),
        Type::Id(id) => defined(resolve, &resolve.types[*id].kind),
    }
}

fn defined(resolve: &Resolve, kind: &TypeDefKind) -> String {
    let s = |t: &Type| shape(resolve, t);
    let of = |t: &Option<Type>| t.as_ref().map_or_else(|| "_".to_owned(), |t| shape(resolve, t));
    match kind {
        TypeDefKind::Record(r) => list("record", r.fields.iter().map(|f| format!("{}: {}", f.name, s(&f.ty)))),
        TypeDefKind::Tuple(t) => list("tuple", t.types.iter().map(s)),
        TypeDefKind::Variant(v) => {
            list("variant", v.cases.iter().map(|c| c.ty.as_ref().map_or_else(|| c.name.clone(), |t| format!("{}: {}", c.name, s(t)))))
        }
        TypeDefKind::Enum(e) => list("enum", e.cases.iter().map(|c| c.name.clone())),
        TypeDefKind::Flags(f) => list("flags", f.flags.iter().map(|f| f.name.clone())),
        TypeDefKind::Option(t) => format!("option<{}>", s(t)),
        TypeDefKind::List(t) => format!("list<{}>", s(t)),
        TypeDefKind::Result(r) => format!("result<{}, {}>", of(&r.ok), of(&r.err)),
        TypeDefKind::Type(t) => s(t),
        TypeDefKind::Handle(Handle::Own(_)) => "own".into(),
        TypeDefKind::Handle(Handle::Borrow(_)) => "borrow".into(),
        other => other.as_str().to_owned(),
    }
}

fn list(kind: &str, items: impl Iterator<Item = String>) -> String {
    format!("{kind} {{{}}}", items.collect::<Vec<_>>().join(", "))
}
