// @generated
/// Generated client implementations.
#[cfg(feature = "client")]
pub mod coop_client {
    #![allow(
        unused_variables,
        dead_code,
        missing_docs,
        clippy::wildcard_imports,
        clippy::let_unit_value,
    )]
    use tonic::codegen::*;
    use tonic::codegen::http::Uri;
    #[derive(Debug, Clone)]
    pub struct CoopClient<T> {
        inner: tonic::client::Grpc<T>,
    }
    impl CoopClient<tonic::transport::Channel> {
        /// Attempt to create a new client by connecting to a given endpoint.
        pub async fn connect<D>(dst: D) -> Result<Self, tonic::transport::Error>
        where
            D: TryInto<tonic::transport::Endpoint>,
            D::Error: Into<StdError>,
        {
            let conn = tonic::transport::Endpoint::new(dst)?.connect().await?;
            Ok(Self::new(conn))
        }
    }
    impl<T> CoopClient<T>
    where
        T: tonic::client::GrpcService<tonic::body::Body>,
        T::Error: Into<StdError>,
        T::ResponseBody: Body<Data = Bytes> + std::marker::Send + 'static,
        <T::ResponseBody as Body>::Error: Into<StdError> + std::marker::Send,
    {
        pub fn new(inner: T) -> Self {
            let inner = tonic::client::Grpc::new(inner);
            Self { inner }
        }
        pub fn with_origin(inner: T, origin: Uri) -> Self {
            let inner = tonic::client::Grpc::with_origin(inner, origin);
            Self { inner }
        }
        pub fn with_interceptor<F>(
            inner: T,
            interceptor: F,
        ) -> CoopClient<InterceptedService<T, F>>
        where
            F: tonic::service::Interceptor,
            T::ResponseBody: Default,
            T: tonic::codegen::Service<
                http::Request<tonic::body::Body>,
                Response = http::Response<
                    <T as tonic::client::GrpcService<tonic::body::Body>>::ResponseBody,
                >,
            >,
            <T as tonic::codegen::Service<
                http::Request<tonic::body::Body>,
            >>::Error: Into<StdError> + std::marker::Send + std::marker::Sync,
        {
            CoopClient::new(InterceptedService::new(inner, interceptor))
        }
        /// Compress requests with the given encoding.
        ///
        /// This requires the server to support it otherwise it might respond with an
        /// error.
        #[must_use]
        pub fn send_compressed(mut self, encoding: CompressionEncoding) -> Self {
            self.inner = self.inner.send_compressed(encoding);
            self
        }
        /// Enable decompressing responses.
        #[must_use]
        pub fn accept_compressed(mut self, encoding: CompressionEncoding) -> Self {
            self.inner = self.inner.accept_compressed(encoding);
            self
        }
        /// Limits the maximum size of a decoded message.
        ///
        /// Default: `4MB`
        #[must_use]
        pub fn max_decoding_message_size(mut self, limit: usize) -> Self {
            self.inner = self.inner.max_decoding_message_size(limit);
            self
        }
        /// Limits the maximum size of an encoded message.
        ///
        /// Default: `usize::MAX`
        #[must_use]
        pub fn max_encoding_message_size(mut self, limit: usize) -> Self {
            self.inner = self.inner.max_encoding_message_size(limit);
            self
        }
        pub async fn get_health(
            &mut self,
            request: impl tonic::IntoRequest<super::GetHealthRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetHealthResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/coop.v1.Coop/GetHealth");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "GetHealth"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn get_ready(
            &mut self,
            request: impl tonic::IntoRequest<super::GetReadyRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetReadyResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/coop.v1.Coop/GetReady");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "GetReady"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn get_screen(
            &mut self,
            request: impl tonic::IntoRequest<super::GetScreenRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetScreenResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/coop.v1.Coop/GetScreen");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "GetScreen"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn get_screen_text(
            &mut self,
            request: impl tonic::IntoRequest<super::GetScreenTextRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetScreenTextResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/GetScreenText",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(GrpcMethod::new("coop.v1.Coop", "GetScreenText"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn get_scrollback(
            &mut self,
            request: impl tonic::IntoRequest<super::GetScrollbackRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetScrollbackResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/GetScrollback",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(GrpcMethod::new("coop.v1.Coop", "GetScrollback"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn get_output(
            &mut self,
            request: impl tonic::IntoRequest<super::GetOutputRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetOutputResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/coop.v1.Coop/GetOutput");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "GetOutput"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn get_status(
            &mut self,
            request: impl tonic::IntoRequest<super::GetStatusRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetStatusResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/coop.v1.Coop/GetStatus");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "GetStatus"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn send_input(
            &mut self,
            request: impl tonic::IntoRequest<super::SendInputRequest>,
        ) -> std::result::Result<
            tonic::Response<super::SendInputResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/coop.v1.Coop/SendInput");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "SendInput"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn send_input_raw(
            &mut self,
            request: impl tonic::IntoRequest<super::SendInputRawRequest>,
        ) -> std::result::Result<
            tonic::Response<super::SendInputRawResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/SendInputRaw",
            );
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "SendInputRaw"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn send_keys(
            &mut self,
            request: impl tonic::IntoRequest<super::SendKeysRequest>,
        ) -> std::result::Result<
            tonic::Response<super::SendKeysResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/coop.v1.Coop/SendKeys");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "SendKeys"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn resize(
            &mut self,
            request: impl tonic::IntoRequest<super::ResizeRequest>,
        ) -> std::result::Result<tonic::Response<super::ResizeResponse>, tonic::Status> {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/coop.v1.Coop/Resize");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "Resize"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn send_signal(
            &mut self,
            request: impl tonic::IntoRequest<super::SendSignalRequest>,
        ) -> std::result::Result<
            tonic::Response<super::SendSignalResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/coop.v1.Coop/SendSignal");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "SendSignal"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn acquire_lease(
            &mut self,
            request: impl tonic::IntoRequest<super::AcquireLeaseRequest>,
        ) -> std::result::Result<
            tonic::Response<super::AcquireLeaseResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/AcquireLease",
            );
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "AcquireLease"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn release_lease(
            &mut self,
            request: impl tonic::IntoRequest<super::ReleaseLeaseRequest>,
        ) -> std::result::Result<
            tonic::Response<super::ReleaseLeaseResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/ReleaseLease",
            );
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "ReleaseLease"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn stream_output(
            &mut self,
            request: impl tonic::IntoRequest<super::StreamOutputRequest>,
        ) -> std::result::Result<
            tonic::Response<tonic::codec::Streaming<super::OutputChunk>>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/StreamOutput",
            );
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "StreamOutput"));
            self.inner.server_streaming(req, path, codec).await
        }
        pub async fn stream_screen(
            &mut self,
            request: impl tonic::IntoRequest<super::StreamScreenRequest>,
        ) -> std::result::Result<
            tonic::Response<tonic::codec::Streaming<super::ScreenSnapshot>>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/StreamScreen",
            );
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "StreamScreen"));
            self.inner.server_streaming(req, path, codec).await
        }
        pub async fn attach(
            &mut self,
            request: impl tonic::IntoStreamingRequest<Message = super::AttachRequest>,
        ) -> std::result::Result<
            tonic::Response<tonic::codec::Streaming<super::AttachResponse>>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/coop.v1.Coop/Attach");
            let mut req = request.into_streaming_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "Attach"));
            self.inner.streaming(req, path, codec).await
        }
        pub async fn get_agent_state(
            &mut self,
            request: impl tonic::IntoRequest<super::GetAgentStateRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetAgentStateResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/GetAgentState",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(GrpcMethod::new("coop.v1.Coop", "GetAgentState"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn wait_for_state(
            &mut self,
            request: impl tonic::IntoRequest<super::WaitForStateRequest>,
        ) -> std::result::Result<
            tonic::Response<super::WaitForStateResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/WaitForState",
            );
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "WaitForState"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn explain_state(
            &mut self,
            request: impl tonic::IntoRequest<super::ExplainStateRequest>,
        ) -> std::result::Result<
            tonic::Response<super::ExplainStateResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/ExplainState",
            );
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "ExplainState"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn nudge(
            &mut self,
            request: impl tonic::IntoRequest<super::NudgeRequest>,
        ) -> std::result::Result<tonic::Response<super::NudgeResponse>, tonic::Status> {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/coop.v1.Coop/Nudge");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "Nudge"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn respond(
            &mut self,
            request: impl tonic::IntoRequest<super::RespondRequest>,
        ) -> std::result::Result<
            tonic::Response<super::RespondResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/coop.v1.Coop/Respond");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "Respond"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn interrupt(
            &mut self,
            request: impl tonic::IntoRequest<super::InterruptRequest>,
        ) -> std::result::Result<
            tonic::Response<super::InterruptResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/coop.v1.Coop/Interrupt");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "Interrupt"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn stream_state(
            &mut self,
            request: impl tonic::IntoRequest<super::StreamStateRequest>,
        ) -> std::result::Result<
            tonic::Response<tonic::codec::Streaming<super::AgentStateEvent>>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/coop.v1.Coop/StreamState");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "StreamState"));
            self.inner.server_streaming(req, path, codec).await
        }
        pub async fn stream_events(
            &mut self,
            request: impl tonic::IntoRequest<super::StreamEventsRequest>,
        ) -> std::result::Result<
            tonic::Response<tonic::codec::Streaming<super::Event>>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/StreamEvents",
            );
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "StreamEvents"));
            self.inner.server_streaming(req, path, codec).await
        }
        pub async fn stop_hook(
            &mut self,
            request: impl tonic::IntoRequest<super::StopHookRequest>,
        ) -> std::result::Result<
            tonic::Response<super::StopHookResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/coop.v1.Coop/StopHook");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "StopHook"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn start_hook(
            &mut self,
            request: impl tonic::IntoRequest<super::StartHookRequest>,
        ) -> std::result::Result<
            tonic::Response<super::StartHookResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/coop.v1.Coop/StartHook");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "StartHook"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn resolve_stop(
            &mut self,
            request: impl tonic::IntoRequest<super::ResolveStopRequest>,
        ) -> std::result::Result<
            tonic::Response<super::ResolveStopResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/coop.v1.Coop/ResolveStop");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "ResolveStop"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn get_stop_config(
            &mut self,
            request: impl tonic::IntoRequest<super::GetStopConfigRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetStopConfigResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/GetStopConfig",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(GrpcMethod::new("coop.v1.Coop", "GetStopConfig"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn put_stop_config(
            &mut self,
            request: impl tonic::IntoRequest<super::PutStopConfigRequest>,
        ) -> std::result::Result<
            tonic::Response<super::PutStopConfigResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/PutStopConfig",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(GrpcMethod::new("coop.v1.Coop", "PutStopConfig"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn get_start_config(
            &mut self,
            request: impl tonic::IntoRequest<super::GetStartConfigRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetStartConfigResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/GetStartConfig",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(GrpcMethod::new("coop.v1.Coop", "GetStartConfig"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn put_start_config(
            &mut self,
            request: impl tonic::IntoRequest<super::PutStartConfigRequest>,
        ) -> std::result::Result<
            tonic::Response<super::PutStartConfigResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/PutStartConfig",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(GrpcMethod::new("coop.v1.Coop", "PutStartConfig"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn list_transcripts(
            &mut self,
            request: impl tonic::IntoRequest<super::ListTranscriptsRequest>,
        ) -> std::result::Result<
            tonic::Response<super::ListTranscriptsResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/ListTranscripts",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(GrpcMethod::new("coop.v1.Coop", "ListTranscripts"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn get_transcript(
            &mut self,
            request: impl tonic::IntoRequest<super::GetTranscriptRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetTranscriptResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/GetTranscript",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(GrpcMethod::new("coop.v1.Coop", "GetTranscript"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn catchup_transcripts(
            &mut self,
            request: impl tonic::IntoRequest<super::CatchupTranscriptsRequest>,
        ) -> std::result::Result<
            tonic::Response<super::CatchupTranscriptsResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/CatchupTranscripts",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(GrpcMethod::new("coop.v1.Coop", "CatchupTranscripts"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn stream_transcript_events(
            &mut self,
            request: impl tonic::IntoRequest<super::StreamTranscriptEventsRequest>,
        ) -> std::result::Result<
            tonic::Response<tonic::codec::Streaming<super::TranscriptEvent>>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/StreamTranscriptEvents",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(GrpcMethod::new("coop.v1.Coop", "StreamTranscriptEvents"));
            self.inner.server_streaming(req, path, codec).await
        }
        pub async fn get_usage(
            &mut self,
            request: impl tonic::IntoRequest<super::GetUsageRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetUsageResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/coop.v1.Coop/GetUsage");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "GetUsage"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn restart_session(
            &mut self,
            request: impl tonic::IntoRequest<super::RestartSessionRequest>,
        ) -> std::result::Result<
            tonic::Response<super::RestartSessionResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/RestartSession",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(GrpcMethod::new("coop.v1.Coop", "RestartSession"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn switch_session(
            &mut self,
            request: impl tonic::IntoRequest<super::SwitchSessionRequest>,
        ) -> std::result::Result<
            tonic::Response<super::SwitchSessionResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/SwitchSession",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(GrpcMethod::new("coop.v1.Coop", "SwitchSession"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn get_env(
            &mut self,
            request: impl tonic::IntoRequest<super::GetEnvRequest>,
        ) -> std::result::Result<tonic::Response<super::GetEnvResponse>, tonic::Status> {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/coop.v1.Coop/GetEnv");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "GetEnv"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn put_env(
            &mut self,
            request: impl tonic::IntoRequest<super::PutEnvRequest>,
        ) -> std::result::Result<tonic::Response<super::PutEnvResponse>, tonic::Status> {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/coop.v1.Coop/PutEnv");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "PutEnv"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn delete_env(
            &mut self,
            request: impl tonic::IntoRequest<super::DeleteEnvRequest>,
        ) -> std::result::Result<
            tonic::Response<super::DeleteEnvResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/coop.v1.Coop/DeleteEnv");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "DeleteEnv"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn get_cwd(
            &mut self,
            request: impl tonic::IntoRequest<super::GetCwdRequest>,
        ) -> std::result::Result<tonic::Response<super::GetCwdResponse>, tonic::Status> {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/coop.v1.Coop/GetCwd");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "GetCwd"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn get_recording(
            &mut self,
            request: impl tonic::IntoRequest<super::GetRecordingRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetRecordingResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/GetRecording",
            );
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "GetRecording"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn put_recording(
            &mut self,
            request: impl tonic::IntoRequest<super::PutRecordingRequest>,
        ) -> std::result::Result<
            tonic::Response<super::PutRecordingResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/PutRecording",
            );
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "PutRecording"));
            self.inner.unary(req, path, codec).await
        }
        pub async fn download_recording(
            &mut self,
            request: impl tonic::IntoRequest<super::DownloadRecordingRequest>,
        ) -> std::result::Result<
            tonic::Response<tonic::codec::Streaming<super::RecordingChunk>>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static(
                "/coop.v1.Coop/DownloadRecording",
            );
            let mut req = request.into_request();
            req.extensions_mut()
                .insert(GrpcMethod::new("coop.v1.Coop", "DownloadRecording"));
            self.inner.server_streaming(req, path, codec).await
        }
        pub async fn shutdown(
            &mut self,
            request: impl tonic::IntoRequest<super::ShutdownRequest>,
        ) -> std::result::Result<
            tonic::Response<super::ShutdownResponse>,
            tonic::Status,
        > {
            self.inner
                .ready()
                .await
                .map_err(|e| {
                    tonic::Status::unknown(
                        format!("Service was not ready: {}", e.into()),
                    )
                })?;
            let codec = tonic_prost::ProstCodec::default();
            let path = http::uri::PathAndQuery::from_static("/coop.v1.Coop/Shutdown");
            let mut req = request.into_request();
            req.extensions_mut().insert(GrpcMethod::new("coop.v1.Coop", "Shutdown"));
            self.inner.unary(req, path, codec).await
        }
    }
}
/// Generated server implementations.
#[cfg(feature = "server")]
pub mod coop_server {
    #![allow(
        unused_variables,
        dead_code,
        missing_docs,
        clippy::wildcard_imports,
        clippy::let_unit_value,
    )]
    use tonic::codegen::*;
    /// Generated trait containing gRPC methods that should be implemented for use with CoopServer.
    #[async_trait]
    pub trait Coop: std::marker::Send + std::marker::Sync + 'static {
        async fn get_health(
            &self,
            request: tonic::Request<super::GetHealthRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetHealthResponse>,
            tonic::Status,
        >;
        async fn get_ready(
            &self,
            request: tonic::Request<super::GetReadyRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetReadyResponse>,
            tonic::Status,
        >;
        async fn get_screen(
            &self,
            request: tonic::Request<super::GetScreenRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetScreenResponse>,
            tonic::Status,
        >;
        async fn get_screen_text(
            &self,
            request: tonic::Request<super::GetScreenTextRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetScreenTextResponse>,
            tonic::Status,
        >;
        async fn get_scrollback(
            &self,
            request: tonic::Request<super::GetScrollbackRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetScrollbackResponse>,
            tonic::Status,
        >;
        async fn get_output(
            &self,
            request: tonic::Request<super::GetOutputRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetOutputResponse>,
            tonic::Status,
        >;
        async fn get_status(
            &self,
            request: tonic::Request<super::GetStatusRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetStatusResponse>,
            tonic::Status,
        >;
        async fn send_input(
            &self,
            request: tonic::Request<super::SendInputRequest>,
        ) -> std::result::Result<
            tonic::Response<super::SendInputResponse>,
            tonic::Status,
        >;
        async fn send_input_raw(
            &self,
            request: tonic::Request<super::SendInputRawRequest>,
        ) -> std::result::Result<
            tonic::Response<super::SendInputRawResponse>,
            tonic::Status,
        >;
        async fn send_keys(
            &self,
            request: tonic::Request<super::SendKeysRequest>,
        ) -> std::result::Result<
            tonic::Response<super::SendKeysResponse>,
            tonic::Status,
        >;
        async fn resize(
            &self,
            request: tonic::Request<super::ResizeRequest>,
        ) -> std::result::Result<tonic::Response<super::ResizeResponse>, tonic::Status>;
        async fn send_signal(
            &self,
            request: tonic::Request<super::SendSignalRequest>,
        ) -> std::result::Result<
            tonic::Response<super::SendSignalResponse>,
            tonic::Status,
        >;
        async fn acquire_lease(
            &self,
            request: tonic::Request<super::AcquireLeaseRequest>,
        ) -> std::result::Result<
            tonic::Response<super::AcquireLeaseResponse>,
            tonic::Status,
        >;
        async fn release_lease(
            &self,
            request: tonic::Request<super::ReleaseLeaseRequest>,
        ) -> std::result::Result<
            tonic::Response<super::ReleaseLeaseResponse>,
            tonic::Status,
        >;
        /// Server streaming response type for the StreamOutput method.
        type StreamOutputStream: tonic::codegen::tokio_stream::Stream<
                Item = std::result::Result<super::OutputChunk, tonic::Status>,
            >
            + std::marker::Send
            + 'static;
        async fn stream_output(
            &self,
            request: tonic::Request<super::StreamOutputRequest>,
        ) -> std::result::Result<
            tonic::Response<Self::StreamOutputStream>,
            tonic::Status,
        >;
        /// Server streaming response type for the StreamScreen method.
        type StreamScreenStream: tonic::codegen::tokio_stream::Stream<
                Item = std::result::Result<super::ScreenSnapshot, tonic::Status>,
            >
            + std::marker::Send
            + 'static;
        async fn stream_screen(
            &self,
            request: tonic::Request<super::StreamScreenRequest>,
        ) -> std::result::Result<
            tonic::Response<Self::StreamScreenStream>,
            tonic::Status,
        >;
        /// Server streaming response type for the Attach method.
        type AttachStream: tonic::codegen::tokio_stream::Stream<
                Item = std::result::Result<super::AttachResponse, tonic::Status>,
            >
            + std::marker::Send
            + 'static;
        async fn attach(
            &self,
            request: tonic::Request<tonic::Streaming<super::AttachRequest>>,
        ) -> std::result::Result<tonic::Response<Self::AttachStream>, tonic::Status>;
        async fn get_agent_state(
            &self,
            request: tonic::Request<super::GetAgentStateRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetAgentStateResponse>,
            tonic::Status,
        >;
        async fn wait_for_state(
            &self,
            request: tonic::Request<super::WaitForStateRequest>,
        ) -> std::result::Result<
            tonic::Response<super::WaitForStateResponse>,
            tonic::Status,
        >;
        async fn explain_state(
            &self,
            request: tonic::Request<super::ExplainStateRequest>,
        ) -> std::result::Result<
            tonic::Response<super::ExplainStateResponse>,
            tonic::Status,
        >;
        async fn nudge(
            &self,
            request: tonic::Request<super::NudgeRequest>,
        ) -> std::result::Result<tonic::Response<super::NudgeResponse>, tonic::Status>;
        async fn respond(
            &self,
            request: tonic::Request<super::RespondRequest>,
        ) -> std::result::Result<tonic::Response<super::RespondResponse>, tonic::Status>;
        async fn interrupt(
            &self,
            request: tonic::Request<super::InterruptRequest>,
        ) -> std::result::Result<
            tonic::Response<super::InterruptResponse>,
            tonic::Status,
        >;
        /// Server streaming response type for the StreamState method.
        type StreamStateStream: tonic::codegen::tokio_stream::Stream<
                Item = std::result::Result<super::AgentStateEvent, tonic::Status>,
            >
            + std::marker::Send
            + 'static;
        async fn stream_state(
            &self,
            request: tonic::Request<super::StreamStateRequest>,
        ) -> std::result::Result<
            tonic::Response<Self::StreamStateStream>,
            tonic::Status,
        >;
        /// Server streaming response type for the StreamEvents method.
        type StreamEventsStream: tonic::codegen::tokio_stream::Stream<
                Item = std::result::Result<super::Event, tonic::Status>,
            >
            + std::marker::Send
            + 'static;
        async fn stream_events(
            &self,
            request: tonic::Request<super::StreamEventsRequest>,
        ) -> std::result::Result<
            tonic::Response<Self::StreamEventsStream>,
            tonic::Status,
        >;
        async fn stop_hook(
            &self,
            request: tonic::Request<super::StopHookRequest>,
        ) -> std::result::Result<
            tonic::Response<super::StopHookResponse>,
            tonic::Status,
        >;
        async fn start_hook(
            &self,
            request: tonic::Request<super::StartHookRequest>,
        ) -> std::result::Result<
            tonic::Response<super::StartHookResponse>,
            tonic::Status,
        >;
        async fn resolve_stop(
            &self,
            request: tonic::Request<super::ResolveStopRequest>,
        ) -> std::result::Result<
            tonic::Response<super::ResolveStopResponse>,
            tonic::Status,
        >;
        async fn get_stop_config(
            &self,
            request: tonic::Request<super::GetStopConfigRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetStopConfigResponse>,
            tonic::Status,
        >;
        async fn put_stop_config(
            &self,
            request: tonic::Request<super::PutStopConfigRequest>,
        ) -> std::result::Result<
            tonic::Response<super::PutStopConfigResponse>,
            tonic::Status,
        >;
        async fn get_start_config(
            &self,
            request: tonic::Request<super::GetStartConfigRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetStartConfigResponse>,
            tonic::Status,
        >;
        async fn put_start_config(
            &self,
            request: tonic::Request<super::PutStartConfigRequest>,
        ) -> std::result::Result<
            tonic::Response<super::PutStartConfigResponse>,
            tonic::Status,
        >;
        async fn list_transcripts(
            &self,
            request: tonic::Request<super::ListTranscriptsRequest>,
        ) -> std::result::Result<
            tonic::Response<super::ListTranscriptsResponse>,
            tonic::Status,
        >;
        async fn get_transcript(
            &self,
            request: tonic::Request<super::GetTranscriptRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetTranscriptResponse>,
            tonic::Status,
        >;
        async fn catchup_transcripts(
            &self,
            request: tonic::Request<super::CatchupTranscriptsRequest>,
        ) -> std::result::Result<
            tonic::Response<super::CatchupTranscriptsResponse>,
            tonic::Status,
        >;
        /// Server streaming response type for the StreamTranscriptEvents method.
        type StreamTranscriptEventsStream: tonic::codegen::tokio_stream::Stream<
                Item = std::result::Result<super::TranscriptEvent, tonic::Status>,
            >
            + std::marker::Send
            + 'static;
        async fn stream_transcript_events(
            &self,
            request: tonic::Request<super::StreamTranscriptEventsRequest>,
        ) -> std::result::Result<
            tonic::Response<Self::StreamTranscriptEventsStream>,
            tonic::Status,
        >;
        async fn get_usage(
            &self,
            request: tonic::Request<super::GetUsageRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetUsageResponse>,
            tonic::Status,
        >;
        async fn restart_session(
            &self,
            request: tonic::Request<super::RestartSessionRequest>,
        ) -> std::result::Result<
            tonic::Response<super::RestartSessionResponse>,
            tonic::Status,
        >;
        async fn switch_session(
            &self,
            request: tonic::Request<super::SwitchSessionRequest>,
        ) -> std::result::Result<
            tonic::Response<super::SwitchSessionResponse>,
            tonic::Status,
        >;
        async fn get_env(
            &self,
            request: tonic::Request<super::GetEnvRequest>,
        ) -> std::result::Result<tonic::Response<super::GetEnvResponse>, tonic::Status>;
        async fn put_env(
            &self,
            request: tonic::Request<super::PutEnvRequest>,
        ) -> std::result::Result<tonic::Response<super::PutEnvResponse>, tonic::Status>;
        async fn delete_env(
            &self,
            request: tonic::Request<super::DeleteEnvRequest>,
        ) -> std::result::Result<
            tonic::Response<super::DeleteEnvResponse>,
            tonic::Status,
        >;
        async fn get_cwd(
            &self,
            request: tonic::Request<super::GetCwdRequest>,
        ) -> std::result::Result<tonic::Response<super::GetCwdResponse>, tonic::Status>;
        async fn get_recording(
            &self,
            request: tonic::Request<super::GetRecordingRequest>,
        ) -> std::result::Result<
            tonic::Response<super::GetRecordingResponse>,
            tonic::Status,
        >;
        async fn put_recording(
            &self,
            request: tonic::Request<super::PutRecordingRequest>,
        ) -> std::result::Result<
            tonic::Response<super::PutRecordingResponse>,
            tonic::Status,
        >;
        /// Server streaming response type for the DownloadRecording method.
        type DownloadRecordingStream: tonic::codegen::tokio_stream::Stream<
                Item = std::result::Result<super::RecordingChunk, tonic::Status>,
            >
            + std::marker::Send
            + 'static;
        async fn download_recording(
            &self,
            request: tonic::Request<super::DownloadRecordingRequest>,
        ) -> std::result::Result<
            tonic::Response<Self::DownloadRecordingStream>,
            tonic::Status,
        >;
        async fn shutdown(
            &self,
            request: tonic::Request<super::ShutdownRequest>,
        ) -> std::result::Result<
            tonic::Response<super::ShutdownResponse>,
            tonic::Status,
        >;
    }
    #[derive(Debug)]
    pub struct CoopServer<T> {
        inner: Arc<T>,
        accept_compression_encodings: EnabledCompressionEncodings,
        send_compression_encodings: EnabledCompressionEncodings,
        max_decoding_message_size: Option<usize>,
        max_encoding_message_size: Option<usize>,
    }
    impl<T> CoopServer<T> {
        pub fn new(inner: T) -> Self {
            Self::from_arc(Arc::new(inner))
        }
        pub fn from_arc(inner: Arc<T>) -> Self {
            Self {
                inner,
                accept_compression_encodings: Default::default(),
                send_compression_encodings: Default::default(),
                max_decoding_message_size: None,
                max_encoding_message_size: None,
            }
        }
        pub fn with_interceptor<F>(
            inner: T,
            interceptor: F,
        ) -> InterceptedService<Self, F>
        where
            F: tonic::service::Interceptor,
        {
            InterceptedService::new(Self::new(inner), interceptor)
        }
        /// Enable decompressing requests with the given encoding.
        #[must_use]
        pub fn accept_compressed(mut self, encoding: CompressionEncoding) -> Self {
            self.accept_compression_encodings.enable(encoding);
            self
        }
        /// Compress responses with the given encoding, if the client supports it.
        #[must_use]
        pub fn send_compressed(mut self, encoding: CompressionEncoding) -> Self {
            self.send_compression_encodings.enable(encoding);
            self
        }
        /// Limits the maximum size of a decoded message.
        ///
        /// Default: `4MB`
        #[must_use]
        pub fn max_decoding_message_size(mut self, limit: usize) -> Self {
            self.max_decoding_message_size = Some(limit);
            self
        }
        /// Limits the maximum size of an encoded message.
        ///
        /// Default: `usize::MAX`
        #[must_use]
        pub fn max_encoding_message_size(mut self, limit: usize) -> Self {
            self.max_encoding_message_size = Some(limit);
            self
        }
    }
    impl<T, B> tonic::codegen::Service<http::Request<B>> for CoopServer<T>
    where
        T: Coop,
        B: Body + std::marker::Send + 'static,
        B::Error: Into<StdError> + std::marker::Send + 'static,
    {
        type Response = http::Response<tonic::body::Body>;
        type Error = std::convert::Infallible;
        type Future = BoxFuture<Self::Response, Self::Error>;
        fn poll_ready(
            &mut self,
            _cx: &mut Context<'_>,
        ) -> Poll<std::result::Result<(), Self::Error>> {
            Poll::Ready(Ok(()))
        }
        fn call(&mut self, req: http::Request<B>) -> Self::Future {
            match req.uri().path() {
                "/coop.v1.Coop/GetHealth" => {
                    #[allow(non_camel_case_types)]
                    struct GetHealthSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::GetHealthRequest>
                    for GetHealthSvc<T> {
                        type Response = super::GetHealthResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::GetHealthRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::get_health(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = GetHealthSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/GetReady" => {
                    #[allow(non_camel_case_types)]
                    struct GetReadySvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::GetReadyRequest>
                    for GetReadySvc<T> {
                        type Response = super::GetReadyResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::GetReadyRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::get_ready(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = GetReadySvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/GetScreen" => {
                    #[allow(non_camel_case_types)]
                    struct GetScreenSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::GetScreenRequest>
                    for GetScreenSvc<T> {
                        type Response = super::GetScreenResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::GetScreenRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::get_screen(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = GetScreenSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/GetScreenText" => {
                    #[allow(non_camel_case_types)]
                    struct GetScreenTextSvc<T: Coop>(pub Arc<T>);
                    impl<
                        T: Coop,
                    > tonic::server::UnaryService<super::GetScreenTextRequest>
                    for GetScreenTextSvc<T> {
                        type Response = super::GetScreenTextResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::GetScreenTextRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::get_screen_text(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = GetScreenTextSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/GetScrollback" => {
                    #[allow(non_camel_case_types)]
                    struct GetScrollbackSvc<T: Coop>(pub Arc<T>);
                    impl<
                        T: Coop,
                    > tonic::server::UnaryService<super::GetScrollbackRequest>
                    for GetScrollbackSvc<T> {
                        type Response = super::GetScrollbackResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::GetScrollbackRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::get_scrollback(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = GetScrollbackSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/GetOutput" => {
                    #[allow(non_camel_case_types)]
                    struct GetOutputSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::GetOutputRequest>
                    for GetOutputSvc<T> {
                        type Response = super::GetOutputResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::GetOutputRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::get_output(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = GetOutputSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/GetStatus" => {
                    #[allow(non_camel_case_types)]
                    struct GetStatusSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::GetStatusRequest>
                    for GetStatusSvc<T> {
                        type Response = super::GetStatusResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::GetStatusRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::get_status(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = GetStatusSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/SendInput" => {
                    #[allow(non_camel_case_types)]
                    struct SendInputSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::SendInputRequest>
                    for SendInputSvc<T> {
                        type Response = super::SendInputResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::SendInputRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::send_input(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = SendInputSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/SendInputRaw" => {
                    #[allow(non_camel_case_types)]
                    struct SendInputRawSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::SendInputRawRequest>
                    for SendInputRawSvc<T> {
                        type Response = super::SendInputRawResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::SendInputRawRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::send_input_raw(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = SendInputRawSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/SendKeys" => {
                    #[allow(non_camel_case_types)]
                    struct SendKeysSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::SendKeysRequest>
                    for SendKeysSvc<T> {
                        type Response = super::SendKeysResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::SendKeysRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::send_keys(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = SendKeysSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/Resize" => {
                    #[allow(non_camel_case_types)]
                    struct ResizeSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::ResizeRequest>
                    for ResizeSvc<T> {
                        type Response = super::ResizeResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::ResizeRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::resize(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = ResizeSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/SendSignal" => {
                    #[allow(non_camel_case_types)]
                    struct SendSignalSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::SendSignalRequest>
                    for SendSignalSvc<T> {
                        type Response = super::SendSignalResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::SendSignalRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::send_signal(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = SendSignalSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/AcquireLease" => {
                    #[allow(non_camel_case_types)]
                    struct AcquireLeaseSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::AcquireLeaseRequest>
                    for AcquireLeaseSvc<T> {
                        type Response = super::AcquireLeaseResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::AcquireLeaseRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::acquire_lease(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = AcquireLeaseSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/ReleaseLease" => {
                    #[allow(non_camel_case_types)]
                    struct ReleaseLeaseSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::ReleaseLeaseRequest>
                    for ReleaseLeaseSvc<T> {
                        type Response = super::ReleaseLeaseResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::ReleaseLeaseRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::release_lease(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = ReleaseLeaseSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/StreamOutput" => {
                    #[allow(non_camel_case_types)]
                    struct StreamOutputSvc<T: Coop>(pub Arc<T>);
                    impl<
                        T: Coop,
                    > tonic::server::ServerStreamingService<super::StreamOutputRequest>
                    for StreamOutputSvc<T> {
                        type Response = super::OutputChunk;
                        type ResponseStream = T::StreamOutputStream;
                        type Future = BoxFuture<
                            tonic::Response<Self::ResponseStream>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::StreamOutputRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::stream_output(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = StreamOutputSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.server_streaming(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/StreamScreen" => {
                    #[allow(non_camel_case_types)]
                    struct StreamScreenSvc<T: Coop>(pub Arc<T>);
                    impl<
                        T: Coop,
                    > tonic::server::ServerStreamingService<super::StreamScreenRequest>
                    for StreamScreenSvc<T> {
                        type Response = super::ScreenSnapshot;
                        type ResponseStream = T::StreamScreenStream;
                        type Future = BoxFuture<
                            tonic::Response<Self::ResponseStream>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::StreamScreenRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::stream_screen(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = StreamScreenSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.server_streaming(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/Attach" => {
                    #[allow(non_camel_case_types)]
                    struct AttachSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::StreamingService<super::AttachRequest>
                    for AttachSvc<T> {
                        type Response = super::AttachResponse;
                        type ResponseStream = T::AttachStream;
                        type Future = BoxFuture<
                            tonic::Response<Self::ResponseStream>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<
                                tonic::Streaming<super::AttachRequest>,
                            >,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::attach(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = AttachSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.streaming(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/GetAgentState" => {
                    #[allow(non_camel_case_types)]
                    struct GetAgentStateSvc<T: Coop>(pub Arc<T>);
                    impl<
                        T: Coop,
                    > tonic::server::UnaryService<super::GetAgentStateRequest>
                    for GetAgentStateSvc<T> {
                        type Response = super::GetAgentStateResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::GetAgentStateRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::get_agent_state(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = GetAgentStateSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/WaitForState" => {
                    #[allow(non_camel_case_types)]
                    struct WaitForStateSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::WaitForStateRequest>
                    for WaitForStateSvc<T> {
                        type Response = super::WaitForStateResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::WaitForStateRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::wait_for_state(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = WaitForStateSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/ExplainState" => {
                    #[allow(non_camel_case_types)]
                    struct ExplainStateSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::ExplainStateRequest>
                    for ExplainStateSvc<T> {
                        type Response = super::ExplainStateResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::ExplainStateRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::explain_state(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = ExplainStateSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/Nudge" => {
                    #[allow(non_camel_case_types)]
                    struct NudgeSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::NudgeRequest>
                    for NudgeSvc<T> {
                        type Response = super::NudgeResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::NudgeRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::nudge(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = NudgeSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/Respond" => {
                    #[allow(non_camel_case_types)]
                    struct RespondSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::RespondRequest>
                    for RespondSvc<T> {
                        type Response = super::RespondResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::RespondRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::respond(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = RespondSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/Interrupt" => {
                    #[allow(non_camel_case_types)]
                    struct InterruptSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::InterruptRequest>
                    for InterruptSvc<T> {
                        type Response = super::InterruptResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::InterruptRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::interrupt(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = InterruptSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/StreamState" => {
                    #[allow(non_camel_case_types)]
                    struct StreamStateSvc<T: Coop>(pub Arc<T>);
                    impl<
                        T: Coop,
                    > tonic::server::ServerStreamingService<super::StreamStateRequest>
                    for StreamStateSvc<T> {
                        type Response = super::AgentStateEvent;
                        type ResponseStream = T::StreamStateStream;
                        type Future = BoxFuture<
                            tonic::Response<Self::ResponseStream>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::StreamStateRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::stream_state(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = StreamStateSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.server_streaming(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/StreamEvents" => {
                    #[allow(non_camel_case_types)]
                    struct StreamEventsSvc<T: Coop>(pub Arc<T>);
                    impl<
                        T: Coop,
                    > tonic::server::ServerStreamingService<super::StreamEventsRequest>
                    for StreamEventsSvc<T> {
                        type Response = super::Event;
                        type ResponseStream = T::StreamEventsStream;
                        type Future = BoxFuture<
                            tonic::Response<Self::ResponseStream>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::StreamEventsRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::stream_events(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = StreamEventsSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.server_streaming(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/StopHook" => {
                    #[allow(non_camel_case_types)]
                    struct StopHookSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::StopHookRequest>
                    for StopHookSvc<T> {
                        type Response = super::StopHookResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::StopHookRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::stop_hook(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = StopHookSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/StartHook" => {
                    #[allow(non_camel_case_types)]
                    struct StartHookSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::StartHookRequest>
                    for StartHookSvc<T> {
                        type Response = super::StartHookResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::StartHookRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::start_hook(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = StartHookSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/ResolveStop" => {
                    #[allow(non_camel_case_types)]
                    struct ResolveStopSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::ResolveStopRequest>
                    for ResolveStopSvc<T> {
                        type Response = super::ResolveStopResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::ResolveStopRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::resolve_stop(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = ResolveStopSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/GetStopConfig" => {
                    #[allow(non_camel_case_types)]
                    struct GetStopConfigSvc<T: Coop>(pub Arc<T>);
                    impl<
                        T: Coop,
                    > tonic::server::UnaryService<super::GetStopConfigRequest>
                    for GetStopConfigSvc<T> {
                        type Response = super::GetStopConfigResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::GetStopConfigRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::get_stop_config(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = GetStopConfigSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/PutStopConfig" => {
                    #[allow(non_camel_case_types)]
                    struct PutStopConfigSvc<T: Coop>(pub Arc<T>);
                    impl<
                        T: Coop,
                    > tonic::server::UnaryService<super::PutStopConfigRequest>
                    for PutStopConfigSvc<T> {
                        type Response = super::PutStopConfigResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::PutStopConfigRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::put_stop_config(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = PutStopConfigSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/GetStartConfig" => {
                    #[allow(non_camel_case_types)]
                    struct GetStartConfigSvc<T: Coop>(pub Arc<T>);
                    impl<
                        T: Coop,
                    > tonic::server::UnaryService<super::GetStartConfigRequest>
                    for GetStartConfigSvc<T> {
                        type Response = super::GetStartConfigResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::GetStartConfigRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::get_start_config(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = GetStartConfigSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/PutStartConfig" => {
                    #[allow(non_camel_case_types)]
                    struct PutStartConfigSvc<T: Coop>(pub Arc<T>);
                    impl<
                        T: Coop,
                    > tonic::server::UnaryService<super::PutStartConfigRequest>
                    for PutStartConfigSvc<T> {
                        type Response = super::PutStartConfigResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::PutStartConfigRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::put_start_config(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = PutStartConfigSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/ListTranscripts" => {
                    #[allow(non_camel_case_types)]
                    struct ListTranscriptsSvc<T: Coop>(pub Arc<T>);
                    impl<
                        T: Coop,
                    > tonic::server::UnaryService<super::ListTranscriptsRequest>
                    for ListTranscriptsSvc<T> {
                        type Response = super::ListTranscriptsResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::ListTranscriptsRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::list_transcripts(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = ListTranscriptsSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/GetTranscript" => {
                    #[allow(non_camel_case_types)]
                    struct GetTranscriptSvc<T: Coop>(pub Arc<T>);
                    impl<
                        T: Coop,
                    > tonic::server::UnaryService<super::GetTranscriptRequest>
                    for GetTranscriptSvc<T> {
                        type Response = super::GetTranscriptResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::GetTranscriptRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::get_transcript(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = GetTranscriptSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/CatchupTranscripts" => {
                    #[allow(non_camel_case_types)]
                    struct CatchupTranscriptsSvc<T: Coop>(pub Arc<T>);
                    impl<
                        T: Coop,
                    > tonic::server::UnaryService<super::CatchupTranscriptsRequest>
                    for CatchupTranscriptsSvc<T> {
                        type Response = super::CatchupTranscriptsResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::CatchupTranscriptsRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::catchup_transcripts(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = CatchupTranscriptsSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/StreamTranscriptEvents" => {
                    #[allow(non_camel_case_types)]
                    struct StreamTranscriptEventsSvc<T: Coop>(pub Arc<T>);
                    impl<
                        T: Coop,
                    > tonic::server::ServerStreamingService<
                        super::StreamTranscriptEventsRequest,
                    > for StreamTranscriptEventsSvc<T> {
                        type Response = super::TranscriptEvent;
                        type ResponseStream = T::StreamTranscriptEventsStream;
                        type Future = BoxFuture<
                            tonic::Response<Self::ResponseStream>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::StreamTranscriptEventsRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::stream_transcript_events(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = StreamTranscriptEventsSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.server_streaming(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/GetUsage" => {
                    #[allow(non_camel_case_types)]
                    struct GetUsageSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::GetUsageRequest>
                    for GetUsageSvc<T> {
                        type Response = super::GetUsageResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::GetUsageRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::get_usage(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = GetUsageSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/RestartSession" => {
                    #[allow(non_camel_case_types)]
                    struct RestartSessionSvc<T: Coop>(pub Arc<T>);
                    impl<
                        T: Coop,
                    > tonic::server::UnaryService<super::RestartSessionRequest>
                    for RestartSessionSvc<T> {
                        type Response = super::RestartSessionResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::RestartSessionRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::restart_session(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = RestartSessionSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/SwitchSession" => {
                    #[allow(non_camel_case_types)]
                    struct SwitchSessionSvc<T: Coop>(pub Arc<T>);
                    impl<
                        T: Coop,
                    > tonic::server::UnaryService<super::SwitchSessionRequest>
                    for SwitchSessionSvc<T> {
                        type Response = super::SwitchSessionResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::SwitchSessionRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::switch_session(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = SwitchSessionSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/GetEnv" => {
                    #[allow(non_camel_case_types)]
                    struct GetEnvSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::GetEnvRequest>
                    for GetEnvSvc<T> {
                        type Response = super::GetEnvResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::GetEnvRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::get_env(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = GetEnvSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/PutEnv" => {
                    #[allow(non_camel_case_types)]
                    struct PutEnvSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::PutEnvRequest>
                    for PutEnvSvc<T> {
                        type Response = super::PutEnvResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::PutEnvRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::put_env(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = PutEnvSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/DeleteEnv" => {
                    #[allow(non_camel_case_types)]
                    struct DeleteEnvSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::DeleteEnvRequest>
                    for DeleteEnvSvc<T> {
                        type Response = super::DeleteEnvResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::DeleteEnvRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::delete_env(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = DeleteEnvSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/GetCwd" => {
                    #[allow(non_camel_case_types)]
                    struct GetCwdSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::GetCwdRequest>
                    for GetCwdSvc<T> {
                        type Response = super::GetCwdResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::GetCwdRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::get_cwd(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = GetCwdSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/GetRecording" => {
                    #[allow(non_camel_case_types)]
                    struct GetRecordingSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::GetRecordingRequest>
                    for GetRecordingSvc<T> {
                        type Response = super::GetRecordingResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::GetRecordingRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::get_recording(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = GetRecordingSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/PutRecording" => {
                    #[allow(non_camel_case_types)]
                    struct PutRecordingSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::PutRecordingRequest>
                    for PutRecordingSvc<T> {
                        type Response = super::PutRecordingResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::PutRecordingRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::put_recording(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = PutRecordingSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/DownloadRecording" => {
                    #[allow(non_camel_case_types)]
                    struct DownloadRecordingSvc<T: Coop>(pub Arc<T>);
                    impl<
                        T: Coop,
                    > tonic::server::ServerStreamingService<
                        super::DownloadRecordingRequest,
                    > for DownloadRecordingSvc<T> {
                        type Response = super::RecordingChunk;
                        type ResponseStream = T::DownloadRecordingStream;
                        type Future = BoxFuture<
                            tonic::Response<Self::ResponseStream>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::DownloadRecordingRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::download_recording(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = DownloadRecordingSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.server_streaming(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                "/coop.v1.Coop/Shutdown" => {
                    #[allow(non_camel_case_types)]
                    struct ShutdownSvc<T: Coop>(pub Arc<T>);
                    impl<T: Coop> tonic::server::UnaryService<super::ShutdownRequest>
                    for ShutdownSvc<T> {
                        type Response = super::ShutdownResponse;
                        type Future = BoxFuture<
                            tonic::Response<Self::Response>,
                            tonic::Status,
                        >;
                        fn call(
                            &mut self,
                            request: tonic::Request<super::ShutdownRequest>,
                        ) -> Self::Future {
                            let inner = Arc::clone(&self.0);
                            let fut = async move {
                                <T as Coop>::shutdown(&inner, request).await
                            };
                            Box::pin(fut)
                        }
                    }
                    let accept_compression_encodings = self.accept_compression_encodings;
                    let send_compression_encodings = self.send_compression_encodings;
                    let max_decoding_message_size = self.max_decoding_message_size;
                    let max_encoding_message_size = self.max_encoding_message_size;
                    let inner = self.inner.clone();
                    let fut = async move {
                        let method = ShutdownSvc(inner);
                        let codec = tonic_prost::ProstCodec::default();
                        let mut grpc = tonic::server::Grpc::new(codec)
                            .apply_compression_config(
                                accept_compression_encodings,
                                send_compression_encodings,
                            )
                            .apply_max_message_size_config(
                                max_decoding_message_size,
                                max_encoding_message_size,
                            );
                        let res = grpc.unary(method, req).await;
                        Ok(res)
                    };
                    Box::pin(fut)
                }
                _ => {
                    Box::pin(async move {
                        let mut response = http::Response::new(
                            tonic::body::Body::default(),
                        );
                        let headers = response.headers_mut();
                        headers
                            .insert(
                                tonic::Status::GRPC_STATUS,
                                (tonic::Code::Unimplemented as i32).into(),
                            );
                        headers
                            .insert(
                                http::header::CONTENT_TYPE,
                                tonic::metadata::GRPC_CONTENT_TYPE,
                            );
                        Ok(response)
                    })
                }
            }
        }
    }
    impl<T> Clone for CoopServer<T> {
        fn clone(&self) -> Self {
            let inner = self.inner.clone();
            Self {
                inner,
                accept_compression_encodings: self.accept_compression_encodings,
                send_compression_encodings: self.send_compression_encodings,
                max_decoding_message_size: self.max_decoding_message_size,
                max_encoding_message_size: self.max_encoding_message_size,
            }
        }
    }
    /// Generated gRPC service name
    pub const SERVICE_NAME: &str = "coop.v1.Coop";
    impl<T> tonic::server::NamedService for CoopServer<T> {
        const NAME: &'static str = SERVICE_NAME;
    }
}
