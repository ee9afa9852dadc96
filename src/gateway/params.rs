//! Path and query parameters: text that becomes typed request fields. It does not know the route.

use std::borrow::Cow;

use coop_client::json::no_such;
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::route::{Param, ParamKind};
use crate::error::Error;

/// The parameter that carries a token on any route; the guard reads it.
pub const TOKEN_PARAMETER: &str = "token";

/// Reads the given parameters from a query string. Any other name but the token's is refused.
pub(super) fn from_query(
    params: &[Param],
    query: &str,
) -> Result<Vec<(&'static str, Value)>, Error> {
    let mut fields: Vec<(&'static str, Value)> = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, text) = pair.split_once('=').unwrap_or((pair, ""));
        let name = decode(name)?;
        let Some(param) = params.iter().find(|param| param.name == name) else {
            if name == TOKEN_PARAMETER {
                continue;
            }
            return Err(unknown(&name, params));
        };
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

/// Reads one value of the parameter's kind.
pub(super) fn typed(param: &Param, text: &str) -> Result<Value, Error> {
    match param.kind {
        ParamKind::Text => Ok(Value::from(text)),
        ParamKind::Bool => match text {
            "true" | "1" => Ok(Value::Bool(true)),
            "false" | "0" => Ok(Value::Bool(false)),
            _ => Err(bad(param, "true or false")),
        },
        ParamKind::Integer => {
            let signed = text.parse::<i64>().map(Value::from);
            signed
                .or_else(|_| text.parse::<u64>().map(Value::from))
                .map_err(|_| bad(param, "an integer"))
        }
        ParamKind::Number => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Value::from(number)),
            _ => Err(bad(param, "a number")),
        },
    }
}

fn elements(param: &Param, text: &str) -> Result<Vec<Value>, Error> {
    text.split(',')
        .filter(|element| !element.is_empty())
        .map(|element| typed(param, element))
        .collect()
}

fn unknown(name: &str, params: &[Param]) -> Error {
    let name: String = name.chars().take(64).collect();
    let reason = no_such("parameter", &name, params.iter().map(|param| param.name));
    Error::bad_request(format!("parameter {name}: {reason}"))
}

fn bad(param: &Param, expected: &str) -> Error {
    Error::bad_request(format!("parameter {}: expected {expected}", param.name))
}

/// Decodes `application/x-www-form-urlencoded`: `+` is a space, `%41` is an `A`.
fn decode(text: &str) -> Result<String, Error> {
    let spaced = text.replace('+', " ");
    let decoded = percent_decode_str(&spaced).decode_utf8();
    decoded.map(Cow::into_owned).map_err(|_| Error::bad_request("the query is not UTF-8"))
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
            Ok(fields) => {
                Ok(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
            }
            Err(error) => Err(error.message),
        }
    }

    #[test]
    fn text_is_read_as_the_type_of_the_field() {
        assert_eq!(read(""), Ok(json!({})));
        assert_eq!(
            read("lines=-5&scrollback=true&key=a%20b+c%2B&secs=1.5&token=secret&"),
            Ok(json!({"lines": -5, "scrollback": true, "key": "a b c+", "secs": 1.5}))
        );
        assert_eq!(read("lines=18446744073709551615"), Ok(json!({"lines": u64::MAX})));
        assert_eq!(read("scrollback=0&key=100%"), Ok(json!({"scrollback": false, "key": "100%"})));
    }

    #[test]
    fn a_list_is_repeated_or_separated_by_commas() {
        assert_eq!(
            read("state=idle&state=prompt,error&state="),
            Ok(json!({"state": ["idle", "prompt", "error"]}))
        );
        assert_eq!(read("ids=1,2&ids=3"), Ok(json!({"ids": [1, 2, 3]})));
    }

    #[test]
    fn an_error_names_the_parameter() {
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
            ("line=1", "parameter line: there is no such parameter, the nearest is lines"),
            (
                "lines=1&scroll",
                "parameter scroll: there is no such parameter, the nearest is scrollback",
            ),
        ] {
            assert_eq!(read(query), Err(message.to_owned()), "{query}");
        }
    }
}
