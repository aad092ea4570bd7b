//! What is asked of `tgtd`, one function a request. Arguments are checked names or made here.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio::sync::Semaphore;

use super::{
    ipc::{Header, Mode, Op, TgtError, call},
    show::{Session, Shown},
};
use crate::node::name::Initiator;

type Result<T> = std::result::Result<T, TgtError>;

/// Few at once: `tgtd` does one at a time, and its socket has room for 32 that wait.
const AT_ONCE: usize = 8;

#[derive(Debug, Clone)]
pub struct Client {
    socket: Arc<Path>,
    slots: Arc<Semaphore>,
}

/// What a LUN is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LunParams {
    pub path: PathBuf,
    /// 32 hexadecimal digits.
    pub serial: String,
    pub read_only: bool,
}

impl Client {
    pub fn new(socket: &Path) -> Self {
        Self { socket: socket.into(), slots: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    async fn send(&self, what: &'static str, header: Header, parameters: Option<&str>) -> Result<String> {
        // the semaphore is never closed
        let _slot = self.slots.acquire().await.ok();
        call(&self.socket, what, header, parameters).await
    }

    /// Whether it answers.
    pub async fn ping(&self) -> Result<()> {
        let text = self.send("show itself", Header::new(Mode::System, Op::Show), None).await?;
        if text.starts_with("System:\n") && text.contains("    iscsi: ready\n") {
            Ok(())
        } else {
            Err(TgtError::Garbled("no iSCSI in it".to_owned()))
        }
    }

    pub async fn portals(&self) -> Result<Vec<String>> {
        let text = self.send("show portals", Header::new(Mode::Portal, Op::Show), None).await?;
        // Portal: 127.0.0.1:3260,1
        Ok(text.lines().filter_map(|l| l.strip_prefix("Portal: ")).filter_map(|l| l.rsplit_once(',')).map(|(p, _)| p.to_owned()).collect())
    }

    pub async fn new_portal(&self, portal: SocketAddr) -> Result<()> {
        self.send("open a portal", Header::new(Mode::Portal, Op::New), Some(&format!("portal={portal}"))).await.map(drop)
    }

    pub async fn show(&self) -> Result<Shown> {
        let text = self.send("show targets", Header { tid: -1, ..Header::new(Mode::Target, Op::Show) }, None).await?;
        Shown::parse(&text).map_err(TgtError::Garbled)
    }

    pub async fn accounts(&self) -> Result<Vec<String>> {
        let text = self.send("show accounts", Header::new(Mode::Account, Op::Show), None).await?;
        Ok(text.lines().filter_map(|l| l.strip_prefix("    ")).map(str::to_owned).collect())
    }

    pub async fn new_target(&self, tid: i32, name: &str) -> Result<()> {
        let header = Header { tid, ..Header::new(Mode::Target, Op::New) };
        self.send("make a target", header, Some(&format!("targetname={name}"))).await.map(drop)
    }

    /// Only when it has no session; see [`Self::sessions`].
    pub async fn delete_target(&self, tid: i32) -> Result<()> {
        self.send("delete a target", Header { tid, ..Header::new(Mode::Target, Op::Delete) }, None).await.map(drop)
    }

    /// A target that is not ready takes no log-in (the initiator may try again later) and no command.
    pub async fn set_ready(&self, tid: i32, ready: bool) -> Result<()> {
        let state = if ready { "state=ready" } else { "state=offline" };
        self.send("set a target's state", Header { tid, ..Header::new(Mode::Target, Op::Update) }, Some(state)).await.map(drop)
    }

    pub async fn bind_initiator(&self, tid: i32, initiator: &Initiator) -> Result<()> {
        let header = Header { tid, ..Header::new(Mode::Target, Op::Bind) };
        self.send("bind an initiator", header, Some(&format!("initiator-name={initiator}"))).await.map(drop)
    }

    pub async fn new_account(&self, user: &str, password: &str) -> Result<()> {
        self.send("make an account", Header::new(Mode::Account, Op::New), Some(&format!("user={user},password={password}"))).await.map(drop)
    }

    pub async fn bind_account(&self, tid: i32, user: &str) -> Result<()> {
        let header = Header { tid, ..Header::new(Mode::Account, Op::Bind) };
        self.send("bind an account", header, Some(&format!("user={user}"))).await.map(drop)
    }

    /// Unbinds it everywhere, too. Only when its target is gone: a target that loses one of several accounts shows and
    /// finds them wrongly afterwards.
    pub async fn delete_account(&self, user: &str) -> Result<()> {
        self.send("delete an account", Header::new(Mode::Account, Op::Delete), Some(&format!("user={user}"))).await.map(drop)
    }

    /// A LUN without a medium: initiators cannot read or write it yet.
    pub async fn new_lun(&self, tid: i32, lun: u32) -> Result<()> {
        self.send("make a LUN", Header { tid, lun: lun.into(), ..Header::new(Mode::Device, Op::New) }, Some("")).await.map(drop)
    }

    /// Gives a new LUN its identity and then its medium, in one step for initiators.
    pub async fn fill_lun(&self, tid: i32, lun: u32, params: &LunParams) -> Result<()> {
        let LunParams { path, serial, read_only } = params;
        let text = format!(
            "vendor_id=STOWAGE,product_id=VOLUME,product_rev=1,scsi_id={serial},scsi_sn={serial},thin_provisioning=1,readonly={},removable=0,path={}",
            u8::from(*read_only),
            path.display()
        );
        self.send("set up a LUN", Header { tid, lun: lun.into(), ..Header::new(Mode::Device, Op::Update) }, Some(&text)).await.map(drop)
    }

    /// Whether it may be written to; sessions and commands on their way go on.
    pub async fn protect_lun(&self, tid: i32, lun: u32, read_only: bool) -> Result<()> {
        let text = if read_only { "readonly=1" } else { "readonly=0" };
        let header = Header { tid, lun: lun.into(), ..Header::new(Mode::Device, Op::Update) };
        self.send("set a LUN's protection", header, Some(text)).await.map(drop)
    }

    /// Takes the medium away: new commands fail at once.
    pub async fn empty_lun(&self, tid: i32, lun: u32) -> Result<()> {
        self.send(
            "take a LUN off line",
            Header { tid, lun: lun.into(), ..Header::new(Mode::Device, Op::Update) },
            Some("removable=1,online=0"),
        )
        .await
        .map(drop)
    }

    /// Opens the file again, which is when its size is looked at. No command may be running.
    pub async fn reopen_lun(&self, tid: i32, lun: u32, path: &Path) -> Result<()> {
        let text = format!("online=0,path={},online=1", path.display());
        self.send("open a LUN again", Header { tid, lun: lun.into(), ..Header::new(Mode::Device, Op::Update) }, Some(&text)).await.map(drop)
    }

    pub async fn delete_lun(&self, tid: i32, lun: u32) -> Result<()> {
        self.send("delete a LUN", Header { tid, lun: lun.into(), ..Header::new(Mode::Device, Op::Delete) }, None).await.map(drop)
    }

    /// Connections of a target. A connection that was cut is listed until its last command has ended.
    pub async fn sessions(&self, tid: i32) -> Result<Vec<Session>> {
        let text = self.send("show connections", Header { tid, ..Header::new(Mode::Connection, Op::Show) }, None).await?;
        Session::parse(&text).map_err(TgtError::Garbled)
    }

    /// Once for each: `tgtd` closes by number, and a number of what is closed already may be another's.
    pub async fn cut(&self, tid: i32, session: Session) -> Result<()> {
        let header = Header { tid, sid: session.sid, cid: session.cid, ..Header::new(Mode::Connection, Op::Delete) };
        self.send("cut a connection", header, None).await.map(drop)
    }
}
