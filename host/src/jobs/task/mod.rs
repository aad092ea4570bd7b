//! One task a file. `registry` lists them all.
