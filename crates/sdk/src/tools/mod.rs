//! Methods that are tools: what `#[toolpact::tools]` is made of.

mod answers;
mod error;
mod output;
mod parameter;
mod portable;
mod reply;
mod text;
mod toolbox;
mod whole;

pub use answers::Answers;
pub use error::{IntoToolError, ToolError};
pub use output::{Fallible, Infallible, Output, Returns, StructuredOutput};
pub use parameter::{Args, Carries, Context, FromContext, Input, Parameter, Unnamed};
pub use reply::Reply;
pub use text::Text;
pub use toolbox::{Route, Toolbox, Tools};
pub use whole::{Fit, Misfit, Otherwise, Taken};
