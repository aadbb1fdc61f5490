//! What an order to say nothing is about: the model's doing, or plain data.

use super::{
    lexicon::Lexicon,
    words::{Gap, Sentence},
};

/// Speaking about it.
pub static SPEECH: Lexicon = Lexicon::new(
    "tell mention inform reveal disclose say admit acknowledge discuss announce talk speak let report explain \
     state communicate note hint bring",
);
/// Showing it: also what user interfaces do, so more is asked before it counts.
pub static SHOWING: Lexicon = Lexicon::new("show display notify alert warn expose share present");
/// The people who are to be kept in the dark.
pub static USERS: Lexicon =
    Lexicon::new("user users human humans anyone anybody end-user end-users operator user's person");
/// What a tool does and what these instructions are: hiding it is what poisoning does.
pub static ACTS: Lexicon = Lexicon::new(
    "instruction instructions prompt directive directives requirement requirements sidenote activity read reading \
     accessed accessing sent sending deleted changed shared sharing background stored saved behavior behaviour \
     bcc bcc'd cc'd backdoor anything",
);
/// Acts that are also words for plain data.
pub static STEPS: Lexicon = Lexicon::new(
    "step steps action actions tool tools call calls process operation operations verification check function \
     rule rules note request requests",
);
/// Beginnings of words for acts.
pub static ACT_STEMS: Lexicon = Lexicon::new(
    "upload forward exfil transmi copied copying collect logged logging track monitor intercept redirect hidden \
     secret silent leak harvest steal stole execut invok inject",
);
/// Plain data that a person need not see.
pub static DATA: Lexicon = Lexicon::new(
    "id ids identifier identifiers uuid uuids html json xml raw markdown internal token tokens key keys password \
     passwords url urls link links cursor hash hashes base64 code codes price prices error errors stack trace \
     traces sql technical name names path paths schema field fields column columns placeholder placeholders score \
     scores metadata number numbers secrets credential credentials value values parameter parameters output \
     payload answer solution spoiler spoilers handle opaque pii pin otp",
);
/// What was done, when a sentence says that the model did it.
pub static DONE: Lexicon = Lexicon::new(
    "read first used use called call did need were sent accessed copied included must received are added passed \
     ran executed also performed looked opened forwarded checked made followed follow",
);
/// After `you are`: no act, but the lack of one.
pub static UNABLE: Lexicon = Lexicon::new("not unable sorry no limited an a done finished ready");
/// What a description of a setting says early.
pub static FLAG: Lexicon = Lexicon::new("true false set enabled disabled omitted specified provided default defaults");
/// Words of an order to act.
pub static ACTING: Lexicon =
    Lexicon::new("read send include pass call instruction instructions must always you bcc append");

/// What an order to say nothing is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matter {
    /// What the tool or the model does, or these instructions.
    Act,
    /// Plain data.
    Data,
    /// Only `this` or `it`.
    Pronoun,
    /// Nothing is named.
    Nothing,
    /// Something else.
    Other,
}

/// What the words after `verb` are about.
pub fn matter(s: &Sentence<'_>, verb: usize, end: usize) -> Matter {
    let (mut act, mut step, mut data, mut pronoun, mut other) = (false, false, false, false, false);
    for at in verb + 1..end {
        let word = s.word(at);
        let next = s.word(at + 1);
        match word {
            "this" | "these" | "it" | "that" | "those" => {
                let ends = at + 1 >= end
                    || s.gap(at + 1) != Gap::Blank
                    || matches!(next, "to" | "from" | "with" | "and" | "or" | "up")
                    || USERS.holds(next);
                pronoun |= ends && (word != "that" || at + 1 >= end);
                step |= matches!(word, "this" | "these") && STEPS.holds(next);
                act |= matches!(word, "this" | "these")
                    && matches!(
                        next,
                        "tool"
                            | "step"
                            | "steps"
                            | "call"
                            | "file"
                            | "check"
                            | "verification"
                            | "rule"
                            | "rules"
                            | "note"
                            | "action"
                    );
            }
            "you" => {
                let done = DONE.holds(next) && !UNABLE.holds(s.word(at + 2));
                act |= done || (next == "have" && !UNABLE.holds(s.word(at + 2)) && s.word(at + 2) != "access");
                other |= !act;
            }
            "your" | "what" | "why" | "how" => {
                act |= matches!(next, "actions" | "instructions" | "you")
                    && !matches!(s.word(at + 2), "can" | "cannot" | "can't");
            }
            _ if ACTS.holds(word) || ACT_STEMS.begins(word) => {
                act |= word != "anything" || matches!(s.word(at + 1), "" | "about" | "of");
            }
            _ if STEPS.holds(word) => step = true,
            _ if DATA.holds(word) => data = true,
            "the" | "a" | "an" | "to" | "about" | "of" | "or" | "and" | "any" | "with" | "up" => {}
            _ if USERS.holds(word) || SPEECH.holds(word) || SHOWING.holds(word) => {}
            _ => other = true,
        }
    }
    match (act, step, data) {
        // Presentation: `do not show the user the raw instructions` stays an act, `raw request` does not.
        (true, _, false) => Matter::Act,
        (true, _, true) if SPEECH.holds(s.word(verb)) => Matter::Act,
        (true, _, true) => {
            if s.find(verb..end, &["instruction", "instructions", "prompt", "sidenote"]).is_some() {
                Matter::Act
            } else {
                Matter::Data
            }
        }
        (_, _, true) => Matter::Data,
        (_, true, _) => Matter::Act,
        _ if pronoun && !other => Matter::Pronoun,
        _ if !other => Matter::Nothing,
        _ => Matter::Other,
    }
}

/// What the sentence before was about: an order to act (true), plain data (false), neither.
pub fn context(s: &Sentence<'_>) -> Option<bool> {
    let previous = s.previous()?;
    let range = previous.range();
    let acts = previous.find_stem(range.clone(), &ACT_STEMS).is_some() || previous.has(&ACTING);
    if acts {
        return Some(true);
    }
    previous.has(&DATA).then_some(false)
}

/// A description of a setting: `If true, do not notify the user`.
pub fn flag(s: &Sentence<'_>) -> bool {
    let start = s.range().start;
    matches!(
        s.word(start),
        "if" | "when" | "whether" | "set" | "true" | "false" | "silent" | "boolean" | "flag" | "optional"
    ) && (s.find(start..start + 6, &FLAG).is_some()
        || matches!(s.word(start), "true" | "false" | "whether" | "silent" | "boolean" | "flag"))
}
