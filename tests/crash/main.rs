//! Suite `crash`.
