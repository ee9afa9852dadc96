// The typed client of coop.v1 for browsers, over grpc-web. It connects and authenticates, and does
// not know the page.
import { createClient, type Client, type Interceptor } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { Coop } from "./gen/coop/v1/coop_pb";

export * from "./gen/coop/v1/coop_pb";
export { Code, ConnectError } from "@connectrpc/connect";

export type CoopClient = Client<typeof Coop>;

/**
 * A client for the coop at `baseUrl`, the address of its page, for example
 * `http://127.0.0.1:8080`. grpc-web does not support bidirectional calls (Attach).
 */
export function connect(baseUrl: string, token?: string): CoopClient {
  const interceptors = token === undefined ? [] : [bearer(token)];
  return createClient(Coop, createGrpcWebTransport({ baseUrl, interceptors }));
}

function bearer(token: string): Interceptor {
  return (next) => (request) => {
    request.header.set("Authorization", `Bearer ${token}`);
    return next(request);
  };
}
