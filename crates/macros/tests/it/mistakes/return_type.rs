struct Weather;

struct Report {
    _text: String,
}

#[derive(serde::Serialize)]
struct Reading(f64);

#[toolbond::tools]
impl Weather {
    #[tool]
    fn report(&self, city: String) -> Report {
        Report { _text: city }
    }

    #[tool]
    async fn reading(&self) -> Result<Reading, toolbond::ToolError> {
        Ok(Reading(2.5))
    }

    #[tool]
    fn readings(&self) -> Vec<Reading> {
        vec![Reading(2.5)]
    }
}

fn main() {
    let _server = toolbond::enforce(Weather);
}
