//! One request to `tgtd`'s management socket and its answer.
//!
//! The wire: a request is 120 bytes in the machine's byte order (mode, operation, driver, length, target, session, LUN,
//! connection, host, device type, direction, pack, force) and, after it, `key=value` pairs joined by commas; an answer is an
//! error number, a length, and text. One request a connection. `tgtd` handles requests one after the other, each as a whole.

use std::{io, path::Path, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
};

const PATIENCE: Duration = Duration::from_secs(10);
const LONGEST_ANSWER: usize = 256 << 20;
/// `tgtd` drops a connection that sends more.
const LONGEST_PARAMETERS: usize = 8000;
const HEADER: usize = 120;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    System = 0,
    Target = 1,
    Device = 2,
    Portal = 3,
    Connection = 6,
    Account = 7,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    New = 0,
    Delete = 1,
    Show = 2,
    Bind = 3,
    Update = 5,
}

/// What `tgtd` says when it refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Code {
    #[error("no such target")]
    NoTarget,
    #[error("no such LUN")]
    NoLun,
    #[error("no such session")]
    NoSession,
    #[error("the target exists")]
    TargetExists,
    #[error("the LUN exists")]
    LunExists,
    #[error("the initiator is bound already")]
    AclExists,
    #[error("the account exists")]
    UserExists,
    #[error("no such account")]
    NoUser,
    #[error("the target is in use")]
    TargetActive,
    #[error("the LUN is in use")]
    LunActive,
    #[error("the initiator prevents removal")]
    PreventRemoval,
    #[error("error {0}")]
    Other(u32),
}

impl Code {
    const fn of(number: u32) -> Self {
        match number {
            4 => Self::NoTarget,
            5 => Self::NoLun,
            6 | 7 => Self::NoSession,
            9 => Self::TargetExists,
            10 => Self::LunExists,
            12 => Self::AclExists,
            14 => Self::UserExists,
            15 => Self::NoUser,
            19 => Self::TargetActive,
            20 => Self::LunActive,
            24 => Self::PreventRemoval,
            n => Self::Other(n),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum TgtError {
    /// It does not run, or died during the call.
    #[error("the iSCSI service does not answer")]
    Down(#[source] io::Error),
    #[error("the iSCSI service took longer than {} s", PATIENCE.as_secs())]
    TimedOut,
    #[error("the iSCSI service refused to {what}")]
    Refused {
        what: &'static str,
        #[source]
        code: Code,
    },
    /// What it shows is not what this version of `tgtd` prints, or was forged by an initiator's alias.
    #[error("the iSCSI service shows what cannot be understood: {0}")]
    Garbled(String),
}

impl TgtError {
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            _ => None,
        }
    }
}

/// The fixed part of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    pub mode: Mode,
    pub op: Op,
    pub tid: i32,
    pub sid: u64,
    pub lun: u64,
    pub cid: u32,
}

impl Header {
    pub(super) const fn new(mode: Mode, op: Op) -> Self {
        Self { mode, op, tid: 0, sid: 0, lun: 0, cid: 0 }
    }

    fn bytes(&self, parameters: usize) -> [u8; HEADER] {
        let mut out = [0; HEADER];
        let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &(self.mode as u32).to_ne_bytes());
        put(4, &(self.op as u32).to_ne_bytes());
        put(8, b"iscsi");
        put(72, &u32::try_from(HEADER + parameters).unwrap_or(u32::MAX).to_ne_bytes());
        put(76, &self.tid.to_ne_bytes());
        put(80, &self.sid.to_ne_bytes());
        put(88, &self.lun.to_ne_bytes());
        put(96, &self.cid.to_ne_bytes());
        out
    }
}

/// Sends one request. `what` is for the error.
pub(super) async fn call(socket: &Path, what: &'static str, header: Header, parameters: Option<&str>) -> Result<String, TgtError> {
    let exchange = async {
        let mut stream = UnixStream::connect(socket).await?;
        let mut bytes = Vec::with_capacity(HEADER + 64);
        match parameters {
            None => bytes.extend_from_slice(&header.bytes(0)),
            Some(text) => {
                if text.len() > LONGEST_PARAMETERS || text.contains(['\0', '\n']) {
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, "parameters that tgtd does not take"));
                }
                bytes.extend_from_slice(&header.bytes(text.len() + 1));
                bytes.extend_from_slice(text.as_bytes());
                bytes.push(0);
            }
        }
        stream.write_all(&bytes).await?;
        let error = stream.read_u32_ne().await?;
        let length = usize::try_from(stream.read_u32_ne().await?).unwrap_or(usize::MAX).saturating_sub(8);
        if error != 0 {
            return Ok(Err(Code::of(error)));
        }
        if length > LONGEST_ANSWER {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "an answer that is too long"));
        }
        let mut text = vec![0; length];
        stream.read_exact(&mut text).await?;
        while text.last() == Some(&0) {
            text.pop();
        }
        Ok(Ok(String::from_utf8_lossy(&text).into_owned()))
    };
    match tokio::time::timeout(PATIENCE, exchange).await {
        Err(_) => Err(TgtError::TimedOut),
        Ok(Err(e)) => Err(TgtError::Down(e)),
        Ok(Ok(Err(code))) => Err(TgtError::Refused { what, code }),
        Ok(Ok(Ok(text))) => Ok(text),
    }
}

/// Reading in the machine's byte order.
trait ReadNe {
    async fn read_u32_ne(&mut self) -> io::Result<u32>;
}
impl ReadNe for UnixStream {
    async fn read_u32_ne(&mut self) -> io::Result<u32> {
        let mut bytes = [0; 4];
        self.read_exact(&mut bytes).await?;
        Ok(u32::from_ne_bytes(bytes))
    }
}
