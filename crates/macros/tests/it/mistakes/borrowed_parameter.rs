struct Weather;

#[toolbond_macros::tools]
impl Weather {
    #[tool]
    async fn forecast(
        &self,
        /// City name.
        city: &str,
        hours: Option<u8>,
    ) -> Vec<f64> {
        Vec::new()
    }
}

fn main() {}
