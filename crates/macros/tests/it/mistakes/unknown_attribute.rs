struct Weather;

#[toolbond::tools]
impl Weather {
    #[tool(readonly)]
    fn forecast(&self) {}
}

fn main() {
    let _server = toolbond::enforce(Weather);
}
