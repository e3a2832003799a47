//! A whole server: `cargo run -p toolbond --example weather [-- --http localhost:8080]`.
#[derive(Clone)]
struct Weather;

#[toolbond::tools]
impl Weather {
    /// Hourly temperatures of a city.
    #[tool]
    fn forecast(&self, city: String, #[schemars(range(max = 24))] hours: u8) -> Vec<f64> {
        vec![if city == "Oslo" { 2.5 } else { 20.5 }; hours.into()]
    }
}

#[tokio::main]
async fn main() -> Result<(), toolbond::ServeError> {
    toolbond::serve_cli(Weather).await
}
