//! The kinds of single values: booleans, text, numbers, bytes and enums. Lists, maps and messages
//! are in `kind`.

use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::{
    DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD,
};
use bytes::Bytes;
use serde::de::{Deserializer, Visitor};
use serde::ser::Serializer;

use super::kind::Kind;

/// `true` or `false`.
pub(crate) struct Bool;

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
pub(crate) struct Text;

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
pub(crate) struct Int<T>(PhantomData<T>);

/// The integer types of protobuf.
pub(crate) trait Integer:
    Copy + Display + FromStr + TryFrom<i128> + serde::Serialize
{
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

    /// serde_json passes numbers with a fraction, an exponent or more than 64 bits as floats.
    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<T, E> {
        if value.fract() == 0.0 && value.abs() > 9e18 {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "it is whole, and what is cut is out of range anyway"
            )]
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

/// A floating point number. Values that JSON cannot express are the strings `"NaN"`, `"Infinity"`
/// and `"-Infinity"`.
pub(crate) struct Float<T>(PhantomData<T>);

/// The floating point types of protobuf.
pub(crate) trait Real: Copy + Into<f64> + serde::Serialize {
    fn narrow(value: f64) -> Self;
}

impl Real for f64 {
    fn narrow(value: f64) -> Self {
        value
    }
}

impl Real for f32 {
    #[expect(clippy::cast_possible_truncation, reason = "a float field has no more digits to keep")]
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
pub(crate) struct Base64;

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
pub(crate) struct Enum<E>(PhantomData<E>);

/// An enum with a generated list of values.
pub(crate) trait Enumeration {
    /// Names in lower case, and numbers.
    const VALUES: &'static [(&'static str, i32)];
}

impl<E: Enumeration> Kind for Enum<E> {
    type Value = i32;

    fn write<S: Serializer>(value: &i32, out: S) -> Result<S::Ok, S::Error> {
        match E::VALUES.iter().find(|(_, number)| number == value) {
            Some((name, _)) => out.serialize_str(name),
            // A value that only a newer peer knows is passed on as its number.
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
