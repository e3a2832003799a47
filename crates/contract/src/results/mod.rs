//! Repairing the structured content of a result, where it can mean only one thing.
//!
//! The whole may be read in another way: from the text block, from JSON text, with or without `{"result": …}` around it.
//! Values inside are repaired as those of arguments are ([`arguments`](crate::arguments)). The content that comes out is
//! valid, and no other reading gives another valid one, or nothing is changed.

mod boolean_text;
mod envelope;
mod json_text;
mod null_property;
mod number_text;
mod terms;
mod text_only;

use serde_json::{Map, Value};
use toolbond_schema::{Measured, Pointer, Schema, Unfinished, Verdict};

pub use self::terms::{Interim, ResultTerms};
use self::{envelope::RESULT_ENVELOPE, text_only::RESULT_TEXT_ONLY};
use crate::arguments::{OutOfFuel, Repair, Repaired, place::Place, repair as repair_inside, text};
use crate::{
    Rule, Structured,
    arguments::{ArgumentChange, Change},
};

/// The repairs inside of structured content that take nothing away.
static KEEPING: [&Repair; 3] = [&json_text::REPAIR, &number_text::REPAIR, &boolean_text::REPAIR];

/// The same, and the one that deletes.
static ALL: [&Repair; 4] =
    [&json_text::REPAIR, &number_text::REPAIR, &boolean_text::REPAIR, &null_property::REPAIR];

/// The rules of the repairs.
pub(crate) fn rules() -> impl Iterator<Item = &'static Rule> {
    ALL.iter().map(|repair| repair.rule).chain([&RESULT_ENVELOPE, &RESULT_TEXT_ONLY])
}

/// What [`Mode::Repair`](crate::Mode::Repair) made of a result. Everything else in it stays as it is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RepairedResult {
    /// The structured content.
    pub content: Value,
    /// What changed in the structured content, in order. Where there was none, the first change puts it there.
    pub changes: Vec<ArgumentChange>,
}

/// Repairs the structured content of `result`, which `schema` refuses. Returns it and the fuel that it took, or `None` if it
/// cannot be repaired, or can mean two things.
pub(crate) fn repair(
    schema: &Schema,
    result: &Map<String, Value>,
    deletes: bool,
    fuel: u64,
) -> Result<Option<(RepairedResult, u64)>, OutOfFuel> {
    let mut work = Work { schema, deletes, fuel, left: fuel };
    let found = match Structured::from_members(result) {
        Structured::Value(content) => work.repair_content(content)?,
        Structured::Absent | Structured::Null => match only_text(result) {
            Some(text) => work.repair_from_text(text)?,
            None => None,
        },
    };
    Ok(found.map(|Reading { value: content, changes }| {
        (RepairedResult { content, changes }, work.fuel - work.left)
    }))
}

/// The text of the only text block.
fn only_text(result: &Map<String, Value>) -> Option<&str> {
    let blocks = result.get("content")?.as_array()?.iter();
    let mut texts = blocks.filter(|block| block.get("type").is_some_and(|kind| kind == "text"));
    let text = texts.next()?.get("text")?.as_str()?;
    texts.next().is_none().then_some(text)
}

/// What structured content may be meant as.
struct Reading {
    value: Value,
    changes: Vec<ArgumentChange>,
}

impl Reading {
    /// The whole replaced by `value`, whose JSON is `text`.
    fn whole(rule: &'static Rule, done: &'static str, value: Value, text: String) -> Self {
        let change = Change::Replace { value: value.clone(), text };
        let change = ArgumentChange { rule, pointer: Pointer::root(), change, done };
        Self { value, changes: vec![change] }
    }

    /// This reading, and then another one of its value.
    fn then(&self, next: Self) -> Self {
        let changes = self.changes.iter().cloned().chain(next.changes).collect();
        Self { value: next.value, changes }
    }
}

struct Work<'a> {
    schema: &'a Schema,
    deletes: bool,
    fuel: u64,
    left: u64,
}

