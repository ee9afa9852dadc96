//! The JSON of the messages where it differs from protobuf's own, and the errors for invalid texts.
#![cfg(feature = "json")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a test fails by panicking, and random bits may be cut"
)]

use coop_client::json;
use coop_client::v1::{self, attach_request, get_screen_request::Format};
use prost::Message as _;
use serde_json::json;

#[test]
fn every_field_is_printed_in_the_order_of_the_proto() {
    let text = String::from_utf8(json::to_vec(&v1::OutputChunk::default())).unwrap();
    assert_eq!(text, r#"{"data":"","offset":0,"skipped":0,"epoch":0,"next_offset":0,"gap":null}"#);
    let text = String::from_utf8(json::to_vec(&v1::StopField::default())).unwrap();
    assert_eq!(text, r#"{"required":false,"enum":[],"descriptions":{},"description":null}"#);
}

#[test]
fn only_the_set_member_of_a_oneof_is_printed() {
    assert_eq!(json::to_value(&v1::AttachRequest::default()), json!({}));
    let input = v1::AttachRequest { message: Some(attach_request::Message::Input("hi".into())) };
    assert_eq!(json::to_value(&input), json!({"input": "aGk="}));
    let read: v1::AttachRequest = json::from_slice(br#"{"resize":null,"input":"aGk="}"#).unwrap();
    assert_eq!(read, input);
}

#[test]
fn null_is_absent() {
    let nulls = br#"{"accept":null,"option":null,"text":null,"prompt_id":null,"answers":null}"#;
    assert_eq!(json::from_slice(nulls), Ok(v1::RespondRequest::default()));
}

#[test]
fn an_unknown_field_is_refused_with_the_nearest_known_one() {
    let long = format!(r#"{{"{}":1}}"#, "x".repeat(1 << 20));
    for (text, reason) in [
        (r#"{"tex":"a"}"#, "field tex: there is no such field, the nearest is text at line 1"),
        (r#"{"":1}"#, "field : there is no such field, the nearest is "),
        (&long, "field xxxx"),
    ] {
        let error = error::<v1::SendInputRequest>(text);
        assert!(error.starts_with(reason) && error.len() < 200, "{error}");
    }
    assert_eq!(
        error::<v1::RespondRequest>(r#"{"answers":[{},{"optoin":1}]}"#),
        "field answers[1].optoin: there is no such field, the nearest is option at line 1 column 24"
    );
    let none = error::<v1::GetHealthRequest>(r#"{"x":null}"#);
    assert!(none.starts_with("field x: there is no such field, and no other"), "{none}");
}

#[test]
fn integers_may_be_strings() {
    let text = br#"{"from_offset":"18446744073709551615","epoch":"7"}"#;
    let read: v1::StreamOutputRequest = json::from_slice(text).unwrap();
    assert_eq!((read.from_offset, read.epoch), (u64::MAX, Some(7)));
}

#[test]
fn enums_are_read_in_any_case_and_as_numbers() {
    for (text, format) in [
        (r#""ansi""#, Format::Ansi),
        (r#""ANSI""#, Format::Ansi),
        (r#""Text""#, Format::Text),
        ("1", Format::Ansi),
        (r#""1""#, Format::Ansi),
        ("null", Format::Text),
    ] {
        let text = format!(r#"{{"format":{text}}}"#);
        let read: v1::GetScreenRequest = json::from_slice(text.as_bytes()).unwrap();
        assert_eq!(read.format(), format, "{text}");
    }
    assert_eq!(json::to_value(&v1::StreamScreenRequest { format: 9 }), json!({"format": 9}));
}

#[test]
fn base64_is_read_in_both_alphabets_with_and_without_padding() {
    for text in ["+/+/+w==", "-_-_-w==", "+/+/+w", "-_-_-w"] {
        let text = format!(r#"{{"data":"{text}"}}"#);
        let read: v1::SendInputRawRequest = json::from_slice(text.as_bytes()).unwrap();
        assert_eq!(read.data.as_ref(), [0xfb, 0xff, 0xbf, 0xfb], "{text}");
    }
}

#[test]
fn nan_and_infinity_are_strings() {
    for (word, value) in
        [("NaN", f64::NAN), ("Infinity", f64::INFINITY), ("-Infinity", f64::NEG_INFINITY)]
    {
        let usage = v1::GetUsageResponse { cost_usd: Some(value), ..Default::default() };
        let printed = json::to_value(&usage);
        assert_eq!(printed["cost_usd"], json!(word));
        let back: v1::GetUsageResponse = json::from_value(printed).unwrap();
        assert_eq!(back.cost_usd.map(f64::to_bits), Some(value.to_bits()));
    }
}

fn error<M: json::Message + std::fmt::Debug>(text: &str) -> String {
    match json::from_slice::<M>(text.as_bytes()) {
        Ok(message) => panic!("{text} was read as {message:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_error_names_the_field_and_the_expected_value() {
    use v1::{
        AttachRequest as Attach, GetAgentStateResponse as State, GetOutputRequest as Output,
        GetScreenRequest as Screen, GetUsageResponse as Usage, ResizeRequest as Resize,
        RespondRequest as Respond, SendInputRawRequest as Raw, SendInputRequest as Input,
        SendKeysRequest as Keys, StopHookRequest as Hook, SwitchSessionRequest as Switch,
    };
    type Read = fn(&str) -> String;
    let i32_range = "expected an integer from -2147483648 to 2147483647";
    let u64_range = "expected an integer from 0 to 18446744073709551615";
    let cases: &[(Read, &str, &str)] = &[
        (error::<Resize>, r#"{"cols":"x"}"#, "field cols: expected an integer at line 1 column"),
        (error::<Resize>, r#"{"cols":1.5}"#, "field cols: expected an integer at line 1 column"),
        (error::<Resize>, r#"{"cols":1e3}"#, "field cols: expected an integer at line 1 column"),
        (error::<Resize>, r#"{"cols":true}"#, "field cols: expected an integer at line 1 column"),
        (
            error::<Resize>,
            r#"{"cols":2147483648}"#,
            &format!("field cols: {i32_range} at line 1 column"),
        ),
        (
            error::<Output>,
            r#"{"offset":-1}"#,
            &format!("field offset: {u64_range} at line 1 column"),
        ),
        (
            error::<Output>,
            r#"{"offset":99999999999999999999}"#,
            &format!("field offset: {u64_range} at line 1"),
        ),
        (
            error::<Output>,
            r#"{"offset":"18446744073709551616"}"#,
            &format!("field offset: {u64_range} at line 1"),
        ),
        (error::<Input>, r#"{"text":1}"#, "field text: expected a string at line 1 column"),
        (
            error::<Input>,
            r#"{"text":["secret, expected b"]}"#,
            "field text: expected a string at line 1 column",
        ),
        (
            error::<Input>,
            r#"{"enter":"secret"}"#,
            "field enter: expected true or false at line 1 column",
        ),
        (error::<Input>, r#"{"text":"a","text":"b"}"#, "field text: given twice at line 1 column"),
        (
            error::<Raw>,
            r#"{"data":"a b"}"#,
            "field data: expected base64 in a string: Invalid symbol 32",
        ),
        (
            error::<Raw>,
            r#"{"data":[1]}"#,
            "field data: expected base64 in a string at line 1 column",
        ),
        (
            error::<Screen>,
            r#"{"format":"x"}"#,
            "field format: expected one of text, ansi at line 1 column",
        ),
        (
            error::<Screen>,
            r#"{"format":2}"#,
            "field format: expected one of text, ansi at line 1 column",
        ),
        (
            error::<Screen>,
            r#"{"format":{}}"#,
            "field format: expected one of text, ansi at line 1 column",
        ),
        (error::<Keys>, r#"{"keys":"a"}"#, "field keys: expected a list at line 1 column"),
        (
            error::<Keys>,
            r#"{"keys":["a",null]}"#,
            "field keys[1]: expected a string at line 1 column",
        ),
        (
            error::<Respond>,
            r#"{"answers":[{},{"options":[1,"x"]}]}"#,
            "field answers[1].options[1]: expected an integer",
        ),
        (
            error::<Switch>,
            r#"{"extra_env":{"A":1}}"#,
            "field extra_env.A: expected a string at line 1 column",
        ),
        (
            error::<Switch>,
            r#"{"extra_env":{"A":"","A":""}}"#,
            "field extra_env.A: given twice at line 1 column",
        ),
        (
            error::<Switch>,
            r#"{"extra_env":[]}"#,
            "field extra_env: expected an object at line 1 column",
        ),
        (
            error::<Attach>,
            r#"{"resize":{"rows":[]}}"#,
            "field resize.rows: expected an integer at line 1 column",
        ),
        (
            error::<Attach>,
            r#"{"input":"","lease":{}}"#,
            "field lease: another member of the same oneof is given too",
        ),
        (
            error::<Usage>,
            r#"{"cost_usd":"cheap"}"#,
            "field cost_usd: expected a number at line 1 column",
        ),
        (
            error::<State>,
            r#"{"idle_grace_remaining_secs":1e300}"#,
            "field idle_grace_remaining_secs: expected a smaller",
        ),
        (
            error::<Hook>,
            r#"{"payload":{"a":1,"a":2}}"#,
            "field payload.a: given twice at line 1 column",
        ),
        (error::<Hook>, r#"{"payload":7}"#, "field payload: expected an object at line 1 column"),
        (error::<Input>, "[]", "expected an object at line 1 column"),
        (error::<Input>, "null", "expected an object at line 1 column"),
        (error::<Input>, "", "EOF while parsing a value at line 1 column"),
        (error::<Input>, "{}{}", "trailing characters at line 1 column"),
        (error::<Input>, r#"{"text":"#, "field text: EOF while parsing a value at line 1 column"),
        (error::<Input>, r#"{text:1}"#, "key must be a string at line 1 column"),
        (
            error::<Input>,
            r#"{"text":"\ud800"}"#,
            "field text: unexpected end of hex escape at line 1 column",
        ),
    ];
    for (read, text, expected) in cases {
        let error = read(text);
        assert!(error.starts_with(expected), "{text}\n gave {error}\n  not {expected}");
        assert!(!error.contains("secret"), "what a caller sent is not repeated: {error}");
    }
}

#[test]
fn text_that_is_not_utf8_is_an_error() {
    let error = json::from_slice::<v1::SendInputRequest>(b"{\"later\":\"\xff\"}").unwrap_err();
    assert_eq!(error.to_string(), "not UTF-8 after byte 10");
}

#[test]
fn too_deep_nesting_is_an_error_in_every_place() {
    let deep = |open: &str| open.repeat(100_000);
    let object = error::<v1::StopHookRequest>(&format!(r#"{{"payload":{}"#, deep(r#"{"a":"#)));
    assert!(object.starts_with("field payload: nested deeper than 24 levels"), "{object}");
    let list = error::<v1::StopHookRequest>(&format!(r#"{{"payload":{{"a":{}"#, deep("[")));
    assert!(list.starts_with("field payload: nested deeper than 24 levels"), "{list}");
    let unknown = error::<v1::StopHookRequest>(&format!(r#"{{"later":{}"#, deep("[")));
    assert!(unknown.starts_with("field later: there is no such field"), "{unknown}");
    let mut message = v1::StopHookRequest::default();
    let ignored = format!(r#"{{"type":{}"#, deep("["));
    let ignored = json::merge_slice(&mut message, ignored.as_bytes(), &["type"]).unwrap_err();
    assert!(ignored.to_string().starts_with("EOF while parsing"), "{ignored}");
}

#[test]
fn the_deepest_allowed_object_can_be_decoded_as_protobuf() {
    let deepest = format!(r#"{{"payload":{}{}}}"#, r#"{"a":"#.repeat(23) + "{}", "}".repeat(23));
    let read: v1::StopHookRequest = json::from_slice(deepest.as_bytes()).unwrap();
    let outcome = v1::OutcomeEvent { payload: read.payload, ..Default::default() };
    let event =
        v1::Event { payload: Some(v1::event::Payload::Stop(outcome)), ..Default::default() };
    assert_eq!(v1::Event::decode(event.encode_to_vec().as_slice()), Ok(event));
}
