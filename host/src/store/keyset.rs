//! Keyset pagination: "after this row, in this order", as SQL for both databases.
//!
//! A null sorts below every value on both (PostgreSQL has to be told). The last column of an order must be unique, or
//! rows would be skipped.

use super::bind::{Sql, Value};

/// One column of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// A column of ours, never a client's text.
    pub column: &'static str,
    pub descending: bool,
    pub nullable: bool,
}

/// What the rows of a list can be sorted by: one key for each word that clients know.
pub trait ListKey: Copy + 'static {
    type Row;
    /// Every key.
    const KEYS: &'static [Self];
    /// The client's word, and the key's name in a tombstone.
    fn word(self) -> &'static str;
    /// Its SQL: a null sorts as the lowest value.
    fn column(self) -> &'static str;
    /// The value of this key in a row.
    fn value(self, row: &Self::Row) -> Value;
    /// The key of a column that [`Self::column`] gave.
    fn of_column(column: &str) -> Option<Self> {
        Self::KEYS.iter().copied().find(|k| k.column() == column)
    }
}

/// A list to be read: which rows (`F`, one condition), in what order, and which page of them.
#[derive(Debug, Clone)]
pub struct ListQuery<F> {
    pub filters: Vec<F>,
    /// Columns of the list's [`ListKey`], the id last.
    pub order: Vec<Order>,
    /// The marker's values in that order.
    pub after: Option<Vec<Value>>,
    pub limit: i64,
    pub offset: i64,
}

// written out: a condition has no default
impl<F> Default for ListQuery<F> {
    fn default() -> Self {
        Self { filters: Vec::new(), order: Vec::new(), after: None, limit: 0, offset: 0 }
    }
}

impl<F> ListQuery<F> {
    /// Appends the page.
    pub fn push_page(&self, sql: &mut Sql) {
        push_page(sql, &self.order, self.after.as_deref(), self.limit, self.offset);
    }
}

/// Appends what makes a page of a list: the rows after the one with `after` as its values, in this order, so many.
pub fn push_page(sql: &mut Sql, order: &[Order], after: Option<&[Value]>, limit: i64, offset: i64) {
    if let Some(after) = after {
        sql.push(" AND ");
        push_after(sql, order, after);
    }
    push_order(sql, order);
    sql.push(" LIMIT ").bind(limit).push(" OFFSET ").bind(offset);
}

/// Appends `ORDER BY ...`.
fn push_order(sql: &mut Sql, order: &[Order]) {
    for (n, o) in order.iter().enumerate() {
        sql.push(if n == 0 { " ORDER BY " } else { ", " }).push(o.column).push(if o.descending { " DESC" } else { " ASC" });
        if o.nullable {
            sql.push(if o.descending { " NULLS LAST" } else { " NULLS FIRST" });
        }
    }
}

/// Appends a condition that holds for the rows after the one with `at` as its values of `order`'s columns.
fn push_after(sql: &mut Sql, order: &[Order], at: &[Value]) {
    let plain = order.iter().all(|o| !o.nullable && o.descending == order[0].descending);
    if plain && !order.is_empty() {
        push_row_comparison(sql, order, at);
    } else {
        push_cases(sql, order, at);
    }
}

/// `(a, b) < ($1, $2)`: one range of an index on (a, b).
fn push_row_comparison(sql: &mut Sql, order: &[Order], at: &[Value]) {
    let columns: Vec<&str> = order.iter().map(|o| o.column).collect();
    sql.push("(").push(&columns.join(", ")).push(if order[0].descending { ") < " } else { ") > " }).bind_list(at.iter().cloned());
}

/// `(a after $1 OR (a equals $1 AND b after $2) ...)`
fn push_cases(sql: &mut Sql, order: &[Order], at: &[Value]) {
    sql.push("(");
    for n in 0..order.len() {
        if n > 0 {
            sql.push(" OR ");
        }
        sql.push("(");
        for (o, value) in order.iter().zip(at).take(n) {
            push_equal(sql, *o, value);
            sql.push(" AND ");
        }
        if let Some(value) = at.get(n) {
            push_beyond(sql, order[n], value);
        }
        sql.push(")");
    }
    sql.push(")");
}

fn push_equal(sql: &mut Sql, order: Order, value: &Value) {
    sql.push(order.column);
    if is_null(value) {
        sql.push(" IS NULL");
    } else {
        sql.push(" = ").bind(value.clone());
    }
}

fn push_beyond(sql: &mut Sql, order: Order, value: &Value) {
    match (order.descending, is_null(value)) {
        (false, true) => _ = sql.push(order.column).push(" IS NOT NULL"),
        (true, true) => _ = sql.push("1 = 0"),
        (false, false) => _ = sql.push(order.column).push(" > ").bind(value.clone()),
        (true, false) if order.nullable => {
            _ = sql.push("(").push(order.column).push(" < ").bind(value.clone()).push(" OR ").push(order.column).push(" IS NULL)")
        }
        (true, false) => _ = sql.push(order.column).push(" < ").bind(value.clone()),
    }
}

fn is_null(value: &Value) -> bool {
    matches!(value, Value::Text(None) | Value::Int(None))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn by(column: &'static str, descending: bool, nullable: bool) -> Order {
        Order { column, descending, nullable }
    }
    fn after(order: &[Order], at: &[Value]) -> String {
        let mut sql = Sql::default();
        push_after(&mut sql, order, at);
        sql.text
    }

    #[test]
    fn one_direction_without_nulls_is_one_comparison() {
        let order = [by("created_at", true, false), by("id", true, false)];
        assert_eq!(after(&order, &[Value::Int(Some(5)), "x".into()]), "(created_at, id) < ($1, $2)");
    }
    #[test]
    fn mixed_directions_are_told_case_by_case() {
        let order = [by("size", false, false), by("id", true, false)];
        assert_eq!(after(&order, &[Value::Int(Some(5)), "x".into()]), "((size > $1) OR (size = $2 AND id < $3))");
    }
    #[test]
    fn nulls_come_first_going_up_and_last_going_down() {
        let up = [by("name", false, true), by("id", false, false)];
        assert_eq!(after(&up, &[Value::Text(None), "x".into()]), "((name IS NOT NULL) OR (name IS NULL AND id > $1))");
        let down = [by("name", true, true), by("id", true, false)];
        assert_eq!(after(&down, &["n".into(), "x".into()]), "(((name < $1 OR name IS NULL)) OR (name = $2 AND id < $3))");
        let mut sql = Sql::default();
        push_order(&mut sql, &down);
        assert_eq!(sql.text, " ORDER BY name DESC NULLS LAST, id DESC");
    }
}
