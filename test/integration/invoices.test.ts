import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { GPU_MACHINES } from "../../domain/invoice/dialect/keeping.ts";
import { bucketPlace } from "../../invoices/place/bucket.ts";
import { folderPlace } from "../../invoices/place/folder.ts";
import type { ExportPlace } from "../../invoices/place/place.ts";
import { DAY_MILLIS } from "../../domain/time.ts";
import { doubledExports, doubledSentence } from "../../runtime/store/schema/doubled-exports.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { readSource, type SourceOutcome, type SourceReading } from "../../services/invoices/read-source.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { createTestDatabase } from "../support/database.ts";
import { sharedStore } from "../support/embedded-store.ts";
import { refuse, startBucket, type BucketDouble } from "../support/invoice/bucket-double.ts";

const MAPPING = { from: "day", machine: "node", effective: "cost", currency: "currency" };
let store: StoreClient;
let files: CommandFolder;
let source: SourceReading;
let number = 0;

beforeAll(async () => {
  store = await createTestDatabase("invoice_exports");
});
afterAll(() => store.close());
/** Each test has a source and a folder of its own. */
beforeEach(() => {
  number += 1;
  source = { name: `bills-${number}`, mapping: MAPPING, keeps: GPU_MACHINES, rates: [] };
  files = createCommandFolder();
});
afterEach(() => files.dispose());

/** Returns a file with a line for each `day machine cost`, in US dollars. */
function csv(lines: readonly string[], currency = "USD"): string {
  return ["day,node,cost,currency", ...lines.map((line) => `${line.split(" ").join(",")},${currency}`), ""].join("\n");
}

