//! A JSON value with a limit on how many values are inside of it: a line of a few megabytes can
//! contain millions of small ones, which take fifty times its length in memory. It does not know
//! where the JSON comes from.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The most values in one, itself included. Agents write long texts, but not many of them.
pub(super) const VALUES_LIMIT: usize = 100_000;

/// A value within the limit.
pub(super) struct BoundedJson(pub(super) Value);

impl<'de> Deserialize<'de> for BoundedJson {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let mut left = VALUES_LIMIT;
        Part { left: &mut left }.deserialize(input).map(Self)
    }
}

/// Reads one value, and counts it and every value inside of it.
struct Part<'a> {
    left: &'a mut usize,
}

impl<'de> DeserializeSeed<'de> for Part<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Value, D::Error> {
        let Some(left) = self.left.checked_sub(1) else {
            return Err(D::Error::custom(format_args!("it has more than {VALUES_LIMIT} values")));
        };
        *self.left = left;
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Part<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element_seed(Part { left: self.left })? {
            list.push(element);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(Part { left: self.left })?;
            fields.insert(name, value);
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Value, String> {
        serde_json::from_str::<BoundedJson>(text).map(|read| read.0).map_err(|e| e.to_string())
    }

    #[test]
    fn a_value_is_read_as_serde_json_reads_it() {
        for text in [
            r#"{"a":[1,-2,3.5,1e300,18446744073709551615,null,true,"x\ud83d\ude00\u0000",{}],"a":2}"#,
            "1e999",
            "[1,",
            "\"\\ud800\"",
            "nul",
            "",
        ] {
            let wanted = serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
            assert_eq!(read(text), wanted, "{text}");
        }
    }

    #[test]
    fn more_values_than_the_limit_are_refused_wherever_they_are() {
        let full = vec!["0"; VALUES_LIMIT - 1].join(",");
        assert!(read(&format!("[{full}]")).is_ok());
        let fields: Vec<String> = (0..VALUES_LIMIT).map(|n| format!("\"{n}\":0")).collect();
        for text in [
            format!("[{full},0]"),
            format!("{{\"a\":[[[{full}]]]}}"),
            format!("{{{}}}", fields.join(",")),
            format!("[{}]", vec!["[]"; 4 << 20].join(",")),
        ] {
            assert!(read(&text).unwrap_err().starts_with("it has more than 100000 values"));
        }
        let deep = "[".repeat(100_000);
        assert!(read(&deep).unwrap_err().starts_with("recursion limit exceeded"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_as_serde_json_reads_it(text in "[\\[\\]{}\":,0-9eE.a-f\\\\ -]{0,24}") {
            let wanted = serde_json::from_str::<Value>(&text).map_err(|error| error.to_string());
            prop_assert_eq!(read(&text), wanted);
        }
    }
}
