//! `stowage-broken-drivers CONTRACT OUT`: components that must not load, one for each defect.
//!
//! Each is made from the contract's own text with one thing changed, in milliseconds and without a compiler. Their functions trap
//! when called, so a host that called one before it checked would show it.

use std::{env, error::Error, fs, path::Path, process::ExitCode};

use wit_component::{ComponentEncoder, StringEncoding, dummy_module, embed_component_metadata};
use wit_parser::{ManglingAndAbi, Resolve};

/// A name, and what is changed in a file of the contract: what stands there, and what instead.
struct Defect {
    name: &'static str,
    /// Empty: every file.
    file: &'static str,
    text: &'static str,
    instead: &'static str,
}

/// As much of WASI 0.2 as `with-wasi` imports, by package.
const WASI: [(&str, &str); 2] = [
    (
        "cli",
        "package wasi:cli@0.2.0; interface environment { get-environment: func() -> list<tuple<string, string>>; \
         get-arguments: func() -> list<string>; initial-cwd: func() -> option<string>; } interface exit { exit: func(status: result); }",
    ),
    (
        "random",
        "package wasi:random@0.2.0; interface random { get-random-bytes: func(len: u64) -> list<u8>; get-random-u64: func() -> u64; }",
    ),
];

const DEFECTS: [Defect; 10] = [
    // Passes every check before the trial: each function traps, and that is all.
    Defect { name: "only-traps", file: "worlds.wit", text: "world driver {", instead: "world driver {" },
    // Exports `volumes` without `extend`.
    Defect {
        name: "missing-function",
        file: "block.wit",
        text: "    extend: func(call: call, volume: volume, new-size-gib: u64) -> result<volume-outcome, error>;",
        instead: "",
    },
    Defect { name: "wrong-record", file: "types.wit", text: "record volume {", instead: "record volume {\n surprise: u32," },
    Defect {
        name: "newer-function",
        file: "host.wit",
        text: "now-ms: func() -> u64;",
        instead: "now-ms: func() -> u64; leap: func() -> u64;",
    },
    Defect {
        name: "unknown-interface",
        file: "worlds.wit",
        text: "import clock;",
        instead: "import clock; import teleport: interface { go: func(); }",
    },
    // Imports of WASI 0.2 what a language's runtime does: nothing is wrong with it but the traps.
    Defect {
        name: "with-wasi",
        file: "worlds.wit",
        text: "import clock;",
        instead: "import clock; import wasi:cli/environment@0.2.0; import wasi:cli/exit@0.2.0; import wasi:random/random@0.2.0;",
    },
    Defect { name: "next-version", file: "", text: "driver@0.1.0", instead: "driver@0.2.0" },
    // A later patch of the same version: nothing is wrong with it but the traps.
    Defect { name: "later-patch", file: "", text: "driver@0.1.0", instead: "driver@0.1.7" },
    Defect { name: "no-capabilities", file: "worlds.wit", text: "    export capabilities;\n    export poll;", instead: "    export poll;" },
    // Exports what the host does not know: nothing is wrong with it but the traps.
    Defect {
        name: "extra-interface",
        file: "worlds.wit",
        text: "    export lifecycle;\n    export capabilities;",
        instead: "    export lifecycle;\n    export capabilities;\n    export teleport: interface { go: func(); }",
    },
];

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    let [contract, out] = arguments.as_slice() else {
        eprintln!("usage: stowage-broken-drivers CONTRACT OUT");
        return ExitCode::from(2);
    };
    for defect in &DEFECTS {
        if let Err(e) = make(defect, Path::new(contract), Path::new(out)) {
            eprintln!("stowage-broken-drivers: {}: {e}", defect.name);
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn make(defect: &Defect, contract: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let sources = out.join(".sources").join(defect.name);
    fs::create_dir_all(&sources)?;
    let mut found = false;
    for file in fs::read_dir(contract)? {
        let file = file?;
        let mut text = fs::read_to_string(file.path())?;
        if (defect.file.is_empty() || file.file_name() == defect.file) && text.contains(defect.text) {
            found = true;
            text = text.replacen(defect.text, defect.instead, if defect.file.is_empty() { usize::MAX } else { 1 });
        }
        fs::write(sources.join(file.file_name()), text)?;
    }
    for (package, text) in WASI {
        let folder = sources.join("deps").join(package);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("package.wit"), text)?;
    }
    if !found {
        return Err(format!("the contract has changed: {:?} is no longer in it", defect.text).into());
    }
    let component = encode(&sources)?;
    fs::remove_dir_all(out.join(".sources"))?;
    let file = out.join(defect.name).with_extension("wasm");
    if fs::read(&file).is_ok_and(|old| old == component) {
        return Ok(());
    }
    Ok(fs::write(file, component)?)
}

fn encode(sources: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(sources).map_err(flat)?;
    let world = resolve.select_world(&[package], Some("driver")).map_err(flat)?;
    let mut module = dummy_module(&resolve, world, ManglingAndAbi::Standard32);
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false).map_err(flat)?;
    let mut encoder = ComponentEncoder::default();
    encoder.validate(true).module(&module).map_err(flat)?;
    encoder.encode().map_err(flat)
}

/// One line with every cause.
fn flat(e: impl std::fmt::Display) -> Box<dyn Error> {
    format!("{e:#}").into()
}
