import { z } from "zod";
import { fileText, secret, text, webAddress, type ConfigSources } from "./words.ts";

/** Returns the fields of the access to a server with Prometheus' API. */
export const prometheusServer = (sources: ConfigSources) => ({
  url: webAddress.describe("The address, with the prefix of its API if it has one: https://mimir/prometheus."),
  ca: fileText(sources).optional().describe("File with the certificates to trust, in PEM. Default: the system's."),
  bearerToken: secret(sources).optional().describe("The bearer token of requests."),
  basic: z
    .strictObject({ username: text("a user name"), password: secret(sources) })
    .optional()
    .describe("HTTP basic authentication."),
  tenant: text("a tenant").optional().describe("The header X-Scope-OrgID, for Mimir and Cortex."),
});

/** Adds an issue if a server has two credentials. */
export function oneCredential(
  { bearerToken, basic }: { readonly bearerToken?: unknown; readonly basic?: unknown },
  context: z.RefinementCtx,
): void {
  if (bearerToken !== undefined && basic !== undefined)
    context.addIssue({ code: "custom", path: ["basic"], message: "one of basic and bearerToken" });
}

const schema = (sources: ConfigSources) => z.strictObject(prometheusServer(sources));

/** The access to a server with Prometheus' API. */
export type PrometheusServerConfig = z.output<ReturnType<typeof schema>>;
