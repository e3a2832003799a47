struct Weather;

#[toolbond::tools]
impl Weather {
    fn forecast(&self) {}
}

fn main() {
    let _server = toolbond::enforce(Weather);
}
