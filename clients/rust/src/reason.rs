//! Reads the reason of a refused call from its gRPC status.

use std::collections::BTreeMap;

use prost::Message as _;

/// The `domain` of every `google.rpc.ErrorInfo` that coop sends.
pub const ERROR_DOMAIN: &str = "coop.v1";

/// The reason for a refusal: `google.rpc.ErrorInfo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The code, for example `WRITER_BUSY`.
    pub code: String,
    /// Facts, for example `holder` and `remaining_ms`.
    pub metadata: BTreeMap<String, String>,
}

/// `google.rpc.Status`, with only the fields that are read here.
#[derive(Clone, PartialEq, prost::Message)]
struct RpcStatus {
    #[prost(message, repeated, tag = "3")]
    details: Vec<prost_types::Any>,
}

/// `google.rpc.ErrorInfo`.
#[derive(Clone, PartialEq, prost::Message)]
struct ErrorInfo {
    #[prost(string, tag = "1")]
    reason: String,
    #[prost(string, tag = "2")]
    domain: String,
    #[prost(btree_map = "string, string", tag = "3")]
    metadata: BTreeMap<String, String>,
}

/// The reason, if it was coop that refused the call.
///
/// ```
/// let status = tonic::Status::unavailable("connection lost");
/// assert_eq!(coop_client::reason(&status), None);
/// ```
pub fn reason(status: &tonic::Status) -> Option<Reason> {
    details(status)
        .into_iter()
        .filter(|detail| detail.type_url.ends_with("/google.rpc.ErrorInfo"))
        .filter_map(|detail| ErrorInfo::decode(detail.value.as_slice()).ok())
        .find(|info| info.domain == ERROR_DOMAIN)
        .map(|info| Reason { code: info.reason, metadata: info.metadata })
}

/// The response in a refusal, such as the `NudgeResponse` of a nudge that was refused because the
/// agent is busy. `name` is the message's name without its package.
pub fn response<M: prost::Message + Default>(status: &tonic::Status, name: &str) -> Option<M> {
    details(status)
        .into_iter()
        .find(|detail| {
            detail.type_url.rsplit_once("/coop.v1.").is_some_and(|(_, found)| found == name)
        })
        .and_then(|detail| M::decode(detail.value.as_slice()).ok())
}

fn details(status: &tonic::Status) -> Vec<prost_types::Any> {
    RpcStatus::decode(status.details()).map(|status| status.details).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v1::NudgeResponse;

    fn any(name: &str, message: &impl prost::Message) -> prost_types::Any {
        prost_types::Any {
            type_url: format!("type.googleapis.com/{name}"),
            value: message.encode_to_vec(),
        }
    }

    fn status(domain: &str) -> tonic::Status {
        let info = ErrorInfo {
            reason: "AGENT_BUSY".to_owned(),
            domain: domain.to_owned(),
            metadata: BTreeMap::from([("cause".to_owned(), "working".to_owned())]),
        };
        let response =
            NudgeResponse { reason: Some("agent_busy".to_owned()), ..NudgeResponse::default() };
        let details =
            vec![any("google.rpc.ErrorInfo", &info), any("coop.v1.NudgeResponse", &response)];
        let details = RpcStatus { details }.encode_to_vec();
        tonic::Status::with_details(tonic::Code::FailedPrecondition, "busy", details.into())
    }

    #[test]
    fn the_reason_and_its_metadata_are_read() {
        let reason = reason(&status("coop.v1")).unwrap();
        assert_eq!(reason.code, "AGENT_BUSY");
        assert_eq!(reason.metadata["cause"], "working");
    }

    #[test]
    fn the_typed_response_is_read() {
        let found: NudgeResponse = response(&status("coop.v1"), "NudgeResponse").unwrap();
        assert_eq!(found.reason.as_deref(), Some("agent_busy"));
        assert_eq!(response::<NudgeResponse>(&status("coop.v1"), "RespondResponse"), None);
    }

    #[test]
    fn the_reason_of_another_server_is_ignored() {
        assert_eq!(reason(&status("example.com")), None);
        let garbage =
            tonic::Status::with_details(tonic::Code::Unknown, "", vec![0xff, 0xff].into());
        assert_eq!(reason(&garbage), None);
    }
}
