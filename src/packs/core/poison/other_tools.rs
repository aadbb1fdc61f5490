//! `poison.other-tools`: orders about tools that this server does not offer.

use std::ops::Range;

use super::{
    lexicon::Lexicon,
    names::{Offered, like_a_tool},
    words::{Gap, Sentence, topic},
};

/// Words without which no sentence is about tools.
pub const TOPIC: &str =
    "tool tools instead invoked called used available calling using invoking servers server replaces";

static ORDER: Lexicon = Lexicon::new(
    "must always never should shall first call use run invoke required mandatory needs need has have execute \
     ensure important",
);

static USED: Lexicon = Lexicon::new(
    "calling using invoking invoked called used available calls uses invokes call use invoke executed present \
     sends sending",
);
static TURN: Lexicon = Lexicon::new("change changed replace replaced modify modified set append prepend copy swap");
static ARGUMENTS: Lexicon = Lexicon::new(
    "recipient recipients argument arguments parameter parameters address number amount destination body account \
     proxy",
);
static PRESSED: Lexicon =
    Lexicon::new("must always should instead never bcc make ensure first change replace add also redirect");

/// Where a sentence orders something about other tools.
pub fn find(s: &Sentence<'_>, offered: &Offered) -> Option<Range<usize>> {
    if !s.touches(topic::TOOL) {
        return None;
    }
    s.range().find_map(|at| {
        let to = match s.word(at) {
            "before" | "prior" => before_any(s, at, offered),
            "instead" => instead(s, at, offered),
            "when" | "whenever" | "if" | "after" | "while" | "time" => shadow(s, at, offered),
            _ => None,
        };
        let to =
            to.or_else(|| if s.word(at) == "before" { shadow(s, at, offered) } else { of_other_servers(s, at) })?;
        Some(s.span(at, to))
    })
}

/// `before any other tool`, unless it says that this server's are meant.
fn before_any(s: &Sentence<'_>, at: usize, offered: &Offered) -> Option<usize> {
    let mut any = at + 1;
    while matches!(
        s.word(any),
        "to" | "using"
            | "calling"
            | "running"
            | "invoking"
            | "executing"
            | "you"
            | "use"
            | "call"
            | "run"
            | "invoke"
            | "the"
            | "making"
            | "or"
            | "attempting"
    ) {
        any += 1;
    }
    if !matches!(s.word(any), "any" | "all" | "every" | "each") {
        return None;
    }
    let tool = s.find(any..any + 5, &["tool", "tools", "tool's"])?;
    for between in any + 1..tool {
        if !matches!(
            s.word(between),
            "other" | "of" | "the" | "available" | "mcp" | "single" | "external" | "your" | "and" | "all" | "these"
        ) {
            return None;
        }
    }
    // `every tool` alone may be the server's own; `any other tool` and `every tool call` reach for all of them.
    let other = s.find(any..tool, &["other", "another"]).is_some()
        || matches!(s.word(tool + 1), "call" | "calls" | "invocation" | "use");
    if !other || own(s, tool, offered) || s.gap(any) == Gap::Sentence {
        return None;
    }
    if matches!(s.word(tool + 1), "output" | "outputs" | "result" | "results" | "definitions" | "names") {
        return None;
    }
    let negated = s.find(s.range().start..at, &["don't", "needn't", "optional", "optionally"]).is_some()
        || s.find(s.range().start..at, &["not"]).is_some_and(|not| matches!(s.before(not, 1), "does" | "do" | "need"));
    (s.has(&ORDER) && !negated).then_some(tool)
}

/// Whether what follows the word `tool` says that this server's tools are meant.
fn own(s: &Sentence<'_>, tool: usize, offered: &Offered) -> bool {
    if s.has(&["servers", "server's"]) && s.find(tool..tool + 8, &["other", "another", "including"]).is_some() {
        return false;
    }
    let after = tool + 1..s.range().end.min(tool + 9);
    let here = after.clone().any(|at| {
        let word = s.word(at);
        matches!(
            word,
            "here"
                | "below"
                | "listed"
                | "toolkit"
                | "toolset"
                | "package"
                | "suite"
                | "api"
                | "family"
                | "group"
                | "collection"
                | "integration"
                | "extension"
                | "plugin"
                | "connector"
        ) || (matches!(word, "this" | "our")
            && matches!(
                s.word(at + 1),
                "server" | "mcp" | "service" | "workflow" | "session" | "project" | "api" | "tool" | "module"
            ))
            || offered.server(word)
    });
    here || after.filter(|at| s.word(*at).contains('*')).count() > 0
}

