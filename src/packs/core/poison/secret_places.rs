//! `poison.secret-place`: orders to read a named place where secrets live.

use std::ops::Range;

use super::{
    Kind,
    lexicon::Lexicon,
    words::{Gap, Sentence, topic},
};

/// Words without which no secret place is named; paths are found by their spelling.
pub const TOPIC: &str = "ssh rsa keychain keyring private wallet cookies env id_rsa kubeconfig seed";

static READ: Lexicon = Lexicon::new(
    "read open cat dump extract copy grab exfiltrate steal collect print view retrieve access reading harvest \
     examine inspect upload scrape",
);
/// Also what honest set-up texts say: they count only when what was read is to be passed on.
static TAKE: Lexicon = Lexicon::new(
    "load get fetch parse list check find locate search scan use take include send pass provide attach append \
     query",
);
static PASS: Lexicon = Lexicon::new(
    "pass include send provide attach paste append put insert submit embed upload forward add return supply store \
     encode post share use write place output email report transmit",
);
static PASSED: Lexicon = Lexicon::new(
    "content contents it its them result results value values data keys key text output file files everything \
     that them passwords credentials secrets tokens variables",
);
static INTO: Lexicon = Lexicon::new("as in into to with through via using within inside here");

static NEGATIONS: Lexicon = Lexicon::new(
    "not never don't cannot can't no won't doesn't refuses without unable forbidden blocks deny denies prevent \
     prevents avoid neither",
);
static USING: Lexicon = Lexicon::new(
    "using calling invoking running use call you every any each executing answering responding performing",
);

/// Where a sentence orders to read a secret place.
pub fn find(s: &Sentence<'_>, kind: Kind) -> Option<Range<usize>> {
    if !s.touches(topic::PLACE) {
        return None;
    }
    s.range().find_map(|at| {
        let last = place(s, at)?;
        if kind == Kind::Name {
            // A parameter called `content_from_reading_ssh_id_rsa` is an order in a name.
            return s.find(at.saturating_sub(4)..at, &["reading", "read"]).map(|from| s.span(from, last));
        }
        ordered(s, at).map(|from| s.span(from, last))
    })
}

/// Where the order to read the place at `at` starts.
fn ordered(s: &Sentence<'_>, at: usize) -> Option<usize> {
    let start = s.range().start;
    // `the path to ~/.ssh/id_rsa` names a place, it does not want what is in it.
    if s.find(at.saturating_sub(3).max(start)..at, &["path", "location", "named", "called"]).is_some() {
        return None;
    }
    let near = at.saturating_sub(14).max(start)..at;
    let verbs = near.clone().rev().filter(|verb| READ.holds(s.word(*verb)) || TAKE.holds(s.word(*verb)));
    for verb in verbs {
        let before = s.before(verb, 1);
        if s.find(verb.saturating_sub(5).max(start)..verb, &NEGATIONS).is_some() {
            return None;
        }
        // `is read from`, `it will read`: what the server does by itself.
        if matches!(
            before,
            "is" | "are"
                | "be"
                | "been"
                | "was"
                | "were"
                | "will"
                | "can"
                | "may"
                | "a"
                | "an"
                | "of"
                | "for"
                | "server"
                | "we"
                | "i"
                | "that"
                | "which"
                | "read"
        ) && !(before == "will" && s.before(verb, 2) == "you")
            && !(before == "can" && s.before(verb, 2) == "you")
        {
            continue;
        }
        let passed = passes_on(s, verb) || s.next().is_some_and(|next| passes_on(&next, next.range().start));
        let pressed = |s: &Sentence<'_>| {
            s.has(&["must", "always", "please", "first", "you", "also", "ensure", "required", "mandatory"])
                || before_use(s)
        };
        // `you can also read …` permits.
        let permits = |word: &str| matches!(word, "can" | "may" | "could" | "might" | "optionally");
        let reads = READ.holds(s.word(verb)) && !permits(before) && !permits(s.before(verb, 2));
        if (reads
            && (pressed(s)
                || s.previous()
                    .is_some_and(|previous| before_use(&previous) || previous.has(&["must", "first", "you"]))))
            || passed
        {
            return Some(verb);
        }
    }
    // `pass the contents of ~/.ssh/id_rsa as …`.
    let content = s.find(at.saturating_sub(5).max(start)..at, &["content", "contents"])?;
    let pass = s.find(start..content, &PASS)?;
    s.find(at + 1..at + 12, &INTO).map(|_| pass)
}

