struct Weather;

#[toolbond_macros::tools]
impl Weather {
    #[tool(readonly)]
    fn forecast(&self) {}
}

fn main() {}
