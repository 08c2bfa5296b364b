import { XMLParser } from "fast-xml-parser";
import { z } from "zod";
import type { ListedFile } from "../find/listing.ts";

const one = z.object({
  Key: z.string(),
  Size: z.coerce.number(),
  ETag: z.string().default(""),
  LastModified: z.string().default(""),
});
const page = z.object({
  ListBucketResult: z.object({
    Contents: z.union([one.transform((each) => [each]), z.array(one)]).default([]),
    IsTruncated: z.string().optional(),
    NextContinuationToken: z.string().optional(),
  }),
});

/** Keys keep their spaces at both ends, and characters that are written by their number (`&#13;`) are read. */
const parser = new XMLParser({ parseTagValue: false, trimValues: false, htmlEntities: true });

/**
 * Returns the files of a page of a listing, and the token of the next page; undefined if the text is no such page, or if it has a next page without
 * a token. Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html.
 */
export function readListing(
  text: string,
): { readonly files: readonly ListedFile[]; readonly next: string | undefined } | undefined {
  let parsed: unknown;
  try {
    parsed = parser.parse(text);
  } catch {
    return undefined;
  }
  const { success, data } = page.safeParse(parsed);
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
