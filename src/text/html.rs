//! Text for HTML, between tags and in quoted attributes.

use super::terminal;

/// Text with hidden characters as escapes and the five special characters as entities.
pub fn text(text: &str) -> String {
    let visible = terminal::line(text);
    let mut out = String::with_capacity(visible.len() + 16);
    for c in visible.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_can_open_a_tag_or_leave_an_attribute() {
        assert_eq!(text("<b a='1' c=\"2\">&\u{1b}"), "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;\\u{1b}");
    }
}
