import { XMLParser } from "fast-xml-parser";
import { z } from "zod";
import type { ListingPage } from "./http-place.ts";

const object = z.object({
  Key: z.string(),
  Size: z.coerce.number(),
  ETag: z.string().default(""),
  LastModified: z.string().default(""),
});
const bucketPage = z.object({
  ListBucketResult: z.object({
    Contents: listOf(object),
    IsTruncated: z.string().optional(),
    NextContinuationToken: z.string().optional(),
  }),
});

const blob = z.object({
  /** A name with characters that XML does not have is written in percents. */
  Name: z.union([z.string(), z.object({ "#text": z.string() }).transform((each) => decodeURIComponent(each["#text"]))]),
  Properties: z.object({
    "Content-Length": z.coerce.number(),
    Etag: z.string().default(""),
    "Last-Modified": z.string().default(""),
  }),
});
const containerPage = z.object({
  EnumerationResults: z.object({
    Blobs: z.union([z.string().transform(() => []), z.object({ Blob: listOf(blob) }).transform(({ Blob }) => Blob)]),
    NextMarker: z.string().optional(),
  }),
});

/** A list of which the parser makes a value if it has one element, and nothing if it has none. */
function listOf<Element extends z.ZodType>(one: Element) {
  return z.union([one.transform((each) => [each]), z.array(one)]).default([]);
}

/** Keys keep their spaces at both ends, and characters that are written by their number (`&#13;`) are read. */
const parser = new XMLParser({
  parseTagValue: false,
  trimValues: false,
  htmlEntities: true,
  ignoreAttributes: false,
});

function parsed(text: string): unknown {
  try {
    return parser.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns a page of the listing of a bucket; undefined if the text is no such page, or if it has a next page without a token.
 *
 * Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html.
 */
export function readBucketPage(text: string): ListingPage | undefined {
  const { success, data } = bucketPage.safeParse(parsed(text));
  if (!success) return undefined;
  const { Contents, IsTruncated, NextContinuationToken } = data.ListBucketResult;
  const next = NextContinuationToken?.trim() || undefined;
  if (next === undefined && IsTruncated?.trim() === "true") return undefined;
  const files = Contents.map(({ Key, Size, ETag, LastModified }) => ({
    key: Key,
    size: Size,
    etag: ETag,
    modified: Date.parse(LastModified) || 0,
  }));
  return { files, next };
}

/**
 * Returns a page of the listing of a container; undefined if the text is no such page.
 *
 * Source: https://learn.microsoft.com/rest/api/storageservices/list-blobs.
 */
export function readContainerPage(text: string): ListingPage | undefined {
  const { success, data } = containerPage.safeParse(parsed(text));
  if (!success) return undefined;
  const { Blobs, NextMarker } = data.EnumerationResults;
  const files = Blobs.map(({ Name, Properties }) => ({
    key: Name,
    size: Properties["Content-Length"],
    etag: Properties.Etag,
    modified: Date.parse(Properties["Last-Modified"]) || 0,
  }));
  return { files, next: NextMarker?.trim() || undefined };
}
