//! Types and traits behind `#[toolbond::tools]`.

mod answers;
mod args;
mod ask;
mod error;
mod output;
mod parameter;
mod portable;
mod progress;
mod read;
mod reply;
mod text;
mod toolbox;

pub use answers::Answers;
pub use args::{AllowedParameter, Args, ArgsOfNonObject, IsAllowed, ParameterType};
pub use error::{IntoToolError, ToolError};
pub use output::{Fallible, Infallible, OtherOutput, Output, ReturnType, StructuredOutput};
pub use parameter::{
    Context, FromContext, InputSchemaBuilder, OfOption, OfOther, Parameter, SingleField, Unnamed,
};
pub use progress::Progress;
pub use reply::Reply;
pub use text::Text;
pub use toolbox::{Route, Toolbox, Tools};
