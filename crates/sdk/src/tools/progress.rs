//! Telling the client how far a tool is.

use rmcp::{
    Peer, RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
};

use super::{Context, FromContext, ToolError};

/// Tells the client how far a tool is, if the client has asked for that.
///
/// ```
/// use toolbond::Progress;
///
/// # #[derive(Clone)] struct Index;
/// #[toolbond::tools]
/// impl Index {
///     /// Reads all pages of a book.
///     #[tool]
///     async fn read(&self, pages: u32, progress: Progress) -> u32 {
///         for page in 1..=pages {
///             progress.report(page, pages, format!("page {page}")).await;
///         }
///         pages
///     }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Progress {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
}

impl Progress {
    /// Whether the client has asked for the progress of this call.
    #[must_use]
    pub const fn is_wanted(&self) -> bool {
        self.token.is_some()
    }

    /// Reports that `done` of `total` is done, with a message for people. `done` grows with every report.
    pub async fn report(&self, done: impl Amount, total: impl Amount, message: impl Into<String>) {
        self.send(done, |told| told.with_total(total.amount()).with_message(message)).await;
    }

    /// Reports that so much is done, where the total is not known.
    pub async fn report_done(&self, done: impl Amount, message: impl Into<String>) {
        self.send(done, |told| told.with_message(message)).await;
    }

    async fn send(
        &self,
        done: impl Amount,
        add: impl FnOnce(ProgressNotificationParam) -> ProgressNotificationParam,
    ) {
        let Some(token) = self.token.clone() else { return };
        let told = add(ProgressNotificationParam::new(token, done.amount()));
        if let Err(error) = self.peer.notify_progress(told).await {
            // The client may be gone; the tool need not know.
            tracing::debug!(target: "toolbond", "could not report progress: {error}");
        }
    }
}

impl FromContext for Progress {
    fn from_context(context: &Context) -> Result<Self, ToolError> {
        Ok(Self { peer: context.peer.clone(), token: context.meta.get_progress_token() })
    }
}

/// A number that [`Progress`] reports.
pub trait Amount {
    /// The number as JSON has it.
    fn amount(self) -> f64;
}

macro_rules! amounts {
    ($($kind:ty),*) => {
        $(impl Amount for $kind {
            #[allow(clippy::cast_lossless, clippy::cast_precision_loss, reason = "a number for people")]
            fn amount(self) -> f64 {
                self as f64
            }
        })*
    };
}

amounts![u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, f32, f64];
