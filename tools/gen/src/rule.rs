//! Reads the method options `google.api.http` and `coop.v1.rule` into plain values. `api` checks
//! whether they fit together.

use prost_reflect::{DynamicMessage, MethodDescriptor, Value};

/// `coop.v1.MethodRule`.
pub struct MethodRule {
    /// The Rust name of the value of `coop.v1.Scope`, for example `Read`.
    pub scope: String,
    pub post_status: u32,
    pub content_type: String,
    pub sse: Option<SseRule>,
    pub native_only: bool,
}

/// `coop.v1.SseRule`.
pub struct SseRule {
    pub event: String,
    pub event_field: String,
    pub id_field: String,
    pub resume_field: String,
}

/// One route of `google.api.HttpRule`.
pub struct HttpRule {
    /// In capitals, for example `GET`.
    pub verb: &'static str,
    pub path: String,
    pub body: String,
    pub response_body: String,
}

fn option(method: &MethodDescriptor, name: &str) -> Option<DynamicMessage> {
    let extension = method.parent_pool().get_extension_by_name(name)?;
    let options = method.options();
    if !options.has_extension(&extension) {
        return None;
    }
    options.get_extension(&extension).as_message().cloned()
}

fn text(message: &DynamicMessage, field: &str) -> String {
    message
        .get_field_by_name(field)
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

/// Reads the rule of a method; a missing rule or scope is an error.
pub fn method_rule(method: &MethodDescriptor) -> Result<MethodRule, String> {
    let rule = option(method, "coop.v1.rule").ok_or("has no option (coop.v1.rule)")?;
    let number = rule.get_field_by_name("scope").and_then(|value| value.as_enum_number());
    let scope = number
        .filter(|number| *number != 0)
        .and_then(|number| {
            let scopes = method.parent_pool().get_enum_by_name("coop.v1.Scope")?;
            Some(scopes.get_value(number)?.name().to_owned())
        })
        .ok_or("has no scope in its option (coop.v1.rule)")?;
    Ok(MethodRule {
        scope: heck::AsUpperCamelCase(scope.trim_start_matches("SCOPE_")).to_string(),
        post_status: rule.get_field_by_name("post_status").and_then(|v| v.as_u32()).unwrap_or(0),
        content_type: text(&rule, "content_type"),
        native_only: rule
            .get_field_by_name("native_only")
            .is_some_and(|v| v.as_bool() == Some(true)),
        sse: rule
            .has_field_by_name("sse")
            .then(|| rule.get_field_by_name("sse"))
            .flatten()
            .and_then(|value| {
                let sse = value.as_message()?;
                Some(SseRule {
                    event: text(sse, "event"),
                    event_field: text(sse, "event_field"),
                    id_field: text(sse, "id_field"),
                    resume_field: text(sse, "resume_field"),
                })
            }),
    })
}

/// Reads the routes of a method, the main one first; empty if it has none.
pub fn http_rules(method: &MethodDescriptor) -> Result<Vec<HttpRule>, String> {
    let Some(rule) = option(method, "google.api.http") else { return Ok(Vec::new()) };
    let mut rules = vec![http_rule(&rule)?];
    if let Some(Value::List(more)) = rule.get_field_by_name("additional_bindings").as_deref() {
        for binding in more.iter().filter_map(Value::as_message) {
            rules.push(http_rule(binding)?);
        }
    }
    Ok(rules)
}

fn http_rule(rule: &DynamicMessage) -> Result<HttpRule, String> {
    const VERBS: [(&str, &str); 5] = [
        ("get", "GET"),
        ("put", "PUT"),
        ("post", "POST"),
        ("delete", "DELETE"),
        ("patch", "PATCH"),
    ];
    let (field, verb) = VERBS
        .into_iter()
        .find(|(field, _)| rule.has_field_by_name(field))
        .ok_or("has a route without one of get, put, post, delete and patch")?;
    Ok(HttpRule {
        verb,
        path: text(rule, field),
        body: text(rule, "body"),
        response_body: text(rule, "response_body"),
    })
}
