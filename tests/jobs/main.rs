//! Suite `jobs`.
