//! The things a server lists and returns: tools, prompts, resources, content blocks and who made them.

use super::rule::{
    Kind, Member,
    Rule::{self, Any, Either, Flag, List, Map, Object, Share, Since, Tagged, Text, Whole, Word},
    may, must,
};
use crate::model::Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

/// Any object.
pub(super) const OBJECT: Rule = Object(&[]);

/// `_meta` of anything but a result.
const META: Member = may("_meta", OBJECT).since(V2025_06_18);

const TITLE: Member = may("title", Text).since(V2025_06_18);
const ICONS: Member = may("icons", List(&ICON)).since(V2025_11_25);
const ICON: Rule = Object(&[
    must("src", Text),
    may("mimeType", Text),
    may("sizes", List(&Text)),
    may("theme", Word(&["light", "dark"])),
]);

/// `Implementation`: the program that speaks.
pub(super) const IMPLEMENTATION: Rule = Object(&[
    must("name", Text),
    must("version", Text),
    TITLE,
    may("description", Text).since(V2025_11_25),
    may("websiteUrl", Text).since(V2025_11_25),
    ICONS,
]);

/// `Tool`.
pub(super) const TOOL: Rule = Object(&[
    must("name", Text),
    must("inputSchema", Object(INPUT_SCHEMA)),
    may("description", Text),
    TITLE,
    ICONS,
    may("annotations", Object(TOOL_ANNOTATIONS)).since(V2025_03_26),
    may("outputSchema", Since(V2026_07_28, &Object(&[may("$schema", Text)]), &Object(INPUT_SCHEMA))).since(V2025_06_18),
    may("execution", Object(&[may("taskSupport", Word(&["forbidden", "optional", "required"]))]))
        .since(V2025_11_25)
        .until(V2026_07_28),
    META,
]);

/// The part of a tool's schema that MCP itself constrains; the rest is JSON Schema's business.
const INPUT_SCHEMA: &[Member] = &[
    must("type", Word(&["object"])),
    may("properties", Map(&OBJECT)).until(V2026_07_28),
    may("required", List(&Text)).until(V2026_07_28),
    may("$schema", Text).since(V2025_11_25),
];

const TOOL_ANNOTATIONS: &[Member] = &[
    may("title", Text),
    may("readOnlyHint", Flag),
    may("destructiveHint", Flag),
    may("idempotentHint", Flag),
    may("openWorldHint", Flag),
];

/// `Prompt`.
pub(super) const PROMPT: Rule = Object(&[
    must("name", Text),
    may("description", Text),
    may("arguments", List(&Object(&[must("name", Text), may("description", Text), may("required", Flag), TITLE]))),
    TITLE,
    ICONS,
    META,
]);

/// `Resource`.
pub(super) const RESOURCE: Rule = Object(RESOURCE_MEMBERS);

const RESOURCE_MEMBERS: &[Member] = &[
    must("name", Text),
    must("uri", Text),
    may("description", Text),
    may("mimeType", Text),
    may("size", Whole(None)),
    ANNOTATIONS,
    TITLE,
    ICONS,
    META,
];

/// `ResourceTemplate`.
pub(super) const TEMPLATE: Rule = Object(&[
    must("name", Text),
    must("uriTemplate", Text),
    may("description", Text),
    may("mimeType", Text),
    ANNOTATIONS,
    TITLE,
    ICONS,
    META,
]);

const ANNOTATIONS: Member = may(
    "annotations",
    Object(&[may("audience", List(&ROLE)), may("priority", Share), may("lastModified", Text).since(V2025_06_18)]),
);

/// Who speaks in a conversation.
pub(super) const ROLE: Rule = Word(&["user", "assistant"]);

/// A content block of a tool result.
pub(super) const BLOCK: Rule =
    Tagged { key: "type", kinds: &[TEXT_BLOCK, IMAGE_BLOCK, AUDIO_BLOCK, LINK_BLOCK, RESOURCE_BLOCK] };

/// `TextContent`.
pub(super) const TEXT_BLOCK: Kind =
    Kind { tag: "text", since: V2024_11_05, members: &[must("text", Text), ANNOTATIONS, META] };

/// `ImageContent`.
pub(super) const IMAGE_BLOCK: Kind = Kind { tag: "image", since: V2024_11_05, members: MEDIA };

/// `AudioContent`.
pub(super) const AUDIO_BLOCK: Kind = Kind { tag: "audio", since: V2025_03_26, members: MEDIA };

const MEDIA: &[Member] = &[must("data", Text), must("mimeType", Text), ANNOTATIONS, META];

const LINK_BLOCK: Kind = Kind { tag: "resource_link", since: V2025_06_18, members: RESOURCE_MEMBERS };

const RESOURCE_BLOCK: Kind =
    Kind { tag: "resource", since: V2024_11_05, members: &[must("resource", CONTENTS), ANNOTATIONS, META] };

const CONTENTS: Rule = Either {
    name: "an object with a \"uri\" and a \"text\" or a \"blob\", all strings",
    rules: &[
        Object(&[must("uri", Text), must("text", Text), may("mimeType", Text), META]),
        Object(&[must("uri", Text), must("blob", Text), may("mimeType", Text), META]),
    ],
};

/// `structuredContent` of a tool result: an object until 2025-11-25, anything afterwards.
pub(super) const STRUCTURED: Rule = Since(V2026_07_28, &Any, &OBJECT);
