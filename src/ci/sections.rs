//! GitLab's collapsible sections of a job log.

use crate::text::terminal;

/// The line that opens a section. `unix` is the time in seconds; the name is for [`close`] to match, the header is shown.
pub fn open(name: &str, header: &str, collapsed: bool, unix: u64) -> String {
    let option = if collapsed { "[collapsed=true]" } else { "" };
    format!("\u{1b}[0Ksection_start:{unix}:{}{option}\r\u{1b}[0K{}", plain(name), terminal::line(header))
}

/// The line that closes it.
pub fn close(name: &str, unix: u64) -> String {
    format!("\u{1b}[0Ksection_end:{unix}:{}\r\u{1b}[0K", plain(name))
}

/// A name of letters, digits, dots, underscores and dashes.
fn plain(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' };
    let name: String = name.chars().take(64).map(kept).collect();
    if name.is_empty() { "sealmark".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_written_as_the_documentation_has_it() {
        assert_eq!(
            open("my_section", "Header of it", true, 1_560_896_352),
            "\u{1b}[0Ksection_start:1560896352:my_section[collapsed=true]\r\u{1b}[0KHeader of it"
        );
        assert_eq!(close("my_section", 1_560_896_353), "\u{1b}[0Ksection_end:1560896353:my_section\r\u{1b}[0K");
    }

    #[test]
    fn neither_name_nor_header_opens_or_closes_another() {
        let hostile = "a\r\u{1b}[0Ksection_end:1:b\n";
        let line = open(hostile, hostile, false, 1);
        assert_eq!(line.matches("section_").count() - line.matches("section_end\\u{3a}").count(), 2, "{line:?}");
        assert_eq!(line.matches('\u{1b}').count(), 2);
        assert!(!line.contains('\n') && line.matches('\r').count() == 1);
        assert_eq!(close("", 1), "\u{1b}[0Ksection_end:1:sealmark\r\u{1b}[0K");
    }

    #[test]
    fn markers_in_untrusted_text_are_broken_up() {
        for marker in [
            "section_start:1:a\r\u{1b}[0Kx",
            "\u{1b}[0Ksection_end:1:a\r\u{1b}[0K",
            "SECTION_START:1:a",
            "xsection_start:1:a[collapsed=true]",
        ] {
            let safe = terminal::line(marker).to_lowercase();
            assert!(!safe.contains("section_start:") && !safe.contains("section_end:") && !safe.contains('\u{1b}'));
        }
    }
}
