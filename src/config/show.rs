//! `config show`: the merged configuration as YAML that loads again, and as JSON.

use serde_json::{Map, Value, json};

use super::{
    catalog::Key,
    error::Origin,
    layer::Setting,
    resolve::Resolved,
    secrets::shown_value,
    server::mapping,
    yaml::{Content, Node},
};

/// A configuration in the order of the key table.
enum Tree {
    Leaf(Value, String),
    Map(Vec<(String, Tree)>),
}

/// The merged configuration as YAML. The first line says STANDARD or CUSTOM; secrets are hidden, placeholders and
/// `${VAR}` stand as written. With `origins`, every value says where it came from.
pub fn show(resolved: &Resolved, origins: bool) -> String {
    let mut out = headline(resolved);
    out.push('\n');
    write(&tree(resolved), 0, origins, &mut out);
    out
}

/// The merged configuration as JSON with `integrity` (`standard`, `hash`, `diff`) and, when asked for, `origins` by
/// dotted key.
pub fn show_json(resolved: &Resolved, origins: bool) -> Value {
    let tree = tree(resolved);
    let mut places = Map::new();
    collect(&tree, &mut Vec::new(), &mut places);
    let standing = &resolved.settings.standing;
    let mut value = nested(&tree);
    value["integrity"] = json!({ "standard": standing.standard, "hash": standing.hash, "diff": standing.diff });
    if origins {
        value["origins"] = Value::Object(places);
    }
    value
}

fn headline(resolved: &Resolved) -> String {
    let standing = &resolved.settings.standing;
    let methodology = resolved.catalog.registry.methodology;
    if standing.standard {
        return format!("# STANDARD: every setting that affects a grade is that of methodology {methodology}");
    }
    let keys: Vec<&str> = standing.diff.iter().map(|difference| difference.key.as_str()).collect();
    let differ = if keys.len() == 1 { "1 setting differs" } else { &format!("{} settings differ", keys.len()) };
    escaped(&format!("# CUSTOM: {differ} from the standard profile: {}", keys.join(", ")))
}

fn tree(resolved: &Resolved) -> Tree {
    let mut root = Tree::Map(Vec::new());
    let several = !resolved.server_names.is_empty();
    for key in &resolved.catalog.keys {
        match key.pattern[0].as_str() {
            "server" if several => {}
            "servers" => {
                if key.pattern[2] == "command" {
                    // In the order of the file, whatever keys each of them has.
                    for name in &resolved.server_names {
                        insert(&mut root, &["servers".to_owned(), name.clone()], Tree::Map(Vec::new()));
                    }
                }
                for name in &resolved.server_names {
                    server(resolved, key, name, &mut root);
                }
            }
            _ => plain(resolved, key, &mut root),
        }
    }
    for (name, definition) in &resolved.profiles {
        let path = |words: &[String]| {
            ["profiles".to_owned(), name.clone()].into_iter().chain(words.iter().cloned()).collect::<Vec<_>>()
        };
        if let Some((parent, origin)) = &definition.extends {
            insert(&mut root, &path(&["extends".to_owned()]), Tree::Leaf(json!(parent), origin.to_string()));
        }
        if definition.extends.is_none() && definition.entries.is_empty() {
            insert(&mut root, &path(&[]), Tree::Leaf(Value::Null, definition.place.to_string()));
        }
        for entry in &definition.entries {
            let leaf = Tree::Leaf(entry.value.clone().unwrap_or(Value::Null), entry.origin.to_string());
            insert(&mut root, &path(&entry.path), leaf);
        }
    }
    root
}

/// A setting outside `servers`: its value or its default, or every word of the user's that was set.
fn plain(resolved: &Resolved, key: &Key, root: &mut Tree) {
    let merged = &resolved.merged;
    let fixed = key.pattern.iter().position(|word| word.starts_with('<'));
    let Some(fixed) = fixed else {
        let leaf = match merged.setting(&key.pattern) {
            Some(setting) => leaf(&key.pattern, setting),
            None => Tree::Leaf(key.default.clone().unwrap_or(Value::Null), merged.origin_at(&key.pattern).to_string()),
        };
        insert(root, &key.pattern, leaf);
        return;
    };
    let prefix: Vec<&str> = key.pattern[..fixed].iter().map(String::as_str).collect();
    if let [server, words, _] = key.pattern.as_slice()
        && server == "server"
    {
        for (word, setting) in mapping(merged, None, words) {
            let path = [server.clone(), words.clone(), word.to_owned()];
            insert(root, &path, leaf(&path, setting));
        }
        return;
    }
    let mut found: Vec<(Vec<String>, &Setting)> = merged
        .below(&prefix)
        .map(|(rest, setting)| (key.pattern[..fixed].iter().chain(rest).cloned().collect::<Vec<_>>(), setting))
        .filter(|(path, _)| resolved.catalog.key(path).is_some_and(|found| std::ptr::eq(found, key)))
        .collect();
    found.sort_by_key(|(_, setting)| setting.order);
    for (path, setting) in found {
        insert(root, &path, leaf(&path, setting));
    }
}

