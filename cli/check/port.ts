import type { Config } from "../../runtime/config/schema.ts";
import { openTls } from "../../runtime/tls/port-tls.ts";
import { attempt, type Finding } from "./finding.ts";

/** Checks the TLS files of the program's own port. */
export async function* checkPort({ tls }: Config["server"], nowMillis: number): AsyncGenerator<Finding> {
  if (tls === undefined) return;
  yield await attempt("server.tls", async () => {
    const { subjectAltName = "no name", expiresMillis } = (await openTls(tls)).usable;
    const expires = new Date(expiresMillis).toISOString();
    if (expiresMillis <= nowMillis) throw new Error(`the certificate has expired at ${expires}`);
    return `a certificate of ${subjectAltName} until ${expires}`;
  });
}
