//! Suite `identity`.
