//! A closed set of words that stands as text in the database and on the wire.

/// Declares an enum whose variants have one spelling each: `as_str`, `parse`, `Display`, serde as text.
macro_rules! text_enum {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$vmeta])* $variant),+ }

        impl $name {
            /// Every value, in the order of its declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// All of their words, for who is told what there is: `one, two`.
            pub const WORDS: &'static str = { const ALL: &str = concat!($(", ", $text),+); ALL.split_at(2).1 };

            /// The word in the database and on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// The value of a word; none for a word that is not in the set.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)+ _ => None }
            }
        }

        impl $crate::domain::Word for $name {
            fn word(self) -> &'static str {
                self.as_str()
            }

            fn of(text: &str) -> Option<Self> {
                Self::parse(text)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use text_enum;

/// What every such set has.
pub trait Word: Copy + PartialEq {
    fn word(self) -> &'static str;
    fn of(text: &str) -> Option<Self>;
}

/// Whether `text` is the word of one of `these`.
pub fn is_one_of<W: Word>(text: &str, these: &[W]) -> bool {
    W::of(text).is_some_and(|w| these.contains(&w))
}

/// The words of `these`, for a refusal: `available, error`.
pub fn joined<W: Word>(these: &[W]) -> String {
    these.iter().map(|w| w.word()).collect::<Vec<_>>().join(", ")
}
