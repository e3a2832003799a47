struct Weather;

#[toolbond_macros::tools]
impl Weather {
    #[tool(meta = "[1]")]
    fn forecast(&self) {}

    #[tool(meta = "{")]
    fn count(&self) {}
}

fn main() {}
