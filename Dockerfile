# An image with coop alone. Derive from it an image that adds the agent.
#
#   docker build -t coop .
#   docker run --rm -e COOP_AUTH_TOKEN -p 8080:8080 coop --port 8080 --health-port 9090 -- bash
FROM rust:1.95-slim AS build
WORKDIR /src
COPY . .
RUN cargo build --locked --release --bin coop

FROM debian:bookworm-slim
RUN useradd --create-home coop
COPY --from=build /src/target/release/coop /usr/local/bin/coop
USER coop
WORKDIR /home/coop
EXPOSE 8080 9090
ENTRYPOINT ["coop"]
CMD ["--help"]
