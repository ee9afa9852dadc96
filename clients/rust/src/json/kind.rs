//! How the value of one field prints and reads: a [`Kind`] per protobuf type, and the ways to
//! nest them. It does not know which message a field belongs to; whoever calls names the field.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD};
use bytes::Bytes;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq, Serializer};

use super::{Message, within};

pub use super::object::Object;

/// How one protobuf type looks in JSON.
pub trait Kind {
    /// What prost keeps such a field in.
    type Value;

    fn write<S: Serializer>(value: &Self::Value, out: S) -> Result<S::Ok, S::Error>;

    fn read<'de, D: Deserializer<'de>>(input: D) -> Result<Self::Value, D::Error>;
}

/// Prints one entry of an object.
pub fn put<K: Kind, M: SerializeMap>(
    out: &mut M,
    name: &'static str,
    value: &K::Value,
) -> Result<(), M::Error> {
    out.serialize_entry(name, &Print::<K>(value))
}

/// Prints one entry of an object, `null` where there is none.
pub fn put_optional<K: Kind, M: SerializeMap>(
    out: &mut M,
    name: &'static str,
    value: Option<&K::Value>,
) -> Result<(), M::Error> {
    out.serialize_entry(name, &value.map(Print::<K>))
}

/// Reads the value of an entry; `null` is none.
pub fn get<'de, K: Kind, M: MapAccess<'de>>(input: &mut M) -> Result<Option<K::Value>, M::Error> {
    input.next_value_seed(Nullable::<K>(PhantomData))
}

struct Print<'a, K: Kind>(&'a K::Value);

impl<K: Kind> serde::Serialize for Print<'_, K> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        K::write(self.0, out)
    }
}

struct Nullable<K>(PhantomData<K>);

impl<'de, K: Kind> DeserializeSeed<'de> for Nullable<K> {
    type Value = Option<K::Value>;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_option(self)
    }
}

impl<'de, K: Kind> Visitor<'de> for Nullable<K> {
    type Value = Option<K::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or null")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        K::read(input).map(Some)
    }
}

/// An element of a list or a map, where `null` is no value.
struct Element<K>(PhantomData<K>);

impl<'de, K: Kind> DeserializeSeed<'de> for Element<K> {
    type Value = K::Value;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<K::Value, D::Error> {
        K::read(input)
    }
}

/// `true` or `false`.
pub struct Bool;

impl Kind for Bool {
    type Value = bool;

    fn write<S: Serializer>(value: &bool, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_bool(*value)
    }

    fn read<'de, D: Deserializer<'de>>(input: D) -> Result<bool, D::Error> {
        input.deserialize_bool(Self)
    }
}

impl Visitor<'_> for Bool {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true or false")
    }

    fn visit_bool<E>(self, value: bool) -> Result<bool, E> {
        Ok(value)
    }
}

/// A string.
pub struct Text;

impl Kind for Text {
    type Value = String;

    fn write<S: Serializer>(value: &String, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(value)
    }

    fn read<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
        input.deserialize_string(Self)
    }
}

impl Visitor<'_> for Text {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_string<E>(self, text: String) -> Result<String, E> {
        Ok(text)
    }
}

/// An integer: printed as a number, read from a number or from its decimal digits in a string.
pub struct Int<T>(PhantomData<T>);

/// The integers that protobuf has.
pub trait Integer: Copy + Display + FromStr + TryFrom<i128> + serde::Serialize {
    const MIN: Self;
    const MAX: Self;
}

macro_rules! integers {
    ($($int:ty),*) => {$(
        impl Integer for $int {
            const MIN: Self = <$int>::MIN;
            const MAX: Self = <$int>::MAX;
        }
    )*};
}

integers!(i32, u32, i64, u64);

impl<T: Integer> Kind for Int<T> {
    type Value = T;

    fn write<S: Serializer>(value: &T, out: S) -> Result<S::Ok, S::Error> {
        value.serialize(out)
    }

    fn read<'de, D: Deserializer<'de>>(input: D) -> Result<T, D::Error> {
        input.deserialize_any(Self(PhantomData))
    }
}

