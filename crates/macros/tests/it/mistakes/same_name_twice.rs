struct Weather;

#[toolbond_macros::tools]
impl Weather {
    #[tool]
    fn forecast(&self) {}

    #[tool(name = "forecast")]
    fn other(&self) {}

    #[tool(name = "two words")]
    fn third(&self) {}
}

fn main() {}
