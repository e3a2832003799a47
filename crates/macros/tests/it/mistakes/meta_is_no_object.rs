struct Weather;

#[toolbond::tools]
impl Weather {
    #[tool(meta = "[1]")]
    fn forecast(&self) {}

    #[tool(meta = "{")]
    fn count(&self) {}
}

fn main() {
    let _server = toolbond::enforce(Weather);
}
