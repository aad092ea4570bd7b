//! Suite `reload`.
