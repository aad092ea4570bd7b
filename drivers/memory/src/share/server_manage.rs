//! Share servers that somebody else made: those of the option `foreign_servers`, and those that were released, under the name
//! that the array gave them. The name stays when one is taken over.

use stowage_driver_sdk::prelude::*;

use super::{ServerData, servers::addresses};
use crate::{
    Memory,
    array::{Array, FOREIGN_SERVERS, Object, SERVERS},
    foreign::TAKEN,
};

impl Memory {
    /// A server that is nobody's.
    fn foreign_server(&self, array: &dyn Array, name: &str) -> Result<ServerData> {
        let managed = || DriverError::busy(format!("the share server `{name}` is managed already"));
        for (id, object) in array.list(SERVERS, "")? {
            if object.read::<ServerData>()?.identifier(&id) == name {
                return Err(managed());
            }
        }
        match array.get(FOREIGN_SERVERS, name)? {
            Some(taken) if taken.data == TAKEN => Err(managed()),
            Some(released) => released.read(),
            None => match self.config.foreign_servers.iter().find(|f| f.name == name) {
                Some(f) => Ok(ServerData { subnets: vec![(String::new(), f.addresses.clone())], ..ServerData::default() }),
                None => {
                    let unknown = DriverError::invalid(format!("the array has no share server `{name}`"));
                    Err(unknown.for_user("There is no such share server in the storage."))
                }
            },
        }
    }
}

impl ShareServerManage for Memory {
    fn server_addresses(&self, cx: &Context, server_id: &str, identifier: &str, _: &[KeyValue]) -> Result<Vec<String>> {
        self.verb(cx, server_id, identifier, |plan| {
            let array = self.array(cx);
            let data = match array.get(SERVERS, server_id)? {
                Some(adopted) => adopted.read()?,
                None => self.foreign_server(&*array, identifier)?,
            };
            let mut all: Vec<String> = data.addresses().chain(&data.admin).cloned().collect();
            if plan.lie {
                all.push("no address".to_owned());
            }
            Ok(all)
        })
    }

    fn adopt_server(
        &self,
        cx: &Context,
        server_id: &str,
        identifier: &str,
        networks: &[NetworkInfo],
        _: &[KeyValue],
    ) -> Result<ServerDetails> {
        self.verb(cx, server_id, identifier, |_| {
            let array = self.array(cx);
            if let Some(there) = array.get(SERVERS, server_id)? {
                self.server_adopted(&*array, identifier)?;
                return Ok(there.read::<ServerData>()?.details(server_id));
            }
            let data = ServerData {
                subnets: networks.iter().map(addresses).collect(),
                admin: networks.first().into_iter().flat_map(|n| &n.admin_allocations).map(|a| a.ip_address.clone()).collect(),
                name: Some(identifier.to_owned()),
                ..self.foreign_server(&*array, identifier)?
            };
            array.create(SERVERS, server_id, &Object::new("", 0, &data)?, None)?;
            self.server_adopted(&*array, identifier)?;
            Ok(data.details(server_id))
        })
    }

    fn release_server(&self, cx: &Context, server_id: &str, _: Option<&ServerDetails>, _: &[SecurityService]) -> Result<()> {
        self.verb(cx, server_id, "", |_| {
            let array = self.array(cx);
            let Some(object) = array.get(SERVERS, server_id)? else { return Ok(()) };
            let name = object.read::<ServerData>()?.identifier(server_id);
            array.remove(FOREIGN_SERVERS, &name)?;
            array.create(FOREIGN_SERVERS, &name, &object, None)?;
            array.remove(SERVERS, server_id).map(drop)
        })
    }
}

impl Memory {
    /// As [`adopted`](Self::adopted), for a server.
    fn server_adopted(&self, array: &dyn Array, name: &str) -> Result<()> {
        array.remove(FOREIGN_SERVERS, name)?;
        if self.config.foreign_servers.iter().any(|f| f.name == name) {
            array.create(FOREIGN_SERVERS, name, &Object::new("", 0, &TAKEN)?, None)?;
        }
        Ok(())
    }
}
