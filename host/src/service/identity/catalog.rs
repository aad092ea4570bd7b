//! The service catalog: how clients find the APIs.
//!
//! Each service stands under both of its type names, so that old and new clients find it. Ids are derived from what they
//! name: every process, and every start, gives the same.

use std::borrow::Cow;

use uuid::Uuid;

use crate::config::CatalogService;

/// The public URLs that the catalog is built from; empty ones are left out.
#[derive(Debug, Clone, Default)]
pub struct Urls {
    pub identity: String,
    pub block: String,
    pub share: String,
}

/// Where the identity API serves the configured subnets.
pub const NETWORK_ROOT: &str = "/network";

/// One service and its URL.
#[derive(Debug, Clone)]
pub struct ServiceEntry {
    pub id: String,
    pub kind: Cow<'static, str>,
    pub name: Cow<'static, str>,
    pub description: &'static str,
    url: String,
    /// The URL ends in the token's project.
    per_project: bool,
}

/// One endpoint of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub id: String,
    pub service_id: String,
    pub interface: &'static str,
    pub url: String,
}

pub const INTERFACES: [&str; 3] = ["public", "internal", "admin"];

/// The catalog.
#[derive(Debug, Clone, Default)]
pub struct ServiceCatalog {
    pub region: String,
    pub services: Vec<ServiceEntry>,
}

impl ServiceCatalog {
    pub fn new(region: &str, urls: &Urls, others: &[CatalogService]) -> Self {
        let all = [
            ("identity", "keystone", "Identity", &urls.identity, "/v3", false),
            ("block-storage", "cinder", "Block storage", &urls.block, "/v3", true),
            ("volumev3", "cinderv3", "Block storage", &urls.block, "/v3", true),
            ("shared-file-system", "manila", "Shared file systems", &urls.share, "/v2", false),
            ("sharev2", "manilav2", "Shared file systems", &urls.share, "/v2", false),
        ];
        let services = all.into_iter().filter(|(.., base, _, _)| !base.is_empty());
        let services = services.map(|(kind, name, description, base, root, per_project)| ServiceEntry {
            id: id(kind),
            kind: kind.into(),
            name: name.into(),
            description,
            url: format!("{}{root}", base.trim_end_matches('/')),
            per_project,
        });
        let others = others.iter().map(|other| ServiceEntry {
            id: id(&other.kind),
            kind: other.kind.clone().into(),
            name: other.name.clone().into(),
            description: "",
            url: other.url.clone(),
            per_project: false,
        });
        Self { region: region.to_owned(), services: services.chain(others).collect() }
    }

    /// The configured subnets as a network service that can be read, unless somebody else serves one.
    #[must_use]
    pub fn with_network(mut self, identity_url: &str) -> Self {
        if !identity_url.is_empty() && self.services.iter().all(|s| s.kind != "network") {
            self.services.push(ServiceEntry {
                id: id("network"),
                kind: "network".into(),
                name: "stowage-network".into(),
                description: "Subnets of share servers",
                url: format!("{}{NETWORK_ROOT}", identity_url.trim_end_matches('/')),
                per_project: false,
            });
        }
        self
    }
}

impl ServiceEntry {
    /// The three endpoints; `project` is the token's, or a placeholder.
    pub fn endpoints(&self, project: Option<&str>) -> impl Iterator<Item = Endpoint> {
        let url = match project {
            Some(project) if self.per_project => format!("{}/{project}", self.url),
            _ => self.url.clone(),
        };
        INTERFACES.into_iter().map(move |interface| Endpoint {
            id: id(&format!("{}/{interface}", self.kind)),
            service_id: self.id.clone(),
            interface,
            url: url.clone(),
        })
    }
}

fn id(name: &str) -> String {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("stowage/catalog/{name}").as_bytes()).simple().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog() -> ServiceCatalog {
        ServiceCatalog::new("R", &Urls { identity: "http://i:5000".into(), block: "http://b:8776/".into(), share: String::new() }, &[])
    }

    #[test]
    fn a_service_that_somebody_else_serves_stands_beside_ours_with_its_url_as_it_is() {
        let network = CatalogService { kind: "network".into(), name: "neutron".into(), url: "http://n:9696".into() };
        let catalog = ServiceCatalog::new("R", &Urls { identity: "http://i:5000".into(), ..Urls::default() }, &[network]);
        let urls: Vec<_> = catalog.services.iter().flat_map(|s| s.endpoints(Some("p1"))).map(|e| e.url).collect();
        assert_eq!(urls[3..], ["http://n:9696", "http://n:9696", "http://n:9696"]);
    }

    #[test]
    fn no_other_service_can_take_the_place_of_ours() {
        let urls = Urls { identity: "http://i".into(), block: "http://b".into(), share: "http://s".into() };
        let kinds: Vec<_> = ServiceCatalog::new("R", &urls, &[]).services.iter().map(|s| s.kind.clone()).collect();
        assert_eq!(kinds, CatalogService::OURS);
    }
    #[test]
    fn our_subnets_are_a_network_service_where_there_is_no_other() {
        let url = |c: &ServiceCatalog| c.services.iter().find(|s| s.kind == "network").unwrap().endpoints(None).next().unwrap().url;
        assert_eq!(url(&catalog().with_network("http://i:5000/")), "http://i:5000/network");
        let other = CatalogService { kind: "network".into(), name: "neutron".into(), url: "http://n:9696".into() };
        let catalog = ServiceCatalog::new("R", &Urls::default(), &[other]).with_network("http://i:5000");
        assert_eq!((catalog.services.len(), url(&catalog)), (1, "http://n:9696".to_owned()));
    }
    #[test]
    fn both_type_names_of_a_service_are_there_and_services_without_a_url_are_not() {
        let kinds: Vec<_> = catalog().services.iter().map(|s| s.kind.clone()).collect();
        assert_eq!(kinds, ["identity", "block-storage", "volumev3"]);
    }
    #[test]
    fn block_urls_end_in_the_project_of_the_token() {
        let block = catalog().services[1].clone();
        assert_eq!(block.endpoints(Some("p1")).next().unwrap().url, "http://b:8776/v3/p1");
        assert_eq!(block.endpoints(None).next().unwrap().url, "http://b:8776/v3");
    }
    #[test]
    fn ids_are_the_same_at_every_start_and_different_from_each_other() {
        let ids = |c: ServiceCatalog| c.services.iter().flat_map(|s| s.endpoints(None)).map(|e| e.id).collect::<Vec<_>>();
        assert_eq!(ids(catalog()), ids(catalog()));
        let mut distinct = ids(catalog());
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), 9);
    }
}
