struct Weather;

#[toolpact_macros::tools]
impl Weather {
    fn forecast(&self) {}
}

fn main() {}
