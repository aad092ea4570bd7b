//! Who may mount a share: the array keeps the full list of rules that hold.

use serde::{Deserialize, Serialize};
use stowage_driver_sdk::{RuleChanges, prelude::*};

use crate::{
    Memory,
    array::{Array, Created, Object, RULES},
    faults::Plan,
};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Rule {
    id: String,
    to: String,
    read_only: bool,
}

impl Memory {
    /// Makes exactly the usable rules hold; answers one state for each rule given.
    pub fn apply_rules(&self, array: &dyn Array, plan: &Plan, id: &str, protocol: &str, rules: &[AccessRule]) -> Result<Vec<RuleState>> {
        let mut states = Vec::new();
        let mut holding = Vec::new();
        for rule in rules {
            match self.unusable(protocol, rule) {
                Some(why) => states.push(RuleState::failed(rule, why)),
                None => {
                    holding.push(Rule { id: rule.id.clone(), to: rule.to.clone(), read_only: rule.level == AccessMode::ReadOnly });
                    let key = (rule.kind == AccessKind::Cephx).then(|| format!("key-of-{}", rule.to));
                    states.push(RuleState { key, ..RuleState::active(rule) });
                }
            }
        }
        let object = Object::new("", 0, &holding)?;
        if let Created::There(there) = array.create(RULES, id, &object, None)?
            && there.data != object.data
        {
            array.change(RULES, id, None, &mut |o| o.write(&holding).map(|()| true))?;
        }
        if plan.lie {
            // One rule is left out, and one that nobody asked for is in.
            states.pop();
            states.push(RuleState { id: "00000000-0000-4000-8000-0000000000ff".into(), outcome: RuleOutcome::Active, key: None });
        }
        Ok(states)
    }

    fn unusable(&self, protocol: &str, rule: &AccessRule) -> Option<DriverError> {
        let fits = match protocol {
            "nfs" => rule.kind == AccessKind::Ip,
            "cifs" => matches!(rule.kind, AccessKind::Ip | AccessKind::User),
            "cephfs" => rule.kind == AccessKind::Cephx,
            "glusterfs" => rule.kind == AccessKind::Cert,
            _ => true,
        };
        let version = if rule.to.contains(':') { IpVersion::V6 } else { IpVersion::V4 };
        if !fits {
            let text = format!("{protocol} shares have no rules of this kind");
            Some(DriverError::unsupported(text.clone()).for_user(text))
        } else if rule.kind == AccessKind::Ip && !self.config.features.ip_versions.contains(&version) {
            Some(
                DriverError::unsupported(format!("no exports in the address family of {}", rule.to))
                    .for_user("This address family is not served."),
            )
        } else {
            None
        }
    }
}

impl Access for Memory {
    fn apply_access(&self, cx: &Context, share: &Share, rules: &[AccessRule], _: RuleChanges<'_>) -> Result<Vec<RuleState>> {
        self.verb(cx, &share.id, &share.name, |plan| {
            let array = self.array(cx);
            let (_, data) = self.share(&*array, &share.id)?;
            self.apply_rules(&*array, plan, &share.id, &data.protocol, rules)
        })
    }
}
