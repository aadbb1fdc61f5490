//! Blocks fitted into a platform's limit: cut between items, never within one, and counted.

/// Bytes kept for the line that says how many items are missing.
const CUT_LINE: usize = 80;

/// A part of a page that can be cut between its items.
#[derive(Debug, Clone, Default)]
pub(super) struct Section {
    /// What one item is (`server`).
    pub noun: &'static str,
    /// What stands before the items: a heading, a table's head.
    pub open: String,
    /// Whole blocks or rows, safe already.
    pub items: Vec<String>,
    /// What stands after them.
    pub close: String,
    /// Items that were not even made, as they cannot fit.
    pub unmade: usize,
    /// The part of the page it may take before the others had theirs, in percent.
    pub share: usize,
}

/// How many of what are not on the page.
pub(super) type Cut = Vec<(usize, &'static str)>;

impl Section {
    fn size(&self) -> usize {
        let items: usize = self.items.iter().map(String::len).sum();
        self.open.len() + items + self.close.len() + if self.unmade > 0 { CUT_LINE } else { 0 }
    }
}

/// Writes the sections in their order into `room` bytes. Each gets its share; what some leave goes to the first that need
/// more.
pub(super) fn fit(sections: Vec<Section>, room: usize) -> (String, Cut) {
    let sizes: Vec<usize> = sections.iter().map(Section::size).collect();
    let mut left = room;
    let mut granted = Vec::with_capacity(sections.len());
    for (section, size) in sections.iter().zip(&sizes) {
        let grant = (*size).min(room / 100 * section.share).min(left);
        left -= grant;
        granted.push(grant);
    }
    for (grant, size) in granted.iter_mut().zip(&sizes) {
        let more = (size - *grant).min(left);
        *grant += more;
        left -= more;
    }
    let mut out = String::with_capacity(room.min(sizes.iter().sum()));
    let mut cut: Cut = Vec::new();
    for (section, grant) in sections.iter().zip(granted) {
        let missing = write(&mut out, section, grant);
        if missing > 0 {
            match cut.iter_mut().find(|(_, noun)| *noun == section.noun) {
                Some((count, _)) => *count += missing,
                None => cut.push((missing, section.noun)),
            }
        }
    }
    (out, cut)
}

/// Writes what fits; returns how many items do not.
fn write(out: &mut String, section: &Section, room: usize) -> usize {
    let all = section.items.len() + section.unmade;
    if section.unmade == 0 && section.size() <= room {
        out.push_str(&section.open);
        out.extend(section.items.iter().map(String::as_str));
        out.push_str(&section.close);
        return 0;
    }
    let mut left = room.saturating_sub(section.open.len() + section.close.len() + CUT_LINE);
    let mut kept = Vec::new();
    for item in &section.items {
        // A large item does not keep smaller ones out.
        if item.len() <= left {
            left -= item.len();
            kept.push(item.as_str());
        }
    }
    if kept.is_empty() {
        return all.max(1);
    }
    let missing = all - kept.len();
    out.push_str(&section.open);
    out.extend(kept);
    out.push_str(&section.close);
    out.push_str(&format!("… and {missing} more, see the end of this page\n\n"));
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(noun: &'static str, items: usize, share: usize) -> Section {
        let items = (0..items).map(|number| format!("- {noun} {number:04}\n")).collect();
        Section { noun, open: format!("### {noun}\n\n"), items, close: "\n".to_owned(), unmade: 0, share }
    }

    #[test]
    fn what_fits_is_whole() {
        let (out, cut) = fit(vec![section("a", 3, 10), section("b", 1, 10)], 1_000);
        assert_eq!(out, "### a\n\n- a 0000\n- a 0001\n- a 0002\n\n### b\n\n- b 0000\n\n");
        assert!(cut.is_empty());
    }

    #[test]
    fn the_first_section_does_not_starve_the_others() {
        let (out, cut) = fit(vec![section("a", 1_000, 50), section("b", 10, 30)], 2_000);
        assert!(out.len() <= 2_000 && out.contains("- b 0009"), "{out}");
        let shown = out.matches("- a ").count();
        assert_eq!(cut, [(1_000 - shown, "a")]);
        assert!(out.contains(&format!("… and {} more", 1_000 - shown)));
        // What the second leaves goes to the first.
        assert!(shown * 9 > 1_600, "{shown}");
    }

    #[test]
    fn a_section_without_room_is_counted_and_absent() {
        let (out, cut) = fit(vec![section("a", 20, 90), section("b", 3, 1)], 220);
        assert!(!out.contains("### b"), "{out}");
        assert!(cut.contains(&(3, "b")));
    }

    #[test]
    fn items_that_were_not_made_are_counted() {
        let (out, cut) = fit(vec![Section { unmade: 5, ..section("a", 2, 100) }], 1_000);
        assert_eq!(cut, [(5, "a")]);
        assert!(out.contains("- a 0001") && out.contains("… and 5 more"));
    }
}
