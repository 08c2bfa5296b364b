import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Bucket } from "../../../invoices/place/bucket.ts";
import { refusalOf, type SigningKeys } from "./signature.ts";

/** A bucket on this machine that verifies signatures, with the two requests of S3 that reading needs. */
export interface BucketDouble {
  /** How a client reads the bucket. */
  readonly bucket: Bucket;
  /** The objects by their keys. */
  readonly objects: Map<string, Buffer>;
  /** The targets of the requests so far, as they were sent. */
  readonly requests: string[];
  /** Answers the next requests instead of the bucket, as long as it is set. */
  answer: ((response: ServerResponse) => void) | undefined;
  close(): Promise<void>;
}

const NAME = "bills";
const KEYS: SigningKeys = { region: "eu-west-1", accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalr/XUtn+FEMI=" };

/** Starts a bucket on 127.0.0.1. A page of its listing has at most `pageKeys` keys. */
export async function startBucket({
  pageKeys = 1_000,
  sessionToken,
}: { readonly pageKeys?: number; readonly sessionToken?: string } = {}): Promise<BucketDouble> {
  const keys: SigningKeys = { ...KEYS, ...(sessionToken === undefined ? {} : { sessionToken }) };
  const objects = new Map<string, Buffer>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    if (double.answer !== undefined) return double.answer(response);
    const refusal = refusalOf(request, keys);
    if (refusal !== undefined) return refuse(response, 403, refusal);
    const [path = "", query = ""] = (request.url ?? "").split("?");
    const key = decodeURIComponent(path).slice(`/${NAME}/`.length);
    if (key === "") return void response.end(page(objects, new URLSearchParams(query), pageKeys));
    const content = objects.get(key);
    return content === undefined ? refuse(response, 404, "NoSuchKey") : void response.end(content);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${NAME}`;
  const double: BucketDouble = {
    bucket: { url, prefix: "", ...keys },
    objects,
    requests,
    answer: undefined,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return double;
}

/** Answers with an error in the form of S3. */
export function refuse(response: ServerResponse, status: number, code: string): void {
  response.statusCode = status;
  response.end(`<?xml version="1.0"?>\n<Error><Code>${code}</Code><Message>no</Message></Error>`);
}

function page(objects: BucketDouble["objects"], query: URLSearchParams, pageKeys: number): string {
  const prefix = query.get("prefix") ?? "";
  const after = Buffer.from(query.get("continuation-token")?.slice(0, -3) ?? "", "hex").toString();
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix)).toSorted(byBytes);
  const left = keys.filter((key) => after === "" || byBytes(key, after) > 0);
  const shown = left.slice(0, pageKeys);
  const isTruncated = left.length > shown.length;
  const token = `${Buffer.from(shown.at(-1) ?? "").toString("hex")}+/=`;
  const contents = shown.map((key) => {
    const content = objects.get(key)!;
    const etag = `&quot;${createHash("md5").update(content).digest("hex")}&quot;`;
    return `<Contents><Key>${escaped(key)}</Key><LastModified>2026-03-02T00:00:00.000Z</LastModified><ETag>${etag}</ETag><Size>${content.length}</Size></Contents>`;
  });
  const next = isTruncated ? `<NextContinuationToken>${token}</NextContinuationToken>` : "";
  return `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${NAME}</Name><Prefix>${escaped(prefix)}</Prefix><KeyCount>${shown.length}</KeyCount><IsTruncated>${isTruncated}</IsTruncated>${contents.join("")}${next}</ListBucketResult>`;
}

/** S3 lists keys in the order of their bytes. */
function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

function escaped(text: string): string {
  return text.replace(/[&<>"\r]/g, (character) => `&#${character.charCodeAt(0)};`).replaceAll("&#38;", "&amp;");
}