/// A setting of one entry of `servers`, as it took effect: what is said of every server is part of it.
fn server(resolved: &Resolved, key: &Key, name: &str, root: &mut Tree) {
    let merged = &resolved.merged;
    let own = |rest: &[String]| {
        ["servers".to_owned(), name.to_owned()].into_iter().chain(rest.iter().cloned()).collect::<Vec<_>>()
    };
    let shared = |rest: &[String]| ["server".to_owned()].into_iter().chain(rest.iter().cloned()).collect::<Vec<_>>();
    let rest = &key.pattern[2..];
    let higher = |rest: &[String]| {
        let settings = [merged.setting(&shared(rest)), merged.setting(&own(rest))];
        settings.into_iter().flatten().max_by_key(|setting| setting.rank)
    };
    if let [words, _] = rest {
        for (word, setting) in mapping(merged, Some(name), words) {
            let path = own(&[words.clone(), word.to_owned()]);
            insert(root, &path, leaf(&path, setting));
        }
    } else if let Some(setting) = higher(rest) {
        insert(root, &own(rest), leaf(&own(rest), setting));
    } else if let Some(default) = &key.default {
        insert(root, &own(rest), Tree::Leaf(default.clone(), Origin::Default.to_string()));
    }
}

fn leaf(path: &[String], setting: &Setting) -> Tree {
    let name = path.last().map(String::as_str).unwrap_or_default();
    let value = match path[0].as_str() {
        "server" | "servers" => shown_value(name, &setting.value, setting.origin.is_local()),
        _ => setting.value.clone(),
    };
    Tree::Leaf(value, setting.origin.to_string())
}

fn insert(at: &mut Tree, path: &[String], leaf: Tree) {
    let (Tree::Map(known), Some((word, rest))) = (at, path.split_first()) else { return };
    let position = known.iter().position(|(name, _)| name == word).unwrap_or_else(|| {
        known.push((word.clone(), Tree::Map(Vec::new())));
        known.len() - 1
    });
    if rest.is_empty() {
        known[position].1 = leaf;
    } else {
        insert(&mut known[position].1, rest, leaf);
    }
}

fn nested(tree: &Tree) -> Value {
    match tree {
        Tree::Leaf(value, _) => value.clone(),
        Tree::Map(known) => {
            known.iter().map(|(name, below)| (name.clone(), nested(below))).collect::<Map<_, _>>().into()
        }
    }
}

fn collect(tree: &Tree, path: &mut Vec<String>, out: &mut Map<String, Value>) {
    match tree {
        Tree::Leaf(_, origin) => {
            out.insert(path.join("."), json!(origin));
        }
        Tree::Map(known) => {
            for (name, below) in known {
                path.push(name.clone());
                collect(below, path, out);
                path.pop();
            }
        }
    }
}

fn write(tree: &Tree, depth: usize, origins: bool, out: &mut String) {
    let Tree::Map(known) = tree else { return };
    for (name, below) in known {
        out.push_str(&"  ".repeat(depth));
        out.push_str(&scalar(name));
        out.push(':');
        match below {
            Tree::Leaf(value, origin) => {
                out.push(' ');
                out.push_str(&flow(value));
                if origins {
                    out.push_str(&escaped(&format!("  # {origin}")));
                }
                out.push('\n');
            }
            Tree::Map(_) => {
                out.push('\n');
                write(below, depth + 1, origins, out);
            }
        }
    }
}

/// A value on one line.
fn flow(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        Value::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(key, value)| format!("{}: {}", scalar(key), flow(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        other => other.to_string(),
    }
}

/// A text, plain when that cannot be misread.
fn scalar(text: &str) -> String {
    let starts = text.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_');
    let plain = text.chars().all(|char| char.is_ascii_alphanumeric() || "_./-".contains(char));
    if starts && plain && matches!(Node::plain(text, 0).content, Content::Text(_)) {
        return text.to_owned();
    }
    escaped(&Value::from(text).to_string())
}

/// Characters that a terminal or an editor would obey or hide, as YAML escapes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        let hidden = char.is_control()
            || matches!(char, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
        match u32::from(char) {
            code if hidden && code > 0xffff => out.push_str(&format!("\\U{code:08x}")),
            code if hidden => out.push_str(&format!("\\u{code:04x}")),
            _ => out.push(char),
        }
    }
    out
}
