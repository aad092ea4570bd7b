//! Suite `node`: `stowage node` from outside, with real bytes through real iSCSI sessions. Needs root and what
//! `tests/datapath/install.sh` installs.

mod attack;
mod contract;
mod data;
mod fences;
mod full;
mod import;
mod kills;
mod kit;
mod load;
mod migrate;
mod service;
mod sight;
mod start;
