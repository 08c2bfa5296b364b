import { buffer } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { bucketPlace } from "../../../../invoices/place/bucket.ts";
import type { ExportStream } from "../../../../invoices/source.ts";
import { refuse, startBucket, type BucketDouble } from "../../../support/invoice/bucket-double.ts";

let double: BucketDouble;
afterEach(() => double.close());

/** Starts a bucket with objects whose content is their key. */
async function bucketOf(keys: readonly string[], options?: Parameters<typeof startBucket>[0]): Promise<BucketDouble> {
  double = await startBucket(options);
  for (const key of keys) double.objects.set(key, Buffer.from(key));
  return double;
}

const listed = async (prefix = ""): Promise<readonly string[]> =>
  (await bucketPlace({ ...double.bucket, prefix }).list()).map(({ key }) => key);

const bytes = async (key: string): Promise<string> => {
  const { stream } = (await bucketPlace(double.bucket).open(key)) as ExportStream;
  return (await buffer(stream)).toString();
};

/** Keys that a signature, an address or XML writes in other characters. */
const ODD_KEYS = [
  " begins and ends with spaces.csv ",
  "a & b/c&amp;d.csv",
  "a'b(c)*!.csv",
  "a+b=c?d#e%20f.csv",
  "a\rb.csv",
  "a//b.csv",
  "billing_period=2026-03/a.csv",
  "größe/日本/😀.csv",
  "x<y>.csv",
];

describe("the files of a bucket", () => {
  it("have keys, sizes, etags and times", async () => {
    await bucketOf(["2026/a.csv"]);
    expect(await bucketPlace(double.bucket).list()).toEqual([
      {
        key: "2026/a.csv",
        size: 10,
        // MD5 of the text `2026/a.csv`, computed with md5sum.
        etag: '"86ad2757d8225753f263271efb212209"',
        modified: Date.UTC(2026, 2, 2),
      },
    ]);
  });

  it("are listed page by page, each page with the token of the page before", async () => {
    const keys = Array.from({ length: 7 }, (_, index) => `day-${index}.csv`);
    await bucketOf(keys, { pageKeys: 3 });
    expect(await listed()).toEqual(keys);
    expect(double.requests).toHaveLength(3);
    expect(double.requests[0]).not.toContain("continuation-token");
    expect(double.requests[1]).toContain("&continuation-token=6461792d322e637376%2B%2F%3D");
  });

  it("fill a page of 1,000 keys", async () => {
    await bucketOf(Array.from({ length: 1_001 }, (_, index) => `a&b-${String(index).padStart(4, "0")}.csv`));
    expect(await listed()).toHaveLength(1_001);
    expect(double.requests).toHaveLength(2);
  });

  it("are those of the prefix, whose spaces and plus signs are signed", async () => {
    await bucketOf(["my bills+x/a.csv", "my bills/a.csv", "other/a.csv"]);
    expect(await listed("my bills")).toEqual(["my bills+x/a.csv", "my bills/a.csv"]);
    expect(await listed("my bills+")).toEqual(["my bills+x/a.csv"]);
    expect(double.requests[0]).toContain("prefix=my%20bills");
  });

  it("have their exact keys, and are read by them", async () => {
    await bucketOf(ODD_KEYS, { pageKeys: 2 });
    expect((await listed()).toSorted()).toEqual(ODD_KEYS.toSorted());
    const place = bucketPlace(double.bucket);
    for (const key of ODD_KEYS) {
      expect(await place.text(key)).toBe(key);
      expect(await bytes(key)).toBe(key);
    }
  });

  it("are none in an empty bucket, and none under a prefix without keys", async () => {
    await bucketOf([]);
    expect(await listed()).toEqual([]);
    double.objects.set("a.csv", Buffer.from("a"));
    expect(await listed("b/")).toEqual([]);
  });

  it("are read with the token of a temporary access key", async () => {
    await bucketOf(["a.csv"], { sessionToken: "token/+=" });
    expect(await listed()).toEqual(["a.csv"]);
    const { sessionToken: _, ...bucket } = double.bucket;
    await expect(bucketPlace(bucket).list()).rejects.toThrow(/answers 403 InvalidToken$/);
  });
});

