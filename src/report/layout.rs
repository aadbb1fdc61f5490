//! Lines of a text report: wrapping by display width, hanging indents, and colour where it is allowed.

use unicode_width::UnicodeWidthStr;

use crate::{model::Verdict, text::terminal};

/// The narrowest page that is laid out.
const NARROWEST: usize = 40;

/// What a piece of text means to the eye.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Strong,
    Good,
    Doubtful,
    Bad,
    Faint,
}

impl Tone {
    /// A verdict's tone.
    pub fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Good,
            Verdict::Part | Verdict::Inconclusive => Self::Doubtful,
            Verdict::Fail => Self::Bad,
            Verdict::Na => Self::Faint,
        }
    }

    /// A letter's tone.
    pub fn of_letter(letter: Option<char>) -> Self {
        match letter {
            Some('A') => Self::Good,
            Some('B' | 'C') => Self::Doubtful,
            Some(_) => Self::Bad,
            None => Self::Faint,
        }
    }

    /// The "select graphic rendition" parameter (ECMA-48).
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Strong => Some("1"),
            Self::Good => Some("32"),
            Self::Doubtful => Some("33"),
            Self::Bad => Some("1;31"),
            Self::Faint => Some("2"),
        }
    }
}

/// A page being written. Every text given to it is made safe for a terminal here, once.
#[derive(Debug)]
pub(super) struct Page {
    out: String,
    width: usize,
    color: bool,
}

impl Page {
    /// An empty page.
    pub fn new(width: usize, color: bool) -> Self {
        Self { out: String::new(), width: width.max(NARROWEST), color }
    }

    /// The page so far.
    pub fn finish(self) -> String {
        self.out
    }

    /// An empty line, but never two in a row and none at the top.
    pub fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// A line that is never wrapped.
    pub fn whole(&mut self, tone: Tone, text: &str) {
        self.paint(tone, &terminal::line(text));
        self.out.push('\n');
    }

    /// A paragraph in one tone.
    pub fn line(&mut self, indent: usize, tone: Tone, text: &str) {
        self.entry(indent, ("", Tone::Plain), text, tone);
    }

    /// A mark and a text that hangs beside it.
    pub fn item(&mut self, indent: usize, mark: &str, mark_tone: Tone, text: &str) {
        self.entry(indent, (mark, mark_tone), text, Tone::Plain);
    }

    fn entry(&mut self, indent: usize, (mark, mark_tone): (&str, Tone), text: &str, tone: Tone) {
        let hang = if mark.is_empty() { indent } else { indent + mark.width() + 1 };
        let text = terminal::line(text);
        for (number, row) in wrap(&text, self.width.saturating_sub(hang).max(NARROWEST / 2)).into_iter().enumerate() {
            if number == 0 && !mark.is_empty() {
                self.blanks(indent);
                self.paint(mark_tone, mark);
                self.blanks(usize::from(!row.is_empty()));
            } else {
                self.blanks(hang);
            }
            self.paint(tone, row);
            self.out.push('\n');
        }
    }

    fn paint(&mut self, tone: Tone, text: &str) {
        match tone.code().filter(|_| self.color && !text.is_empty()) {
            Some(code) => self.out.push_str(&format!("\u{1b}[{code}m{text}\u{1b}[0m")),
            None => self.out.push_str(text),
        }
    }

    fn blanks(&mut self, number: usize) {
        self.out.extend(std::iter::repeat_n(' ', number));
    }

