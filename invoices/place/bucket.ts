import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { AwsClient } from "aws4fetch";
import type { ListedFile } from "../find/listing.ts";
import { readListing } from "./listing-page.ts";
import { PlaceError, reasonOf, type ExportPlace } from "./place.ts";

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

/** The longest wait for a listing or a manifest, and for the beginning of another file. */
const ANSWER_MILLIS = 60_000;
/** A listing is at most this many pages of 1,000 keys. */
const MOST_PAGES = 1_000;

/** Returns the exports of a bucket. A request that has no answer in time is given up; a server's error 5xx or 429 is tried again 3 times. */
export function bucketPlace(bucket: Bucket, answerMillis = ANSWER_MILLIS): ExportPlace {
  const { url, prefix, sessionToken, ...credentials } = bucket;
  const session = sessionToken === undefined ? {} : { sessionToken };
  const client = new AwsClient({ ...credentials, ...session, service: "s3", retries: 3 });
  const base = url.replace(/\/$/, "");
  const unreadable = (error: unknown): PlaceError =>
    error instanceof PlaceError ? error : new PlaceError(`${base} cannot be read: ${reasonOf(error)}`, error);

  async function get<Result>(address: string, read: (answer: Response) => Result | Promise<Result>): Promise<Result> {
    const wait = new AbortController();
    const timer = setTimeout(() => wait.abort(new Error(`no answer within ${answerMillis / 1000} s`)), answerMillis);
    try {
      const answer = await client.fetch(address, { signal: wait.signal });
      if (answer.ok) return await read(answer);
      const [, code = ""] = /<Code>(\w+)<\/Code>/.exec(await answer.text()) ?? [];
      throw new PlaceError(`${base} answers ${answer.status} ${code}`.trimEnd());
    } catch (error) {
      throw unreadable(error);
    } finally {
      clearTimeout(timer);
    }
  }

  async function* bytesOf(body: ReadableStream): AsyncGenerator<Uint8Array> {
    try {
      yield* body as ReadableStream<Uint8Array>;
    } catch (error) {
      throw unreadable(error);
    }
  }

  return {
    async list() {
      const files: ListedFile[] = [];
      let token: string | undefined;
      for (let page = 0; page < MOST_PAGES; page++) {
        const more = token === undefined ? {} : { "continuation-token": token };
        const text = await get(`${base}/?${queryOf({ "list-type": "2", prefix, ...more })}`, (answer) => answer.text());
        const read = readListing(text);
        if (read === undefined) throw new PlaceError(`${base} does not answer as a bucket of S3 does`);
        files.push(...read.files);
        if (read.next === undefined) return files;
        token = read.next;
      }
      throw new PlaceError(`${base}/${prefix} has more than ${MOST_PAGES * 1_000} files; a longer prefix has fewer`);
    },
    text: (key) => get(`${base}${pathOf(key)}`, (answer) => answer.text()),
    async open(key) {
      const body = await get(`${base}${pathOf(key)}`, (answer) => answer.body);
      if (body === null) throw new PlaceError(`${base} has no content for ${key}`);
      return { name: key, stream: Readable.from(bytesOf(body as ReadableStream), { objectMode: false }) };
    },
  };
}

function pathOf(key: string): string {
  return `/${key.split("/").map(encodeURIComponent).join("/")}`;
}

/** Returns a query in which a space is `%20`: a signature does not cover `+`, which `URLSearchParams` writes. */
function queryOf(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");
}
