import { z } from "zod";
import { filePath, flag, list, oneOf, text, type ConfigSources } from "./words.ts";

/** The elliptic curves of a handshake, by their names in Prometheus, with their names in OpenSSL. */
export const CURVES = { X25519: "X25519", CurveP256: "P-256", CurveP384: "P-384", CurveP521: "P-521" } as const;

/** The cipher suites up to TLS 1.2, by their names in the registry of IANA, with their names in OpenSSL. They are those of Prometheus. */
export const CIPHER_SUITES = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: "ECDHE-ECDSA-AES128-GCM-SHA256",
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: "ECDHE-RSA-AES128-GCM-SHA256",
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: "ECDHE-ECDSA-AES256-GCM-SHA384",
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: "ECDHE-RSA-AES256-GCM-SHA384",
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-ECDSA-CHACHA20-POLY1305",
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-RSA-CHACHA20-POLY1305",
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: "ECDHE-ECDSA-AES128-SHA",
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: "ECDHE-RSA-AES128-SHA",
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: "ECDHE-ECDSA-AES256-SHA",
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: "ECDHE-RSA-AES256-SHA",
} as const;

/** Returns the names of a table. */
const namesOf = <Name extends string>(table: Readonly<Record<Name, string>>): [Name, ...Name[]] =>
  Object.keys(table) as [Name, ...Name[]];

/**
 * Returns the schema of TLS on a port. Keys, values and defaults are those of `tls_server_config` in Prometheus' web configuration
 * (https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md), in camelCase. TLS 1.0 and 1.1 do not exist here.
 */
export const serverTls = (sources: ConfigSources) =>
  z
    .strictObject({
      certFile: filePath(sources).describe("File with the server's certificate and its intermediates, in PEM."),
      keyFile: filePath(sources).describe(
        "File with the private key of the certificate, in PEM, without a passphrase.",
      ),
      clientCaFile: filePath(sources).optional().describe("File with the CA certificates of clients, in PEM."),
      clientAuthType: oneOf(
        "NoClientCert",
        "RequestClientCert",
        "RequireAnyClientCert",
        "VerifyClientCertIfGiven",
        "RequireAndVerifyClientCert",
      )
        .default("NoClientCert")
        .describe("Which certificate a client needs. Only RequireAndVerifyClientCert authenticates every client."),
      clientAllowedSans: list(text("a DNS name, an IP address, an e-mail address or a URI"))
        .default([])
        .describe("Subject alternative names. A client's certificate needs one of them. Default: any name."),
      minVersion: oneOf("TLS12", "TLS13").default("TLS12").describe("The lowest version of TLS."),
      maxVersion: oneOf("TLS12", "TLS13").default("TLS13").describe("The highest version of TLS."),
      cipherSuites: list(oneOf(...namesOf(CIPHER_SUITES)))
        .default([])
        .describe("Cipher suites up to TLS 1.2, in the order of preference. Default: those with AES-GCM or ChaCha20."),
      preferServerCipherSuites: flag.default(true).describe("Uses the server's order of cipher suites."),
      curvePreferences: list(oneOf(...namesOf(CURVES)))
        .default([])
        .describe("Elliptic curves, in the order of preference. Default: X25519, CurveP256, CurveP384."),
    })
    .superRefine(({ clientCaFile, clientAuthType, clientAllowedSans, minVersion, maxVersion }, context) => {
      const complain = (key: string, message: string): void =>
        context.addIssue({ code: "custom", path: [key], message });
      const isVerified =
        clientAuthType === "VerifyClientCertIfGiven" || clientAuthType === "RequireAndVerifyClientCert";
      const isRequired = clientAuthType === "RequireAnyClientCert" || clientAuthType === "RequireAndVerifyClientCert";
      if (isVerified && clientCaFile === undefined)
        complain("clientCaFile", `the path of a file, because clientAuthType is ${clientAuthType}`);
      if (clientAuthType === "NoClientCert" && clientCaFile !== undefined)
        complain("clientAuthType", "another type than NoClientCert, because there is a clientCaFile");
      if (clientAllowedSans.length > 0 && !isRequired)
        complain(
          "clientAllowedSans",
          "empty unless clientAuthType is RequireAnyClientCert or RequireAndVerifyClientCert",
        );
      if (minVersion > maxVersion) complain("minVersion", "a version that is not above maxVersion");
    });

/** The settings of TLS on a port. Paths are absolute. */
export type ServerTls = z.output<ReturnType<typeof serverTls>>;
