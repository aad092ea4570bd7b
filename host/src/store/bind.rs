//! A statement put together at run time (lists with filters): text with `$n` and the values, for either database.
//!
//! Only column names and operators from our own tables ever enter the text; values are always bound.

/// One bound value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Text(Option<String>),
    Int(Option<i64>),
    Bool(bool),
    Real(f64),
}

impl From<&str> for Value {
    fn from(v: &str) -> Self {
        Self::Text(Some(v.to_owned()))
    }
}
impl From<String> for Value {
    fn from(v: String) -> Self {
        Self::Text(Some(v))
    }
}
impl From<i64> for Value {
    fn from(v: i64) -> Self {
        Self::Int(Some(v))
    }
}
impl From<bool> for Value {
    fn from(v: bool) -> Self {
        Self::Bool(v)
    }
}

/// SQL text under construction.
#[derive(Debug, Clone, Default)]
pub struct Sql {
    pub text: String,
    pub values: Vec<Value>,
}

impl Sql {
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), values: Vec::new() }
    }
    /// Appends text that we wrote ourselves.
    pub fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }
    /// Appends the next `$n` and binds `value` to it.
    pub fn bind(&mut self, value: impl Into<Value>) -> &mut Self {
        self.values.push(value.into());
        self.text.push('$');
        self.text.push_str(&self.values.len().to_string());
        self
    }
    /// Appends `($1, $2, ...)`.
    pub fn bind_list<V: Into<Value>>(&mut self, values: impl IntoIterator<Item = V>) -> &mut Self {
        self.push("(");
        for (n, v) in values.into_iter().enumerate() {
            if n > 0 {
                self.push(", ");
            }
            self.bind(v);
        }
        self.push(")")
    }
}

/// Appends a condition: a column of texts has `part` in it. Both databases compare letter by letter so (their LIKEs differ).
pub fn push_contains<'s>(sql: &'s mut Sql, table: &str, column: &str, part: &str) -> &'s mut Sql {
    let column = format!("{table}.{column}");
    if part.is_empty() {
        return sql.push(" AND ").push(&column).push(" IS NOT NULL");
    }
    sql.push(" AND REPLACE(").push(&column).push(", ").bind(part).push(", '') <> ").push(&column)
}

/// Binds the values of a [`Sql`] to a sqlx query: `bind_values!(sqlx::query_as::<_, Row>(AssertSqlSafe(sql.text)), sql.values)`.
macro_rules! bind_values {
    ($query:expr, $values:expr) => {{
        let mut query = $query;
        for value in $values {
            query = match value {
                $crate::store::bind::Value::Text(v) => query.bind(v),
                $crate::store::bind::Value::Int(v) => query.bind(v),
                $crate::store::bind::Value::Bool(v) => query.bind(v),
                $crate::store::bind::Value::Real(v) => query.bind(v),
            };
        }
        query
    }};
}
pub(crate) use bind_values;
