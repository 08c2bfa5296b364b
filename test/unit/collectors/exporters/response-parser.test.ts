import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PageError } from "../../../../collectors/exporters/http/page-error.ts";
import { createResponseParser, type ResponseHead } from "../../../../collectors/exporters/http/response-parser.ts";
import { rounds } from "../../../support/rounds.ts";

/** Feeds bytes in pieces and returns the results. */
function read(bytes: Buffer, cuts: readonly number[] = []) {
  const heads: ResponseHead[] = [];
  const body: string[] = [];
  const parser = createResponseParser(
    (head) => heads.push(head),
    (part) => body.push(part.toString("latin1")),
  );
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  let whole = false;
  for (let i = 1; i < places.length; i++) whole = parser.feed(bytes.subarray(places[i - 1], places[i])) || whole;
  return { heads, body: body.join(""), whole, parser };
}

const answer = (...lines: readonly string[]): Buffer => Buffer.from(lines.join("\r\n"), "latin1");
const SIZED = answer("HTTP/1.1 200 OK", "Content-Length: 11", "X-A: 1", "x-a: 2", "", "hello world");
const CHUNKED = answer(
  "HTTP/1.1 200 OK",
  "transfer-encoding: chunked",
  "",
  "5;x=y",
  "hello",
  "6",
  " world",
  "0",
  "t: 1",
  "",
  "",
);

describe("a response", () => {
  it("is the same for any cuts of its bytes", () => {
    fc.assert(
      fc.property(fc.constantFrom(SIZED, CHUNKED), fc.array(fc.nat(400), { maxLength: 12 }), (bytes, cuts) => {
        const { heads, body, whole, parser } = read(bytes, cuts);
        expect({ body, whole, reusable: parser.reusable }).toEqual({
          body: "hello world",
          whole: true,
          reusable: true,
        });
        expect(heads).toMatchObject([{ status: 200, framed: true }]);
      }),
    );
  });

  it("joins headers of the same name, in lower case", () => {
    expect(read(SIZED).heads[0]!.headers.get("x-a")).toBe("1, 2");
  });

  it("without length ends with the connection, which does not prove it complete and carries no other request", () => {
    const { heads, body, whole, parser } = read(answer("HTTP/1.0 200 OK", "", "half a pa"));
    expect([body, whole, heads[0]!.framed]).toEqual(["half a pa", false, false]);
    expect(parser.end()).toBe(true);
    expect(parser.reusable).toBe(false);
  });

  it("that ends too early is not complete", () => {
    for (const bytes of [SIZED, CHUNKED]) {
      for (let length = 0; length < bytes.length; length++) {
        const { whole, parser } = read(bytes.subarray(0, length));
        expect(whole).toBe(false);
        expect(parser.end()).toBe(false);
      }
    }
  });

  it("may follow interim responses, and has no body if its status excludes one", () => {
    const interim = answer("HTTP/1.1 103 Early Hints", "link: x", "", "HTTP/1.1 204 No Content", "", "");
    expect(read(interim)).toMatchObject({ heads: [{ status: 204 }], whole: true });
  });

  it("closes the connection if the server requests it, and if there are bytes after the response", () => {
    expect(read(answer("HTTP/1.1 200 OK", "connection: close", "content-length: 0", "", "")).parser.reusable).toBe(
      false,
    );
    expect(read(Buffer.concat([SIZED, Buffer.from("more")])).parser.reusable).toBe(false);
  });

  it.each([
    ["SSH-2.0-OpenSSH", "not an HTTP/1.1 answer"],
    ["HTTP/2 200", "not an HTTP/1.1 answer"],
    ["HTTP/1.1 200 OK\r\ncontent-length: -1", "content-length -1"],
    ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6", "content-length 5, 6"],
    ["HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked", "transfer-encoding"],
    ["HTTP/1.1 200 OK\r\n folded", "a header"],
    ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", "a chunk of size"],
    ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n", "a chunk longer than its declared length"],
  ])("that begins %j is refused with a sentence", (text, why) => {
    expect(() => read(Buffer.from(`${text}\r\n\r\n`))).toThrow(why);
  });

  it("of any bytes ends in an answer or a refusal, never in another error", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
      fc
        .tuple(fc.constantFrom(SIZED, CHUNKED), fc.nat(120), fc.integer({ min: 0, max: 255 }))
        .map(([good, at, byte]) => {
          const broken = Buffer.from(good);
          broken[at % broken.length] = byte;
          return broken;
        }),
    );
    fc.assert(
      fc.property(bytes, fc.array(fc.nat(200), { maxLength: 5 }), (given, cuts) => {
        let refused: unknown;
        try {
          read(given, cuts).parser.end();
        } catch (error) {
          refused = error;
        }
        expect(refused === undefined || refused instanceof PageError).toBe(true);
      }),
      { numRuns: rounds(5000) },
    );
  });
});
