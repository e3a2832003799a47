struct Weather;

#[toolbond::tools]
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

fn main() {
    let _server = toolbond::enforce(Weather);
}
