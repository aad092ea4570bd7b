//! Finds the rows of a route table for a path and a method.
//!
//! Literal segments win over `{names}`, but only where the literal branch has the method: `DELETE /volumes/detail` is a
//! volume called "detail". A path may end in one slash.

use std::collections::HashMap;

use http::Method;

use super::route::Route;

/// A route table as a tree of path segments.
#[derive(Default)]
pub struct Tree {
    root: Node,
}

#[derive(Default)]
struct Node {
    literals: HashMap<&'static str, Node>,
    param: Option<Box<Node>>,
    rows: Vec<Route>,
}

/// The rows that fit path and method (several when they differ by version or action), never empty.
pub struct Found<'t, 'p> {
    pub rows: Vec<&'t Route>,
    values: Vec<&'p str>,
}

impl Found<'_, '_> {
    /// The path's values under the names that `row` gives them.
    pub fn params(&self, row: &Route) -> HashMap<String, String> {
        let names = row.path.split('/').filter_map(|s| s.strip_prefix('{').and_then(|s| s.strip_suffix('}')));
        names.zip(&self.values).map(|(n, v)| (n.to_owned(), (*v).to_owned())).collect()
    }
}

impl Tree {
    pub fn new<'r>(routes: impl IntoIterator<Item = &'r Route>) -> Self {
        let mut tree = Self::default();
        for route in routes {
            let mut node = &mut tree.root;
            for segment in route.path.split('/').filter(|s| !s.is_empty()) {
                node = if segment.starts_with('{') {
                    &mut **node.param.get_or_insert_default()
                } else {
                    node.literals.entry(segment).or_default()
                };
            }
            node.rows.push(*route);
        }
        tree
    }

    /// The rows for `segments`, already decoded.
    pub fn find<'t, 'p>(&'t self, segments: &'p [String], method: &Method) -> Option<Found<'t, 'p>> {
        let segments = match segments {
            // the root itself; anywhere else an empty segment is an id that somebody left out, and names nothing
            [only] if only.is_empty() => &[],
            all => all,
        };
        let mut values = Vec::new();
        let rows = walk(&self.root, segments, method, &mut values)?;
        Some(Found { rows, values })
    }
}

fn walk<'t, 'p>(node: &'t Node, segments: &'p [String], method: &Method, values: &mut Vec<&'p str>) -> Option<Vec<&'t Route>> {
    let Some((first, rest)) = segments.split_first() else {
        let rows: Vec<_> = node.rows.iter().filter(|r| r.method.http() == *method).collect();
        return (!rows.is_empty()).then_some(rows);
    };
    if let Some(rows) = node.literals.get(first.as_str()).and_then(|next| walk(next, rest, method, values)) {
        return Some(rows);
    }
    let next = node.param.as_deref().filter(|_| !first.is_empty())?;
    values.push(first);
    let rows = walk(next, rest, method, values);
    if rows.is_none() {
        values.pop();
    }
    rows
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;
    use crate::{
        api::{
            reply::Reply,
            request::ApiRequest,
            route::{Api, Verb},
        },
        error::Result,
        handler,
    };

    async fn nothing(_: ApiRequest) -> Result<Reply> {
        Ok(Reply::empty(StatusCode::OK))
    }

    const fn row(method: Verb, path: &'static str) -> Route {
        Route::new(Api::Block, method, path, "p", 200, "s", handler!(nothing))
    }

    const TABLE: &[Route] = &[
        row(Verb::Get, "/"),
        row(Verb::Get, "/volumes"),
        row(Verb::Get, "/volumes/detail"),
        row(Verb::Get, "/volumes/{volume_id}"),
        row(Verb::Delete, "/volumes/{volume_id}"),
        row(Verb::Get, "/volumes/{id}/metadata/{key}"),
    ];

    fn find(path: &str, method: &Method) -> Option<(&'static str, HashMap<String, String>)> {
        let tree = Tree::new(TABLE);
        let segments: Vec<String> = path.split('/').skip(1).map(str::to_owned).collect();
        let found = tree.find(&segments, method)?;
        Some((found.rows[0].path, found.params(found.rows[0])))
    }

    #[test]
    fn a_literal_segment_wins_over_a_name() {
        assert_eq!(find("/volumes/detail", &Method::GET).unwrap().0, "/volumes/detail");
    }
    #[test]
    fn a_literal_segment_without_the_method_gives_way_to_a_name() {
        let (path, params) = find("/volumes/detail", &Method::DELETE).unwrap();
        assert_eq!((path, params["volume_id"].as_str()), ("/volumes/{volume_id}", "detail"));
    }
    #[test]
    fn each_row_names_its_own_parameters() {
        let (_, params) = find("/volumes/v1/metadata/color", &Method::GET).unwrap();
        assert_eq!((params["id"].as_str(), params["key"].as_str()), ("v1", "color"));
    }
    #[test]
    fn an_id_left_out_names_nothing() {
        assert!(find("/volumes/", &Method::GET).is_none() && find("/volumes/", &Method::DELETE).is_none());
        assert!(find("/volumes//", &Method::GET).is_none());
        assert_eq!(find("/", &Method::GET).unwrap().0, "/");
    }
    #[test]
    fn an_unknown_path_and_a_wrong_method_are_both_not_found() {
        assert!(find("/nothing", &Method::GET).is_none());
        assert!(find("/volumes", &Method::PUT).is_none());
    }
}
