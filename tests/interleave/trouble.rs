//! What an array does to the next calls of one kind.

use rand::{rngs::StdRng, seq::IndexedRandom};
use support::array::Action;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// Does the work and drops the answer.
    LostAnswer,
    /// Drops the call.
    LostCall,
    Refuses(u16),
    Slow(u64),
}

impl Trouble {
    pub fn any(dice: &mut StdRng) -> Self {
        const ALL: [Trouble; 9] = [
            Trouble::LostAnswer,
            Trouble::LostAnswer,
            Trouble::LostCall,
            Trouble::Refuses(503),
            Trouble::Refuses(500),
            Trouble::Refuses(409),
            Trouble::Refuses(507),
            Trouble::Slow(80),
            Trouble::Slow(600),
        ];
        *ALL.choose(dice).unwrap()
    }

    pub fn action(self) -> Action {
        match self {
            Self::LostAnswer => Action::DropAnswer,
            Self::LostCall => Action::DropCall,
            Self::Refuses(status) => Action::Refuse(status),
            Self::Slow(milliseconds) => Action::Delay { milliseconds },
        }
    }
}
