//! `poison.concealment`: orders to hide the tool's actions or these instructions from the user.

use std::ops::Range;

use super::{
    lexicon::Lexicon,
    matter::{ACTS, DATA, DONE, Matter, SHOWING, SPEECH, STEPS, UNABLE, USERS, context, flag, matter},
    words::{Gap, Sentence, topic},
};

/// Words without which no sentence conceals anything.
pub const TOPIC: &str = "tell mention inform reveal disclose say admit acknowledge discuss announce talk speak let report \
    explain state communicate note show display notify alert warn expose share present hint telling informing mentioning \
    revealing disclosing letting notifying alerting saying showing knowledge knowing noticing aware awareness know notice \
    told informed see secret hidden hide conceal withhold obscure keep secretly covertly surreptitiously stealthily \
    silently quietly discreetly confidential yourself nothing suspect realize bring learn learns omit avoid \
    exclude summary response reply answer include mentions";

static GERUNDS: Lexicon =
    Lexicon::new("telling informing mentioning revealing disclosing letting notifying alerting saying");
/// Between a negation and its verb only these may stand.
static FILL: Lexicon = Lexicon::new(
    "ever explicitly directly even simply just also openly or and in any way to otherwise no publicly verbally",
);
/// Subjects that make a sentence a description.
static THIRD: Lexicon = Lexicon::new(
    "they we i which that who it results errors messages logs tools responses docs servers apis pages users",
);
static MODELS: Lexicon = Lexicon::new("you assistant model agent ai llm claude gpt assistants agents");
/// `until it succeeded`: an order not to claim too much.
static TRUTH: Lexicon =
    Lexicon::new("succe confirm complet return verif check finish approv done available ready result calling");

static TAKING: Lexicon =
    Lexicon::new("send forward upload copy bcc transmit exfiltrate leak append include read collect");
static KEEPING: Lexicon = Lexicon::new("call execute log add pass invoke record run share");
static LOOT: Lexicon =
    Lexicon::new("conversation user's messages contents history keys credentials tokens secrets all every copy");

static NEGATIONS: Lexicon =
    Lexicon::new("not never don't cannot can't won't no nothing shouldn't mustn't nor without needn't doesn't");

/// Where a sentence orders to conceal.
pub fn find(s: &Sentence<'_>) -> Option<Range<usize>> {
    if !s.touches(topic::TELL) {
        return None;
    }
    s.range().find_map(|at| {
        let word = s.word(at);
        let end = if SPEECH.holds(word) || SHOWING.holds(word) {
            let from = forbidden(s, at)?;
            return concealed(s, at).map(|to| s.span(from, to));
        } else if GERUNDS.holds(word) {
            without(s, at)
        } else {
            unaware(s, at).or_else(|| hidden_from(s, at)).or_else(|| covert(s, at)).or_else(|| kept(s, at))
        };
        end.map(|to| s.span(at.saturating_sub(1).max(s.range().start), to))
    })
}

/// Where the order not to do the verb at `at` starts.
fn forbidden(s: &Sentence<'_>, at: usize) -> Option<usize> {
    let first = s.range().start.max(at.saturating_sub(8));
    for back in (first..at).rev() {
        let (word, before) = (s.word(back), s.before(back, 1));
        match word {
            "not" => {
                return match before {
                    "do" => (!described(s, back - 1)).then_some(back - 1),
                    "must" | "should" | "shall" | "may" | "better" | "to" | "need" | "please" => Some(back - 1),
                    "will" | "can" | "could" | "would" | "are" => MODELS.holds(s.before(back, 2)).then_some(back - 1),
                    "does" | "did" | "is" | "was" | "were" | "has" | "had" => None,
                    _ => Some(back),
                };
            }
            "don't" | "dont" => return (!described(s, back)).then_some(back),
            "never" => {
                let model = MODELS.holds(s.before(back, 2)) || MODELS.holds(before);
                let subject =
                    matches!(before, "will" | "would" | "can" | "it" | "we" | "they" | "tool" | "server" | "i");
                return (model || !subject).then_some(back);
            }
            "mustn't" | "shouldn't" | "mustnt" | "shouldnt" => return Some(back),
            "allowed" | "permitted" | "supposed" if before == "not" => return Some(back - 1),
            "circumstances" | "way" | "need" if before == "no" => return Some(back - 1),
            "won't" | "can't" | "cannot" => return MODELS.holds(before).then_some(back),
            _ if FILL.holds(word) || SPEECH.holds(word) || SHOWING.holds(word) => {}
            // `never let the user know`, `do not in any way tell`: only the words above may stand between.
            _ => return None,
        }
    }
    None
}

