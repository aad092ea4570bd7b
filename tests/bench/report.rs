//! The table.

use std::{fmt::Write, time::Duration};

use crate::{http::Sample, peers, scale::Scale};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Column {
    Sqlite,
    /// `database.durability = "process"`: a crash of the machine may lose the last moments, one of the service nothing.
    SqliteProcess,
    Postgres,
}

impl Column {
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::SqliteProcess => "SQLite, durability = process",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// A table of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Section {
    Volumes,
    Shares,
}

#[derive(Default)]
struct Cell {
    text: String,
    rate: Option<f64>,
}

/// Rows in the order in which they were first measured.
pub struct Report {
    machine: String,
    section: Section,
    rows: Vec<(Section, String, [Cell; 3])>,
}

impl Report {
    pub fn new(machine: String) -> Self {
        Self { machine, section: Section::Volumes, rows: Vec::new() }
    }

    /// What is measured from here on is of this table.
    pub fn section(&mut self, section: Section) {
        self.section = section;
    }

    /// A figure that is no rate.
    pub fn put(&mut self, column: Column, name: &str, text: String) {
        self.cell(column, name).text = text;
    }

    /// Operations a second, and how they are shown.
    pub fn rate(&mut self, column: Column, name: &str, rate: f64, text: String) {
        *self.cell(column, name) = Cell { text, rate: Some(rate) };
    }

    fn cell(&mut self, column: Column, name: &str) -> &mut Cell {
        let at = self.rows.iter().position(|(s, n, _)| *s == self.section && n == name).unwrap_or_else(|| {
            self.rows.push((self.section, name.to_owned(), Default::default()));
            self.rows.len() - 1
        });
        &mut self.rows[at].2[column as usize]
    }

    pub fn markdown(&self, scale: &Scale) -> String {
        let mut text = String::from("# Performance\n\n");
        writeln!(
            text,
            "Made by `make bench` ({} run). {}\n\nOne `stowage serve` with its defaults (SQLite: `synchronous = FULL`, so that what was \
             answered survives a power cut; PostgreSQL: its own defaults, fsync on) and the memory driver, which is a sandboxed component \
             and answers at once: figures are of the service, not of an array. Client and service share the machine. Each cell: operations \
             a second, p50, p99, and how often the peers' rate that is.",
            scale.name, self.machine
        )
        .unwrap();
        for section in [Section::Volumes, Section::Shares] {
            if self.rows.iter().any(|(s, ..)| *s == section) {
                self.table(&mut text, section);
            }
        }
        text
    }

    fn table(&self, text: &mut String, section: Section) {
        let columns = [Column::Sqlite, Column::SqliteProcess, Column::Postgres].map(Column::name).join(" | ");
        writeln!(text, "\n{}\n\n| | {columns} | peers |\n| --- | --- | --- | --- | --- |", peers::introduction(section)).unwrap();
        for (_, name, cells) in self.rows.iter().filter(|(s, ..)| *s == section) {
            let peer = peers::rate(section, name);
            let shown = |cell: &Cell| match (cell.rate, peer) {
                (Some(rate), Some(peer)) => format!("{} (**{:.0}x**)", cell.text, rate / peer),
                _ if cell.text.is_empty() => "–".to_owned(),
                _ => cell.text.clone(),
            };
            let said = peers::other(section, name).map(str::to_owned);
            let peer = peer.map(|r| format!("{r:.1}/s")).or(said).unwrap_or_else(|| "–".to_owned());
            let cells = cells.iter().map(shown).collect::<Vec<_>>().join(" | ");
            writeln!(text, "| {name} | {cells} | {peer} |").unwrap();
        }
    }
}

pub fn per_second(sample: &Sample) -> String {
    let ms = |q| sample.quantile(q).as_secs_f64() * 1000.0;
    format!("{:.0}/s, p50 {:.1} ms, p99 {:.1} ms", sample.rate(), ms(0.5), ms(0.99))
}

pub fn millis(took: Duration) -> String {
    format!("{} ms", took.as_millis())
}

pub fn mib(kib: u64) -> String {
    format!("{} MiB", kib / 1024)
}

/// `100,000`.
pub fn thousands(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