impl Work<'_> {
    fn repair_content(&mut self, content: &Value) -> Result<Option<Reading>, OutOfFuel> {
        let mut valid = Vec::new();
        if let Some(reading) = self.other_envelope(content, None)
            && self.accepts(&reading.value)?
        {
            valid.push(reading);
        }
        valid.extend(self.inside(content, self.deletes)?);
        Ok(single(valid))
    }

    fn repair_from_text(&mut self, text: &str) -> Result<Option<Reading>, OutOfFuel> {
        let Some(parsed) = text::parse(text) else { return Ok(None) };
        // Then the text may be meant as it is.
        let plain = Value::from(text);
        let enveloped = self.other_envelope(&plain, None).map(|reading| reading.value);
        for meant in [Some(plain), enveloped].into_iter().flatten() {
            if self.accepts(&meant)? {
                return Ok(None);
            }
        }
        let (rule, done) = (&RESULT_TEXT_ONLY, text_only::DONE);
        let read = Reading::whole(rule, done, parsed.value, parsed.text.clone());
        let mut valid = Vec::new();
        if let Some(other) = self.other_envelope(&read.value, Some(&parsed.text))
            && self.accepts(&other.value)?
        {
            valid.push(read.then(other));
        }
        if self.accepts(&read.value)? {
            valid.push(read);
        } else if let Some(inside) = self.inside(&read.value, self.deletes)? {
            valid.push(read.then(inside));
        }
        Ok(single(valid))
    }

    /// `value` in an envelope that it lacks, or out of one that is too many. `text` is its JSON, where that is known.
    fn other_envelope(&self, value: &Value, text: Option<&str>) -> Option<Reading> {
        let rule = &RESULT_ENVELOPE;
        if let Some(members) = value.as_object().filter(|members| members.len() == 1)
            && let Some(inside) = members.get("result")
        {
            let removed =
                || Reading::whole(rule, envelope::REMOVED, inside.clone(), inside.to_string());
            return self.knows_no_envelope(value)?.then(removed);
        }
        let around = Value::Object(Map::from_iter([("result".to_owned(), value.clone())]));
        if !self.is_only_in_envelope(value, &around)? {
            return None;
        }
        let text = text.map_or_else(|| around.to_string(), |text| format!("{{\"result\":{text}}}"));
        Some(Reading::whole(rule, envelope::ADDED, around, text))
    }

    /// Whether the schema says nothing of a property `result`, which is all that `value` has. `None` if that cannot be told.
    fn knows_no_envelope(&self, value: &Value) -> Option<bool> {
        let root = Place::find(self.schema, value, &Pointer::root())?;
        let result = Place::find(self.schema, value, &Pointer::root().join("result"))?;
        Some(!root.mentioned()?.contains("result") && !result.is_described())
    }

    /// Whether `result` is the only property that the schema declares, and `value` is none of what may stand beside it:
    /// an object has one of the properties that are declared inside. `None` if that cannot be told.
    fn is_only_in_envelope(&self, value: &Value, around: &Value) -> Option<bool> {
        let root = Place::find(self.schema, around, &Pointer::root())?;
        let inside = Place::find(self.schema, around, &Pointer::root().join("result"))?;
        let is_alone = inside.is_declared && root.declared().all(|name| name == "result");
        let is_inside = |members: &Map<String, Value>| {
            !members.contains_key("result")
                && inside.declared().any(|name| members.contains_key(name))
        };
        Some(is_alone && value.as_object().is_none_or(is_inside))
    }

    /// `value` with its members and elements repaired.
    fn inside(&mut self, value: &Value, deletes: bool) -> Result<Option<Reading>, OutOfFuel> {
        let Verdict::Invalid(violations) = self.measure(value)? else { return Ok(None) };
        let repairs = if deletes { &ALL[..] } else { &KEEPING[..] };
        let repaired = repair_inside(self.schema, value, &violations, repairs, self.left)?;
        let Ok(Repaired { arguments: value, changes, fuel }) = repaired else { return Ok(None) };
        self.left = self.left.saturating_sub(fuel);
        Ok(Some(Reading { value, changes }))
    }

    fn accepts(&mut self, value: &Value) -> Result<bool, OutOfFuel> {
        Ok(self.measure(value)?.is_valid())
    }

    fn measure(&mut self, value: &Value) -> Result<Verdict, OutOfFuel> {
        let Measured { verdict, fuel, .. } = self.schema.measure_within(value, self.left);
        self.left = self.left.saturating_sub(fuel);
        match verdict {
            Verdict::Unfinished(Unfinished::Fuel { .. }) => Err(OutOfFuel),
            verdict => Ok(verdict),
        }
    }
}

/// The only reading, or one of several that come to the same.
fn single(readings: Vec<Reading>) -> Option<Reading> {
    let mut readings = readings.into_iter();
    let first = readings.next()?;
    readings.all(|other| other.value == first.value).then_some(first)
}
