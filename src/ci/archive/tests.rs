//! Archives that are made byte by byte, as no writer would make them.

use std::io::Write as _;

use flate2::{Compression, write::DeflateEncoder};
use proptest::prelude::*;

use super::*;

const REPORT: &str = "sealmark-report.json";

/// One entry, with every field that can lie.
#[derive(Clone)]
struct Entry {
    name: Vec<u8>,
    packed: Vec<u8>,
    method: u16,
    flags: u16,
    size: u32,
    crc: u32,
    mode: u32,
    /// Where its local header is said to be; its own when `None`.
    offset: Option<u32>,
}

fn entry(name: &str, content: &[u8]) -> Entry {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).unwrap();
    let mut crc = flate2::Crc::new();
    crc.update(content);
    Entry {
        name: name.as_bytes().to_vec(),
        packed: encoder.finish().unwrap(),
        method: 8,
        flags: 0,
        size: content.len() as u32,
        crc: crc.sum(),
        mode: 0o100_644,
        offset: None,
    }
}

fn archive(entries: &[Entry]) -> Vec<u8> {
    let (mut out, mut central) = (Vec::new(), Vec::new());
    for entry in entries {
        let offset = entry.offset.unwrap_or(out.len() as u32);
        let mut fields = Vec::new();
        for word in [20, entry.flags, entry.method, 0, 0x21] {
            fields.extend(u16::to_le_bytes(word));
        }
        for word in [entry.crc, entry.packed.len() as u32, entry.size] {
            fields.extend(u32::to_le_bytes(word));
        }
        fields.extend(u16::to_le_bytes(entry.name.len() as u16));
        fields.extend([0, 0]);
        if entry.offset.is_none() {
            out.extend(b"PK\x03\x04");
            out.extend(&fields);
            out.extend(&entry.name);
            out.extend(&entry.packed);
        }
        // Made on Unix, so that the mode counts.
        central.extend(b"PK\x01\x02\x14\x03");
        central.extend(&fields);
        central.extend([0; 6]);
        central.extend(u32::to_le_bytes(entry.mode << 16));
        central.extend(u32::to_le_bytes(offset));
        central.extend(&entry.name);
    }
    let start = out.len() as u32;
    out.extend(&central);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(u16::to_le_bytes(entries.len() as u16));
    out.extend(u16::to_le_bytes(entries.len() as u16));
    out.extend(u32::to_le_bytes(central.len() as u32));
    out.extend(u32::to_le_bytes(start));
    out.extend([0, 0]);
    out
}

fn read_all(entries: &[Entry]) -> Result<Vec<u8>, ArchiveError> {
    read(&archive(entries), &Limits::default())
}

#[test]
fn the_report_is_found_at_the_root_or_alone_below() {
    assert_eq!(read_all(&[entry("a/b.txt", b"x"), entry(REPORT, b"{}")]), Ok(b"{}".to_vec()));
    assert_eq!(read_all(&[entry("a/b/sealmark-report.json", b"{1}")]), Ok(b"{1}".to_vec()));
    let both = [entry("a/sealmark-report.json", b"below"), entry(REPORT, b"root")];
    assert_eq!(read_all(&both), Ok(b"root".to_vec()));
    let two = [entry("a/sealmark-report.json", b"a"), entry("b/sealmark-report.json", b"b")];
    assert_eq!(read_all(&two), Err(ArchiveError::Several(REPORT)));
    assert_eq!(read_all(&[entry("other.json", b"{}")]), Err(ArchiveError::Missing(REPORT)));
    assert_eq!(read_all(&[entry("sealmark-report.json.bak", b"{}")]), Err(ArchiveError::Missing(REPORT)));
    assert_eq!(read_all(&[]), Err(ArchiveError::Missing(REPORT)));
}

#[test]
fn a_path_that_leads_elsewhere_refuses_the_whole_archive() {
    for name in ["../x", "a/../../x", "/etc/passwd", "\\x", "a\\..\\x", "C:x", "a\0b"] {
        let found = read_all(&[entry(REPORT, b"{}"), entry(name, b"x")]);
        assert!(matches!(found, Err(ArchiveError::Path(_))), "{name}: {found:?}");
    }
    assert!(read_all(&[entry(REPORT, b"{}"), entry("a..b/c", b"x")]).is_ok());
}

#[test]
fn links_and_devices_are_refused_and_directories_are_not() {
    for mode in [0o120_777, 0o020_644, 0o010_644] {
        let found = read_all(&[Entry { mode, ..entry(REPORT, b"/etc/passwd") }]);
        assert!(matches!(found, Err(ArchiveError::Link(_))), "{mode:o}: {found:?}");
    }
    let directory = Entry { mode: 0o040_755, method: 0, packed: Vec::new(), ..entry("a/", b"") };
    assert!(read_all(&[directory, entry("a/sealmark-report.json", b"{}")]).is_ok());
    assert!(read_all(&[Entry { mode: 0, ..entry(REPORT, b"{}") }]).is_ok());
}

