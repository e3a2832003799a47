struct Weather;

#[toolbond_macros::tools]
impl Weather {
    fn forecast(&self) {}
}

fn main() {}
