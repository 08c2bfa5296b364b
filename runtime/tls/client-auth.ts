import type { TLSSocket, TlsOptions } from "node:tls";
import type { ServerTls } from "../config/server-tls.ts";
import { hasAltName } from "./alt-names.ts";

/** Returns the options of a server that ask clients for a certificate. */
export function clientAuthOptions({
  clientAuthType,
}: ServerTls): Pick<TlsOptions, "requestCert" | "rejectUnauthorized"> {
  return {
    requestCert: clientAuthType !== "NoClientCert",
    // OpenSSL ends the handshake itself if there is no certificate.
    rejectUnauthorized: clientAuthType === "RequireAndVerifyClientCert",
  };
}

/** The reason why a client is refused after its handshake. */
export type ClientRefusal = "no certificate" | "not verified" | "no allowed name";

/**
 * Returns the reason to refuse a client whose handshake has ended, before any request of it is read; `undefined` if the client is admitted.
 * Node itself ends the handshake of a client that is not verified if that is required.
 */
export function clientRefusal(
  { clientAuthType, clientAllowedSans }: ServerTls,
  socket: Pick<TLSSocket, "authorized" | "getPeerX509Certificate">,
): ClientRefusal | undefined {
  if (clientAuthType === "NoClientCert" || clientAuthType === "RequestClientCert") return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return clientAuthType === "VerifyClientCertIfGiven" ? undefined : "no certificate";
  if (clientAuthType !== "RequireAnyClientCert" && !socket.authorized) return "not verified";
  return clientAllowedSans.length === 0 || hasAltName(certificate, clientAllowedSans) ? undefined : "no allowed name";
}