#[test]
fn an_encrypted_entry_is_refused() {
    let found = read_all(&[Entry { flags: 1, ..entry(REPORT, b"{}") }]);
    assert_eq!(found, Err(ArchiveError::Encrypted(REPORT.to_owned())));
}

#[test]
fn a_hundred_entries_are_read_and_one_more_is_not() {
    let mut entries: Vec<Entry> = (0..99).map(|n| entry(&format!("f{n}"), b"x")).collect();
    entries.push(entry(REPORT, b"{}"));
    assert!(read_all(&entries).is_ok());
    entries.push(entry("one more", b"x"));
    assert_eq!(read_all(&entries), Err(ArchiveError::Entries(100)));
}

#[test]
fn a_bomb_is_refused_by_its_declared_size_before_it_is_unpacked() {
    let bomb = entry(REPORT, &vec![b' '; 64 << 20]);
    assert!(bomb.packed.len() < 1 << 17);
    assert_eq!(read_all(std::slice::from_ref(&bomb)), Err(ArchiveError::Ratio(REPORT.to_owned(), 200)));
    let huge = Entry { size: u32::MAX, ..entry(REPORT, b"{}") };
    assert_eq!(read_all(&[huge]), Err(ArchiveError::Bytes(256 << 20)));
    let many: Vec<Entry> =
        (0..5).map(|n| Entry { size: 60 << 20, ..entry(&format!("{n}"), &noise(1 << 19)) }).collect();
    assert_eq!(read_all(&many), Err(ArchiveError::Bytes(256 << 20)));
}

#[test]
fn a_bomb_that_declares_a_small_size_is_refused_while_it_is_unpacked() {
    let lie = Entry { size: 2, ..entry(REPORT, &vec![b' '; 64 << 20]) };
    assert!(matches!(read_all(&[lie]), Err(ArchiveError::Ratio(..) | ArchiveError::Broken(_))));
}

#[test]
fn what_packs_well_within_the_ratio_is_read() {
    let lines: Vec<u8> =
        (0..80_000u32).flat_map(|n| format!("{{\"check\": {}}}\n", n * 7919 % 10_007).into_bytes()).collect();
    assert!(lines.len() > 1 << 20);
    assert_eq!(read_all(&[entry(REPORT, &lines)]).map(|report| report.len()), Ok(lines.len()));
}

#[test]
fn nested_archives_are_not_unpacked() {
    let inner = archive(&[entry(REPORT, &vec![0; 1 << 20])]);
    let middle = archive(&(0..16).map(|n| entry(&format!("{n}.zip"), &inner)).collect::<Vec<_>>());
    let outer: Vec<Entry> = (0..16).map(|n| entry(&format!("lib {n}.zip"), &middle)).collect();
    assert_eq!(read_all(&outer), Err(ArchiveError::Missing(REPORT)));
}

#[test]
fn entries_that_share_their_bytes_are_refused() {
    let kernel = entry("kernel", &noise(1 << 16));
    let shared = Entry { name: REPORT.into(), offset: Some(0), ..kernel.clone() };
    assert_eq!(read_all(&[kernel.clone(), shared]), Err(ArchiveError::Overlap));
    assert!(read_all(&[kernel, entry(REPORT, b"{}")]).is_ok());
}

#[test]
fn what_is_cut_or_changed_is_broken() {
    let whole = archive(&[entry(REPORT, b"{\"a\": 1}")]);
    assert!(matches!(read(&whole[..whole.len() - 30], &Limits::default()), Err(ArchiveError::Broken(_))));
    let wrong = Entry { crc: 1, ..entry(REPORT, b"{}") };
    assert!(matches!(read_all(&[wrong]), Err(ArchiveError::Broken(_))));
    let unknown = Entry { method: 99, ..entry(REPORT, b"{}") };
    assert!(matches!(read_all(&[unknown]), Err(ArchiveError::Broken(_))));
    assert!(is_archive(&whole) && !is_archive(b"{}") && !is_archive(b""));
}

/// Bytes that do not pack.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1u64;
    let step = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..length).map(step).collect()
}

proptest! {
    /// Nothing in an archive can crash the reader or pass its bounds.
    #[test]
    fn changed_bytes_give_an_answer(changes in prop::collection::vec((0usize..400, any::<u8>()), 1..12)) {
        let mut bytes = archive(&[entry("a/b.txt", b"text"), entry(REPORT, b"{\"runs\": []}"), entry("c", &noise(64))]);
        for (at, value) in changes {
            let at = at % bytes.len();
            bytes[at] = value;
        }
        if let Ok(report) = read(&bytes, &Limits::default()) {
            prop_assert!(report.len() <= 1 << 20);
        }
    }
}
