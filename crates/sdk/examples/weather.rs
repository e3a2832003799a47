//! A server with two tools: `cargo run -p toolpact --example weather [-- --http 127.0.0.1:8080]`.
#[derive(Clone)]
struct Weather;

#[toolpact::tools]
impl Weather {
    /// Hourly temperatures of a city.
    #[tool(read_only)]
    async fn forecast(
        &self,
        /// City name.
        city: String,
        #[schemars(range(min = 1, max = 24))] hours: Option<u8>,
    ) -> Vec<f64> {
        vec![if city == "Oslo" { 2.5 } else { 20.5 }; hours.unwrap_or(6).into()]
    }

    /// How many cities there are.
    #[tool(read_only)]
    fn count(&self) -> u64 {
        42
    }
}

#[tokio::main]
async fn main() -> Result<(), toolpact::ServeError> {
    toolpact::serve(Weather).await
}
