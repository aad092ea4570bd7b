//! What it was measured on.

use std::fs;

pub fn describe() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let model =
        cpuinfo.lines().find_map(|l| l.strip_prefix("model name")).map_or("unknown processor", |l| l.trim_start_matches([' ', '\t', ':']));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let memory = read("/proc/meminfo")
        .lines()
        .find_map(|l| l.strip_prefix("MemTotal:")?.split_whitespace().next()?.parse::<u64>().ok())
        .unwrap_or(0);
    let kernel = read("/proc/sys/kernel/osrelease");
    let load = read("/proc/loadavg");
    let profile = if cfg!(debug_assertions) { "a development build: no figures to go by" } else { "a release build" };
    format!(
        "Machine: {model}, {cores} cores, {} GiB, Linux {}; load average at the start {}; {profile}.",
        memory / 1024 / 1024,
        kernel.trim(),
        load.split_whitespace().next().unwrap_or("?")
    )
}
