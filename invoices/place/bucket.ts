import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { AwsClient } from "aws4fetch";
import { XMLParser } from "fast-xml-parser";
import { z } from "zod";
import type { ListedFile } from "../find/listing.ts";
import { PlaceError, type ExportPlace } from "./place.ts";

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

/** The longest wait for the beginning of an answer. */
const ANSWER_MILLIS = 60_000;
/** A listing is at most this many pages of 1,000 keys. */
const MOST_PAGES = 1_000;

const one = z.object({
  Key: z.string(),
  Size: z.coerce.number(),
  ETag: z.string().default(""),
  LastModified: z.string().default(""),
});
/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html */
const listing = z.object({
  ListBucketResult: z.object({
    Contents: z.union([one.transform((each) => [each]), z.array(one)]).default([]),
    NextContinuationToken: z.string().optional(),
  }),
});

const parser = new XMLParser({ parseTagValue: false });

/** Returns the exports of a bucket. */
export function bucketPlace({ url, prefix, sessionToken, ...credentials }: Bucket): ExportPlace {
  const session = sessionToken === undefined ? {} : { sessionToken };
  const client = new AwsClient({ ...credentials, ...session, service: "s3", retries: 3 });
  const base = url.replace(/\/$/, "");
  async function get(path: string, query: Readonly<Record<string, string>> = {}): Promise<Response> {
    const address = new URL(`${base}${path}`);
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
    let response: Response;
    const wait = new AbortController();
    const timer = setTimeout(() => wait.abort(new Error(`no answer within ${ANSWER_MILLIS / 1000} s`)), ANSWER_MILLIS);
    try {
      response = await client.fetch(address.href, { signal: wait.signal });
    } catch (error) {
      throw new PlaceError(`${base} cannot be read: ${error instanceof Error ? error.message : String(error)}`, error);
    } finally {
      clearTimeout(timer);
    }
    if (response.ok) return response;
    const [, code = ""] = /<Code>(\w+)<\/Code>/.exec(await response.text()) ?? [];
    throw new PlaceError(`${base} answers ${response.status} ${code}`.trimEnd());
  }

  return {
    async list() {
      const files: ListedFile[] = [];
      let token: string | undefined;
      for (let page = 0; page < MOST_PAGES; page++) {
        const more = token === undefined ? {} : { "continuation-token": token };
        const answer = await get("/", { "list-type": "2", prefix, ...more });
        const read = listing.safeParse(parser.parse(await answer.text()));
        if (!read.success) throw new PlaceError(`${base} does not answer as a bucket of S3 does`);
        const { Contents, NextContinuationToken } = read.data.ListBucketResult;
        for (const { Key, Size, ETag, LastModified } of Contents)
          files.push({ key: Key, size: Size, etag: ETag, modified: Date.parse(LastModified) || 0 });
        if (NextContinuationToken === undefined) return files;
        token = NextContinuationToken;
      }
      throw new PlaceError(`${base}/${prefix} has more than ${MOST_PAGES * 1_000} files; a longer prefix has fewer`);
    },
    text: async (key) => (await get(pathOf(key))).text(),
    async open(key) {
      const { body } = await get(pathOf(key));
      if (body === null) throw new PlaceError(`${base} has no content for ${key}`);
      return { name: key, stream: Readable.fromWeb(body as ReadableStream) };
    },
  };
}

function pathOf(key: string): string {
  return `/${key.split("/").map(encodeURIComponent).join("/")}`;
}
