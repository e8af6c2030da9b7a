//! Each keyword, what fits it and what does not, and what is not read at all.

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[track_caller]
fn check(schema: &Value, good: &[Value], bad: &[(Value, &str)]) {
    let parsed = Schema::parse(schema).unwrap();
    for value in good {
        assert_eq!(parsed.check(value), Ok(()), "{schema} {value}");
    }
    for (value, expected) in bad {
        assert_eq!(parsed.check(value).unwrap_err().to_string(), *expected, "{schema} {value}");
    }
}

/// Proves ACT-012.
#[test]
fn types_are_told_apart() {
    let values = [json!(null), json!(true), json!(7), json!("7"), json!([7]), json!({ "n": 7 })];
    for (index, word) in Type::ALL.map(Type::as_str).iter().enumerate() {
        let schema = Schema::parse(&json!({ "type": word })).unwrap();
        let fits: Vec<_> = values.iter().map(|value| schema.check(value).is_ok()).collect();
        let expected: Vec<_> = (0..values.len()).map(|at| at == index).collect();
        assert_eq!(fits, expected, "{word}");
    }
    check(&json!({}), &values, &[]);
    let either = json!({ "type": ["string", "null"] });
    check(&either, &[json!("a"), json!(null)], &[(json!(1), "`#` should be of the type string or null")]);
}

/// Proves ACT-012.
#[test]
fn values_lengths_and_ranges_are_held() {
    let one = json!({ "enum": ["a", 2, null, { "k": [1] }] });
    let not = "`#` should be one of the values of `enum`";
    check(
        &one,
        &[json!("a"), json!(2), json!(null), json!({ "k": [1] })],
        &[(json!("b"), not), (json!("2"), not)],
    );
    check(
        &json!({ "const": [1, "x"] }),
        &[json!([1, "x"])],
        &[(json!([1]), "`#` should be the value of `const`")],
    );

    // Characters, not bytes; and nothing is said of other types.
    let length = json!({ "minLength": 2, "maxLength": 3 });
    let bad = [
        (json!("ä"), "`#` should have at least 2 characters"),
        (json!("abcd"), "`#` should have at most 3 characters"),
    ];
    check(&length, &[json!("ää"), json!("äää"), json!(1), json!([])], &bad);

    let count = json!({ "minItems": 1, "maxItems": 2, "items": { "type": "integer" } });
    let bad = [
        (json!([]), "`#` should have at least 1 items"),
        (json!([1, 2, 3]), "`#` should have at most 2 items"),
        (json!([1, "x"]), "`#/1` should be of the type integer"),
    ];
    check(&count, &[json!([1]), json!([1, 2]), json!("x")], &bad);

    let range = json!({ "minimum": -3, "maximum": 4 });
    let bad = [(json!(-4), "`#` should be at least -3"), (json!(5), "`#` should be at most 4")];
    check(&range, &[json!(-3), json!(0), json!(4), json!("9")], &bad);
}

/// Proves ACT-012.
#[test]
fn fields_are_held() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "t", "description": "d", "$comment": "c",
        "type": "object",
        "properties": { "a": { "type": "integer" }, "b/c": { "const": 1 }, "no": false },
        "required": ["a"],
        "additionalProperties": false,
    });
    let bad = [
        (json!({}), "`#/a` should be there"),
        (json!({ "a": "1" }), "`#/a` should be of the type integer"),
        (json!({ "a": 1, "b/c": 2 }), "`#/b~1c` should be the value of `const`"),
        (json!({ "a": 1, "no": 1 }), "`#/no` should not be there"),
        (json!({ "a": 1, "x": 1 }), "`#/x` should not be there"),
        (json!([]), "`#` should be of the type object"),
    ];
    check(&schema, &[json!({ "a": 1 }), json!({ "a": 1, "b/c": 1 })], &bad);
    let typed = json!({ "additionalProperties": { "type": "string" } });
    check(
        &typed,
        &[json!({ "x": "y" }), json!(1)],
        &[(json!({ "x": 1 }), "`#/x` should be of the type string")],
    );
    check(&json!({ "properties": { "x": true }, "items": true }), &[json!({ "x": 1 }), json!([1])], &[]);
}

#[track_caller]
fn check_unread(schema: &Value, expected: &str) {
    assert_eq!(Schema::parse(schema).unwrap_err().to_string(), expected, "{schema}");
}

