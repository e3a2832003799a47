//! JSON text: read strictly, and changed in as few places as possible.

pub(crate) mod change;
pub(crate) mod edit;
pub(crate) mod members;
pub(crate) mod object;
pub(crate) mod rope;
pub(crate) mod strict;
