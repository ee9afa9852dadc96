//! The plugin protocol: decodes the request and encodes the response. The emitters write the files.

use prost::Message as _;
use prost_reflect::DescriptorPool;
use prost_types::compiler::{CodeGeneratorResponse, code_generator_response as response};

use crate::api::Api;
use crate::{emit_gateway, emit_serde, emit_service};

/// `google.protobuf.compiler.CodeGeneratorRequest` with undecoded files, because prost's type for
/// files drops the extensions that hold the method options.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Request {
    #[prost(string, repeated, tag = "1")]
    pub file_to_generate: Vec<String>,
    #[prost(string, optional, tag = "2")]
    pub parameter: Option<String>,
    #[prost(bytes = "vec", repeated, tag = "15")]
    pub proto_file: Vec<Vec<u8>>,
}

/// Returns the encoded `CodeGeneratorResponse`; a failure is its `error`.
pub fn respond(request: &[u8]) -> Vec<u8> {
    let response = match generate(request) {
        Ok(file) => CodeGeneratorResponse {
            file: vec![file],
            supported_features: Some(response::Feature::Proto3Optional as u64),
            ..CodeGeneratorResponse::default()
        },
        Err(error) => {
            CodeGeneratorResponse { error: Some(error), ..CodeGeneratorResponse::default() }
        }
    };
    response.encode_to_vec()
}

fn generate(request: &[u8]) -> Result<response::File, String> {
    let request = Request::decode(request).map_err(|e| format!("not a plugin request: {e}"))?;
    let mut pool = DescriptorPool::new();
    for file in &request.proto_file {
        pool.decode_file_descriptor_proto(file.as_slice()).map_err(|e| e.to_string())?;
    }
    let api = Api::read(&pool, &request.file_to_generate)?;
    let (name, content) = match request.parameter.as_deref() {
        Some("serde") => ("coop.v1.serde.rs", emit_serde::file(&api)?),
        Some("service") => ("gen.rs", emit_service::file(&api)),
        Some("gateway") => ("gen.rs", emit_gateway::file(&api)),
        other => {
            let given = other.unwrap_or_default();
            return Err(format!("the parameter is `serde`, `service` or `gateway`, not `{given}`"));
        }
    };
    Ok(response::File {
        name: Some(name.to_owned()),
        content: Some(content),
        ..response::File::default()
    })
}