/** Writes a file of an export. Its time is that of its writing, so a file that is written again is another version. */
function write(key: string, content: string | Buffer): void {
  const path = join(files.path, key);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

let seconds = 0;
/** Reads the source a second later than before; on 2 April 2026, or another day of April. */
function read(place: ExportPlace = folderPlace(files.path), day = 2): Promise<SourceOutcome> {
  seconds += 1;
  const book = { currency: "USD", rates: [] };
  return readSource(source, place, { store, book, now: () => Date.UTC(2026, 3, day) + seconds * 1_000, by: "test" });
}

/** The outcome in short: the lines of each read month, and the counts of the other exports. */
const shapeOf = ({ read: exports, unchanged, incomplete, failed, ended }: SourceOutcome) => ({
  read: exports.map(({ name, months }) => [
    name,
    ...months.map(({ month, kept }) => `${new Date(month).toISOString().slice(0, 7)}: ${kept}`),
  ]),
  unchanged,
  incomplete: incomplete.map(({ reason }) => reason),
  failed: failed.map(({ message }) => message),
  ended: ended.map(({ name, month }) => `${name} ${new Date(month).toISOString().slice(0, 7)}`),
});

/** The lines that count: `machine day cost`. */
async function counting(): Promise<readonly string[]> {
  const rows = await store.query<{ line: string }>(
    `SELECT concat(machine, ' ', toString(toDate(from_at)), ' ', effective_cost) AS line FROM export_lines_valid
     WHERE source = {source:String} ORDER BY line`,
    { source: source.name },
  );
  return rows.map(({ line }) => line);
}

/** The number of stored lines, also of versions that do not count. */
async function stored(): Promise<number> {
  const [row] = await store.query<{ lines: number }>(
    "SELECT toFloat64(count()) AS lines FROM export_lines WHERE source = {source:String}",
    { source: source.name },
  );
  return row!.lines;
}

const NOTHING = { read: [], unchanged: 0, incomplete: [], failed: [], ended: [] };

describe("an export of a folder", () => {
  it("is read once, and the same content changes nothing", async () => {
    write("march.csv", csv(["2026-03-02 gpu-a 24.5", "2026-03-03 gpu-a 24.5", "2026-03-03 gpu-b 0.000000001"]));
    expect(shapeOf(await read())).toEqual({ ...NOTHING, read: [["march.csv", "2026-03: 3"]] });
    const lines = ["gpu-a 2026-03-02 24.5", "gpu-a 2026-03-03 24.5", "gpu-b 2026-03-03 0.000000001"];
    expect(await counting()).toEqual(lines);
    expect(shapeOf(await read())).toEqual({ ...NOTHING, unchanged: 1 });
    write("march.csv", csv(["2026-03-02 gpu-a 24.5", "2026-03-03 gpu-a 24.5", "2026-03-03 gpu-b 0.000000001"]));
    await read();
    expect(await counting()).toEqual(lines);
    expect(await stored()).toBe(3);
  });

  it("is read once, too, if none of its lines counts", async () => {
    write("empty.csv", csv([]));
    expect((await read()).read).toHaveLength(1);
    expect(shapeOf(await read())).toEqual({ ...NOTHING, unchanged: 1 });
  });

  it("replaces its month whole, and its earlier lines are dropped", async () => {
    write("bill.csv", csv(["2026-03-02 gpu-a 10", "2026-03-03 gpu-b 10", "2026-04-01 gpu-a 7"]));
    expect(shapeOf(await read()).read).toEqual([["bill.csv", "2026-03: 2", "2026-04: 1"]]);
    write("bill.csv", csv(["2026-03-02 gpu-a 11.25"]));
    expect(shapeOf(await read()).read).toEqual([["bill.csv", "2026-03: 1", "2026-04: 0"]]);
    expect(await counting()).toEqual(["gpu-a 2026-03-02 11.25"]);
    expect(await stored()).toBe(1);
  });

  it("has months that are versions of their own", async () => {
    const [march, april] = ["bill/billing_period=2026-03/part-1.csv", "bill/billing_period=2026-04/part-1.csv"];
    write(march, csv(["2026-03-02 gpu-a 10"]));
    write(april, csv(["2026-04-02 gpu-a 5"]));
    await read();
    expect(await counting()).toEqual(["gpu-a 2026-03-02 10", "gpu-a 2026-04-02 5"]);
    expect(shapeOf(await read())).toEqual({ ...NOTHING, unchanged: 2 });
    write(april, csv(["2026-04-02 gpu-a 5", "2026-04-03 gpu-a 6"]));
    expect(shapeOf(await read())).toMatchObject({ read: [["bill 2026-04", "2026-04: 2"]], unchanged: 1 });
    expect(await counting()).toEqual(["gpu-a 2026-03-02 10", "gpu-a 2026-04-02 5", "gpu-a 2026-04-03 6"]);
    expect(await stored()).toBe(3);
  });

  it("counts for nothing if a file is broken, and the earlier version stays", async () => {
    const [first, second] = ["bill/billing_period=2026-03/1.csv.gz", "bill/billing_period=2026-03/2.csv.gz"];
    write(first, gzipSync(csv(["2026-03-02 gpu-a 10"])));
    await read();
    write(first, gzipSync(csv(["2026-03-02 gpu-a 12"])));
    write(second, gzipSync(csv(["2026-03-03 gpu-a 3"])).subarray(0, -12));
    expect(shapeOf(await read())).toEqual({
      ...NOTHING,
      failed: [`${second}: the gzip file is broken: unexpected end of file`],
    });
    expect(await counting()).toEqual(["gpu-a 2026-03-02 10"]);
    expect(await stored()).toBe(1);
    write(second, gzipSync(csv(["2026-03-03 gpu-a 3", "2026-03-04 gpu-a x"])));
    expect(shapeOf(await read()).failed[0]).toContain(`${second}, row 2, column cost: `);
    write(second, gzipSync(csv(["2026-03-03 gpu-a 3"])));
    await read();
    expect(await counting()).toEqual(["gpu-a 2026-03-02 12", "gpu-a 2026-03-03 3"]);
  });

  it("is refused in a currency without a rate, while others are read", async () => {
    write("euro.csv", csv(["2026-03-02 gpu-a 10"], "EUR"));
    write("usd.csv", csv(["2026-03-02 gpu-b 10"]));
    expect(shapeOf(await read())).toEqual({
      ...NOTHING,
      read: [["usd.csv", "2026-03: 1"]],
      failed: [
        "euro.csv, row 1: the line is in EUR, and `rates` has no rate of EUR to USD at 2026-03-02T00:00:00.000Z",
      ],
    });
    expect(await counting()).toEqual(["gpu-b 2026-03-02 10"]);
    expect(await stored()).toBe(1);
  });

  it("is not read before it is complete", async () => {
    const run = "hourly/20260301-20260401";
    const keys = [`${run}/1.csv`, `${run}/2.csv`];
    write(keys[0]!, csv(["2026-03-02 gpu-a 10"]));
    write(`${run}/hourly-Manifest.json`, JSON.stringify({ reportName: "hourly", reportKeys: keys }));
    expect(shapeOf(await read())).toEqual({
      ...NOTHING,
      incomplete: ["the manifest names a file that is missing"],
    });
    write(keys[1]!, csv(["2026-03-03 gpu-a 10"]));
    expect(shapeOf(await read()).read).toEqual([["hourly 2026-03", "2026-03: 2"]]);
  });

  it("has the invoice of its month after `finalAfter`, if its format has no numbers of invoices", async () => {
    source = { ...source, finalAfter: 10 * DAY_MILLIS };
    const invoices = (): Promise<readonly { invoice: string }[]> =>
      store.query("SELECT DISTINCT invoice FROM export_lines_valid WHERE source = {source:String} ORDER BY invoice", {
        source: source.name,
      });
    write("bill.csv", csv(["2026-03-02 gpu-a 10", "2026-04-02 gpu-a 5"]));
    await read();
    expect(await invoices()).toEqual([{ invoice: "" }]);
    expect(shapeOf(await read(undefined, 10))).toEqual({ ...NOTHING, unchanged: 1 });
    expect((await read(undefined, 11)).read).toHaveLength(1);
    expect(await invoices()).toEqual([{ invoice: "" }, { invoice: "2026-03" }]);
    expect(shapeOf(await read(undefined, 12))).toEqual({ ...NOTHING, unchanged: 1 });
    expect(await counting()).toEqual(["gpu-a 2026-03-02 10", "gpu-a 2026-04-02 5"]);
  });

  it("counts once under another name, and a copy beside it is found", async () => {
    const lines = ["2026-03-02 copied-a 10", "2026-03-02 copied-b 10", "2026-02-02 copied-a 7"];
    write("bill.csv", csv(lines));
    await read();
    write("copy.csv", csv(["2026-03-02 copied-a 11", "2026-03-02 copied-b 10"]));
    expect(shapeOf(await read())).toMatchObject({ read: [["copy.csv", "2026-03: 2"]], unchanged: 1, ended: [] });
    const march = { from: Date.UTC(2026, 2), until: Date.UTC(2026, 3) };
    const own = async (): Promise<readonly string[]> =>
      (await doubledExports(store, march)).map(doubledSentence).filter((text) => text.includes(source.name));
    expect(await own()).toEqual([
      `bill.csv of ${source.name} and copy.csv of ${source.name} have the same lines of 2 machines`,
    ]);
    rmSync(join(files.path, "bill.csv"));
    write("copy.csv", csv(["2026-03-02 copied-a 11.5", "2026-03-02 copied-b 10"]));
    expect(shapeOf(await read()).ended).toEqual(["bill.csv 2026-03"]);
    expect(await counting()).toEqual(["copied-a 2026-02-02 7", "copied-a 2026-03-02 11.5", "copied-b 2026-03-02 10"]);
    expect(await own()).toEqual([]);
  });

  it("keeps the lines of a file that is gone if another one has only some of them", async () => {
    write("early.csv", csv(["2026-03-02 partly-a 10", "2026-03-03 partly-a 10"]));
    await read();
    rmSync(join(files.path, "early.csv"));
    write("late.csv", csv(["2026-03-03 partly-a 10", "2026-03-04 partly-a 10"]));
    expect(shapeOf(await read()).ended).toEqual([]);
    expect(await counting()).toHaveLength(4);
  });

  it("leaves no lines of a reading that was killed a day ago", async () => {
    write("bill.csv", csv(["2026-03-02 gpu-a 10"]));
    await read();
    for (const time of ["now() - INTERVAL 2 DAY", "now()"])
      await store.command(
        `INSERT INTO export_lines SELECT * REPLACE(dateTimeToUUIDv7(${time}) AS version) FROM export_lines
         WHERE source = {source:String} LIMIT 1`,
        { source: source.name },
      );
    expect(await stored()).toBe(3);
    write("bill.csv", csv(["2026-03-02 gpu-a 12"]));
    await read();
    expect(await stored()).toBe(2);
    expect(await counting()).toEqual(["gpu-a 2026-03-02 12"]);
  });

  it("is missing with its folder", async () => {
    await expect(read(folderPlace("/missing/bills"))).rejects.toMatchObject({ code: "unreadable-place" });
  });
});

describe("an export of a bucket", () => {
  let double: BucketDouble;
  beforeEach(async () => void (double = await startBucket({ pageKeys: 1 })));
  afterEach(() => double.close());

  it("is read as that of a folder, and stays while the bucket cannot be read", async () => {
    const place = bucketPlace({ ...double.bucket, prefix: "gpu bills/" });
    const [march, april] = ["gpu bills/BILLING_PERIOD=2026-03/a+b.csv.gz", "gpu bills/BILLING_PERIOD=2026-04/a.csv"];
    double.objects.set(march, gzipSync(csv(["2026-03-02 gpu-a 10"])));
    double.objects.set(april, Buffer.from(csv(["2026-04-02 gpu-a 5"])));
    double.objects.set("other/a.csv", Buffer.from(csv(["2026-03-02 gpu-z 99"])));
    await read(place);
    expect(await counting()).toEqual(["gpu-a 2026-03-02 10", "gpu-a 2026-04-02 5"]);
    expect(shapeOf(await read(place))).toEqual({ ...NOTHING, unchanged: 2 });
    double.answer = (response) => refuse(response, 403, "AccessDenied");
    await expect(read(place)).rejects.toThrow(`${double.bucket.url} answers 403 AccessDenied`);
    double.answer = undefined;
    double.objects.set(april, Buffer.from(csv(["2026-04-02 gpu-a 6"])));
    await read(place);
    expect(await counting()).toEqual(["gpu-a 2026-03-02 10", "gpu-a 2026-04-02 6"]);
    expect(await stored()).toBe(2);
  });

  it("counts for nothing if the bucket ends a file in the middle", async () => {
    const place = bucketPlace(double.bucket);
    double.objects.set("a.csv", Buffer.from(csv(["2026-03-02 gpu-a 10"])));
    await read(place);
    const next = csv(["2026-03-02 gpu-a 11", "2026-03-03 gpu-a 11"]);
    double.objects.set("a.csv", Buffer.from(next));
    const cut: ExportPlace = {
      ...place,
      open(key) {
        double.answer = (response) => {
          response.setHeader("content-length", next.length);
          response.write(next.slice(0, -25));
          setTimeout(() => response.destroy(), 50);
        };
        return place.open(key);
      },
    };
    await expect(read(cut)).rejects.toMatchObject({ code: "unreadable-place", retriable: true });
    expect(await counting()).toEqual(["gpu-a 2026-03-02 10"]);
    expect(await stored()).toBe(1);
  });
});

describe("the command invoices", () => {
  let config: string;
  const run = (...args: readonly string[]) => files.call(["invoices", ...args, "--config", config]);

  beforeAll(async () => (await createTestDatabase("invoice_commands")).close());
  beforeEach(() => {
    const { url, user } = sharedStore();
    mkdirSync(join(files.path, "bills"));
    config = files.write("config.yaml", {
      prices: [],
      invoices: [
        { name: `folder-${number}`, folder: join(files.path, "bills"), mapping: MAPPING },
        { name: `files-${number}`, mapping: MAPPING },
      ],
      store: { kind: "clickhouse", database: "invoice_commands", clickhouse: { url, ...user } },
    });
  });

  it("imports the folders of the configuration", async () => {
    write("bills/march.csv", csv(["2026-03-02 gpu-a 24.5", "2026-03-03 gpu-a 24.5"]));
    write("bills/euro.csv", csv(["2026-03-02 gpu-a 1"], "EUR"));
    const first = await run("import");
    expect(first.stdout).toBe(
      `folder-${number}: 1 exports read, 0 unchanged, 0 not complete
march.csv (CSV with a mapping): 2 rows
  2026-03: 2 lines kept
`,
    );
    expect(first).toMatchObject({ code: 1 });
    expect(first.stderr).toContain("euro.csv, row 1: the line is in EUR, and `rates` has no rate of EUR to USD");
    rmSync(join(files.path, "bills/euro.csv"));
    const second = await run("import");
    expect(second).toMatchObject({ code: 0, stderr: "" });
    expect(second.stdout).toBe(`folder-${number}: 0 exports read, 1 unchanged, 0 not complete\n`);
  });

  it("imports files of one source, and the same files twice change nothing", async () => {
    write("bill.csv", csv(["2026-03-02 gpu-a 24.5", "2026-04-02 gpu-a 1"]));
    const of = ["--source", `files-${number}`];
    expect((await run("import", "bill.csv", ...of)).stdout).toBe(
      `files (CSV with a mapping): 2 rows
  2026-03: 1 lines kept
  2026-04: 1 lines kept
`,
    );
    expect((await run("import", "bill.csv", ...of)).stdout).toBe("The same files were read before.\n");
    const unclear = await run("import", "bill.csv");
    expect(unclear).toMatchObject({ code: 2 });
    expect(unclear.stderr).toContain(`--source: the files are of one of: folder-${number}, files-${number}`);
    const missing = await run("import", "missing.csv", ...of);
    expect(missing).toMatchObject({ code: 1, stdout: "" });
    expect(missing.stderr).toContain("missing.csv cannot be read: ENOENT");
    expect(missing.stderr).not.toContain("    at ");
  });

  it("reconciles a month, part by part", async () => {
    write("bills/march.csv", csv(["2026-05-02 gpu-a 24.5", "2026-05-03 gpu-a 24.5"]));
    await run("import");
    const { code, stdout } = await run("reconcile", "2026-05");
    expect(code).toBe(0);
    expect(stdout).toBe(
      `2026-05, folder-${number}, account (none), provisional

effective cost              USD
not divided over hours yet   49
total                        49

billed cost     USD
effective cost   49
total            49
`,
    );
    const json = await run("reconcile", "2026-05", "--format", "json");
    expect(JSON.parse(json.stdout)).toMatchObject({
      period: "2026-05",
      statements: [{ source: `folder-${number}`, currency: "USD", effective: "49", billed: "49" }],
    });
    expect((await run("reconcile", "2026-06")).stdout).toBe("2026-06: no lines of exports\n");
    expect(await run("reconcile", "2026-13")).toMatchObject({ code: 2 });
  });
});
