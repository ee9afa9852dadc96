//! Runs the whole plugin on small protos: the errors it reports and the text it writes.

use prost::Message as _;
use prost_types::compiler::CodeGeneratorResponse;
use protox::file::{
    ChainFileResolver, File, FileResolver, GoogleFileResolver, IncludeFileResolver,
};

use crate::plugin::{Request, respond};

/// A proto in memory; its imports come from the project.
struct Source(String);

impl FileResolver for Source {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        if name == "test.proto" {
            File::from_source(name, &self.0)
        } else {
            Err(protox::Error::file_not_found(name))
        }
    }
}

fn run(mode: &str, service: &str, messages: &str) -> Result<String, String> {
    let source = format!(
        "syntax = \"proto3\"; package coop.v1; import \"coop/v1/options.proto\"; \
         import \"google/api/annotations.proto\"; import \"google/protobuf/struct.proto\"; \
         service Test {{ {service} }} {messages}"
    );
    let mut resolver = ChainFileResolver::new();
    resolver.add(Source(source));
    resolver
        .add(IncludeFileResolver::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../proto").into()));
    resolver.add(GoogleFileResolver::new());
    let mut compiler = protox::Compiler::with_file_resolver(resolver);
    compiler.include_imports(true).open_file("test.proto").unwrap();
    let request = Request {
        file_to_generate: vec!["test.proto".to_owned()],
        parameter: Some(mode.to_owned()),
        proto_file: compiler.descriptor_pool().files().map(|file| file.encode_to_vec()).collect(),
    };
    let response =
        CodeGeneratorResponse::decode(respond(&request.encode_to_vec()).as_slice()).unwrap();
    match response.error {
        Some(error) => Err(error),
        None => Ok(response.file[0].content().to_owned()),
    }
}

const MESSAGES: &str = "message Q { string key = 1; repeated string keys = 2; uint64 since = 3; P inner = 4; optional \
                        uint64 epoch = 5; } message P { uint64 seq = 1; uint64 epoch = 2; string kind = 3; bytes data \
                        = 4; P2 part = 5; optional string note = 6; } message P2 {}";

fn rpc(returns: &str, options: &str) -> String {
    format!("rpc Do(Q) returns ({returns}) {{ {options} }}")
}

const READ: &str = "option (rule) = {scope: SCOPE_READ};";

#[test]
fn an_rpc_that_cannot_be_served_is_an_error_with_its_name() {
    let cases = [
        ("P", "", "has no option (coop.v1.rule)"),
        (
            "P",
            "option (rule) = {content_type: \"x\"};",
            "has no scope in its option (coop.v1.rule)",
        ),
        (
            "P",
            "option (rule) = {scope: SCOPE_UNSPECIFIED};",
            "has no scope in its option (coop.v1.rule)",
        ),
        (
            "P",
            "READ; option (google.api.http) = {get: \"/a/{no}\"};",
            "names \"no\", which coop.v1.Q does not have",
        ),
        (
            "P",
            "READ; option (google.api.http) = {get: \"/a/{keys}\"};",
            "has coop.v1.Q.keys in its path, which is not a single value",
        ),
        (
            "P",
            "READ; option (google.api.http) = {get: \"/a/{inner}\"};",
            "has coop.v1.Q.inner in its path, which is not a single value",
        ),
        (
            "P",
            "READ; option (google.api.http) = {get: \"/a/{key=**}\"};",
            "names \"key=**\", which coop.v1.Q does not have",
        ),
        (
            "P",
            "READ; option (google.api.http) = {get: \"/a/x{key}\"};",
            "has a path segment \"x{key}\" that is neither a word nor {field}",
        ),
        (
            "P",
            "READ; option (google.api.http) = {get: \"a\"};",
            "has a path that is not absolute: \"a\"",
        ),
        (
            "P",
            "READ; option (google.api.http) = {body: \"*\"};",
            "has a route without one of get, put, post, delete and patch",
        ),
        (
            "P",
            "READ; option (google.api.http) = {get: \"/a\" body: \"*\"};",
            "has a body on GET /a",
        ),
        (
            "P",
            "READ; option (google.api.http) = {post: \"/a\" body: \"no\"};",
            "names \"no\", which coop.v1.Q does not have",
        ),
        (
            "P",
            "READ; option (google.api.http) = {get: \"/a\" response_body: \"no\"};",
            "names \"no\", which coop.v1.P does not have",
        ),
        (
            "P",
            "READ; option (google.api.http) = {get: \"/a\" response_body: \"kind\"};",
            "has no content_type, so coop.v1.P.kind must be a message",
        ),
        (
            "P",
            "option (rule) = {scope: SCOPE_READ content_type: \"x\"};",
            "has a content_type but no response_body",
        ),
        (
            "P",
            "option (rule) = {scope: SCOPE_READ content_type: \"x\"}; option (google.api.http) = {get: \"/a\" response_body: \"seq\"};",
            "has a content_type, so coop.v1.P.seq must be a string or bytes",
        ),
        (
            "P",
            "READ; option (google.api.http) = {get: \"/a\" response_body: \"part\" additional_bindings: {get: \"/b\"}};",
            "has routes with different response_body",
        ),
        (
            "P",
            "option (rule) = {scope: SCOPE_READ post_status: 202};",
            "has a post_status but no POST route",
        ),
        (
            "P",
            "option (rule) = {scope: SCOPE_READ post_status: 404}; option (google.api.http) = {post: \"/a\"};",
            "has a post_status 404 that is not a success",
        ),
        (
            "P",
            "option (rule) = {scope: SCOPE_READ sse: {event: \"x\" id_field: \"seq\"}};",
            "has sse in its rule but is not a server stream",
        ),
        (
            "stream P",
            "READ;",
            "streams, so its rule has either sse or content_type with response_body",
        ),
        (
            "stream P",
            "option (rule) = {scope: SCOPE_READ sse: {id_field: \"seq\"}};",
            "has sse without exactly one of event and event_field",
        ),
        (
            "stream P",
            "option (rule) = {scope: SCOPE_READ sse: {event: \"x\" id_field: \"kind\"}};",
            "needs coop.v1.P.kind to be a uint64",
        ),
        (
            "stream P",
            "option (rule) = {scope: SCOPE_READ sse: {event_field: \"note\" id_field: \"seq\"}};",
            "has an event_field coop.v1.P.note that is not a plain string",
        ),
        (
            "stream P",
            "option (rule) = {scope: SCOPE_READ sse: {event: \"x\" id_field: \"seq\" resume_field: \"key\"}};",
            "needs coop.v1.Q.key to be a uint64",
        ),
        (
            "stream P2",
            "option (rule) = {scope: SCOPE_READ sse: {event: \"x\" id_field: \"seq\"}};",
            "names \"epoch\", which coop.v1.P2 does not have",
        ),
    ];
    for (returns, options, expected) in cases {
        let options = options.replace("READ;", READ);
        let error = run("gateway", &rpc(returns, &options), MESSAGES).unwrap_err();
        assert_eq!(error, format!("rpc coop.v1.Test.Do {expected}"), "{options}");
    }
}

#[test]
fn a_stream_from_the_client_has_no_route() {
    let both = format!(
        "rpc Do(stream Q) returns (stream P) {{ {READ} option (google.api.http) = {{get: \"/a\"}}; }}"
    );
    let error = run("gateway", &both, MESSAGES).unwrap_err();
    assert_eq!(error, "rpc coop.v1.Test.Do streams both ways and has an HTTP route");
    let one = format!("rpc Do(stream Q) returns (P) {{ {READ} }}");
    let error = run("gateway", &one, MESSAGES).unwrap_err();
    assert_eq!(
        error,
        "rpc coop.v1.Test.Do streams only from the client, which the gateway cannot serve"
    );
}

#[test]
fn two_rpcs_with_the_same_route_are_an_error() {
    let service = |verb: &str, path: &str| {
        format!(
            "rpc A(Q) returns (P) {{ {READ} option (google.api.http) = {{get: \"/a/{{key}}\"}}; }} \
             rpc B(Q) returns (P) {{ {READ} option (google.api.http) = {{{verb}: \"{path}\"}}; }}"
        )
    };
    let same = run("gateway", &service("get", "/a/{since}"), MESSAGES).unwrap_err();
    assert_eq!(same, "rpcs A and B both have GET /a/{since}");
    let named = run("gateway", &service("delete", "/a/{since}"), MESSAGES).unwrap_err();
    assert_eq!(named, "/a/{key} and /a/{since} name the same parameter differently");
    run("gateway", &service("delete", "/a/{key}"), MESSAGES).unwrap();
    run("gateway", &service("get", "/a/word"), MESSAGES).unwrap();
}

#[test]
fn a_field_without_a_json_mapping_is_an_error() {
    let service = rpc("P", READ);
    let keys =
        run("serde", &service, "message Q { map<int32, string> m = 1; } message P {}").unwrap_err();
    assert_eq!(keys, "map coop.v1.Q.m has keys that are not strings");
    let foreign = run("serde", &service, "message Q { google.protobuf.Value v = 1; } message P {}")
        .unwrap_err();
    assert_eq!(
        foreign,
        "field coop.v1.Q.v has a google.protobuf.Value, for which there is no JSON mapping"
    );
    let nested =
        run("serde", &service, "message Q { message In {} In v = 1; } message P {}").unwrap_err();
    assert_eq!(nested, "message coop.v1.Q.In is nested in another message");
}

#[test]
fn every_kind_of_field_is_written() {
    let messages = "message Q { string type = 2; optional uint64 n = 1; oneof pick { P p = 3; bytes b = 4; } \
                    map<string, P> m = 5; google.protobuf.Struct s = 6; repeated E e = 7; enum E { RED = 0; } } \
                    message P {}";
    let text = run("serde", &rpc("P", READ), messages).unwrap();
    let expected = r#"message!(Q {
    r#type: one["type": Text],
    n: optional["n": Int<u64>],
    pick: oneof[
        "p" q::Pick::P: Sub<P>,
        "b" q::Pick::B: Base64
    ],
    m: one["m": Map<Sub<P>>],
    s: optional["s": Object],
    e: one["e": List<Enum<q::E>>],
});
"#;
    assert!(text.starts_with("// @generated by tools/gen"), "{text}");
    assert!(text.contains(expected), "{text}");
}

