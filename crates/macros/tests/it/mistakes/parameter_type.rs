struct Weather;

struct City;

#[toolbond::tools]
impl Weather {
    #[tool]
    fn forecast(&self, city: City) -> f64 {
        let _ = city;
        0.0
    }
}

fn main() {
    let _server = toolbond::enforce(Weather);
}
