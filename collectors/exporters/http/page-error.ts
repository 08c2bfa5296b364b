import type { ScrapeFailure } from "../../../domain/scrape.ts";

/** A failure with its reason. */
export class PageError extends Error {
  readonly reason: ScrapeFailure;

  constructor(reason: ScrapeFailure, message: string) {
    super(message);
    this.name = "PageError";
    this.reason = reason;
  }
}

/** Failure reasons by the codes of Node's sockets and resolver, undici and OpenSSL. */
const REASONS: Readonly<Record<string, ScrapeFailure>> = {
  ECONNREFUSED: "refused",
  EHOSTUNREACH: "refused",
  ENETUNREACH: "refused",
  ENOTFOUND: "unresolved",
  EAI_AGAIN: "unresolved",
  ETIMEDOUT: "timeout",
  UND_ERR_CONNECT_TIMEOUT: "timeout",
  UND_ERR_HEADERS_TIMEOUT: "timeout",
  UND_ERR_BODY_TIMEOUT: "timeout",
  ENOENT: "denied",
  EACCES: "denied",
  EPROTO: "tls",
  DEPTH_ZERO_SELF_SIGNED_CERT: "tls",
  SELF_SIGNED_CERT_IN_CHAIN: "tls",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "tls",
  UNABLE_TO_GET_ISSUER_CERT: "tls",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "tls",
};

/** Returns the reason and the message of an error of an exchange. The reason of an unknown error is `interrupted`. */
export function failureOf(error: unknown): { readonly reason: ScrapeFailure; readonly detail: string } {
  if (error instanceof PageError) return { reason: error.reason, detail: error.message };
  if (!(error instanceof Error)) return { reason: "interrupted", detail: String(error) };
  const cause = error instanceof AggregateError ? (error.errors[0] as Error & { code?: string }) : error;
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
  const reason = REASONS[code] ?? (/^(ERR_TLS|ERR_SSL|CERT_)/.test(code) ? "tls" : "interrupted");
  return { reason, detail: cause.message === "" ? code : cause.message };
}
