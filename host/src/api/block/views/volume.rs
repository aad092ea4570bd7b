//! Volumes.

use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    api::{
        block::fields::{self, Field, Look, Surface, VolumeSummary, VolumeView, Who},
        page,
        reply::Reply,
        request::ApiRequest,
    },
    error::Result,
    policy::Target,
    service::volume::list::Listed,
    store::sql::volume_list::Volume,
};

/// What this request's answers look like.
pub fn look(req: &ApiRequest) -> Look {
    let below_version = req.base_url.strip_prefix(&req.host_url).and_then(|rest| rest.strip_prefix("/v3")).unwrap_or("");
    Look {
        microversion: req.ctx.microversion,
        base_url: req.base_url.clone(),
        bookmark_url: format!("{}{below_version}", req.host_url),
        sees_hosts: req.ctx.is_admin() || req.ctx.has_role("service"),
    }
}

/// The fields the caller sees.
fn visible(req: &ApiRequest, surface: Surface) -> Vec<&'static Field> {
    let permits = |who| match who {
        Who::Anybody => true,
        Who::Admin => req.ctx.is_admin(),
        Who::Policy(action) => req.app.policy.allows(&req.ctx, action, &Target::own(&req.ctx)),
    };
    fields::visible(req.ctx.microversion, surface, permits, req.app.config.get().block.backend_name_field)
}

/// `{"volume": ...}`
pub fn one(req: &ApiRequest, status: StatusCode, surface: Surface, volume: &Volume) -> Result<Reply> {
    let (fields, look) = (visible(req, surface), look(req));
    Reply::json(status, &One { volume: VolumeView { volume, fields: &fields, look: &look } })
}

/// `{"volumes": [...]}`, with links and count where there are any.
pub fn many(req: &ApiRequest, page: &page::Page, listed: &Listed, detail: bool) -> Result<Reply> {
    let look = look(req);
    let path = if detail { "volumes/detail" } else { "volumes" };
    let last = listed.volumes.last().map(|v| v.row.id.as_str());
    let volumes_links = page.next_link(req, path, listed.volumes.len(), last);
    if detail {
        let fields = visible(req, Surface::Shown);
        let volumes = listed.volumes.iter().map(|volume| VolumeView { volume, fields: &fields, look: &look }).collect::<Vec<_>>();
        return Reply::json(StatusCode::OK, &Many { volumes, volumes_links, count: listed.count });
    }
    let volumes = listed.volumes.iter().map(|volume| VolumeSummary { volume, look: &look }).collect::<Vec<_>>();
    Reply::json(StatusCode::OK, &Many { volumes, volumes_links, count: listed.count })
}

/// `{"volume-summary": ...}`
pub fn summary(req: &ApiRequest, s: &crate::service::volume::summary::Summary) -> Result<Reply> {
    let mut shown = json!({ "total_count": s.count, "total_size": s.size_gib });
    if req.ctx.microversion >= 36 {
        shown["metadata"] = json!(s.metadata);
    }
    Reply::json(StatusCode::OK, &json!({ "volume-summary": shown }))
}

#[derive(Serialize)]
struct One<'a> {
    volume: VolumeView<'a>,
}

#[derive(Serialize)]
struct Many<V> {
    volumes: Vec<V>,
    #[serde(skip_serializing_if = "Option::is_none")]
    volumes_links: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<i64>,
}
