//! Links the shim statically and at a fixed address, under a plain `cargo build`.
//!
//! Fifty shims share one copy of what is mapped from the file and never written. A dynamic or relocatable program
//! writes to its pages when it starts, in each process anew. The usual way to a static program, `-C target-feature`,
//! holds for all crates of a build or none, so the linker is told instead: the libraries that the compiler names are
//! found as scripts that lead to their static forms. Tests and other programs link as always.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

/// Each library that the compiler asks for, and what the linker is to take instead. What glibc once had in libraries of
/// its own is part of its libc now.
const SCRIPTS: [(&str, &str); 7] = [
    ("gcc_s", "GROUP(-l:libgcc_eh.a -l:libc.a)"),
    ("c", "GROUP(-l:libc.a -l:libgcc_eh.a)"),
    ("m", "INPUT(-l:libm.a)"),
    ("util", ""),
    ("rt", ""),
    ("pthread", ""),
    ("dl", ""),
];

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if !is("CARGO_CFG_TARGET_OS", "linux") || !is("CARGO_CFG_TARGET_ENV", "gnu") {
        return Ok(());
    }
    let out = env::var_os("OUT_DIR").map(PathBuf::from).ok_or(io::ErrorKind::NotFound)?;
    write_scripts(&out)?;
    // Not as a search path: that would hold for tests, and for crates that depend on this one.
    println!("cargo:rustc-link-arg-bins=-L{}", out.display());
    println!("cargo:rustc-link-arg-bins=-static");
    println!("cargo:rustc-link-arg-bins=-no-pie");
    Ok(())
}

fn write_scripts(dir: &Path) -> io::Result<()> {
    for (name, body) in SCRIPTS {
        fs::write(dir.join(format!("lib{name}.so")), format!("/* GNU ld script */ {body}\n"))?;
    }
    Ok(())
}
