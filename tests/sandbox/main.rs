//! Suite `sandbox`.
