import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { containerPlace } from "../../invoices/place/container.ts";
import type { ExportStream } from "../../invoices/source.ts";
import { freePort } from "../support/ports.ts";
import { startAzurite, type Azurite } from "../support/invoice/azurite.ts";

let azurite: Azurite;
beforeAll(async () => void (azurite = await startAzurite()));
afterAll(() => azurite.stop());

const NAMES = ["2026-03/a & b.csv", "2026-03/größe/😀.csv", "a+b=c?d#e%20f.csv", "x<y>.csv"];
/** More than a page of the listing has. */
const MANY = Array.from({ length: 5_001 }, (_, index) => `many/${String(index).padStart(4, "0")}.csv`);

describe("a container of Azure", () => {
  it("has its files with size and etag, also after a page of 5,000, and their content", async () => {
    for (const name of NAMES) await azurite.put(name, name);
    const place = containerPlace(azurite.container);
    const listed = await place.list();
    expect(listed.map(({ key }) => key)).toEqual(NAMES);
    expect(listed.map(({ size }) => size)).toEqual(NAMES.map((name) => Buffer.byteLength(name)));
    expect(new Set(listed.map(({ etag }) => etag)).size).toBe(NAMES.length);
    for (const { modified } of listed) expect(Math.abs(Date.now() - modified)).toBeLessThan(60_000);
    for (const name of NAMES) {
      expect(await place.text(name)).toBe(name);
      const { stream } = (await place.open(name)) as ExportStream;
      expect((await buffer(stream)).toString()).toBe(name);
    }
    const march = containerPlace({ ...azurite.container, prefix: "2026-03/" });
    expect((await march.list()).map(({ key }) => key)).toEqual(NAMES.slice(0, 2));
    for (const name of MANY) await azurite.put(name, "");
    const many = containerPlace({ ...azurite.container, prefix: "many/" });
    expect((await many.list()).map(({ key }) => key)).toEqual(MANY);
  });

  it("has another etag after a change", async () => {
    const etagOf = async (): Promise<string> => (await containerPlace(azurite.container).list())[0]!.etag;
    const before = await etagOf();
    await azurite.put(NAMES[0]!, "other");
    expect(await etagOf()).not.toBe(before);
  });

  it("is refused with its reason, and without the signature", async () => {
    const { container } = azurite;
    const wrong = containerPlace({ ...container, sasToken: container.sasToken.replace("sig=", "sig=x") });
    await expect(wrong.list()).rejects.toThrow(`${container.url} answers 403 AuthorizationFailure`);
    await expect(containerPlace(container).text("missing.json")).rejects.toThrow("answers 404 BlobNotFound");
    const error: unknown = await containerPlace({ ...container, url: `http://127.0.0.1:${await freePort()}/x` })
      .list()
      .catch((problem: unknown) => problem);
    expect(error).toMatchObject({ code: "unreadable-place" });
    expect(String(error)).toContain("ECONNREFUSED");
    expect(String(error)).not.toContain("sig=");
  });
});
