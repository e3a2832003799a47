struct Weather;

#[toolbond::tools(tools_only)]
impl Weather {
    #[tool(title = 1)]
    fn forecast(&self) -> f64 {
        0.0
    }
}

impl toolbond::rmcp::ServerHandler for Weather {}

fn main() {
    let _server = toolbond::enforce(Weather);
    Weather.forecast();
}
