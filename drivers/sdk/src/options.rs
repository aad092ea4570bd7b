//! Typed options: each stands once, as a constant with name, kind, default and help; the host checks the operator's section
//! against [`Opt::spec`], the driver reads it with [`Context::get`](crate::Context::get).

use core::marker::PhantomData;

use crate::types::{ConfigValue, OptionKind, OptionSpec};

/// One option of a back end's section, read as a `T`.
///
/// ```
/// use stowage_driver_sdk::Opt;
/// const URL: Opt<String> = Opt::url("array_url", "Where the array's API listens").required();
/// const RETRIES: Opt<i64> = Opt::integer("retries", 0, 10, "How often a busy array is asked again").default("3");
/// ```
#[derive(Debug)]
pub struct Opt<T> {
    pub name: &'static str,
    kind: Kind,
    required: bool,
    default: Option<&'static str>,
    help: &'static str,
    value: PhantomData<fn() -> T>,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    Secret,
    Integer(i64, i64),
    Number,
    Boolean,
    Choice(&'static [&'static str]),
    Url,
    Texts,
}

impl<T> Opt<T> {
    const fn new(name: &'static str, kind: Kind, help: &'static str) -> Self {
        Self { name, kind, required: false, default: None, help, value: PhantomData }
    }
    /// The host refuses a section without it.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }
    /// As it would be written in the file.
    #[must_use]
    pub const fn default(mut self, text: &'static str) -> Self {
        self.default = Some(text);
        self
    }
    /// What [`Driver::options`](crate::Driver::options) lists.
    #[must_use]
    pub fn spec(&self) -> OptionSpec {
        let kind = match self.kind {
            Kind::Text => OptionKind::Text,
            Kind::Secret => OptionKind::Secret,
            Kind::Integer(least, most) => OptionKind::Integer((least, most)),
            Kind::Number => OptionKind::Number,
            Kind::Boolean => OptionKind::Boolean,
            Kind::Choice(of) => OptionKind::Choice(of.iter().map(|c| (*c).into()).collect()),
            Kind::Url => OptionKind::Url,
            Kind::Texts => OptionKind::Texts,
        };
        OptionSpec {
            name: self.name.into(),
            kind,
            required: self.required,
            default_value: self.default.map(Into::into),
            help: self.help.into(),
        }
    }
}

impl Opt<String> {
    pub const fn text(name: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::Text, help)
    }
    /// A text that the host keeps: name it in an HTTP request's credentials instead of reading it.
    pub const fn secret(name: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::Secret, help)
    }
    pub const fn url(name: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::Url, help)
    }
    pub const fn choice(name: &'static str, of: &'static [&'static str], help: &'static str) -> Self {
        Self::new(name, Kind::Choice(of), help)
    }
}
impl Opt<i64> {
    /// A whole number, `least` and `most` inclusive.
    pub const fn integer(name: &'static str, least: i64, most: i64, help: &'static str) -> Self {
        Self::new(name, Kind::Integer(least, most), help)
    }
}
impl Opt<f64> {
    pub const fn number(name: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::Number, help)
    }
}
impl Opt<bool> {
    pub const fn boolean(name: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::Boolean, help)
    }
}
impl Opt<Vec<String>> {
    /// A list of texts.
    pub const fn texts(name: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::Texts, help)
    }
}

/// What an option's value can be read as.
pub trait FromConfig: Sized {
    /// None: the value is of another kind.
    fn from_config(value: ConfigValue) -> Option<Self>;
}

impl FromConfig for String {
    fn from_config(value: ConfigValue) -> Option<Self> {
        if let ConfigValue::Text(text) = value { Some(text) } else { None }
    }
}
impl FromConfig for i64 {
    fn from_config(value: ConfigValue) -> Option<Self> {
        if let ConfigValue::Integer(n) = value { Some(n) } else { None }
    }
}
impl FromConfig for f64 {
    #[expect(clippy::cast_precision_loss, reason = "options are small numbers; `1` in the file means `1.0`")]
    fn from_config(value: ConfigValue) -> Option<Self> {
        match value {
            ConfigValue::Number(n) => Some(n),
            ConfigValue::Integer(n) => Some(n as Self),
            _ => None,
        }
    }
}
impl FromConfig for bool {
    fn from_config(value: ConfigValue) -> Option<Self> {
        if let ConfigValue::Boolean(b) = value { Some(b) } else { None }
    }
}
impl FromConfig for Vec<String> {
    fn from_config(value: ConfigValue) -> Option<Self> {
        if let ConfigValue::Texts(texts) = value { Some(texts) } else { None }
    }
}
