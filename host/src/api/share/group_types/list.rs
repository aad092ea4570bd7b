use crate::{
    api::{
        filter::dictionary,
        page::SortKey,
        paging,
        reply::Reply,
        request::ApiRequest,
        share::{types::list::is_public, views},
    },
    error::{Error, Result},
    service::share_group_type::list::{self, ListGroupTypes},
    store::{keyset::ListKey as _, sql::types::TypeSort},
};

/// From here on types may be asked for by their specs.
const SPECS_SINCE: u16 = 66;

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let keys: Vec<SortKey> = TypeSort::ALL.iter().map(|k| SortKey::new(k.as_str(), k.column())).collect();
    let (_, page) = paging::read(&req, &keys)?;
    let ask = ListGroupTypes { page, is_public: is_public(req.query_value("is_public"))?, specs: specs(&req)? };
    views::group_type::many(&req, &list::list(&req.app, &req.ctx, ask).await?)
}

fn specs(req: &ApiRequest) -> Result<Vec<(String, String)>> {
    let Some(text) = req.query_value("group_specs").filter(|t| !t.is_empty()) else { return Ok(Vec::new()) };
    if req.ctx.microversion < SPECS_SINCE {
        return Err(Error::invalid(
            "Filter by 'group_specs' is not supported by this microversion. Use 2.66 or greater microversion to be able to use filter search by 'group_specs'.",
        ));
    }
    Ok(dictionary("group_specs", text)?.into_iter().collect())
}
