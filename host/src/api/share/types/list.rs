use crate::{
    api::{
        filter::{boolean, dictionary},
        page::SortKey,
        paging,
        reply::Reply,
        request::ApiRequest,
        share::views,
    },
    error::{Error, Result},
    service::share_type::list::{self, ListTypes},
    store::{keyset::ListKey as _, sql::types::TypeSort},
};

/// From here on types may be asked for by their extra specs.
const EXTRA_SPECS_SINCE: u16 = 43;

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let keys: Vec<SortKey> = TypeSort::ALL.iter().map(|k| SortKey::new(k.as_str(), k.column())).collect();
    let (_, page) = paging::read(&req, &keys)?;
    let ask = ListTypes { page, is_public: is_public(req.query_value("is_public"))?, specs: extra_specs(&req)? };
    views::share_type::many(&req, &list::list(&req.app, &req.ctx, ask).await?)
}

/// None: both.
pub(in crate::api::share) fn is_public(text: Option<&str>) -> Result<Option<bool>> {
    match text {
        None => Ok(Some(true)),
        Some(word) if ["all", "none"].contains(&word.to_ascii_lowercase().as_str()) => Ok(None),
        Some(word) => boolean(word).map(Some).ok_or_else(|| Error::invalid(format!("Invalid is_public filter [{word:.64}]"))),
    }
}

fn extra_specs(req: &ApiRequest) -> Result<Vec<(String, String)>> {
    let Some(text) = req.query_value("extra_specs").filter(|t| !t.is_empty()) else { return Ok(Vec::new()) };
    if req.ctx.microversion < EXTRA_SPECS_SINCE {
        return Err(Error::invalid(
            "Filter by 'extra_specs' is not supported by this microversion. Use 2.43 or greater microversion to be able to use filter search by 'extra_specs'.",
        ));
    }
    Ok(dictionary("extra_specs", text)?.into_iter().collect())
}
