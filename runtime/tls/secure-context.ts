import { constants } from "node:crypto";
import type { SecureContextOptions } from "node:tls";
import { CIPHER_SUITES, CURVES, type ServerTls } from "../config/server-tls.ts";

/** The content of the files of a port. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** `undefined` if the settings name no CA of clients. */
  readonly clientCa: string | undefined;
}

const VERSIONS = { TLS12: "TLSv1.2", TLS13: "TLSv1.3" } as const;
/** The suites of TLS 1.3. As in Prometheus, the settings do not change them. */
const TLS13_SUITES = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];
const DEFAULT_SUITES = (Object.keys(CIPHER_SUITES) as (keyof typeof CIPHER_SUITES)[]).filter(
  (name) => !name.includes("_CBC_"),
);
const DEFAULT_CURVES = ["X25519", "CurveP256", "CurveP384"] as const;

/** Returns the options of handshakes with the files. */
export function secureContextOptions(settings: ServerTls, { cert, key, clientCa }: TlsFiles): SecureContextOptions {
  const { clientAuthType, minVersion, maxVersion, cipherSuites, preferServerCipherSuites, curvePreferences } = settings;
  const suites = cipherSuites.length > 0 ? cipherSuites : DEFAULT_SUITES;
  const curves = curvePreferences.length > 0 ? curvePreferences : DEFAULT_CURVES;
  return {
    cert,
    key,
    ...(clientCa === undefined ? {} : { ca: clientCa }),
    minVersion: VERSIONS[minVersion],
    maxVersion: VERSIONS[maxVersion],
    ciphers: [...TLS13_SUITES, ...suites.map((name) => CIPHER_SUITES[name])].join(":"),
    honorCipherOrder: preferServerCipherSuites,
    ecdhCurve: curves.map((name) => CURVES[name]).join(":"),
    // A resumed session would not verify the client's certificate again, for example after the CA has changed.
    secureOptions: clientAuthType === "NoClientCert" ? 0 : constants.SSL_OP_NO_TICKET,
  };
}
