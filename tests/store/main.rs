//! Suite `store`.
