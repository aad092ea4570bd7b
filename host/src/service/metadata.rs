//! What writing pairs has in common, whatever they belong to.

/// How given pairs relate to those that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    Merge,
    Replace,
}
