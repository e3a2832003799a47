struct Weather;

#[toolbond_macros::tools]
impl Weather {
    #[tool]
    fn forecast(&self, city: impl ToString) -> impl Iterator<Item = f64> {
        std::iter::empty()
    }
}

fn main() {}
