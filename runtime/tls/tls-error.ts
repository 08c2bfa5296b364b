/** TLS files of a port that cannot be served. The message has the key of the configuration, the path and the reason, and no content. */
export class TlsError extends Error {
  readonly code = "unusable-tls-files";
  readonly retriable = false;

  constructor(message: string, options?: { readonly cause: unknown }) {
    super(message, options);
    this.name = "TlsError";
  }
}

/** A port that would receive tokens over plain HTTP from other machines. The message has the remedies. */
export class PlainHttpError extends Error {
  readonly code = "plain-http";
  readonly retriable = false;

  constructor(listen: string) {
    super(
      `refuses to serve plain HTTP: other machines can reach ${listen} (server.listen), and tokens would cross the network in ` +
        "clear text. Set server.tls.certFile and server.tls.keyFile, or listen on 127.0.0.1, or set server.plainHttp: true " +
        "if something in front of the port adds TLS, or if the network is trusted",
    );
    this.name = "PlainHttpError";
  }
}
