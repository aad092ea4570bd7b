//! Suite `driver_kit`.
