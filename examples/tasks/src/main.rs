//! Tasks that several people and models share.

mod handler;
mod task;
mod tasks;
mod user;

#[cfg(test)]
mod tests;

#[tokio::main]
async fn main() -> Result<(), toolbond::ServeError> {
    toolbond::serve_cli(tasks::Tasks::default()).await
}
