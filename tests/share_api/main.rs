//! The share API through HTTP, in process, on the memory driver: the rules of its protocol, and shares without share servers.

mod access;
mod bin;
mod instances;
mod lists;
mod locations;
mod metadata;
mod net;
mod networks;
mod operators;
mod placing;
mod protocol;
mod quotas;
mod resize;
mod security_services;
mod served;
mod server_ends;
mod server_failures;
mod servers;
mod share_servers;
mod shares;
mod site;
mod subnets;
mod types;
