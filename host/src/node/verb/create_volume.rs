//! Create: empty, a clone, from a snapshot, or by adopting an import file.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Deserialize;

use super::{Node, fence, size};
use crate::node::{
    Call, blocking,
    disk::{From, Of},
    name::{Layout, ObjectId},
    refusal::{Refusal, Result},
    state::{Asked, Phase, Source, Volume},
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateBody {
    #[serde(default)]
    pub size_gib: Option<u64>,
    #[serde(default)]
    pub layout: Option<Layout>,
    #[serde(default)]
    pub source: Option<Source>,
}

impl Node {
    /// # Errors
    /// `conflict` when the id is another volume's; `exhausted`, with nothing left behind.
    pub async fn create_volume(&self, call: &Call, id: ObjectId, body: CreateBody) -> Result<Arc<Volume>> {
        let _lock = self.locks.volume(&id).await;
        let asked = asked(&body)?;
        // from the look at the file to its removal: one volume gets it
        let _import = match &asked.source {
            Some(Source::Import(name)) => Some(self.locks.import(name).await),
            _ => None,
        };
        let before = self.records.volumes.get(&id);
        if let Some(before) = &before {
            fence(format_args!("volume {id}"), before.generation, call)?;
            if before.is_live() {
                return self.created_before(Volume::clone(before), call, &asked).await;
            }
        }
        let made = self.make(&id, &asked).await;
        let size_gib = match made {
            Ok(size) => size,
            Err(e) => {
                self.refused(&id, call, before.as_deref()).await;
                return Err(e);
            }
        };
        let (fences, detached_all) = before.map(|b| (b.fences.clone(), b.detached_all)).unwrap_or_default();
        let record = Volume {
            id: id.clone(),
            phase: Phase::Live,
            generation: call.generation,
            size_gib,
            import_pending: matches!(asked.source, Some(Source::Import(_))),
            asked,
            layout: body.layout.unwrap_or(self.default_layout),
            created_at: Timestamp::now(),
            ended_at: None,
            attachments: Default::default(),
            fences,
            detached_all,
        };
        // complete in work/, then promised, then in its place: after a kill in between the next start moves it
        if let Err(e) = self.records.volumes.write(&record).await {
            self.disk.discard_work(Of::Volume, &id);
            return Err(e);
        }
        let (disk, moved) = (self.disk.clone(), id.clone());
        let published = blocking(move || disk.publish(Of::Volume, &moved)).await;
        let record = self.records.volumes.show(record);
        published?;
        self.finish_import(record).await
    }

    async fn created_before(&self, before: Volume, call: &Call, asked: &Asked) -> Result<Arc<Volume>> {
        if before.asked != *asked {
            return Err(Refusal::conflict(format!("volume {} exists, and was made with another size or source", before.id)));
        }
        let (disk, id) = (self.disk.clone(), before.id.clone());
        // the first time may have ended between its record and its file
        blocking(move || if disk.file(Of::Volume, &id).exists() { Ok(()) } else { disk.publish(Of::Volume, &id) }).await?;
        let record = self.seen(before, call).await?;
        self.finish_import(record).await
    }

    async fn make(&self, id: &ObjectId, asked: &Asked) -> Result<u64> {
        match &asked.source {
            Some(Source::Volume(source)) => drop(self.volume(source)?),
            Some(Source::Snapshot(source)) => drop(self.snapshot(source)?),
            Some(Source::Import(name)) => {
                // it has the content, and could not remove the file
                let has_it =
                    |v: &Volume| v.import_pending && v.id != *id && matches!(&v.asked.source, Some(Source::Import(n)) if n == name);
                if let Some(other) = self.records.volumes.page(None, 1, has_it).pop() {
                    return Err(Refusal::busy(format!("import file {name} is being adopted as volume {}", other.id)));
                }
            }
            None => {}
        }
        let (disk, id, asked) = (self.disk.clone(), id.clone(), asked.clone());
        blocking(move || {
            let from = match &asked.source {
                None => From::Nothing,
                Some(Source::Volume(source)) => From::File(Of::Volume, source),
                Some(Source::Snapshot(source)) => From::File(Of::Snapshot, source),
                Some(Source::Import(name)) => {
                    if let Some(why) = disk.import(name)?.unsafe_because {
                        return Err(Refusal::invalid(format!("import file {name}: {why}")));
                    }
                    From::Import(name)
                }
            };
            let made = disk.make(Of::Volume, &id, from, asked.size_gib)?;
            if let Err(e) = size(made) {
                disk.discard_work(Of::Volume, &id);
                return Err(e);
            }
            Ok(made)
        })
        .await
    }

    /// An adopted file's content is the volume's now.
    async fn finish_import(&self, record: Arc<Volume>) -> Result<Arc<Volume>> {
        let (true, Some(Source::Import(name))) = (record.import_pending, record.asked.source.clone()) else { return Ok(record) };
        let disk = self.disk.clone();
        blocking(move || disk.remove_import(&name)).await?;
        let mut record = Volume::clone(&record);
        record.import_pending = false;
        self.records.volumes.put(record).await
    }

    /// Remembers the generation of a create that was refused: an older one must not succeed later.
    async fn refused(&self, id: &ObjectId, call: &Call, before: Option<&Volume>) {
        let phase = before.map_or(Phase::Deleted, |b| b.phase);
        let stone = Volume::tombstone(id.clone(), call.generation, phase, before);
        if let Err(e) = self.records.volumes.put(stone).await {
            tracing::warn!(volume = %id, error = %e, "the generation of a refused create is not remembered");
        }
    }
}

fn asked(body: &CreateBody) -> Result<Asked> {
    let import = matches!(body.source, Some(Source::Import(_)));
    let size_gib = match body.size_gib {
        Some(gib) => Some(size(gib)?),
        None if import => None,
        None => return Err(Refusal::invalid("size_gib is missing")),
    };
    Ok(Asked { size_gib, source: body.source.clone() })
}
