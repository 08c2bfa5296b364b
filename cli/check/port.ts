import type { Config } from "../../runtime/config/schema.ts";
import { PlainHttpError } from "../../runtime/tls/tls-error.ts";
import { openPortTls } from "../../services/port-tls.ts";
import { attempt, type Finding } from "./finding.ts";

/** Checks the TLS files of the program's own port. Without TLS, it returns a finding only if the port would not start. */
export async function* checkPort({ server, store }: Config, nowMillis: number): AsyncGenerator<Finding> {
  // A collector's configuration has no ClickHouse, and its port no tokens of a store.
  const name = store.kind === "clickhouse" ? "server" : "collector";
  if (server.tls === undefined) {
    const error = await openPortTls(name, server).catch((error: unknown) => error);
    if (error instanceof PlainHttpError) yield { ok: false, what: "server.listen", answer: error.message };
    return;
  }
  yield await attempt("server.tls", async () => {
    const { subjectAltName = "no name", expiresMillis } = (await openPortTls(name, server))!.usable;
    const expires = new Date(expiresMillis).toISOString();
    if (expiresMillis <= nowMillis) throw new Error(`the certificate has expired at ${expires}`);
    return `a certificate of ${subjectAltName} until ${expires}`;
  });
}
