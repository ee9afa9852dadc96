//! The service as the emitters need it: RPCs with their rules and routes, and the messages. An RPC
//! that the gateway cannot serve is an error that names the RPC.

use std::collections::HashMap;

use prost_reflect::{
    Cardinality, DescriptorPool, EnumDescriptor, FieldDescriptor, FileDescriptor, Kind,
    MessageDescriptor, MethodDescriptor,
};

use crate::rule::{self, HttpRule, SseRule};

/// The contents of the given files.
pub struct Api {
    pub methods: Vec<Method>,
    /// The messages of the files that declare a service, in their order.
    pub messages: Vec<MessageDescriptor>,
    pub enums: Vec<EnumDescriptor>,
}

/// One RPC.
pub struct Method {
    pub name: String,
    /// As gRPC spells it in `:path`.
    pub path: String,
    /// The Rust name of its `coop.v1.Scope`.
    pub scope: String,
    pub streaming: Streaming,
    pub response: ResponseBody,
    pub content_type: Option<String>,
    pub resume_field: Option<String>,
    /// Whether it needs a child that coop started itself.
    pub native_only: bool,
    pub routes: Vec<Route>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Streaming {
    Unary,
    Server,
    Both,
}

/// The part of the response that is the HTTP body.
pub enum ResponseBody {
    /// The whole message as JSON.
    Whole,
    /// One field, a message, as JSON.
    Part(FieldDescriptor),
    /// One field, a string or bytes, unchanged.
    Raw(FieldDescriptor),
    /// Each message of a stream as a server-sent event.
    Events(Events),
}

/// How a message becomes a server-sent event.
pub struct Events {
    pub name: EventName,
    pub id: FieldDescriptor,
}

pub enum EventName {
    Fixed(String),
    Field(FieldDescriptor),
}

/// One verb and path.
pub struct Route {
    pub verb: &'static str,
    pub path: String,
    pub body: Body,
    pub status: u32,
    pub path_params: Vec<FieldDescriptor>,
    pub query: Vec<FieldDescriptor>,
}

pub enum Body {
    None,
    Whole,
    Field(FieldDescriptor),
}

impl Api {
    pub fn read(pool: &DescriptorPool, files: &[String]) -> Result<Self, String> {
        let files: Vec<_> = files
            .iter()
            .filter_map(|name| pool.get_file_by_name(name))
            .filter(|file| file.services().len() > 0)
            .collect();
        if files.is_empty() {
            return Err("no service in the given files".to_owned());
        }
        let mut methods = Vec::new();
        for method in files
            .iter()
            .flat_map(FileDescriptor::services)
            .flat_map(|s| s.methods().collect::<Vec<_>>())
        {
            methods.push(
                Method::read(&method)
                    .map_err(|error| format!("rpc {} {error}", method.full_name()))?,
            );
        }
        refuse_clashes(&methods)?;
        let messages: Vec<_> = files.iter().flat_map(FileDescriptor::messages).collect();
        if let Some(nested) = messages
            .iter()
            .flat_map(MessageDescriptor::child_messages)
            .find(|child| !child.is_map_entry())
        {
            return Err(format!("message {} is nested in another message", nested.full_name()));
        }
        let inner = messages.iter().flat_map(|m| m.child_enums().collect::<Vec<_>>());
        let enums = files.iter().flat_map(FileDescriptor::enums).chain(inner).collect();
        Ok(Self { methods, messages, enums })
    }
}

impl Method {
    fn read(method: &MethodDescriptor) -> Result<Self, String> {
        let streaming = match (method.is_client_streaming(), method.is_server_streaming()) {
            (false, false) => Streaming::Unary,
            (false, true) => Streaming::Server,
            (true, true) => Streaming::Both,
            (true, false) => {
                return Err(
                    "streams only from the client, which the gateway cannot serve".to_owned()
                );
            }
        };
        let rule = rule::method_rule(method)?;
        let bindings = rule::http_rules(method)?;
        let response = response_body(method, streaming, &rule, &bindings)?;
        let routes = bindings
            .iter()
            .map(|binding| Route::read(method, binding, rule.post_status))
            .collect::<Result<Vec<_>, _>>()?;
        if rule.post_status != 0 && !routes.iter().any(|route| route.verb == "POST") {
            return Err("has a post_status but no POST route".to_owned());
        }
        let resume_field = match &rule.sse {
            Some(sse) if !sse.resume_field.is_empty() => {
                counter(&method.input(), &sse.resume_field)?;
                counter(&method.input(), "epoch")?;
                Some(sse.resume_field.clone())
            }
            Some(_) | None => None,
        };
        Ok(Self {
            name: method.name().to_owned(),
            path: format!("/{}/{}", method.parent_service().full_name(), method.name()),
            scope: rule.scope,
            streaming,
            response,
            content_type: Some(rule.content_type).filter(|given| !given.is_empty()),
            resume_field,
            native_only: rule.native_only,
            routes,
        })
    }

