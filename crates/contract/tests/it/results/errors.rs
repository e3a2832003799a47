//! Errors whose structured content breaks the output schema: it leaves as text, and comes back when it is lifted.

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_contract::{Form, lift_result};

use super::contract;
use crate::assert_same;

pub(crate) fn trial() -> Trial {
    Trial::test("results/errors", moved)
}

fn moved() -> Result<(), Failed> {
    let contract = contract(&json!({ "type": "object", "required": ["errors"] }))?;
    let error =
        |content: Value| json!({ "content": [], "structuredContent": content, "isError": true });
    for content in [json!({ "code": 1 }), json!([1]), json!("no"), json!(null)] {
        let before = error(content.clone());
        let told = contract.tell_error(&before);
        let text = content.to_string();
        assert_eq!(told["content"], json!([{ "type": "text", "text": text }]));
        assert_eq!(told.get("structuredContent"), None);
        assert_same(&contract.tell_error(&told), &told, "told twice");
        assert_same(&*lift_result(&told, Form::Natural)?, &before, "lifted");
        let mut said = before.clone();
        said["content"] = json!([{ "type": "text", "text": text }]);
        assert_eq!(contract.tell_error(&said)["content"], said["content"], "said once");
    }
    let mut result = error(json!({ "code": 1 }));
    result["isError"] = false.into();
    let valid = error(json!({ "errors": [] }));
    let silent = json!({ "content": [], "isError": true });
    for same in [result, valid, silent, json!([1])] {
        assert_same(&contract.tell_error(&same), &same, "unchanged");
    }
    Ok(())
}
