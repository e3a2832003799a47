struct Weather;

#[toolbond::tools]
impl Weather {
    #[tool]
    fn forecast(&mut self) -> f64 {
        0.0
    }

    #[tool]
    fn count() -> u64 {
        0
    }
}

fn main() {
    let _server = toolbond::enforce(Weather);
}
