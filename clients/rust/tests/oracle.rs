//! Compares the JSON of every message with prost-reflect's: random messages must print the same and
//! be read back equal. The intended differences are applied before the comparison.
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
use prost::Message as _;
use prost_reflect::{
    Cardinality, DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor,
    ReflectMessage as _, SerializeOptions, Value,
};
use serde_json::Value as Json;

const STRUCT: &str = "google.protobuf.Struct";

#[test]
fn every_message_prints_like_prost_reflect_and_is_read_back() {
    let pool = DescriptorPool::decode(coop_client::DESCRIPTOR).unwrap();
    let file = pool.get_file_by_name("coop/v1/coop.proto").unwrap();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut filled = 0;
    for descriptor in file.messages() {
        let name = descriptor.full_name();
        let codec = json::codec(name).expect("every message has a codec");
        for round in 0..40 {
            let bytes = random.message(&descriptor, 4).encode_to_vec();
            // Decoded from bytes, so that a field with its default value counts as unset.
            let message = DynamicMessage::decode(descriptor.clone(), bytes.as_slice()).unwrap();
            filled += usize::from(!bytes.is_empty());
            let printed = (codec.to_json)(&bytes).unwrap();
            assert_eq!(printed, expected(&message), "{name}, round {round}");
            let back = (codec.to_protobuf)(printed.to_string().as_bytes()).unwrap();
            let back = DynamicMessage::decode(descriptor.clone(), back.as_slice()).unwrap();
            assert!(
                back == message,
                "{name}, round {round}: {printed} came back as {}",
                expected(&back)
            );
        }
    }
    assert!(
        filled > 2000,
        "most messages must have something in them, or nothing was compared: {filled}"
    );
}

/// The output of prost-reflect with coop's differences applied.
fn expected(message: &DynamicMessage) -> Json {
    let options = SerializeOptions::new()
        .stringify_64_bit_integers(false)
        .use_proto_field_name(true)
        .skip_default_fields(false);
    adapt(message, message.serialize_with_options(serde_json::value::Serializer, &options).unwrap())
}

/// Absent optionals are null, enum names are in lower case, whole numbers in a Struct have no
/// fraction.
fn adapt(message: &DynamicMessage, printed: Json) -> Json {
    if message.descriptor().full_name() == STRUCT {
        return whole_numbers(printed);
    }
    let Json::Object(mut printed) = printed else { panic!("a message prints as an object") };
    for field in message.descriptor().fields() {
        let in_oneof = field.containing_oneof().is_some_and(|oneof| !oneof.is_synthetic());
        if field.supports_presence() && !message.has_field(&field) {
            if !in_oneof {
                printed.insert(field.name().to_owned(), Json::Null);
            }
        } else if let Some(json) = printed.get_mut(field.name()) {
            *json = adapt_value(&message.get_field(&field), json.take());
        }
    }
    Json::Object(printed)
}

fn adapt_value(value: &Value, json: Json) -> Json {
    match (value, json) {
        (Value::Message(inner), json) => adapt(inner, json),
        (Value::List(list), Json::Array(array)) => {
            list.iter().zip(array).map(|(value, json)| adapt_value(value, json)).collect()
        }
        (Value::Map(map), Json::Object(object)) => object
            .into_iter()
            .map(|(key, json)| {
                let json = adapt_value(&map[&MapKey::String(key.clone())], json);
                (key, json)
            })
            .collect(),
        (Value::EnumNumber(_), Json::String(name)) => Json::String(name.to_lowercase()),
        (_, json) => json,
    }
}

fn whole_numbers(json: Json) -> Json {
    match json {
        Json::Number(number) => match number.as_f64() {
            Some(real) if real.fract() == 0.0 && real.abs() < 9_007_199_254_740_992.0 => {
                Json::from(real as i64)
            }
            _ => Json::Number(number),
        },
        Json::Array(array) => array.into_iter().map(whole_numbers).collect(),
        Json::Object(object) => {
            object.into_iter().map(|(key, value)| (key, whole_numbers(value))).collect()
        }
        other => other,
    }
}