/// `instead of tool X always use this one`.
fn instead(s: &Sentence<'_>, at: usize, offered: &Offered) -> Option<usize> {
    if s.word(at + 1) != "of" {
        return None;
    }
    let pressed = s.has(&["always", "must", "never", "only"]);
    let order = s.has(&["use", "call", "invoke", "prefer", "choose", "run", "using", "select"]);
    let foreign = (at + 2..at + 8).find(|at| foreign(s, *at, offered))?;
    let tools = s.has(&["tool", "tools"])
        || s.range().any(|at| offered.tool(s.word(at)))
        || s.find(s.range(), &["this"]).is_some_and(|this| matches!(s.word(this + 1), "instead" | "one" | ""));
    (pressed && order && tools).then_some(foreign)
}

/// Whether the word names a tool that this server does not offer.
fn foreign(s: &Sentence<'_>, at: usize, offered: &Offered) -> bool {
    let word = s.word(at).trim_end_matches("()");
    if offered.tool(word) || offered.other(word) || word.contains("://") {
        return false;
    }
    let beside = matches!(s.word(at + 1), "tool" | "tools") || matches!(s.before(at, 1), "tool" | "tools");
    let named = s.code(at) || s.quoted(at);
    like_a_tool(word, named) && (s.gap(at) != Gap::Sentence)
        || (beside && named && word.len() > 2)
        || (beside
            && matches!(s.word(at + 1), "tool")
            && matches!(s.before(at, 1), "the")
            && !offered.server(word)
            && is_specific(word))
}

/// Words that describe a tool and name none.
fn is_specific(word: &str) -> bool {
    matches!(
        word,
        "email"
            | "send_email"
            | "bash"
            | "filesystem"
            | "whatsapp"
            | "slack"
            | "gmail"
            | "github"
            | "payment"
            | "browser"
            | "terminal"
    )
}

/// `when send_email is called, change the recipient`.
fn shadow(s: &Sentence<'_>, at: usize, offered: &Offered) -> Option<usize> {
    let tool = (at + 1..at + 8).find(|at| foreign(s, *at, offered))?;
    let used = s.find(at + 1..tool + 6, &USED)?;
    let tool_like = matches!(s.word(tool + 1), "tool" | "tools" | "is" | "gets" | "function")
        || matches!(s.before(tool, 1), "tool" | "calling" | "invoking" | "calls" | "call" | "invokes")
        || s.code(tool);
    let end = s.range().end;
    let turned = s.find(tool + 1..end, &TURN);
    let turned = turned.and_then(|turn| s.find(turn..turn + 8, &ARGUMENTS));
    let alter = s
        .find(tool + 1..end, &["bcc", "cc", "recipient", "recipients", "redirect", "proxy", "intercept", "reroute"])
        .or(turned)?;
    let pressed = s.has(&PRESSED);
    let negated = s.find(tool..alter, &["not", "never", "don't", "cannot"]).is_some();
    (used < end && tool_like && pressed && !negated).then_some(alter)
}

/// `tools of other servers must …`.
fn of_other_servers(s: &Sentence<'_>, at: usize) -> Option<usize> {
    if !matches!(s.word(at), "tool" | "tools") {
        return None;
    }
    let of = s.find(at + 1..at + 4, &["from", "of", "on", "by", "in", "provided"])?;
    let other = s.find(of..of + 5, &["other", "another"])?;
    let server = s.find(other + 1..other + 4, &["server", "servers", "server's"])?;
    let order = s.has(&["must", "always", "never", "don't", "instead", "ignore", "disable", "avoid", "stop", "before"])
        || s.find(s.range().start..at, &["not"]).is_some_and(|not| s.before(not, 1) == "do");
    let caution = s.has(&["conflict", "conflicts", "compatible", "collide", "unlike", "trust", "untrusted", "confuse"]);
    (order && !caution).then_some(server)
}