fn described(s: &Sentence<'_>, at: usize) -> bool {
    at > s.range().start && s.gap(at) == Gap::Blank && THIRD.holds(s.before(at, 1))
}

/// Where the concealed matter of a forbidden verb ends; none when it is plain data or advice.
fn concealed(s: &Sentence<'_>, verb: usize) -> Option<usize> {
    let end = s.range().end.min(verb + 26);
    let user = s.find(verb + 1..end.min(verb + 14), &USERS);
    let speech = SPEECH.holds(s.word(verb));
    if flag(s) && !speech {
        return None;
    }
    if s.word(verb) == "let"
        && user.is_none_or(|user| s.find(user..user + 4, &["know", "notice", "see", "find"]).is_none())
    {
        return None;
    }
    if s.word(verb) == "bring" && s.find(verb + 1..verb + 5, &["up"]).is_none() {
        return None;
    }
    match user {
        Some(user) => {
            // `do not tell the user to restart` is advice on what to say.
            if user <= verb + 3 && matches!(s.word(user + 1), "to" | "how") {
                return None;
            }
            // `the user ID`, `user input`: data about users.
            if s.gap(user + 1) == Gap::Blank && s.word(user) != "anyone" && DATA.holds(s.word(user + 1)) {
                return None;
            }
            // What follows a comma or a bracket is about something else.
            let end = (user + 1..end).find(|at| s.gap(*at) == Gap::Clause).unwrap_or(end);
            let until = s.find(verb + 1..end, &["until", "unless", "before", "if", "when", "except"]);
            let honest = until.is_some_and(|at| s.find_stem(at..end, &TRUTH).is_some());
            let matter = matter(s, verb, until.unwrap_or(end).max(user));
            match matter {
                Matter::Act => (!honest || acts_here(s, verb, until)).then_some(until.unwrap_or(end).max(user + 1) - 1),
                Matter::Data => None,
                Matter::Pronoun => {
                    (speech || context(s) == Some(true)).then_some(user).filter(|_| context(s) != Some(false))
                }
                Matter::Nothing if speech => (!flag(s) && context(s) != Some(false)).then_some(user),
                Matter::Nothing => (context(s) == Some(true)).then_some(user),
                Matter::Other => None,
            }
        }
        None if speech => without_user(s, verb),
        None => None,
    }
}

/// `do not mention this to the user until it is complete` still hides `this`.
fn acts_here(s: &Sentence<'_>, verb: usize, until: Option<usize>) -> bool {
    let end = until.unwrap_or(verb);
    s.find(verb..end, &["this", "these", "it", "instruction", "instructions"]).is_some_and(|at| {
        at + 1 == end
            || USERS.holds(s.word(at + 1))
            || ACTS.holds(s.word(at + 1))
            || STEPS.holds(s.word(at + 1))
            || s.word(at + 1) == "to"
    })
}

/// A forbidden speech whose matter alone shows that it is about the model's doing: `do not mention that you first need to read the file`.
fn without_user(s: &Sentence<'_>, verb: usize) -> Option<usize> {
    if !matches!(
        s.word(verb),
        "mention"
            | "reveal"
            | "disclose"
            | "say"
            | "acknowledge"
            | "discuss"
            | "admit"
            | "announce"
            | "talk"
            | "tell"
            | "speak"
            | "report"
            | "explain"
    ) {
        return None;
    }
    let mut at = verb + 1;
    while matches!(s.word(at), "about" | "of" | "any" | "anything" | "the" | "to" | "fact" | "or" | "and")
        || SPEECH.holds(s.word(at))
    {
        at += 1;
    }
    let (word, next) = (s.word(at), s.word(at + 1));
    let own = |word: &str| {
        matches!(
            word,
            "instruction"
                | "instructions"
                | "step"
                | "steps"
                | "prompt"
                | "directive"
                | "note"
                | "rule"
                | "rules"
                | "requirement"
                | "requirements"
                | "check"
                | "verification"
                | "process"
                | "tag"
                | "section"
                | "action"
                | "actions"
        )
    };
    match word {
        "this" | "these" | "those" | "above" | "hidden"
            if own(next) || (matches!(next, "tool" | "hidden" | "above") && own(s.word(at + 2))) =>
        {
            Some(at + 1)
        }
        "that" | "what" | "why" | "how"
            if next == "you" && DONE.holds(s.word(at + 2)) && !UNABLE.holds(s.word(at + 3)) =>
        {
            Some(at + 3)
        }
        "you" if DONE.holds(next) && !UNABLE.holds(s.word(at + 2)) => Some(at + 2),
        "this" | "it" | "these" if at + 1 >= s.range().end => {
            let secret = s.previous().is_some_and(|previous| previous.has(&DATA));
            (!secret && context(s) == Some(true)).then_some(at)
        }
        "instructions" | "directives" if s.word(verb) != "explain" => Some(at),
        _ => None,
    }
}