    /// Rows of cells in aligned columns; the last cell wraps. No column before it is wider than `widest`.
    pub fn table(&mut self, indent: usize, widest: usize, rows: &[Vec<(String, Tone)>]) {
        let cells: Vec<Vec<(String, Tone)>> =
            rows.iter().map(|row| row.iter().map(|(text, tone)| (terminal::line(text), *tone)).collect()).collect();
        let columns = cells.iter().map(Vec::len).max().unwrap_or(0).saturating_sub(1);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                cells.iter().filter_map(|row| row.get(column)).map(|(text, _)| text.width()).max().unwrap_or(0)
            })
            .map(|width| width.min(widest))
            .collect();
        for row in &cells {
            let Some(((last, tone), leading)) = row.split_last() else { continue };
            self.blanks(indent);
            let mut column = indent;
            for ((text, tone), width) in leading.iter().zip(&widths) {
                self.paint(*tone, text);
                let fill = width.saturating_sub(text.width()) + 2;
                self.blanks(fill);
                column += text.width() + fill;
            }
            let mut hang = indent + widths.iter().take(leading.len()).map(|width| width + 2).sum::<usize>();
            // Where the page is too narrow for another column, the last cell stands below the others.
            if hang + NARROWEST / 2 > self.width && last.width() + column > self.width {
                let end = self.out.trim_end_matches(' ').len();
                self.out.truncate(end);
                self.out.push('\n');
                hang = indent + 2;
                column = hang;
                self.blanks(hang);
            }
            // A first row that starts further right (a cell was too wide) only means a shorter first row.
            let room = self.width.saturating_sub(hang.max(column)).max(NARROWEST / 2);
            for (number, text) in wrap(last, room).into_iter().enumerate() {
                if number > 0 {
                    self.out.push('\n');
                    self.blanks(hang);
                }
                self.paint(*tone, text);
            }
            let end = self.out.trim_end_matches(' ').len();
            self.out.truncate(end);
            self.out.push('\n');
        }
    }
}

/// Cuts a line at blanks into rows of at most `width` columns; a longer word stands alone and is not cut.
fn wrap(line: &str, width: usize) -> Vec<&str> {
    let mut rows = Vec::new();
    let (mut start, mut end, mut used) = (0, 0, 0);
    let mut at = 0;
    for word in line.split(' ') {
        let (from, size) = (at, word.width());
        at += word.len() + 1;
        let blanks = from - end;
        if used > 0 && size > 0 && used + blanks + size > width {
            rows.push(&line[start..end]);
            (start, used) = (from, 0);
        }
        if size > 0 {
            used += if used == 0 { size } else { blanks + size };
            end = from + word.len();
        }
        if used == 0 && size == 0 && start == from {
            // Leading blanks are dropped.
            start = at.min(line.len());
            end = start;
        }
    }
    rows.push(line[start..].trim_end());
    rows
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_kept_whole() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij k", 4), ["abcdefghij", "k"]);
        assert_eq!(wrap("", 10), [""]);
        assert_eq!(wrap("a  b", 10), ["a  b"]);
    }

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(wrap("漢字 漢字", 6), ["漢字", "漢字"]);
    }

    #[test]
    fn a_text_hangs_beside_its_mark() {
        let mut page = Page::new(40, false);
        page.item(2, "[FAIL]", Tone::Bad, "one two three four five six seven eight nine");
        assert_eq!(page.finish(), "  [FAIL] one two three four five six\n         seven eight nine\n");
    }

    #[test]
    fn colour_surrounds_the_mark_only_when_allowed() {
        let mut page = Page::new(80, true);
        page.item(0, "[PASS]", Tone::Good, "x");
        assert_eq!(page.finish(), "\u{1b}[32m[PASS]\u{1b}[0m x\n");
    }

    #[test]
    fn a_last_column_without_room_stands_below() {
        let mut page = Page::new(40, false);
        let cell = |text: &str| (text.to_owned(), Tone::Plain);
        let long = "one two three four five six seven eight";
        page.table(2, 40, &[vec![cell("a_rather_long_name"), cell("opaque"), cell(long)]]);
        assert_eq!(page.finish(), "  a_rather_long_name  opaque\n    one two three four five six seven\n    eight\n");
    }

    #[test]
    fn columns_are_aligned() {
        let mut page = Page::new(60, false);
        let cell = |text: &str| (text.to_owned(), Tone::Plain);
        page.table(1, 10, &[vec![cell("a"), cell("b"), cell("c")], vec![cell("long"), cell("x"), cell("")]]);
        assert_eq!(page.finish(), " a     b  c\n long  x\n");
    }

    proptest! {
        #[test]
        fn no_word_is_lost(line in "[a-c漢]{0,12}( {1,3}[a-c漢]{1,12}){0,12}", width in 5usize..30) {
            let rows = wrap(&line, width);
            let words: Vec<&str> = rows.iter().flat_map(|row| row.split(' ')).filter(|word| !word.is_empty()).collect();
            let expected: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
            prop_assert_eq!(words, expected);
            for row in rows {
                prop_assert!(row.width() <= width || !row.contains(' '), "{:?}", row);
            }
        }
    }
}
