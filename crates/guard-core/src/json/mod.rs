//! JSON text: read strictly, and changed in as few places as possible.

pub mod change;
pub mod edit;
pub mod members;
pub mod object;
pub mod rope;
pub mod scan;
pub mod strict;
