import { AwsClient } from "aws4fetch";
import { httpPlace, queryOf } from "./http-place.ts";
import { readBucketPage } from "./listing-page.ts";
import type { ExportPlace } from "./place.ts";

/** A bucket with the interface of S3: Amazon S3, Google Cloud Storage with HMAC keys, Cloudflare R2, MinIO. */
export interface Bucket {
  /** The address of the bucket: `https://bills.s3.eu-west-1.amazonaws.com`, `http://minio:9000/bills`. */
  readonly url: string;
  /** The beginning of the keys that are read. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** Returns the exports of a bucket. A server's error 5xx or 429 is tried again 3 times. */
export function bucketPlace(bucket: Bucket, answerMillis?: number): ExportPlace {
  const { url, prefix, sessionToken, ...credentials } = bucket;
  const session = sessionToken === undefined ? {} : { sessionToken };
  const client = new AwsClient({ ...credentials, ...session, service: "s3", retries: 3 });
  const base = url.replace(/\/$/, "");
  const place = {
    base,
    kind: "a bucket of S3",
    fetch: (address: string, options: { readonly signal: AbortSignal }) => client.fetch(address, options),
    listing: (token: string | undefined) => {
      const more = token === undefined ? {} : { "continuation-token": token };
      return `${base}/?${queryOf({ "list-type": "2", prefix, ...more })}`;
    },
    page: readBucketPage,
    file: (path: string) => `${base}/${path}`,
  };
  return httpPlace(place, answerMillis);
}