/// A xorshift generator: the same seed gives the same messages.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Small, large, edge and arbitrary values.
    fn bits(&mut self) -> u64 {
        match self.below(4) {
            0 => self.below(100),
            1 => u64::MAX - self.below(2),
            2 => i64::MAX as u64 + self.below(3),
            _ => self.next(),
        }
    }

    fn text(&mut self) -> String {
        const PIECES: [&str; 8] = ["a", "Z9", "\"", "\\", "\n\u{1b}", "é", "🙂", "\u{0}"];
        (0..self.below(5)).map(|_| PIECES[self.below(8) as usize]).collect()
    }

    fn real(&mut self) -> f64 {
        match self.below(3) {
            0 => self.below(1000) as f64,
            1 => self.below(1000) as f64 / 7.0 - 50.0,
            // Without the highest bit of the exponent the value is never infinite.
            _ => f64::from_bits(self.next() & !(1 << 62)),
        }
    }

    fn message(&mut self, descriptor: &MessageDescriptor, depth: u32) -> DynamicMessage {
        let mut message = DynamicMessage::new(descriptor.clone());
        for field in descriptor.fields() {
            let too_deep = depth == 0 && matches!(field.kind(), Kind::Message(_));
            if self.below(4) > 0 && !too_deep {
                let value = self.field(&field, depth);
                message.set_field(&field, value);
            }
        }
        message
    }

    fn field(&mut self, field: &FieldDescriptor, depth: u32) -> Value {
        if let Kind::Message(entry) = field.kind()
            && field.is_map()
        {
            let value = entry.map_entry_value_field();
            let entries = (0..self.below(4))
                .map(|_| (MapKey::String(self.text()), self.single(&value, depth)));
            return Value::Map(entries.collect());
        }
        if field.cardinality() == Cardinality::Repeated {
            return Value::List((0..self.below(4)).map(|_| self.single(field, depth)).collect());
        }
        self.single(field, depth)
    }

    fn single(&mut self, field: &FieldDescriptor, depth: u32) -> Value {
        match field.kind() {
            Kind::Bool => Value::Bool(self.below(2) == 1),
            Kind::String => Value::String(self.text()),
            Kind::Bytes => Value::Bytes((0..self.below(6)).map(|_| self.next() as u8).collect()),
            Kind::Int32 => Value::I32(self.bits() as i32),
            Kind::Uint32 => Value::U32(self.bits() as u32),
            Kind::Int64 => Value::I64(self.bits() as i64),
            Kind::Uint64 => Value::U64(self.bits()),
            Kind::Float => Value::F32(self.real() as f32),
            Kind::Double => Value::F64(self.real()),
            Kind::Enum(values) => {
                let at = self.below(values.values().len() as u64) as usize;
                Value::EnumNumber(values.values().nth(at).unwrap().number())
            }
            Kind::Message(message) if message.full_name() == STRUCT => {
                let text = self.object(3).to_string();
                let mut input = serde_json::Deserializer::from_str(&text);
                Value::Message(DynamicMessage::deserialize(message, &mut input).unwrap())
            }
            Kind::Message(message) => {
                Value::Message(self.message(&message, depth.saturating_sub(1)))
            }
            other => panic!("no field of coop.v1 is {other:?} yet: say here how to fill it"),
        }
    }

    fn object(&mut self, depth: u32) -> Json {
        let mut object = serde_json::Map::new();
        for _ in 0..self.below(4) {
            let value = match self.below(if depth == 0 { 4 } else { 6 }) {
                0 => Json::Null,
                1 => Json::from(self.below(2) == 1),
                2 => Json::from(self.real()),
                3 => Json::from(self.text()),
                4 => self.object(depth - 1),
                _ => Json::Array((0..self.below(3)).map(|_| self.object(depth - 1)).collect()),
            };
            object.insert(self.text(), value);
        }
        Json::Object(object)
    }
}
