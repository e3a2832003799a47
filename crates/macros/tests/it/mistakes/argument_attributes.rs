struct Weather;

#[toolbond::tools]
impl Weather {
    #[tool]
    fn misspelt(&self, #[schemars(ranges(max = 24))] hours: u8) -> u8 {
        hours
    }

    #[tool]
    fn same_name(&self, hours: u8, #[serde(rename = "hours")] more: u8) -> u8 {
        hours + more
    }
}

fn main() {
    let _server = toolbond::enforce(Weather);
}
