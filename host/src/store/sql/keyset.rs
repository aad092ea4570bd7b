//! Keyset pagination: a page begins after the sort values of the marker's row, so deep pages cost what the first costs.
//!
//! The last key of a sort is always the id, so that the order is total. A key that may be null sorts as the lowest value.

use crate::store::bind::{Sql, Value};

/// One sort key: the SQL expression (ours, never the client's) and its direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    pub expr: &'static str,
    pub descending: bool,
}

/// Appends `AND (...)`: rows that come after `marker`, whose values stand in the order of `keys`.
pub fn push_after(sql: &mut Sql, keys: &[Key], marker: &[Value]) {
    if keys.is_empty() || keys.len() != marker.len() {
        return;
    }
    sql.push(" AND ");
    if keys.iter().all(|k| k.descending == keys[0].descending) {
        // one row comparison: both databases walk the index for it
        let exprs: Vec<&str> = keys.iter().map(|k| k.expr).collect();
        sql.push("(").push(&exprs.join(", ")).push(if keys[0].descending { ") < " } else { ") > " });
        sql.bind_list(marker.iter().cloned());
        return;
    }
    sql.push("(");
    for (n, key) in keys.iter().enumerate() {
        if n > 0 {
            sql.push(" OR ");
        }
        sql.push("(");
        for (before, value) in keys.iter().zip(marker).take(n) {
            sql.push(before.expr).push(" = ").bind(value.clone()).push(" AND ");
        }
        sql.push(key.expr).push(if key.descending { " < " } else { " > " }).bind(marker[n].clone()).push(")");
    }
    sql.push(")");
}

/// Appends ` ORDER BY ...`.
pub fn push_order(sql: &mut Sql, keys: &[Key]) {
    for (n, key) in keys.iter().enumerate() {
        sql.push(if n == 0 { " ORDER BY " } else { ", " }).push(key.expr).push(if key.descending { " DESC" } else { " ASC" });
    }
}

/// Appends ` LIMIT .. OFFSET ..`.
pub fn push_window(sql: &mut Sql, limit: i64, offset: i64) {
    sql.push(" LIMIT ").bind(limit);
    if offset > 0 {
        sql.push(" OFFSET ").bind(offset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Key = Key { expr: "a", descending: true };
    const B: Key = Key { expr: "b", descending: false };
    const ID: Key = Key { expr: "id", descending: true };

    #[test]
    fn one_direction_is_one_row_comparison() {
        let mut sql = Sql::new("WHERE TRUE");
        push_after(&mut sql, &[A, ID], &[Value::from(1_i64), Value::from("x")]);
        assert_eq!(sql.text, "WHERE TRUE AND (a, id) < ($1, $2)");
    }

    #[test]
    fn mixed_directions_are_spelled_out() {
        let mut sql = Sql::new("");
        push_after(&mut sql, &[A, B], &[Value::from(1_i64), Value::from(2_i64)]);
        assert_eq!(sql.text, " AND ((a < $1) OR (a = $2 AND b > $3))");
        push_order(&mut sql, &[A, B]);
        assert!(sql.text.ends_with(" ORDER BY a DESC, b ASC"));
    }
}
