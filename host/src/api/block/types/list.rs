use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{
        block::{paging, views::volume_type::TypeView},
        filter::{boolean, dictionary},
        page::SortKey,
        reply::Reply,
        request::ApiRequest,
    },
    error::{Error, Result},
    service::{
        refusal,
        volume_type::list::{self, ListTypes, Publicity},
    },
    store::keyset::ListKey as _,
    store::sql::volume_types::VolumeTypeSort,
};

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let keys: Vec<SortKey> = VolumeTypeSort::ALL.iter().map(|k| SortKey::new(k.as_str(), k.column())).collect();
    let (asked, page) = paging::read(&req, &keys)?;
    let mut ask = ListTypes { page, ..ListTypes::default() };
    read_filters(&req, &mut ask)?;
    let found = list::list(&req.app, &req.ctx, ask).await?;
    let view = TypeView::of(&req);
    let mut shown = json!({ "volume_types": found.iter().map(|t| view.render(t)).collect::<Vec<Value>>() });
    if let Some(links) = asked.next_link(&req, "types", found.len(), found.last().map(|t| t.row.id.as_str())) {
        shown["volume_type_links"] = links;
    }
    Reply::json(StatusCode::OK, &shown)
}

fn read_filters(req: &ApiRequest, ask: &mut ListTypes) -> Result<()> {
    let admin = req.ctx.is_admin();
    for (key, value) in paging::filters(req) {
        match key {
            "is_public" if admin => ask.publicity = publicity(value)?,
            "is_public" => {}
            "extra_specs" if req.ctx.microversion >= 52 => ask.specs = dictionary(key, value)?.into_iter().collect(),
            "name" if admin => ask.name = Some(value.to_owned()),
            _ if admin || req.ctx.microversion < 31 => {}
            _ => return Err(Error::invalid(format!("Invalid filters {key:.80} are found in query options."))),
        }
    }
    Ok(())
}

fn publicity(value: &str) -> Result<Publicity> {
    match boolean(value) {
        Some(true) => Ok(Publicity::Usable),
        Some(false) => Ok(Publicity::Private),
        None if value.eq_ignore_ascii_case("none") => Ok(Publicity::All),
        None => Err(refusal::invalid_input(format!("Invalid is_public filter [{value:.80}]"))),
    }
}
