import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** The keys with which a request must be signed. */
export interface SigningKeys {
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** The largest difference between the time of a request and that of the server. */
const SKEW_MILLIS = 15 * 60_000;

/**
 * Returns the code of the error with which S3 refuses a request without a body, from its text alone; undefined if the signature is right. The
 * path and the query are decoded once and encoded again by the rules of the specification, in which a plus sign is no space. Source:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html.
 */
export function refusalOf(
  request: Pick<IncomingMessage, "method" | "url" | "headers">,
  keys: SigningKeys,
  now = Date.now(),
): string | undefined {
  const { headers } = request;
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/;
  const [, id, date, region, signed, signature] = form.exec(headers.authorization ?? "") ?? [];
  if (id === undefined || date === undefined || signed === undefined || signature === undefined) return "AccessDenied";
  if (id !== keys.accessKeyId) return "InvalidAccessKeyId";
  if (region !== keys.region) return "AuthorizationHeaderMalformed";
  if (headers["x-amz-security-token"] !== keys.sessionToken) return "InvalidToken";
  const time = String(headers["x-amz-date"]);
  if (!time.startsWith(date) || Math.abs(millisOf(time) - now) > SKEW_MILLIS) return "RequestTimeTooSkewed";
  const names = signed.split(";");
  const mustBeSigned = ["host", ...Object.keys(headers).filter((name) => name.startsWith("x-amz-"))];
  if (mustBeSigned.some((name) => !names.includes(name))) return "AccessDenied";
  const canonical = [
    request.method,
    ...canonicalTarget(request.url ?? ""),
    ...names.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, " ")}`),
    "",
    signed,
    String(headers["x-amz-content-sha256"]),
  ].join("\n");
  const scope = `${date}/${region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", time, scope, createHash("sha256").update(canonical).digest("hex")].join("\n");
  const key = [date, region, "s3", "aws4_request"].reduce<string | Buffer>(
    (previous, part) => createHmac("sha256", previous).update(part).digest(),
    `AWS4${keys.secretAccessKey}`,
  );
  const expected = createHmac("sha256", key).update(text).digest();
  return timingSafeEqual(expected, Buffer.from(signature, "hex")) ? undefined : "SignatureDoesNotMatch";
}

/** Returns the canonical path and the canonical query of a target. */
function canonicalTarget(target: string): readonly [string, string] {
  const [path = "", query = ""] = target.split("?");
  const pairs = query
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => pair.split("=").map((part) => uriEncode(decodeURIComponent(part))))
    .map(([name = "", value = ""]) => `${name}=${value}`);
  return [path.split("/").map(decodeURIComponent).map(uriEncode).join("/"), pairs.toSorted().join("&")];
}

/** Encodes every byte but unreserved characters, in capitals. */
function uriEncode(text: string): string {
  return [...Buffer.from(text, "utf8")]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9\-._~]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");
}

/** Reads `20260302T010203Z`. */
function millisOf(time: string): number {
  return Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}
