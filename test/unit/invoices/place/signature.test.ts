import { describe, expect, it } from "vitest";
import { refusalOf } from "../../../support/invoice/signature.ts";

/**
 * The examples of AWS for the signatures of S3, with their keys and their time.
 * Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html.
 */
const KEYS = {
  region: "us-east-1",
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};
const NOW = Date.UTC(2013, 4, 24);
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

const request = (url: string, signed: string, signature: string, more: Readonly<Record<string, string>> = {}) => ({
  method: "GET",
  url,
  headers: {
    host: "examplebucket.s3.amazonaws.com",
    "x-amz-content-sha256": EMPTY,
    "x-amz-date": "20130524T000000Z",
    ...more,
    authorization: `AWS4-HMAC-SHA256 Credential=${KEYS.accessKeyId}/20130524/us-east-1/s3/aws4_request,SignedHeaders=${signed},Signature=${signature}`,
  },
});
const LIST = "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7";
const OBJECT = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41";
const SIGNED = "host;x-amz-content-sha256;x-amz-date";

describe("the bucket of the tests", () => {
  it("accepts the signatures that AWS publishes as examples", () => {
    expect(refusalOf(request("/?max-keys=2&prefix=J", SIGNED, LIST), KEYS, NOW)).toBeUndefined();
    const ofObject = request("/test.txt", "host;range;x-amz-content-sha256;x-amz-date", OBJECT, { range: "bytes=0-9" });
    expect(refusalOf(ofObject, KEYS, NOW)).toBeUndefined();
  });

  it("refuses another query, another time, a header that is not signed, and no signature", () => {
    expect(refusalOf(request("/?max-keys=2&prefix=K", SIGNED, LIST), KEYS, NOW)).toBe("SignatureDoesNotMatch");
    expect(refusalOf(request("/?max-keys=2&prefix=J+", SIGNED, LIST), KEYS, NOW)).toBe("SignatureDoesNotMatch");
    const target = "/?max-keys=2&prefix=J";
    expect(refusalOf(request(target, SIGNED, LIST), KEYS, NOW + 3_600_000)).toBe("RequestTimeTooSkewed");
    expect(refusalOf(request(target, SIGNED, LIST, { "x-amz-acl": "public-read" }), KEYS, NOW)).toBe("AccessDenied");
    expect(refusalOf({ method: "GET", url: target, headers: {} }, KEYS, NOW)).toBe("AccessDenied");
  });
});
