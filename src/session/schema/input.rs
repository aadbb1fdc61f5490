//! What a modern server may ask of the client inside an `InputRequiredResult` (2026-07-28).

use super::{
    content::{AUDIO_BLOCK, BLOCK, IMAGE_BLOCK, OBJECT, ROLE, TEXT_BLOCK, TOOL},
    rule::{
        Kind, Member,
        Rule::{self, Any, Either, Flag, List, Map, Number, Object, Share, Tagged, Text, Whole, Word},
        may, must,
    },
};
use crate::model::Revision::V2026_07_28;

/// `InputRequests`: requests by a key of the server's choice.
pub(super) const INPUT_REQUESTS: Rule = Map(&Tagged {
    key: "method",
    kinds: &[
        asks("sampling/createMessage", &[must("params", Object(SAMPLING))]),
        asks("roots/list", &[may("params", Object(&[META]))]),
        asks("elicitation/create", &[must("params", ELICITATION)]),
    ],
});

const META: Member = may("_meta", OBJECT);

const fn asks(method: &'static str, members: &'static [Member]) -> Kind {
    Kind { tag: method, since: V2026_07_28, members }
}

const SAMPLING: &[Member] = &[
    must("maxTokens", Whole(None)),
    must("messages", List(&MESSAGE)),
    may("includeContext", Word(&["allServers", "none", "thisServer"])),
    may("metadata", OBJECT),
    may("modelPreferences", PREFERENCES),
    may("stopSequences", List(&Text)),
    may("systemPrompt", Text),
    may("temperature", Number),
    may("toolChoice", Object(&[may("mode", Word(&["auto", "none", "required"]))])),
    may("tools", List(&TOOL)),
];

const PREFERENCES: Rule = Object(&[
    may("costPriority", Share),
    may("intelligencePriority", Share),
    may("speedPriority", Share),
    may("hints", List(&Object(&[may("name", Text)]))),
]);

const MESSAGE: Rule = Object(&[
    must("role", ROLE),
    must("content", Either { name: "a content block or an array of them", rules: &[PIECE, List(&PIECE)] }),
    META,
]);

const PIECE: Rule = Tagged {
    key: "type",
    kinds: &[
        TEXT_BLOCK,
        IMAGE_BLOCK,
        AUDIO_BLOCK,
        asks("tool_use", &[must("id", Text), must("name", Text), must("input", OBJECT), META]),
        asks(
            "tool_result",
            &[
                must("toolUseId", Text),
                must("content", List(&BLOCK)),
                may("isError", Flag),
                may("structuredContent", Any),
                META,
            ],
        ),
    ],
};

const ELICITATION: Rule = Either {
    name: "the parameters of a form (message, requestedSchema) or of a URL (mode, message, url)",
    rules: &[
        Object(&[must("message", Text), may("mode", Word(&["form"])), must("requestedSchema", Object(FORM))]),
        Object(&[must("message", Text), must("mode", Word(&["url"])), must("url", Text)]),
    ],
};

const FORM: &[Member] = &[
    must("type", Word(&["object"])),
    must("properties", Map(&FIELD)),
    may("required", List(&Text)),
    may("$schema", Text),
];

const LABEL: Member = may("title", Text);
const HELP: Member = may("description", Text);
const CHOICES: Rule = List(&Object(&[must("const", Text), must("title", Text)]));
const STRING: Member = must("type", Word(&["string"]));

/// `PrimitiveSchemaDefinition`: one field of a form.
const FIELD: Rule = Either {
    name: "the schema of a string, number, boolean or choice",
    rules: &[
        Object(&[
            STRING,
            LABEL,
            HELP,
            may("default", Text),
            may("format", Word(&["date", "date-time", "email", "uri"])),
            may("minLength", Whole(None)),
            may("maxLength", Whole(None)),
        ]),
        Object(&[
            must("type", Word(&["integer", "number"])),
            LABEL,
            HELP,
            may("default", Number),
            may("minimum", Number),
            may("maximum", Number),
        ]),
        Object(&[must("type", Word(&["boolean"])), LABEL, HELP, may("default", Flag)]),
        Object(&[STRING, LABEL, HELP, may("default", Text), must("enum", List(&Text))]),
        Object(&[STRING, LABEL, HELP, may("default", Text), must("oneOf", CHOICES)]),
        Object(&[
            must("type", Word(&["array"])),
            LABEL,
            HELP,
            may("default", List(&Text)),
            must("items", Object(&[STRING, must("enum", List(&Text))])),
            may("minItems", Whole(None)),
            may("maxItems", Whole(None)),
        ]),
        Object(&[
            must("type", Word(&["array"])),
            LABEL,
            HELP,
            may("default", List(&Text)),
            must("items", Object(&[must("anyOf", CHOICES)])),
            may("minItems", Whole(None)),
            may("maxItems", Whole(None)),
        ]),
        Object(&[STRING, LABEL, HELP, may("default", Text), must("enum", List(&Text)), may("enumNames", List(&Text))]),
    ],
};