#[test]
fn fields_outside_of_path_and_body_come_from_the_query() {
    let options =
        format!("{READ} option (google.api.http) = {{post: \"/a/{{key}}\" body: \"inner\"}};");
    let text = run("gateway", &rpc("P", &options), MESSAGES).unwrap();
    let expected = r#"        path: "/a/{key}",
        body: Body::Field("inner"),
        status: 200,
        path_params: &[
            Param::one("key", ParamKind::Text),
        ],
        query: &[
            Param::list("keys", ParamKind::Text),
            Param::one("since", ParamKind::Integer),
            Param::one("epoch", ParamKind::Integer),
        ],
"#;
    assert!(text.starts_with("// @generated by tools/gen"), "{text}");
    assert!(text.contains(expected), "{text}");
}

#[test]
fn the_service_table_has_the_rule_of_each_rpc() {
    let options = "option (rule) = {scope: SCOPE_ADMIN native_only: true};";
    let text = run("service", &rpc("P", options), MESSAGES).unwrap();
    let expected = r#"    Method {
        rpc: Rpc::Do,
        name: "Do",
        path: "/coop.v1.Test/Do",
        scope: Scope::Admin,
        streaming: Streaming::Unary,
        content_type: None,
        resume_field: None,
        native_only: true,
    },
"#;
    assert!(text.starts_with("// @generated by tools/gen"), "{text}");
    assert!(text.contains(expected), "{text}");
    let text = run("service", &rpc("P", READ), MESSAGES).unwrap();
    assert!(text.contains("native_only: false"), "{text}");
}

#[test]
fn an_unknown_parameter_is_an_error() {
    let error = run("xml", &rpc("P", READ), MESSAGES).unwrap_err();
    assert_eq!(error, "the parameter is `serde`, `service` or `gateway`, not `xml`");
}