describe("a bucket that cannot be read", () => {
  const failure = { name: "PlaceError", code: "unreadable-place", retriable: true };

  it("is named with the status and the code of the answer", async () => {
    const { bucket } = await bucketOf(["a.csv"]);
    const withWrongSecret = bucketPlace({ ...bucket, secretAccessKey: "wrong" });
    await expect(withWrongSecret.list()).rejects.toMatchObject({
      ...failure,
      message: `${bucket.url} answers 403 SignatureDoesNotMatch`,
    });
    await expect(bucketPlace({ ...bucket, region: "us-east-1" }).list()).rejects.toThrow(
      "answers 403 AuthorizationHeaderMalformed",
    );
    await expect(bucketPlace({ ...bucket, accessKeyId: "OTHER" }).list()).rejects.toThrow(
      "answers 403 InvalidAccessKeyId",
    );
    await expect(bucketPlace(bucket).open("b.csv")).rejects.toThrow(`${bucket.url} answers 404 NoSuchKey`);
    await expect(bucketPlace(bucket).text("b.json")).rejects.toThrow(`${bucket.url} answers 404 NoSuchKey`);
  });

  it("is asked four times if it is busy", async () => {
    await bucketOf(["a.csv"]);
    double.answer = (response) => refuse(response, 503, "SlowDown");
    await expect(bucketPlace(double.bucket).list()).rejects.toThrow("answers 503 SlowDown");
    expect(double.requests).toHaveLength(4);
    double.requests.length = 0;
    double.answer = (response) => {
      double.answer = undefined;
      refuse(response, 503, "SlowDown");
    };
    expect(await listed()).toEqual(["a.csv"]);
  });

  it("has no answer in time, or only its beginning", async () => {
    const { bucket } = await bucketOf(["a.csv"]);
    const expected = { ...failure, message: `${bucket.url} cannot be read: no answer within 0.2 s` };
    double.answer = () => {};
    await expect(bucketPlace(bucket, 200).list()).rejects.toMatchObject(expected);
    await expect(bucketPlace(bucket, 200).open("a.csv")).rejects.toMatchObject(expected);
    double.answer = (response) => void response.write("<ListBucketResult>");
    await expect(bucketPlace(bucket, 200).list()).rejects.toMatchObject(expected);
    await expect(bucketPlace(bucket, 200).text("a-Manifest.json")).rejects.toMatchObject(expected);
  });

  it("refuses the connection", async () => {
    const { bucket } = await bucketOf([]);
    const port = Number(new URL(bucket.url).port);
    await double.close();
    await expect(bucketPlace(bucket).list()).rejects.toMatchObject({
      ...failure,
      message: `${bucket.url} cannot be read: fetch failed: connect ECONNREFUSED 127.0.0.1:${port}`,
    });
    double = await startBucket();
  });

  it("is no bucket, or has a next page without a token", async () => {
    await bucketOf([]);
    for (const text of [
      "",
      "hello",
      "<html></html>",
      "<a><b",
      "<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>",
      "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
    ]) {
      double.answer = (response) => void response.end(text);
      await expect(bucketPlace(double.bucket).list()).rejects.toMatchObject({
        ...failure,
        message: `${double.bucket.url} does not answer as a bucket of S3 does`,
      });
    }
  });

  it("ends a file in the middle", async () => {
    await bucketOf([]);
    double.answer = (response) => {
      response.setHeader("content-length", 100);
      response.write("half of");
      setTimeout(() => response.destroy(), 50);
    };
    await expect(bytes("a.csv")).rejects.toMatchObject(failure);
  });
});
