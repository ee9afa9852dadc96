//! All RPCs and routes, read from the descriptor of the proto. So a test of all RPCs also covers
//! those that are added later.

use http::Method;
use prost_reflect::{DescriptorPool, DynamicMessage, MethodDescriptor};

/// One RPC of `coop.v1.Coop`.
pub struct Rpc {
    pub name: String,
    /// The path of the gRPC method.
    pub path: String,
    /// The scope that a token needs: `read`, `respond`, `write`, `admin`, `hook` or `exempt`.
    pub scope: String,
    pub streams: bool,
    pub routes: Vec<Route>,
}

pub struct Route {
    pub verb: Method,
    /// With a value for every `{parameter}`.
    pub path: String,
}

impl std::fmt::Display for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.verb, self.path)
    }
}

/// Every RPC, in the order of the proto.
pub fn rpcs() -> Vec<Rpc> {
    let pool = DescriptorPool::decode(coop_client::DESCRIPTOR).expect("the descriptor");
    let service = pool.get_service_by_name("coop.v1.Coop").expect("the service");
    let rpcs: Vec<_> = service.methods().map(|method| rpc(&pool, &method)).collect();
    assert!(rpcs.len() > 40, "only {} RPCs", rpcs.len());
    rpcs
}

/// Every route with its RPC.
pub fn routes(rpcs: &[Rpc]) -> impl Iterator<Item = (&Rpc, &Route)> {
    rpcs.iter().flat_map(|rpc| rpc.routes.iter().map(move |route| (rpc, route)))
}

fn rpc(pool: &DescriptorPool, method: &MethodDescriptor) -> Rpc {
    let rule = option(pool, method, "coop.v1.rule").expect("every RPC has a rule");
    let scope = number(&rule, "scope");
    let scopes = pool.get_enum_by_name("coop.v1.Scope").expect("the scopes");
    let scope = scopes.get_value(scope).expect("a known scope").name().to_owned();
    let routes =
        option(pool, method, "google.api.http").map(|rule| bindings(&rule)).unwrap_or_default();
    Rpc {
        name: method.name().to_owned(),
        path: format!("/coop.v1.Coop/{}", method.name()),
        scope: scope.trim_start_matches("SCOPE_").to_lowercase(),
        streams: method.is_server_streaming(),
        routes,
    }
}

fn option(pool: &DescriptorPool, method: &MethodDescriptor, name: &str) -> Option<DynamicMessage> {
    let extension = pool.get_extension_by_name(name).expect("a declared option");
    let options = method.options();
    options
        .has_extension(&extension)
        .then(|| options.get_extension(&extension).as_message().expect("a message").clone())
}

fn number(message: &DynamicMessage, field: &str) -> i32 {
    message.get_field_by_name(field).expect("a field").as_enum_number().expect("an enum")
}

/// A rule's own route and its additional ones.
fn bindings(rule: &DynamicMessage) -> Vec<Route> {
    let mut routes = Vec::new();
    for verb in [Method::GET, Method::PUT, Method::POST, Method::DELETE, Method::PATCH] {
        let field = verb.as_str().to_lowercase();
        let path =
            rule.get_field_by_name(&field).expect("a field").as_str().expect("text").to_owned();
        if !path.is_empty() {
            routes.push(Route { verb, path: filled(&path) });
        }
    }
    let more = rule.get_field_by_name("additional_bindings").expect("a field");
    for rule in more.as_list().expect("a list") {
        routes.extend(bindings(rule.as_message().expect("a message")));
    }
    assert!(!routes.is_empty());
    routes
}

fn filled(template: &str) -> String {
    let segments =
        template.split('/').map(|segment| if segment.starts_with('{') { "1" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}