impl<T: Integer> Visitor<'_> for Int<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer")
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<T, E> {
        self.visit_i128(value.into())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<T, E> {
        self.visit_i128(value.into())
    }

    fn visit_i128<E: serde::de::Error>(self, value: i128) -> Result<T, E> {
        T::try_from(value).map_err(|_| {
            E::custom(format_args!("expected an integer from {} to {}", T::MIN, T::MAX))
        })
    }

    /// What serde_json makes of a fraction, an exponent, or more digits than 64 bits hold.
    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<T, E> {
        if value.fract() == 0.0 && value.abs() > 9e18 {
            return self.visit_i128(value as i128);
        }
        Err(E::custom("expected an integer"))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        match text.parse::<i128>() {
            Ok(value) => self.visit_i128(value),
            Err(_) => Err(E::custom("expected an integer")),
        }
    }
}

/// A floating point number. What JSON has no number for is `"NaN"`, `"Infinity"` and
/// `"-Infinity"`, so that it survives the way there and back.
pub struct Float<T>(PhantomData<T>);

/// The floating point numbers that protobuf has.
pub trait Real: Copy + Into<f64> + serde::Serialize {
    fn narrow(value: f64) -> Self;
}

impl Real for f64 {
    fn narrow(value: f64) -> Self {
        value
    }
}

impl Real for f32 {
    fn narrow(value: f64) -> Self {
        value as f32
    }
}

impl<T: Real> Kind for Float<T> {
    type Value = T;

    fn write<S: Serializer>(value: &T, out: S) -> Result<S::Ok, S::Error> {
        let wide: f64 = (*value).into();
        if wide.is_nan() {
            out.serialize_str("NaN")
        } else if wide.is_infinite() {
            out.serialize_str(if wide > 0.0 { "Infinity" } else { "-Infinity" })
        } else {
            value.serialize(out)
        }
    }

    fn read<'de, D: Deserializer<'de>>(input: D) -> Result<T, D::Error> {
        input.deserialize_any(Self(PhantomData))
    }
}

impl<T: Real> Visitor<'_> for Float<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<T, E> {
        self.visit_f64(value as f64)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<T, E> {
        self.visit_f64(value as f64)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<T, E> {
        let narrow = T::narrow(value);
        if value.is_finite() && !narrow.into().is_finite() {
            return Err(E::custom("expected a smaller number"));
        }
        Ok(narrow)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        match text {
            "NaN" => Ok(T::narrow(f64::NAN)),
            "Infinity" => Ok(T::narrow(f64::INFINITY)),
            "-Infinity" => Ok(T::narrow(f64::NEG_INFINITY)),
            digits => match digits.parse::<f64>() {
                Ok(value) if value.is_finite() => self.visit_f64(value),
                _ => Err(E::custom("expected a number")),
            },
        }
    }
}

/// Bytes: printed as standard base64; read from that or the URL alphabet, padded or not.
pub struct Base64;

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const READ_STANDARD: GeneralPurpose = GeneralPurpose::new(&base64::alphabet::STANDARD, LENIENT);
const READ_URL_SAFE: GeneralPurpose = GeneralPurpose::new(&base64::alphabet::URL_SAFE, LENIENT);

impl Kind for Base64 {
    type Value = Bytes;

    fn write<S: Serializer>(value: &Bytes, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&STANDARD.encode(value))
    }

    fn read<'de, D: Deserializer<'de>>(input: D) -> Result<Bytes, D::Error> {
        input.deserialize_str(Self)
    }
}

impl Visitor<'_> for Base64 {
    type Value = Bytes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("base64 in a string")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Bytes, E> {
        let url_safe = text.contains(['-', '_']);
        let engine = if url_safe { READ_URL_SAFE } else { READ_STANDARD };
        match engine.decode(text) {
            Ok(data) => Ok(data.into()),
            Err(error) => Err(E::custom(format_args!("expected base64 in a string: {error}"))),
        }
    }
}

/// An enum: printed as the value's name in lower case; read from the name in any case or from
/// the number.
pub struct Enum<E>(PhantomData<E>);

/// An enum whose values the generator has listed.
pub trait Enumeration {
    /// Names in lower case, and numbers.
    const VALUES: &'static [(&'static str, i32)];
}

impl<E: Enumeration> Kind for Enum<E> {
    type Value = i32;

