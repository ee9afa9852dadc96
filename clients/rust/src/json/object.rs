//! `google.protobuf.Struct` as a plain JSON object. It does not know the field that holds it.

use std::fmt;

use prost_types::value::Kind as Variant;
use prost_types::{ListValue, Struct, Value};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::Serializer;

use super::kind::{Kind, shown};
use super::within;

/// How deep objects and lists may nest. One level of JSON takes three of protobuf, and protobuf
/// decoders stop at a hundred, so a deeper object could not be sent.
const DEPTH: usize = 24;

/// Whole numbers up to here are exact, so they are printed without a fraction.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Any JSON object.
pub(crate) struct Object;

impl Kind for Object {
    type Value = Struct;

    fn write<S: Serializer>(value: &Struct, out: S) -> Result<S::Ok, S::Error> {
        out.collect_map(value.fields.iter().map(|(key, value)| (key, Print(value))))
    }

    fn read<'de, D: Deserializer<'de>>(input: D) -> Result<Struct, D::Error> {
        input.deserialize_map(Members(DEPTH))
    }
}

struct Print<'a>(&'a Value);

impl serde::Serialize for Print<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match &self.0.kind {
            None | Some(Variant::NullValue(_)) => out.serialize_unit(),
            Some(Variant::BoolValue(value)) => out.serialize_bool(*value),
            Some(Variant::NumberValue(value)) if value.fract() == 0.0 && value.abs() < EXACT =>
            {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "it is whole and small enough to be exact"
                )]
                out.serialize_i64(*value as i64)
            }
            Some(Variant::NumberValue(value)) if value.is_finite() => out.serialize_f64(*value),
            // A Struct cannot hold it, and a string would be read back as a string.
            Some(Variant::NumberValue(_)) => out.serialize_unit(),
            Some(Variant::StringValue(text)) => out.serialize_str(text),
            Some(Variant::StructValue(object)) => Object::write(object, out),
            Some(Variant::ListValue(list)) => out.collect_seq(list.values.iter().map(Print)),
        }
    }
}

fn too_deep<E: serde::de::Error>() -> E {
    E::custom(format_args!("nested deeper than {DEPTH} levels"))
}

/// The members of an object that may nest this many levels deep.
struct Members(usize);

impl<'de> Visitor<'de> for Members {
    type Value = Struct;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut input: A) -> Result<Struct, A::Error> {
        let below = self.0.checked_sub(1).ok_or_else(too_deep)?;
        let mut object = Struct::default();
        while let Some(key) = input.next_key::<String>()? {
            let value = input.next_value_seed(Any(below))?;
            if object.fields.contains_key(&key) {
                return Err(within(shown(&key), A::Error::custom("given twice")));
            }
            object.fields.insert(key, value);
        }
        Ok(object)
    }
}

/// Any JSON value that may nest this many levels deep.
#[derive(Clone, Copy)]
struct Any(usize);

impl<'de> DeserializeSeed<'de> for Any {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Value, D::Error> {
        input.deserialize_any(self)
    }
}

fn value<E>(variant: Variant) -> Result<Value, E> {
    Ok(Value { kind: Some(variant) })
}

impl<'de> Visitor<'de> for Any {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        value(Variant::NullValue(0))
    }

    fn visit_bool<E>(self, given: bool) -> Result<Value, E> {
        value(Variant::BoolValue(given))
    }

    fn visit_i64<E>(self, given: i64) -> Result<Value, E> {
        value(Variant::NumberValue(given as f64))
    }

    fn visit_u64<E>(self, given: u64) -> Result<Value, E> {
        value(Variant::NumberValue(given as f64))
    }

    fn visit_f64<E>(self, given: f64) -> Result<Value, E> {
        value(Variant::NumberValue(given))
    }

    fn visit_str<E>(self, given: &str) -> Result<Value, E> {
        value(Variant::StringValue(given.to_owned()))
    }

    fn visit_string<E>(self, given: String) -> Result<Value, E> {
        value(Variant::StringValue(given))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut input: A) -> Result<Value, A::Error> {
        let below = Any(self.0.checked_sub(1).ok_or_else(too_deep)?);
        let mut list = ListValue::default();
        while let Some(element) = input.next_element_seed(below)? {
            list.values.push(element);
        }
        value(Variant::ListValue(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, input: A) -> Result<Value, A::Error> {
        Members(self.0)
            .visit_map(input)
            .map(|object| Value { kind: Some(Variant::StructValue(object)) })
    }
}
