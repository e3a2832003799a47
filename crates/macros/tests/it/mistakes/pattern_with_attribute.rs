struct Weather;

#[toolbond::tools]
impl Weather {
    #[tool]
    fn forecast(&self, #[schemars(range(min = 1))] (latitude, longitude): (f64, f64)) -> f64 {
        latitude + longitude
    }
}

fn main() {
    let _server = toolbond::enforce(Weather);
}
