//! Path and query parameters: text that becomes typed request fields. It does not know which
//! route they came by.

use serde_json::Value;

use super::table::{Param, ParamKind};
use crate::error::Error;

/// Reads what `params` names out of a query string. Other names are ignored.
pub fn from_query(params: &[Param], query: &str) -> Result<Vec<(&'static str, Value)>, Error> {
    let mut fields: Vec<(&'static str, Value)> = Vec::new();
    for pair in query.split('&') {
        let (name, text) = pair.split_once('=').unwrap_or((pair, ""));
        let name = decode(name)?;
        let Some(param) = params.iter().find(|param| param.name == name) else { continue };
        let text = decode(text).map_err(|_| bad(param, "UTF-8"))?;
        let given = fields.iter_mut().find(|(name, _)| *name == param.name);
        match (given, param.list) {
            (None, false) => fields.push((param.name, typed(param, &text)?)),
            (None, true) => fields.push((param.name, Value::Array(elements(param, &text)?))),
            (Some((_, Value::Array(list))), true) => list.extend(elements(param, &text)?),
            (Some(_), _) => return Err(bad(param, "one value")),
        }
    }
    Ok(fields)
}

/// One value as the parameter's kind has it.
pub fn typed(param: &Param, text: &str) -> Result<Value, Error> {
    match param.kind {
        ParamKind::Text => Ok(Value::from(text)),
        ParamKind::Bool => match text {
            "true" | "1" => Ok(Value::Bool(true)),
            "false" | "0" => Ok(Value::Bool(false)),
            _ => Err(bad(param, "true or false")),
        },
        ParamKind::Integer => {
            let signed = text.parse::<i64>().map(Value::from);
            signed.or_else(|_| text.parse::<u64>().map(Value::from)).map_err(|_| bad(param, "an integer"))
        }
        ParamKind::Number => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Value::from(number)),
            _ => Err(bad(param, "a number")),
        },
    }
}

fn elements(param: &Param, text: &str) -> Result<Vec<Value>, Error> {
    text.split(',').filter(|element| !element.is_empty()).map(|element| typed(param, element)).collect()
}

fn bad(param: &Param, expected: &str) -> Error {
    Error::bad_request(format!("parameter {}: expected {expected}", param.name))
}

/// Undoes `application/x-www-form-urlencoded`: a `+` is a space, `%41` is an `A`.
fn decode(text: &str) -> Result<String, Error> {
    let spaced = text.replace('+', " ");
    let mut bytes = Vec::with_capacity(spaced.len());
    let mut rest = spaced.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match (first, tail) {
            (b'%', [high, low, after @ ..]) => hex(*high).zip(hex(*low)).map(|pair| (pair, after)),
            _ => None,
        };
        match escaped {
            Some(((high, low), after)) => {
                bytes.push(high << 4 | low);
                rest = after;
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).map_err(|_| Error::bad_request("the query is not UTF-8"))
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PARAMS: &[Param] = &[
        Param::one("lines", ParamKind::Integer),
        Param::one("scrollback", ParamKind::Bool),
        Param::one("key", ParamKind::Text),
        Param::one("secs", ParamKind::Number),
        Param::list("state", ParamKind::Text),
        Param::list("ids", ParamKind::Integer),
    ];

    fn read(query: &str) -> Result<Value, String> {
        match from_query(PARAMS, query) {
            Ok(fields) => Ok(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
            Err(error) => Err(error.message),
        }
    }

    #[test]
    fn text_becomes_the_kind_of_the_field() {
        assert_eq!(read(""), Ok(json!({})));
        assert_eq!(
            read("lines=-5&scrollback=true&key=a%20b+c%2B&secs=1.5&token=secret&flag"),
            Ok(json!({"lines": -5, "scrollback": true, "key": "a b c+", "secs": 1.5}))
        );
        assert_eq!(read("lines=18446744073709551615"), Ok(json!({"lines": u64::MAX})));
        assert_eq!(read("scrollback=0&key=100%"), Ok(json!({"scrollback": false, "key": "100%"})));
    }

    #[test]
    fn a_list_is_given_one_by_one_or_with_commas() {
        assert_eq!(
            read("state=idle&state=prompt,error&state="),
            Ok(json!({"state": ["idle", "prompt", "error"]}))
        );
        assert_eq!(read("ids=1,2&ids=3"), Ok(json!({"ids": [1, 2, 3]})));
    }

    #[test]
    fn a_wrong_value_names_its_parameter() {
        for (query, message) in [
            ("lines=abc", "parameter lines: expected an integer"),
            ("lines=", "parameter lines: expected an integer"),
            ("lines=1.5", "parameter lines: expected an integer"),
            ("lines=1&lines=2", "parameter lines: expected one value"),
            ("scrollback=yes", "parameter scrollback: expected true or false"),
            ("secs=inf", "parameter secs: expected a number"),
            ("ids=1,x", "parameter ids: expected an integer"),
            ("key=%ff", "parameter key: expected UTF-8"),
            ("%ff=1", "the query is not UTF-8"),
        ] {
            assert_eq!(read(query), Err(message.to_owned()), "{query}");
        }
    }
}
