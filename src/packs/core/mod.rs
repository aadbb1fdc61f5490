//! core: hygiene that every MCP server is graded on; needs no target.

use crate::check::Pack;

mod instructions_hygiene;
mod poison;
mod protocol;
mod refusal_quality;
mod robust;
mod robust_input;
mod secret_echo;
mod tool_poisoning;

/// The pack.
pub static PACK: Pack = Pack {
    id: "core",
    title: "Core hygiene",
    candidate: false,
    applies: "always",
    needs: "nothing",
    checks: &[
        &protocol::CHECK,
        &tool_poisoning::CHECK,
        &robust_input::CHECK,
        &secret_echo::CHECK,
        &refusal_quality::CHECK,
        &instructions_hygiene::CHECK,
    ],
};
