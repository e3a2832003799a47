struct Weather;

#[toolbond_macros::tools]
impl Weather {
    #[tool]
    fn forecast(&self, #[schemars(range(min = 1))] (latitude, longitude): (f64, f64)) -> f64 {
        latitude + longitude
    }
}

fn main() {}
