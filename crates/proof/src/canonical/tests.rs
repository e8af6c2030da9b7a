//! The vectors of RFC 8785 that hold no float, the limits, and the properties that make a form canonical.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Serialize;
use serde_json::{Value, json, value::RawValue};

use super::*;

fn check<T: Serialize + ?Sized>(value: &T, expected: &str) {
    assert_eq!(String::from_utf8(to_vec(value).unwrap()).unwrap(), expected);
}

#[track_caller]
fn check_refused<T: Serialize + ?Sized>(value: &T, expected: &CanonicalError) {
    assert_eq!(to_vec(value).as_ref(), Err(expected));
}

#[test]
fn keys_are_sorted_by_utf_16_code_units() {
    // RFC 8785, section 3.2.3.
    let value = json!({
        "\u{20ac}": "Euro Sign",
        "\r": "Carriage Return",
        "\u{fb33}": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\u{1f600}": "Emoji: Grinning Face",
        "\u{80}": "Control",
        "\u{f6}": "Latin Small Letter O With Diaeresis"
    });
    check(
        &value,
        concat!(
            "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\",",
            "\"\u{f6}\":\"Latin Small Letter O With Diaeresis\",\"\u{20ac}\":\"Euro Sign\",",
            "\"\u{1f600}\":\"Emoji: Grinning Face\",\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}",
        ),
    );
}

#[test]
fn escapes_are_as_few_as_can_be() {
    // RFC 8785, section 3.2.2, and the control characters around it.
    let value = json!({ "string": "\u{20ac}$\u{000F}\u{000a}A'\u{0042}\u{0022}\u{005c}\\\"/" });
    check(&value, "{\"string\":\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
    check("\u{8}\u{9}\u{b}\u{c}\u{d}\u{1f}\u{7f}\u{2028}", "\"\\b\\t\\u000b\\f\\r\\u001f\u{7f}\u{2028}\"");
}

#[test]
fn literals_and_nesting_have_no_blanks() {
    check(
        &json!({ "b": [null, true, false, {}, []], "a": { "y": 1, "x": -2 } }),
        "{\"a\":{\"x\":-2,\"y\":1},\"b\":[null,true,false,{},[]]}",
    );
    check(&json!([]), "[]");
}

#[test]
fn integers_stop_at_53_bits() {
    check(&INTEGER_MAX, "9007199254740991");
    check(&-9_007_199_254_740_991_i64, "-9007199254740991");
    check(&i128::from(INTEGER_MAX), "9007199254740991");
    check(&0_u8, "0");
    for (large, text) in
        [(json!(INTEGER_MAX + 1), "9007199254740992"), (json!(i64::MIN), "-9223372036854775808")]
    {
        check_refused(&large, &CanonicalError::Number(text.to_owned()));
    }
    check_refused(&u128::MAX, &CanonicalError::Number(u128::MAX.to_string()));
}

#[test]
fn floats_are_refused_also_when_whole() {
    check_refused(&1.0_f64, &CanonicalError::Number("1".to_owned()));
    check_refused(&json!({ "a": [0.5] }), &CanonicalError::Number("0.5".to_owned()));
    check_refused(&f32::NAN, &CanonicalError::Number("NaN".to_owned()));
}

#[derive(Serialize)]
enum Shape {
    Unit,
    One(u8),
    Two(u8, u8),
    Named { b: u8, a: Option<u8> },
}

#[derive(Serialize)]
struct Flat {
    z: Shape,
    #[serde(flatten)]
    rest: BTreeMap<&'static str, u8>,
}

#[test]
fn shapes_are_those_of_serde_json_sorted() {
    for shape in [Shape::Unit, Shape::One(1), Shape::Two(1, 2), Shape::Named { b: 1, a: None }] {
        let value = serde_json::to_value(&shape).unwrap();
        let written = String::from_utf8(to_vec(&shape).unwrap()).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), value, "{written}");
    }
    check(&Shape::Named { b: 1, a: None }, "{\"Named\":{\"a\":null,\"b\":1}}");
    check(&Flat { z: Shape::Unit, rest: [("b", 1), ("a", 2)].into() }, "{\"a\":2,\"b\":1,\"z\":\"Unit\"}");
    check(&BTreeMap::from([(10, 'x'), (9, '"')]), "{\"10\":\"x\",\"9\":\"\\\"\"}");
}

#[test]
fn doubled_keys_strange_keys_and_raw_json_are_refused() {
    let flat = Flat { z: Shape::Unit, rest: [("z", 1)].into() };
    check_refused(&flat, &CanonicalError::DuplicateKey("z".to_owned()));
    check_refused(&BTreeMap::from([((1, 2), 3)]), &CanonicalError::Key);
    check_refused(&RawValue::from_string("1.50".to_owned()).unwrap(), &CanonicalError::Raw);
}

#[test]
fn canonicalizer_starts_anew_after_an_error() {
    let mut canonicalizer = Canonicalizer::default();
    assert!(canonicalizer.write(&json!({ "b": { "a": [1, 0.5] } })).is_err());
    assert_eq!(canonicalizer.write(&json!({ "b": 1, "a": 2 })).unwrap(), b"{\"a\":2,\"b\":1}");
}

fn json_value() -> impl Strategy<Value = Value> {
    let limit = i64::try_from(INTEGER_MAX).unwrap();
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-limit..=limit).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map(any::<String>(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn canonical_form_says_the_same_and_is_its_own(value in json_value()) {
        let once = to_vec(&value).unwrap();
        let parsed: Value = serde_json::from_slice(&once).unwrap();
        prop_assert_eq!(&parsed, &value);
        prop_assert_eq!(to_vec(&parsed).unwrap(), once);
    }

    #[test]
    fn flat_objects_are_sorted_whatever_the_keys(keys in prop::collection::hash_set("[a-z\u{e000}-\u{ffff}\u{10000}-\u{10010}]{1,3}", 0..8)) {
        let map: serde_json::Map<String, Value> = keys.into_iter().map(|key| (key, Value::Null)).collect();
        let sorted = {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort_by_key(|key| key.encode_utf16().collect::<Vec<_>>());
            keys.iter().map(|key| format!("{}:null", String::from_utf8(to_vec(*key).unwrap()).unwrap())).collect::<Vec<_>>()
        };
        let text = String::from_utf8(to_vec(&map).unwrap()).unwrap();
        prop_assert_eq!(text, format!("{{{}}}", sorted.join(",")));
    }
}
