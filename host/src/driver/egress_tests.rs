use super::*;

fn list(entries: &[&str]) -> AllowList {
    AllowList::parse(entries).unwrap()
}

#[test]
fn an_entry_is_a_host_and_a_port_and_nothing_else() {
    for bad in [
        "https://array.example:443",
        "user@array.example:443",
        "*.example:443",
        "10.0.0.0/8:80",
        "array.example:0",
        "array.example:99999",
        ":443",
        "::1:80",
    ] {
        assert!(bad.parse::<Authority>().is_err(), "{bad} must be refused");
    }
    assert_eq!("Array.EXAMPLE.:443".parse::<Authority>().unwrap().to_string(), "array.example:443");
    assert_eq!("array.example".parse::<Authority>().unwrap().to_string(), "array.example:443");
    assert_eq!("[::1]".parse::<Authority>().unwrap().to_string(), "[::1]:443");
    assert_eq!("[::FFFF:10.0.0.7]:443".parse::<Authority>().unwrap().to_string(), "10.0.0.7:443");
}

#[test]
fn an_odd_spelling_of_an_address_is_no_entry() {
    for odd in ["2130706433:80", "0177.0.0.1:80", "0x7f.1:80", "127.1:80"] {
        assert!(odd.parse::<Authority>().is_err(), "{odd} must be refused");
    }
}

#[test]
fn a_listed_authority_passes_in_any_spelling_of_the_same_place() {
    let list = list(&["array.example:443", "10.0.0.7:80", "[2001:db8::7]:8443"]);
    for good in [
        "https://array.example/x",
        "https://ARRAY.example.:443/x",
        "http://array.example:443/",
        "http://10.0.0.7/",
        "http://[::ffff:10.0.0.7]:80/",
        "http://0xa.0.0.7/",
        "https://[2001:DB8:0::7]:8443/",
    ] {
        assert!(list.check(good).is_ok(), "{good} must pass");
    }
    assert_eq!(list.check("http://[::ffff:10.0.0.7]/a?b#c").unwrap().as_str(), "http://10.0.0.7/a?b");
}

#[test]
fn what_is_not_listed_is_refused() {
    let list = list(&["array.example:443"]);
    for bad in [
        "http://array.example/",
        "https://array.example:444/",
        "https://other.example/",
        "https://array.example.evil.example/",
        "https://evil-array.example/",
    ] {
        assert!(matches!(list.check(bad), Err(Refused::NotListed(_))), "{bad} must be refused");
    }
    assert_eq!(AllowList::default().check("https://array.example/"), Err(Refused::NotListed("array.example:443".parse().unwrap())));
}

#[test]
fn loopback_in_any_spelling_needs_the_literal_entry() {
    let forms = [
        "http://127.0.0.1:8080/",
        "http://2130706433:8080/",
        "http://0177.0.0.1:8080/",
        "http://127.1:8080/",
        "http://127.0.0.1.:8080/",
        "http://[::ffff:127.0.0.1]:8080/",
        "http://[::ffff:7f00:1]:8080/",
    ];
    let without = list(&["array.example:8080", "10.0.0.7:8080"]);
    let with = list(&["127.0.0.1:8080"]);
    for form in forms {
        assert!(matches!(without.check(form), Err(Refused::NotListed(_))), "{form} must be refused");
        assert_eq!(with.check(form).unwrap().as_str(), "http://127.0.0.1:8080/", "{form}");
    }
    assert!(with.check("http://127.0.0.1:8081/").is_err());
    assert!(with.check("http://[::1]:8080/").is_err());
}

#[test]
fn other_schemes_and_credentials_in_urls_are_refused() {
    let list = list(&["array.example:443"]);
    assert_eq!(list.check("ftp://array.example:443/"), Err(Refused::Scheme("ftp".to_owned())));
    assert_eq!(list.check("file:///etc/passwd"), Err(Refused::Scheme("file".to_owned())));
    assert_eq!(list.check("https://user@array.example/"), Err(Refused::UserInfo));
    assert_eq!(list.check("https://array.example:443@evil.example/"), Err(Refused::UserInfo));
    assert!(matches!(list.check("https://"), Err(Refused::BadUrl(_))));
}

#[test]
fn a_name_must_not_lead_to_this_machine_or_to_metadata() {
    let list = list(&["array.example:443"]);
    for bad in [
        "127.0.0.1",
        "127.255.255.254",
        "0.0.0.0",
        "0.1.2.3",
        "169.254.169.254",
        "169.254.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "240.0.0.1",
        "100.100.100.200",
        "168.63.129.16",
        "::1",
        "::",
        "fe80::1",
        "febf::1",
        "ff02::1",
        "fd00:ec2::254",
        "::ffff:127.0.0.1",
        "::127.0.0.1",
        "64:ff9b::127.0.0.1",
        "2002:7f00:1::",
        "::ffff:0:127.0.0.1",
        "64:ff9b::169.254.169.254",
    ] {
        assert!(
            matches!(list.check_resolved("array.example", bad.parse().unwrap()), Err(Refused::Restricted { .. })),
            "{bad} must be refused"
        );
    }
    for good in ["10.1.2.3", "192.168.0.9", "172.16.5.5", "100.64.0.1", "198.51.100.4", "fd12:3456::1", "2001:db8::1", "64:ff9b::10.0.0.1"]
    {
        assert_eq!(list.check_resolved("array.example", good.parse().unwrap()), Ok(()), "{good} must pass");
    }
}

#[test]
fn a_name_may_lead_to_a_restricted_address_that_is_listed_with_all_its_ports() {
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    assert_eq!(list(&["array.example:443", "127.0.0.1:443"]).check_resolved("array.example", loopback), Ok(()));
    assert!(list(&["array.example:443", "127.0.0.1:80"]).check_resolved("array.example", loopback).is_err());
    assert!(list(&["array.example:443", "array.example:80", "127.0.0.1:443"]).check_resolved("array.example", loopback).is_err());
}