/// Proves ACT-012.
#[test]
fn what_is_not_understood_is_named() {
    let others = [
        "pattern",
        "format",
        "$ref",
        "$defs",
        "definitions",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "if",
        "then",
        "else",
        "patternProperties",
        "propertyNames",
        "minProperties",
        "maxProperties",
        "dependentRequired",
        "prefixItems",
        "contains",
        "uniqueItems",
        "multipleOf",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "unevaluatedProperties",
        "default",
        "Type",
        "",
    ];
    for keyword in others {
        check_unread(&json!({ keyword: {} }), &format!("the keyword `{keyword}` at `#` is not supported"));
        let inner = json!({ "items": { keyword: 1 } });
        check_unread(&inner, &format!("the keyword `{keyword}` at `#/items` is not supported"));
    }
    let types = "one or more different ones of null, boolean, integer, string, array, object";
    for bad in [json!("number"), json!("any"), json!([]), json!(["string", "string"]), json!(1), json!(null)]
    {
        check_unread(&json!({ "type": bad }), &format!("`#/type` should be {types}"));
    }
    for bad in [json!([]), json!("a"), json!({})] {
        check_unread(&json!({ "enum": bad }), "`#/enum` should be a list of one or more values");
    }
    let exact = "without numbers but integers of at most 53 bits";
    check_unread(&json!({ "enum": [0.5] }), &format!("`#/enum` should be {exact}"));
    check_unread(&json!({ "const": { "a": [1_u64 << 53] } }), &format!("`#/const` should be {exact}"));
    for bad in [json!(0.5), json!(1.0), json!("1"), json!(-(1_i64 << 53)), json!(u64::MAX)] {
        check_unread(&json!({ "minimum": bad }), "`#/minimum` should be an integer of at most 53 bits");
    }
    for bad in [json!(-1), json!(1.5), json!("1"), json!(null)] {
        check_unread(&json!({ "maxLength": bad }), "`#/maxLength` should be a whole number from 0");
    }
    for bad in [json!("a"), json!([1]), json!(["a", "a"])] {
        check_unread(&json!({ "required": bad }), "`#/required` should be a list of different names");
    }
    for bad in [json!(null), json!(1), json!("string"), json!([{}])] {
        let expected = "should be a schema: an object, true or false";
        check_unread(&json!({ "items": bad }), &format!("`#/items` {expected}"));
        check_unread(&json!({ "properties": { "a": bad } }), &format!("`#/properties/a` {expected}"));
        check_unread(&bad, "`#` should be an object of keywords");
    }
    check_unread(&json!({ "properties": [] }), "`#/properties` should be an object");
    check_unread(&json!({ "title": 1 }), "`#/title` should be a text");
    check_unread(&json!(true), "`#` should be an object of keywords");
}

/// Proves ACT-001 and ACT-012.
#[test]
fn schemas_have_bounds() {
    let nested = |depth: usize| (1..depth).fold(json!({}), |inner, _| json!({ "items": inner }));
    assert!(Schema::parse(&nested(SCHEMA_DEPTH_MAX)).is_ok());
    let found = Schema::parse(&nested(SCHEMA_DEPTH_MAX + 1));
    assert!(matches!(found, Err(SchemaError::TooDeep { .. })), "{found:?}");
    let sized = |bytes: usize| json!({ "title": "x".repeat(bytes - r#"{"title":""}"#.len()) });
    assert!(Schema::parse(&sized(SCHEMA_BYTES_MAX)).is_ok());
    let found = SCHEMA_BYTES_MAX + 1;
    assert_eq!(Schema::parse(&sized(found)), Err(SchemaError::TooLarge { found }));
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|value| json!(value)),
        (-4_i64..4).prop_map(|value| json!(value)),
        "[a-c]{0,3}".prop_map(|value| json!(value)),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            proptest::collection::btree_map("[a-c]", inner, 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// The narrowest schema that a value fits.
fn narrow(value: &Value) -> Value {
    let mut schema = json!({ "type": Type::of(value).as_str() });
    match value {
        Value::String(text) => {
            schema["minLength"] = json!(text.chars().count());
            schema["maxLength"] = json!(text.chars().count());
            schema["enum"] = json!([text]);
        }
        Value::Number(number) => {
            schema["minimum"] = json!(number);
            schema["maximum"] = json!(number);
        }
        Value::Object(fields) => {
            schema["properties"] = fields
                .iter()
                .map(|(name, field)| (name.clone(), narrow(field)))
                .collect::<serde_json::Map<_, _>>()
                .into();
            schema["required"] = fields.keys().cloned().collect::<Vec<_>>().into();
            schema["additionalProperties"] = json!(false);
        }
        Value::Null | Value::Bool(_) | Value::Array(_) => schema["const"] = value.clone(),
    }
    schema
}

proptest! {
    /// Proves ACT-012.
    #[test]
    fn narrowest_schema_of_a_value_fits_it_alone(one in values(), other in values()) {
        let schema = Schema::parse(&narrow(&one)).unwrap();
        prop_assert_eq!(schema.check(&one), Ok(()));
        prop_assert_eq!(schema.check(&other).is_ok(), one == other);
    }
}