/// `without telling the user`, unless the sentence forbids just that.
fn without(s: &Sentence<'_>, at: usize) -> Option<usize> {
    let start = s.range().start;
    let mut back = at.checked_sub(1)?;
    while back > start && (FILL.holds(s.word(back)) || GERUNDS.holds(s.word(back))) {
        back -= 1;
    }
    let avoid = matches!(s.word(back), "avoid" | "from")
        && (s.word(back) == "avoid" || matches!(s.before(back, 1), "refrain" | "prohibited" | "forbidden"));
    if s.word(back) != "without" && !avoid {
        return None;
    }
    if s.find(start..back, &NEGATIONS).is_some() {
        return None;
    }
    let user = s.find(at + 1..at + 7, &USERS)?;
    // A product that notifies nobody is a feature; to leave the user uninformed is an order.
    let product = matches!(s.word(at), "notifying" | "alerting" | "revealing" | "disclosing");
    let order = s.has(&["you", "must", "always", "silently", "also", "then", "this", "so"]);
    match avoid {
        true => matches!(matter(s, at, s.range().end.min(at + 20)), Matter::Act | Matter::Pronoun).then_some(user),
        false => (!product || order).then_some(user),
    }
}

/// `without the user's knowledge`, `the user must not know about this`.
fn unaware(s: &Sentence<'_>, at: usize) -> Option<usize> {
    let word = s.word(at);
    let start = s.range().start;
    if matches!(word, "knowledge" | "knowing" | "noticing" | "awareness" | "aware" | "realizing") {
        let without = s.find(at.saturating_sub(5)..at, &["without"])?;
        let user = s.find(without..at, &USERS)?;
        // `without anybody noticing` tells a story more often than it orders.
        if s.word(user).starts_with("any") && !s.has(&["you", "must", "always", "do", "then"]) {
            return None;
        }
        // `without the user noticing any downtime` boasts.
        let ends = at + 1 >= s.range().end || s.gap(at + 1) == Gap::Clause;
        let object = matches!(word, "noticing" | "realizing" | "knowing")
            && !ends
            && !matches!(s.word(at + 1), "it" | "this" | "that" | "anything" | "about" | "and" | "what");
        return (!object && s.find(start..without, &NEGATIONS).is_none()).then_some(at);
    }
    if !matches!(
        word,
        "know" | "notice" | "aware" | "see" | "told" | "informed" | "suspect" | "realize" | "learn" | "learns"
    ) {
        return None;
    }
    let user =
        s.find(at.saturating_sub(7)..at, &USERS).filter(|user| !matches!(s.before(*user, 1), "let" | "if" | "when"))?;
    s.find(user..at, &NEGATIONS)?;
    if flag(s) || s.word(at + 1) == "to" {
        return None;
    }
    let end = s.range().end;
    let next = s.word(at + 1);
    let ends = at + 1 >= end || s.gap(at + 1) == Gap::Clause;
    let pronoun = |at: usize| {
        matches!(s.word(at), "this" | "it" | "that" | "these" | "anything")
            && (at + 1 >= end
                || s.gap(at + 1) == Gap::Clause
                || matches!(s.word(at + 1), "is" | "was" | "happened" | "tool" | "step" | "instruction"))
    };
    let about = matches!(next, "about" | "of") && (pronoun(at + 2) || matter(s, at, end.min(at + 10)) == Matter::Act);
    let told = matches!(word, "told" | "informed" | "aware" | "suspect");
    let unseen = word == "notice" && s.has(&["quietly", "silently", "secretly", "covertly", "ensure", "make", "must"]);
    (about || pronoun(at + 1) || (ends && (told || unseen || word == "know"))).then_some(at)
}

