//! The Gemini API.

use super::{Kind, NameForm, Target};
use crate::{Effect, Evidence};

pub(super) static TARGET: Target = Target {
    name: "gemini",
    title: "Gemini API",
    kind: Kind::Api,
    about: "",
    names: NameForm {
        prefix: "",
        longest: 64,
        other_characters: "_.-",
        starts_with_letter: true,
        effect: Effect::RequestFails,
        evidence: Evidence::reported("DesktopCommanderMCP#79, litellm#12543", "2026-11-16"),
    },
    limits: &[],
    rules: &[],
};
