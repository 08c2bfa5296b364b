import { describe, expect, it } from "vitest";
import { readContainerPage } from "../../../../invoices/place/listing-page.ts";

const page = (blobs: string, marker = ""): string =>
  `<?xml version="1.0" encoding="utf-8"?><EnumerationResults ServiceEndpoint="https://a.blob.core.windows.net/" ContainerName="exports"><Prefix>2026</Prefix>${blobs}<NextMarker>${marker}</NextMarker></EnumerationResults>`;
const blob = (name: string, attributes = ""): string =>
  `<Blob><Name${attributes}>${name}</Name><Properties><Last-Modified>Mon, 02 Mar 2026 00:00:00 GMT</Last-Modified><Etag>0x8DE</Etag><Content-Length>7</Content-Length></Properties></Blob>`;
const PROPERTIES = { size: 7, etag: "0x8DE", modified: Date.UTC(2026, 2, 2) };

describe("a page of a container's listing", () => {
  it("has its blobs and the marker of the next page", () => {
    const files = ["2026/a &amp; b.csv", "2026/ c.csv "].map((name) => blob(name));
    expect(readContainerPage(page(`<Blobs>${files.join("")}</Blobs>`, "2!8!x"))).toEqual({
      files: [
        { key: "2026/a & b.csv", ...PROPERTIES },
        { key: "2026/ c.csv ", ...PROPERTIES },
      ],
      next: "2!8!x",
    });
  });

  it("has a name in percents where XML has no character for it", () => {
    const encoded = blob("2026/a%EF%BF%BF%25.csv", ' Encoded="true"');
    expect(readContainerPage(page(`<Blobs>${encoded}</Blobs>`))).toEqual({
      files: [{ key: "2026/a\uFFFF%.csv", ...PROPERTIES }],
      next: undefined,
    });
    expect(readContainerPage(page(`<Blobs>${blob("2026/a%20b.csv")}</Blobs>`))?.files[0]?.key).toBe("2026/a%20b.csv");
  });

  it("has no blobs, or is none", () => {
    for (const blobs of ["<Blobs />", "<Blobs></Blobs>"])
      expect(readContainerPage(page(blobs))).toEqual({ files: [], next: undefined });
    for (const text of ["", "<html></html>", "<Error><Code>X</Code></Error>"])
      expect(readContainerPage(text)).toBeUndefined();
  });
});
