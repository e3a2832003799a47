//! Views of tools without the feature `targets`: there are none.

use std::sync::Arc;

use rmcp::model::Tool;
use serde_json::Value;

/// There is no target.
pub(crate) enum Target {}

/// There is no view.
pub(crate) enum View {}

impl View {
    pub(crate) fn restore(&self, _: Value) -> Value {
        match *self {}
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ViewFor;

impl ViewFor {
    #[expect(non_upper_case_globals, reason = "the same as with the feature")]
    pub(crate) const None: Self = Self;

    #[expect(clippy::unused_self, reason = "the same as with the feature")]
    pub(crate) fn target(self, _: Option<&str>) -> Option<&'static Target> {
        None
    }
}

impl PartialEq for ViewFor {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[derive(Debug, Default)]
pub(crate) struct Views {}

#[expect(clippy::unused_self, reason = "the same as with the feature")]
impl Views {
    pub(crate) fn view(&self, _: &Tool, target: &'static Target) -> Option<Arc<View>> {
        match *target {}
    }
}

#[derive(Debug, Default)]
pub(crate) struct ViewNames {}

#[expect(clippy::unused_self, reason = "the same as with the feature")]
impl ViewNames {
    pub(crate) fn own_name(&self, target: &Target, _: &str) -> Option<String> {
        match *target {}
    }

    pub(crate) fn own_name_for_any(&self, _: &str) -> Option<String> {
        None
    }
}

pub(crate) fn view_page(
    _: &ViewNames,
    _: Vec<Tool>,
    _: impl Fn(&Tool) -> Option<Arc<View>>,
    target: &'static Target,
) -> Vec<Tool> {
    match *target {}
}
