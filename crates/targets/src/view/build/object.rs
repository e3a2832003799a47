//! Objects and maps.

use serde_json::{Map, Value, json};

use super::union::without_null;
use super::{Builder, Place, free_name};
use crate::feature::objects;
use crate::view::notes::Notes;
use crate::view::plan::{KEY, Member, Members, Plan, VALUE};

/// The properties of an object of a view.
struct Written {
    built: Map<String, Value>,
    names_required: Vec<String>,
    members: Vec<Member>,
    /// Whether there are more optional properties than the target takes.
    overflow: bool,
}

impl Builder<'_> {
    /// Rewrites the keywords of objects. `None` if the object has to be JSON text.
    pub(super) fn object(
        &mut self,
        schema: &mut Map<String, Value>,
        place: &Place,
        notes: &mut Notes,
    ) -> Option<Plan> {
        let mut properties = match schema.shift_remove("properties") {
            Some(Value::Object(properties)) => properties,
            _ => Map::new(),
        };
        let (additional, more) = self.other_properties(schema, notes);
        let is_closed = additional == Some(Value::Bool(false)) && more.is_none();
        let is_empty = properties.is_empty();
        if is_empty && !place.is_root {
            match &more {
                Some(values @ Value::Object(_)) => {
                    return Some(self.map(schema, values, place, notes));
                }
                _ if self.form.refuses(&objects::EMPTY_OBJECT)
                    && (!is_closed || self.form.never_closed) =>
                {
                    return None;
                }
                _ => {}
            }
        }
        self.declare_required(schema, &mut properties, is_closed);
        let required: Vec<String> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect();
        let Written { mut built, mut names_required, members, overflow } =
            self.members(&properties, &required, place);
        let is_lost = self.form.closed || (place.is_root && is_empty && !self.form.maps);
        let needs_rest = overflow || (more.is_some() && is_lost);
        let is_renamed = members.iter().any(|member| member.name != member.own);
        if self.form.all_required || needs_rest || is_renamed {
            for keyword in ["minProperties", "maxProperties", "dependentRequired", "propertyNames"]
            {
                notes.take(schema, keyword);
            }
        }
        let rest = needs_rest.then(|| {
            let name = free_name("other_properties", |name| built.contains_key(name));
            let text = "JSON text of an object with all other properties; `{}` if there are none";
            built.insert(name.clone(), json!({ "type": "string", "description": text }));
            names_required.push(name.clone());
            notes.changed("other properties as JSON text");
            name
        });
        self.write_members(schema, built, names_required, place);
        if self.form.closed && !is_closed {
            notes.changed("objects closed");
        }
        if self.form.closed || (is_closed && !self.form.never_closed && !needs_rest) {
            schema.insert("additionalProperties".to_owned(), false.into());
        } else if let (Some(values @ Value::Object(_)), true) = (&more, self.form.maps) {
            let values = self.build(values, &place.inside());
            if values.plan == Plan::Keep {
                schema.insert("additionalProperties".to_owned(), values.schema);
            }
        } else if is_closed {
            notes.changed("`additionalProperties: false`");
        }
        let is_kept = rest.is_none()
            && members.iter().all(|it| {
                it.plan == Plan::Keep && !it.null_is_absent && !it.drops_null && it.name == it.own
            });
        Some(if is_kept { Plan::Keep } else { Plan::Members(Members::new(members, rest)) })
    }

    /// Takes `additionalProperties` and what has to become of it: the second is the schema of other properties, if there may
    /// be any.
    fn other_properties(
        &self,
        schema: &mut Map<String, Value>,
        notes: &mut Notes,
    ) -> (Option<Value>, Option<Value>) {
        let patterns = schema
            .get("patternProperties")
            .and_then(Value::as_object)
            .filter(|all| {
                self.form.refuses(&objects::PATTERN_PROPERTIES)
                    || !all.values().all(|inner| self.form.accepts_unchanged(inner, false))
            })
            .map(|all| all.values().cloned().collect::<Vec<_>>());
        if patterns.is_some() {
            notes.take(schema, "patternProperties");
        }
        let additional = schema.shift_remove("additionalProperties");
        let mut more = match &additional {
            Some(Value::Object(inner)) if inner.is_empty() => Some(Value::Bool(true)),
            Some(inner @ Value::Object(_)) => Some(inner.clone()),
            Some(Value::Bool(true)) => Some(Value::Bool(true)),
            _ => None,
        };
        if let Some(patterns) = patterns {
            let rest = more.take().filter(Value::is_object);
            let all: Vec<_> = patterns.into_iter().chain(rest).collect();
            more = Some(match all.len() {
                1 => all.into_iter().next().unwrap_or_default(),
                _ => json!({ "anyOf": all }),
            });
        }
        (additional, more)
    }

    /// Builds the properties of an object.
    fn members(
        &mut self,
        properties: &Map<String, Value>,
        required: &[String],
        place: &Place,
    ) -> Written {
        let mut members = Vec::new();
        let mut built = Map::new();
        let mut names_required = Vec::new();
        let mut overflow = false;
        for (own, inner) in properties {
            if *inner == Value::Bool(false) {
                continue;
            }
            let is_required = required.contains(own);
            if !is_required && !self.form.all_required {
                if self.optional <= 1 && self.form.optional != usize::MAX {
                    overflow = true;
                    continue;
                }
                self.optional -= usize::from(self.form.optional != usize::MAX);
            }
            let is_taken = |name: &str| built.contains_key(name) || properties.contains_key(name);
            let name = self.key(own, place, is_taken);
            // Where alternatives are few, a property that may be left out need not also be null.
            let stripped = (!is_required && self.form.unions != usize::MAX)
                .then(|| without_null(inner))
                .flatten();
            let drops_null = stripped.is_some();
            let mut value = self.build(stripped.as_ref().unwrap_or(inner), &place.inside());
            let null_is_absent =
                !is_required && self.form.all_required && inner.get("x-mcp-header").is_none();
            if null_is_absent {
                value = self.nullable(value);
                self.changes.push("optional properties, required and nullable".to_owned());
            }
            if is_required || self.form.all_required {
                names_required.push(name.clone());
            }
            built.insert(name.clone(), value.schema);
            members.push(Member {
                name,
                own: own.clone(),
                plan: value.plan,
                null_is_absent,
                drops_null,
            });
        }
        Written { built, names_required, members, overflow }
    }

    fn write_members(
        &mut self,
        schema: &mut Map<String, Value>,
        built: Map<String, Value>,
        required: Vec<String>,
        place: &Place,
    ) {
        if !built.is_empty() || place.is_root || self.form.closed {
            schema.insert("properties".to_owned(), Value::Object(built));
        }
        if required.is_empty() {
            schema.shift_remove("required");
        } else {
            schema.insert("required".to_owned(), required.into());
        }
    }

    /// Declares names in `required` that are not declared, or leaves them out.
    fn declare_required(
        &self,
        schema: &mut Map<String, Value>,
        properties: &mut Map<String, Value>,
        is_closed: bool,
    ) {
        if !self.form.refuses(&objects::UNDECLARED_REQUIRED) && !self.form.closed {
            return;
        }
        if let Some(Value::Array(required)) = schema.get_mut("required") {
            required.retain(|name| {
                let Some(name) = name.as_str() else { return false };
                if !properties.contains_key(name) && !is_closed {
                    properties.insert(name.to_owned(), json!({}));
                }
                properties.get(name).is_some_and(|it| *it != Value::Bool(false))
            });
        }
    }

    /// The name of a property in the view.
    fn key(&self, own: &str, place: &Place, is_taken: impl Fn(&str) -> bool) -> String {
        let refused = (place.is_root
            && self.form.refuses(&objects::PROPERTY_KEY)
            && !objects::is_plain_key(own))
            || (self.form.refuses(&objects::RESERVED_KEY) && objects::RESERVED.contains(&own));
        if !refused {
            return own.to_owned();
        }
        let plain: String = own
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' })
            .take(objects::LONGEST_KEY - 8)
            .collect();
        let plain =
            if plain.trim_matches('_').is_empty() || objects::RESERVED.contains(&plain.as_str()) {
                format!("property_{}", plain.trim_start_matches(['$', '_']))
            } else {
                plain
            };
        free_name(&plain, is_taken)
    }

    /// A map as the target takes it.
    fn map(
        &mut self,
        schema: &mut Map<String, Value>,
        values: &Value,
        place: &Place,
        notes: &mut Notes,
    ) -> Plan {
        let built = self.build(values, &place.inside().inside());
        schema.shift_remove("required");
        if self.form.maps && !self.form.closed && built.plan == Plan::Keep {
            schema.insert("additionalProperties".to_owned(), built.schema);
            return Plan::Keep;
        }
        for keyword in
            ["minProperties", "maxProperties", "propertyNames", "patternProperties", "not"]
        {
            notes.take(schema, keyword);
        }
        notes.changed("a map, written as a list of keys and values");
        let mut pair = json!({
            "type": "object",
            "properties": { KEY: { "type": "string" }, VALUE: built.schema },
            "required": [KEY, VALUE]
        });
        if self.form.closed {
            pair["additionalProperties"] = false.into();
        }
        schema.insert("type".to_owned(), "array".into());
        schema.insert("items".to_owned(), pair);
        notes.say("a list of keys and values, each key once");
        Plan::Pairs(Box::new(built.plan))
    }
}