    /// The method of the generated server trait.
    pub fn handler(&self) -> String {
        heck::AsSnakeCase(&self.name).to_string()
    }
}

fn response_body(
    method: &MethodDescriptor,
    streaming: Streaming,
    rule: &rule::MethodRule,
    bindings: &[HttpRule],
) -> Result<ResponseBody, String> {
    let body_field = bindings.first().map_or("", |binding| binding.response_body.as_str());
    if bindings.iter().any(|binding| binding.response_body != body_field) {
        return Err("has routes with different response_body".to_owned());
    }
    let raw = !rule.content_type.is_empty();
    match (streaming, &rule.sse) {
        (Streaming::Both, _) if !bindings.is_empty() => {
            return Err("streams both ways and has an HTTP route".to_owned());
        }
        (Streaming::Both, None) => return Ok(ResponseBody::Whole),
        (Streaming::Server, Some(sse)) if body_field.is_empty() && !raw => {
            return Ok(ResponseBody::Events(events(method, sse)?));
        }
        (Streaming::Server, None) if raw => {}
        (Streaming::Server, _) => {
            return Err(
                "streams, so its rule has either sse or content_type with response_body".to_owned()
            );
        }
        (Streaming::Unary | Streaming::Both, Some(_)) => {
            return Err("has sse in its rule but is not a server stream".to_owned());
        }
        (Streaming::Unary, None) => {}
    }
    if body_field.is_empty() {
        return if raw {
            Err("has a content_type but no response_body".to_owned())
        } else {
            Ok(ResponseBody::Whole)
        };
    }
    let field = field(&method.output(), body_field)?;
    match (raw, field.kind()) {
        (true, Kind::String | Kind::Bytes) if singular(&field) => Ok(ResponseBody::Raw(field)),
        (false, Kind::Message(_)) if singular(&field) => Ok(ResponseBody::Part(field)),
        (true, _) => {
            Err(format!("has a content_type, so {} must be a string or bytes", field.full_name()))
        }
        (false, _) => {
            Err(format!("has no content_type, so {} must be a message", field.full_name()))
        }
    }
}

fn events(method: &MethodDescriptor, sse: &SseRule) -> Result<Events, String> {
    let output = method.output();
    let name = match (sse.event.as_str(), sse.event_field.as_str()) {
        (fixed, "") if !fixed.is_empty() => EventName::Fixed(fixed.to_owned()),
        ("", name) if !name.is_empty() => {
            let field = field(&output, name)?;
            if field.kind() != Kind::String || !singular(&field) || field.supports_presence() {
                return Err(format!(
                    "has an event_field {} that is not a plain string",
                    field.full_name()
                ));
            }
            EventName::Field(field)
        }
        _ => return Err("has sse without exactly one of event and event_field".to_owned()),
    };
    counter(&output, "epoch")?;
    Ok(Events { name, id: counter(&output, &sse.id_field)? })
}

impl Route {
    fn read(
        method: &MethodDescriptor,
        binding: &HttpRule,
        post_status: u32,
    ) -> Result<Self, String> {
        let input = method.input();
        let path_params = path_params(&input, &binding.path)?;
        let body = match binding.body.as_str() {
            "" => Body::None,
            "*" => Body::Whole,
            name => Body::Field(field(&input, name)?),
        };
        if !matches!(body, Body::None) && matches!(binding.verb, "GET" | "DELETE") {
            return Err(format!("has a body on {} {}", binding.verb, binding.path));
        }
        // As google.api.http defines: fields outside of path and body come from the query.
        let query = match &body {
            Body::Whole => Vec::new(),
            Body::None => parameters(&input).collect(),
            Body::Field(body) => {
                parameters(&input).filter(|field| field != body).collect::<Vec<_>>()
            }
        };
        let query = query.into_iter().filter(|field| !path_params.contains(field)).collect();
        let status = if binding.verb == "POST" && post_status != 0 { post_status } else { 200 };
        if !(200..300).contains(&status) {
            return Err(format!("has a post_status {status} that is not a success"));
        }
        Ok(Self {
            verb: binding.verb,
            path: binding.path.clone(),
            body,
            status,
            path_params,
            query,
        })
    }