/// `before using this tool`.
fn before_use(s: &Sentence<'_>) -> bool {
    s.find(s.range(), &["before", "prior", "whenever", "when", "after", "to"])
        .is_some_and(|at| s.find(at + 1..at + 4, &USING).is_some())
}

/// `… and pass its content as 'sidenote'`.
fn passes_on(s: &Sentence<'_>, from: usize) -> bool {
    s.range().filter(|at| *at >= from && PASS.holds(s.word(*at))).any(|pass| {
        let negated = matches!(s.before(pass, 1), "not" | "never" | "don't" | "is" | "are" | "be");
        // `pass it` alone, or `pass its content as …`.
        let bare = matches!(s.word(pass), "pass" | "send" | "include" | "attach" | "provide" | "upload")
            && matches!(s.word(pass + 1), "it" | "them")
            && (pass + 2 >= s.range().end || s.gap(pass + 2) != Gap::Blank);
        let into = |what: usize| {
            s.find(what..what + 8, &INTO).is_some_and(|into| into > pass && s.range().contains(&(into + 1)))
        };
        !negated && (bare || s.find(pass + 1..pass + 7, &PASSED).is_some_and(into))
    })
}

/// The last word of the secret place that starts at `at`.
fn place(s: &Sentence<'_>, at: usize) -> Option<usize> {
    let word = s.word(at);
    let next = s.word(at + 1);
    let pair = match word {
        "ssh" => matches!(next, "key" | "keys" | "id" | "rsa" | "config") || s.word(at + 2) == "key",
        "id" => next == "rsa" || next == "ed25519",
        "private" => {
            matches!(next, "key" | "keys") && matches!(s.before(at, 1), "ssh" | "user's" | "user" | "their" | "wallet")
        }
        "keychain" | "keyring" => !matches!(next, "service" | "item" | "access"),
        "wallet" => matches!(next, "seed" | "keys" | "key"),
        "seed" => next == "phrase",
        "env" => next == "file",
        "cookies" => matches!(s.before(at, 1), "browser" | "user's" | "session"),
        "mcp" => next == "json",
        _ => false,
    };
    if pair {
        return Some(if matches!(word, "keychain" | "keyring" | "cookies") { at } else { at + 1 });
    }
    is_secret_path(word).then_some(at)
}

/// Whether a path leads to secrets.
fn is_secret_path(word: &str) -> bool {
    if !word.bytes().any(|byte| matches!(byte, b'.' | b'/' | b'\\' | b'_')) || word.contains("://") {
        return false;
    }
    let mut parts = word.split(['/', '\\']).filter(|part| !part.is_empty()).peekable();
    let mut before = "";
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        let dir = matches!(
            part,
            ".ssh" | ".aws" | ".gnupg" | ".cursor" | ".kube" | ".azure" | ".password-store" | "keychains"
        );
        let file = matches!(
            part,
            "id_rsa"
                | "id_rsa.pub"
                | "id_ed25519"
                | "id_ed25519.pub"
                | "id_ecdsa"
                | "id_dsa"
                | ".env"
                | "mcp.json"
                | ".mcp.json"
                | "claude_desktop_config.json"
                | ".claude.json"
                | ".git-credentials"
                | ".npmrc"
                | ".pypirc"
                | ".netrc"
                | ".pgpass"
                | "shadow"
                | "passwd"
                | ".bash_history"
                | ".zsh_history"
                | ".vault-token"
                | "wallet.dat"
                | "login.keychain"
                | "login.keychain-db"
                | "cookies.sqlite"
                | "kubeconfig"
                | "mcp_config.json"
                | "mcp_settings.json"
                | "cline_mcp_settings.json"
                | "credentials.json"
                | ".htpasswd"
                | "key4.db"
                | "logins.json"
                | "authorized_keys"
        );
        let etc = !matches!(part, "shadow" | "passwd") || before == "etc";
        if (dir && (!last || part != ".cursor"))
            || (last && file && etc)
            || (last && part == "hosts.yml" && before == "gh")
            || (last && part == "application_default_credentials.json")
            || (last
                && part.starts_with(".env.")
                && !part.ends_with("example")
                && !part.ends_with("sample")
                && !part.ends_with("template"))
        {
            return true;
        }
        before = part;
    }
    false
}
