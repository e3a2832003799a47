struct Weather;

#[toolbond::tools]
impl Weather {
    #[tool]
    fn forecast(&self, city: impl ToString) -> impl Iterator<Item = f64> {
        std::iter::empty()
    }
}

fn main() {
    let _server = toolbond::enforce(Weather);
}
