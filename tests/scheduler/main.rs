//! Suite `scheduler`.
