use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    api::{
        block::{resource_filters, views::volume_type::TypeView},
        filter::{boolean, dictionary},
        page::SortKey,
        paging,
        reply::Reply,
        request::ApiRequest,
    },
    error::Result,
    service::{
        refusal,
        volume_type::list::{self, ListTypes, Publicity},
    },
    store::keyset::ListKey as _,
    store::sql::types::TypeSort,
};

pub async fn list(req: ApiRequest) -> Result<Reply> {
    let keys: Vec<SortKey> = TypeSort::ALL.iter().map(|k| SortKey::new(k.as_str(), k.column())).collect();
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
    // everybody may say is_public, and of users it is not looked at
    let admin = req.ctx.is_admin();
    for one in resource_filters::read(req, "volume_type", &[("extra_specs", 52)])? {
        match (one.key, one.part) {
            ("is_public", false) if admin => ask.publicity = publicity(one.value)?,
            ("is_public", false) => {}
            ("extra_specs", false) => {
                ask.specs = dictionary(one.key, one.value)?.into_iter().collect();
                resource_filters::check_count(ask.specs.len())?;
            }
            ("name", false) => ask.name = Some(one.value.to_owned()),
            ("name", true) => ask.name_part = Some(one.value.to_owned()),
            // columns that types are not looked for by
            _ => {}
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