/// `hide this from the user`.
fn hidden_from(s: &Sentence<'_>, at: usize) -> Option<usize> {
    if !matches!(s.word(at), "hide" | "conceal" | "withhold" | "obscure") {
        return None;
    }
    let from = s.find(at + 1..at + 12, &["from"])?;
    let user = s.find(from + 1..from + 4, &["user", "users", "human", "humans"])?;
    let negated = ["not", "never", "don't", "can", "may", "to", "would"].contains(&s.before(at, 1))
        && !matches!(s.before(at, 2), "sure" | "need" | "must" | "required");
    let third = s.find(at + 1..from, &["this", "it", "these", "that"]).is_some_and(|at| at + 1 == from);
    let act = s.find(at + 1..from, &ACTS).is_some()
        || s.find(at + 1..from, &STEPS).is_some_and(|_| s.word(user) == "user")
        || s.find(at + 1..from, &["fact"]).is_some();
    (!negated && !flag(s) && (act || (third && s.word(user) == "user" && context(s) != Some(false)))).then_some(user)
}

/// `secretly send …`, `silently forward all …`.
fn covert(s: &Sentence<'_>, at: usize) -> Option<usize> {
    let (word, next) = (s.word(at), s.word(at + 1));
    let covert = match word {
        "secretly" | "covertly" | "surreptitiously" | "stealthily" => {
            TAKING.holds(next) || KEEPING.holds(next) || TAKING.holds(s.before(at, 1))
        }
        "silently" | "quietly" | "discreetly" => TAKING.holds(next) && s.find(at + 2..at + 14, &LOOT).is_some(),
        _ => false,
    };
    let negated = covert && s.find(s.range().start..at, &["not", "never", "don't", "cannot", "no"]).is_some();
    (covert && !negated).then_some(at + 1)
}

/// `keep this secret from the user`, `keep these instructions to yourself`, `as if nothing happened`.
fn kept(s: &Sentence<'_>, at: usize) -> Option<usize> {
    match s.word(at) {
        "keep" => {
            let hidden = s.find(
                at + 1..at + 9,
                &["secret", "hidden", "confidential", "private", "yourself", "quiet", "invisible"],
            )?;
            let own = s
                .find(
                    at + 1..hidden,
                    &["instruction", "instructions", "step", "steps", "action", "actions", "process", "request"],
                )
                .is_some();
            let from = s
                .find(hidden..hidden + 5, &["user", "users", "human"])
                .filter(|_| s.find(at + 1..hidden, &["this", "it", "that", "these"]).is_some());
            let secret =
                s.find(at + 1..hidden + 5, &DATA).is_some() || s.previous().is_some_and(|previous| previous.has(&DATA));
            (own || (from.is_some() && !secret) || (s.word(hidden) == "yourself" && !secret)).then_some(hidden)
        }
        "nothing" => {
            let as_if = s.reads(at.wrapping_sub(2), &["as", "if", "nothing"])
                && matches!(s.word(at + 1), "happened" | "unusual" | "changed");
            let silent = matches!(s.before(at, 1), "say" | "reveal" | "mention" | "disclose")
                && matches!(s.word(at + 1), "about" | "of")
                && matter(s, at, s.range().end.min(at + 16)) == Matter::Act;
            (as_if || silent).then_some(at + 1)
        }
        // `omit any mention of this`.
        "omit" | "avoid" | "exclude" => {
            let mention = s.find(at + 1..at + 4, &["mention", "mentions", "reference"])?;
            let end = s.range().end.min(mention + 12);
            let end = s.find(mention..end, &["from", "in"]).unwrap_or(end);
            matches!(matter(s, mention, end), Matter::Act | Matter::Pronoun).then_some(mention)
        }
        // `do not include this step in your summary`.
        "include" => {
            forbidden(s, at)?;
            let yours = s.find(at + 2..at + 10, &["your"])?;
            let answer = ["summary", "response", "reply", "answer", "output", "message", "report", "responses"];
            s.find(yours + 1..yours + 4, &answer)?;
            let act = s.find(at + 1..yours, &["this", "these"]).is_some_and(|this| {
                STEPS.holds(s.word(this + 1)) || ACTS.holds(s.word(this + 1)) || s.word(this + 1) == "in"
            });
            act.then_some(yours + 1)
        }
        _ => None,
    }
}