    fn write<S: Serializer>(value: &i32, out: S) -> Result<S::Ok, S::Error> {
        match E::VALUES.iter().find(|(_, number)| number == value) {
            Some((name, _)) => out.serialize_str(name),
            // A value that a newer peer knows is still worth passing on.
            None => out.serialize_i32(*value),
        }
    }

    fn read<'de, D: Deserializer<'de>>(input: D) -> Result<i32, D::Error> {
        input.deserialize_any(Self(PhantomData))
    }
}

impl<E: Enumeration> Enum<E> {
    fn find<X: serde::de::Error>(wanted: impl Fn(&str, i32) -> bool) -> Result<i32, X> {
        match E::VALUES.iter().find(|(name, number)| wanted(name, *number)) {
            Some((_, number)) => Ok(*number),
            None => {
                let names: Vec<_> = E::VALUES.iter().map(|(name, _)| *name).collect();
                Err(X::custom(format_args!("expected one of {}", names.join(", "))))
            }
        }
    }
}

impl<E: Enumeration> Visitor<'_> for Enum<E> {
    type Value = i32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one of")?;
        for (at, (name, _)) in E::VALUES.iter().enumerate() {
            write!(f, "{}{name}", if at == 0 { " " } else { ", " })?;
        }
        Ok(())
    }

    fn visit_i64<X: serde::de::Error>(self, value: i64) -> Result<i32, X> {
        Self::find(|_, number| i64::from(number) == value)
    }

    fn visit_u64<X: serde::de::Error>(self, value: u64) -> Result<i32, X> {
        Self::find(|_, number| u64::try_from(number) == Ok(value))
    }

    fn visit_str<X: serde::de::Error>(self, text: &str) -> Result<i32, X> {
        let digits = text.parse::<i32>().ok();
        Self::find(|name, number| name.eq_ignore_ascii_case(text) || digits == Some(number))
    }
}

/// Another message of ours.
pub struct Sub<M>(PhantomData<M>);

impl<M: Message> Kind for Sub<M> {
    type Value = M;

    fn write<S: Serializer>(value: &M, out: S) -> Result<S::Ok, S::Error> {
        super::serialize(value, out)
    }

    fn read<'de, D: Deserializer<'de>>(input: D) -> Result<M, D::Error> {
        let mut message = M::default();
        super::merge(&mut message, input)?;
        Ok(message)
    }
}

/// A repeated field.
pub struct List<K>(PhantomData<K>);

impl<K: Kind> Kind for List<K> {
    type Value = Vec<K::Value>;

    fn write<S: Serializer>(value: &Vec<K::Value>, out: S) -> Result<S::Ok, S::Error> {
        let mut list = out.serialize_seq(Some(value.len()))?;
        for element in value {
            list.serialize_element(&Print::<K>(element))?;
        }
        list.end()
    }

    fn read<'de, D: Deserializer<'de>>(input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_seq(Self(PhantomData))
    }
}

impl<'de, K: Kind> Visitor<'de> for List<K> {
    type Value = Vec<K::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut input: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        loop {
            match input.next_element_seed(Element::<K>(PhantomData)) {
                Ok(Some(element)) => list.push(element),
                Ok(None) => return Ok(list),
                Err(error) => return Err(within(format_args!("[{}]", list.len()), error)),
            }
        }
    }
}

/// A map with string keys.
pub struct Map<K>(PhantomData<K>);

impl<K: Kind> Kind for Map<K> {
    type Value = BTreeMap<String, K::Value>;

    fn write<S: Serializer>(value: &Self::Value, out: S) -> Result<S::Ok, S::Error> {
        out.collect_map(value.iter().map(|(key, value)| (key, Print::<K>(value))))
    }

    fn read<'de, D: Deserializer<'de>>(input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_map(Self(PhantomData))
    }
}

impl<'de, K: Kind> Visitor<'de> for Map<K> {
    type Value = BTreeMap<String, K::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut input: A) -> Result<Self::Value, A::Error> {
        let mut map = BTreeMap::new();
        while let Some(key) = input.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(within(shown(&key), A::Error::custom("given twice")));
            }
            let value = input
                .next_value_seed(Element::<K>(PhantomData))
                .map_err(|error| within(shown(&key), error))?;
            map.insert(key, value);
        }
        Ok(map)
    }
}

/// The start of a caller's key, short enough for an error text.
pub(super) fn shown(key: &str) -> String {
    key.chars().take(64).collect()
}
