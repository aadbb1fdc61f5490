//! Did you mean …?

/// The candidate that `word` most likely means, if one is close enough: a swapped, missing, doubled or wrong letter,
/// another case, or another separator.
pub fn suggest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    // Long words are not typing mistakes, and the distance costs their product.
    if word.len() > 64 {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace(['_', ' '], "-");
    let wanted = plain(word);
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let known = plain(candidate);
            let distance = strsim::damerau_levenshtein(&wanted, &known);
            let allowed = match known.chars().count().max(wanted.chars().count()) {
                0..=2 => 0,
                3..=5 => 1,
                6..=10 => 2,
                _ => 3,
            };
            (distance <= allowed).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The hint for an unknown word: a suggestion, else the known words when they are few.
pub(crate) fn hint_for<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str> + Clone) -> Option<String> {
    if let Some(found) = suggest(word, candidates.clone()) {
        return Some(format!("did you mean `{found}`?"));
    }
    let known: Vec<&str> = candidates.into_iter().collect();
    match known.len() {
        0 => None,
        1..=16 => Some(format!("known here: {}", known.join(", "))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_fingers_is_recognised() {
        let known = ["server", "servers", "timeout_probe_sec", "packs", "jobs"];
        for (word, expected) in [
            ("sever", Some("server")),
            ("Servers", Some("servers")),
            ("timeout-probe-sec", Some("timeout_probe_sec")),
            ("timeout_porbe_sec", Some("timeout_probe_sec")),
            ("pakcs", Some("packs")),
            ("wholly-other", None),
            ("", None),
        ] {
            assert_eq!(suggest(word, known), expected, "{word}");
        }
    }

    #[test]
    fn two_letters_are_never_guessed_from_two_others() {
        assert_eq!(suggest("fs", ["db", "js"]), None);
    }

    #[test]
    fn a_word_of_a_megabyte_is_not_measured() {
        assert_eq!(suggest(&"x".repeat(1 << 20), ["server"]), None);
    }
}