    /// The path without the names of its parameters. Two routes that match the same requests have
    /// the same shape.
    fn shape(&self) -> String {
        let segment = |segment: &str| {
            if segment.starts_with('{') { "{}".to_owned() } else { segment.to_owned() }
        };
        self.path.split('/').map(segment).collect::<Vec<_>>().join("/")
    }
}

fn path_params(input: &MessageDescriptor, path: &str) -> Result<Vec<FieldDescriptor>, String> {
    let rest = path
        .strip_prefix('/')
        .ok_or_else(|| format!("has a path that is not absolute: {path:?}"))?;
    let mut params = Vec::new();
    for segment in rest.split('/') {
        let name = segment.strip_prefix('{').and_then(|inner| inner.strip_suffix('}'));
        match name {
            Some(name) => {
                let field = field(input, name)?;
                if !singular(&field) || matches!(field.kind(), Kind::Message(_)) {
                    return Err(format!(
                        "has {} in its path, which is not a single value",
                        field.full_name()
                    ));
                }
                params.push(field);
            }
            None if segment.is_empty() || segment.contains(['{', '}', '*', ':']) => {
                return Err(format!(
                    "has a path segment {segment:?} that is neither a word nor {{field}}"
                ));
            }
            None => {}
        }
    }
    Ok(params)
}

/// The fields that text can fill: all but messages and maps.
fn parameters(input: &MessageDescriptor) -> impl Iterator<Item = FieldDescriptor> {
    input.fields().filter(|field| !matches!(field.kind(), Kind::Message(_)))
}

fn field(message: &MessageDescriptor, name: &str) -> Result<FieldDescriptor, String> {
    message
        .get_field_by_name(name)
        .ok_or_else(|| format!("names {name:?}, which {} does not have", message.full_name()))
}

fn counter(message: &MessageDescriptor, name: &str) -> Result<FieldDescriptor, String> {
    let field = field(message, name)?;
    if field.kind() == Kind::Uint64 && singular(&field) {
        Ok(field)
    } else {
        Err(format!("needs {} to be a uint64", field.full_name()))
    }
}

fn singular(field: &FieldDescriptor) -> bool {
    field.cardinality() != Cardinality::Repeated
}

fn refuse_clashes(methods: &[Method]) -> Result<(), String> {
    let mut routes: HashMap<(&str, String), &str> = HashMap::new();
    let mut paths: HashMap<String, &str> = HashMap::new();
    for (method, route) in methods.iter().flat_map(|m| m.routes.iter().map(move |route| (m, route)))
    {
        let (verb, path) = (route.verb, &route.path);
        if let Some(first) = routes.insert((verb, route.shape()), &method.name) {
            return Err(format!("rpcs {first} and {} both have {verb} {path}", method.name));
        }
        match paths.insert(route.shape(), path) {
            Some(other) if other != path => {
                return Err(format!("{other} and {path} name the same parameter differently"));
            }
            Some(_) | None => {}
        }
    }
    Ok(())
}
