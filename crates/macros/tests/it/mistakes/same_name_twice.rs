struct Weather;

#[toolbond::tools]
impl Weather {
    #[tool]
    fn forecast(&self) {}

    #[tool(name = "forecast")]
    fn other(&self) {}

    #[tool(name = "two words")]
    fn third(&self) {}
}

fn main() {
    let _server = toolbond::enforce(Weather);
}
