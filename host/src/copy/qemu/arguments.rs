//! What `qemu-img` is told. Passwords are in files that only this user can read.

use super::{
    super::{CopyError, End, Order, iscsi},
    secret::SecretFile,
};

/// One SCSI command without an answer for this long has failed.
const COMMAND_TIMEOUT: u32 = 60;

/// Both ends, with their secrets.
pub struct Arguments {
    from: Side,
    to: Side,
    secrets: Vec<(&'static str, SecretFile)>,
}

/// One end, as options.
struct Side {
    id: &'static str,
    plain: String,
    /// Through a filter that holds reads back.
    throttled: String,
}

impl Arguments {
    /// # Errors
    /// [`CopyError::Protocol`], [`CopyError::Connection`], [`CopyError::Prepare`].
    pub fn new(order: &Order) -> Result<Self, CopyError> {
        let mut secrets = Vec::new();
        let mut side = |end: &End, id: &'static str| {
            let connection = iscsi(&end.connection)?;
            if let Some(auth) = &connection.auth {
                secrets.push((id, SecretFile::new(&order.folder, &auth.password)?));
            }
            let plain = format!("driver=raw,{}", options(end, id, "file")?);
            let throttled = format!("driver=throttle,throttle-group={},file.driver=raw,{}", group(id), options(end, id, "file.file")?);
            Ok::<_, CopyError>(Side { id, plain, throttled })
        };
        let (from, to) = (side(&order.from, "from")?, side(&order.to, "to")?);
        Ok(Self { from, to, secrets })
    }

    /// `limit_mib`: most MiB a second that are written; 0 does not limit.
    pub fn convert(&self, limit_mib: u32) -> Vec<String> {
        let mut all = words(&["convert", "-n", "-p", "-t", "none", "-T", "none"]);
        if limit_mib > 0 {
            all.extend(["-r".to_owned(), bytes(limit_mib).to_string()]);
        }
        all.extend(self.objects());
        all.extend(words(&["--image-opts", "--target-image-opts"]));
        all.extend([self.from.plain.clone(), self.to.plain.clone()]);
        all
    }

    /// `limit_mib`: most MiB a second that are read of either side; 0 does not limit. (`compare` has no option for it.)
    pub fn compare(&self, limit_mib: u32) -> Vec<String> {
        let mut all = words(&["compare", "-p", "-T", "none"]);
        all.extend(self.objects());
        let sides = [&self.from, &self.to];
        if limit_mib > 0 {
            let held_back = |side: &Side| format!("throttle-group,id={},x-bps-total={}", group(side.id), bytes(limit_mib));
            all.extend(sides.iter().flat_map(|side| ["--object".to_owned(), held_back(side)]));
        }
        all.push("--image-opts".to_owned());
        all.extend(sides.map(|side| if limit_mib > 0 { side.throttled.clone() } else { side.plain.clone() }));
        all
    }

    fn objects(&self) -> impl Iterator<Item = String> + '_ {
        let object = |id: &str, file: &SecretFile| format!("secret,id={id},file={}", escaped(&file.path().to_string_lossy()));
        self.secrets.iter().flat_map(move |(id, file)| ["--object".to_owned(), object(id, file)])
    }
}

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|w| (*w).to_owned()).collect()
}

fn bytes(mib: u32) -> u64 {
    u64::from(mib) << 20
}

/// Of the filter on one side.
fn group(id: &str) -> String {
    format!("{id}-rate")
}

/// The target's options; `at` is where they stand in the whole.
fn options(end: &End, id: &str, at: &str) -> Result<String, CopyError> {
    let connection = iscsi(&end.connection)?;
    let Some(target) = connection.targets.first() else { return Err(CopyError::Connection("it has no target".to_owned())) };
    let mut text = format!(
        "{at}.driver=iscsi,{at}.transport=tcp,{at}.portal={},{at}.target={},{at}.lun={},{at}.initiator-name={},{at}.timeout={COMMAND_TIMEOUT}",
        escaped(&target.portal),
        escaped(&target.iqn),
        target.lun,
        escaped(&end.initiator),
    );
    if let Some(auth) = &connection.auth {
        text.push_str(&format!(",{at}.user={},{at}.password-secret={id}", escaped(&auth.user)));
    }
    Ok(text)
}

/// A comma ends an option unless it is written twice.
fn escaped(text: &str) -> String {
    text.replace(',', ",,")
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, os::unix::fs::PermissionsExt};

    use super::*;
    use crate::driver::types::{Chap, Connection, ConnectionTarget, IscsiConnection, IscsiTarget};

    fn end(iqn: &str, password: Option<&str>) -> End {
        let auth = password.map(|p| Chap { user: "u,1".to_owned(), password: p.to_owned() });
        let target = IscsiTarget { portal: "192.0.2.1:3260".to_owned(), iqn: iqn.to_owned(), lun: 3 };
        let iscsi = IscsiConnection { targets: vec![target], auth, discovery_auth: None, discard: false };
        let connection = Connection { target: ConnectionTarget::Iscsi(iscsi), extra: BTreeMap::new() };
        End { connection, initiator: "iqn.2026-11.io.stowage:copy.j.1".to_owned() }
    }

    #[test]
    fn a_secret_is_in_a_file_of_this_user_and_in_no_argument() {
        let folder = tempfile::tempdir().unwrap();
        let order =
            Order { from: end("iqn.a", Some("hush")), to: end("iqn.b", Some("whisper")), size_gib: 1, folder: folder.path().to_owned() };
        let arguments = Arguments::new(&order).unwrap();
        for told in [arguments.convert(0), arguments.compare(0), arguments.compare(1)] {
            let text = told.join(" ");
            assert!(!text.contains("hush") && !text.contains("whisper"), "{text}");
            assert!(
                text.contains("file.user=u,,1,") && text.contains("file.password-secret=from") && text.contains("secret,id=to,file="),
                "{text}"
            );
        }
        for (_, file) in &arguments.secrets {
            assert_eq!(std::fs::metadata(file.path()).unwrap().permissions().mode() & 0o777, 0o600);
        }
        let paths: Vec<_> = arguments.secrets.iter().map(|(_, f)| f.path().to_owned()).collect();
        drop(arguments);
        assert!(paths.iter().all(|p| !p.exists()));
    }

    #[test]
    fn the_limit_is_in_bytes_and_without_one_there_is_no_option() {
        let folder = tempfile::tempdir().unwrap();
        let order = Order { from: end("iqn.a", None), to: end("iqn.b", None), size_gib: 1, folder: folder.path().to_owned() };
        let arguments = Arguments::new(&order).unwrap();
        assert!(arguments.convert(0).iter().all(|a| a != "-r"));
        assert!(arguments.convert(2).windows(2).any(|w| w == ["-r", "2097152"]));
        assert!(arguments.compare(0).iter().all(|a| !a.contains("throttle")));
        let told = arguments.compare(2);
        for (id, iqn) in [("from", "iqn.a"), ("to", "iqn.b")] {
            assert!(told.contains(&format!("throttle-group,id={id}-rate,x-bps-total=2097152")), "{told:?}");
            let through = |a: &String| {
                a.starts_with(&format!("driver=throttle,throttle-group={id}-rate,")) && a.contains(&format!("file.file.target={iqn},"))
            };
            assert!(told.iter().any(through), "{told:?}");
        }
    }
}
