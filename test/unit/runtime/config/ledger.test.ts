import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exactDecimal } from "../../../../domain/exact/rational.ts";
import { DEFAULT_POLICY } from "../../../../domain/policy/policy.ts";
import { ledgerOf, type Ledger } from "../../../../runtime/config/ledger.ts";
import { ConfigError } from "../../../../runtime/config/config-error.ts";
import { parseConfig } from "../../../../runtime/config/load.ts";
import type { Config } from "../../../../runtime/config/schema.ts";
import { describeProblem } from "../../../../runtime/config/file-problem.ts";
import { DAY_MILLIS as DAY } from "../../../../domain/time.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gpu-ledger-config-"));
  const files = {
    "book.yaml": `currency: EUR\nprices:\n  - { match: {}, from: 2026-01-01, per: gpu-hour, list: "2" }\n`,
    "broken.yaml": `currency: EUR\nprices:\n  - { match: {}, from: 2026-01-01, per: gpu-hour, list: "-2" }\nsomething: else\n`,
    "owners.csv": "kind,match,team\nnamespace,lab,nlp\n",
    "broken.csv": "kind,match,team\nnamespace,lab,\n",
    "torn.csv": "kind,match,team\nnamespace,lab,nlp\nnamespace,lab,speech\n",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
});
afterAll(() => rmSync(folder, { recursive: true }));

const read = (text: string): Config => parseConfig(text, { source: "test", folder, env: {} });
const ledger = (text: string): Ledger => ledgerOf(read(text));

/** The problems of a configuration, a line for each; empty if there are none. */
function wrongWith(text: string): readonly string[] {
  try {
    read(text);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((problem) => describeProblem(problem).trim());
    throw error;
  }
}

describe("a configuration without ledger keys", () => {
  it("has an empty book in USD, the default policy, the usual labels and the third of the month", () => {
    const { book, policies, energy, closing, owners } = ledger("");
    expect(book).toEqual({ currency: "USD", prices: [], commitments: [], fixed: [], rates: [], markup: [] });
    expect(policies).toEqual([{ ...DEFAULT_POLICY, keep: true }]);
    expect({ energy, closing }).toEqual({ energy: undefined, closing: { day: 3, latenessMillis: 35 * DAY } });
    expect(Object.values(owners.sources).map(({ length }) => length)).toEqual([4, 4, 4, 4]);
    expect(read("").owners.costCenter).toEqual([
      { podLabel: "cost-center" },
      { ownerLabel: "cost-center" },
      { namespaceLabel: "cost-center" },
    ]);
  });

  it("is plain data that can be sent to a child process", () => {
    const example = parseConfig(readFileSync("config/gpu-ledger.example.yaml", "utf8"), {
      source: "example",
      folder: "config",
      env: { KAFKA_PASSWORD: "k", CLICKHOUSE_PASSWORD: "c", REMOTE_WRITE_TOKEN: "r" },
    });
    const sent = JSON.parse(JSON.stringify(example)) as Config;
    expect(ledgerOf(sent).book).toEqual(ledgerOf(example).book);
    expect(ledgerOf(sent).owners.changes).toEqual(ledgerOf(example).owners.changes);
    expect(ledgerOf(sent).owners.changes.length).toBeGreaterThan(0);
  });
});

describe("a price book", () => {
  const entry = (price: string): string => `prices:\n  - { match: {}, from: 2026-01-01, per: gpu-hour, ${price} }\n`;

  it("is in the configuration, or in a file beside it with a currency of its own", () => {
    expect(ledger(`currency: EUR\n${entry('list: "2"')}`).book).toEqual(ledger("pricesFile: book.yaml").book);
    expect(ledger("currency: EUR\npricesFile: book.yaml").book.currency).toBe("EUR");
  });

  it.each([
    ["a negative price", entry('list: "-2"'), `prices[0].list (line 2): "-2" is not 0 or more`],
    ["a price that is a number", entry("list: 2"), "prices[0].list (line 2): 2 is not a decimal in quotes"],
    ["an invalid currency", "currency: DM", `currency (line 1): "DM" is not a currency of ISO 4217`],
    [
      "a foreign currency without a rate for the entry's first day",
      `${entry('list: "2", currency: EUR')}rates: [{ from: 2026-01-02, currency: EUR, rate: "1.1" }]`,
      `prices[0].currency (line 2): "EUR" is not a currency with a rate from the entry's first day on`,
    ],
    ["an invalid list", "prices: {}", "prices (line 1): a mapping is not a list"],
    ["a missing file", "pricesFile: nowhere.yaml", `pricesFile (line 1): "nowhere.yaml" is not the path`],
    ["prices in both places", `${entry('list: "2"')}pricesFile: book.yaml`, "is not allowed together with pricesFile"],
    [
      "another currency than its file",
      "currency: USD\npricesFile: book.yaml",
      `currency (line 1): "USD" is not the currency of pricesFile, which is EUR`,
    ],
  ])("is refused with %s", (_, text, sentence) => {
    expect(wrongWith(text)).toEqual([expect.stringContaining(sentence)]);
  });

  it("in a file is refused with the key and the line of each mistake in that file", () => {
    expect(wrongWith("data: x\npricesFile: broken.yaml")).toEqual([
      `pricesFile (line 2): "broken.yaml" is not a price book without errors; first error: something (line 4): "else" is not a known key; known are currency, prices, commitments, fixed, rates, markup`,
      `pricesFile (line 2): "broken.yaml" is not a price book without errors; first error: prices[0].list (line 3): "-2" is not 0 or more`,
    ]);
  });
});

describe("owners", () => {
  it("come from lists and from finance's file", () => {
    const config = read("owners: { team: [{ podLabel: squad }] }\nownersFile: owners.csv\nregister: [nlp]");
    expect(config.owners.team).toEqual([{ podLabel: "squad" }]);
    expect(config.ownersFile).toEqual([{ line: 2, kind: "namespace", match: "lab", values: { team: "nlp" } }]);
    expect(ledgerOf(config).owners.register).toEqual(new Set(["nlp"]));
  });

  it.each([
    ["an unknown source", "owners: { team: [{ podlabel: team }] }", "is not one of { podLabel }, { podAnnotation }"],
    ["a value without a pattern", "owners: { team: [{ value: nlp }] }", "is not one of { podLabel }"],
    [
      "an invalid expression",
      `owners: { team: [{ namespace: "/(/", value: nlp }] }`,
      `owners.team[0].namespace (line 1): "/(/" is not a valid regular expression`,
    ],
    [
      "rules that contradict each other",
      "owners: { project: [{ queue: a, value: x }, { queue: a, value: y }] }",
      `is not a rule that agrees with owners.project[0]: for queue a that gives "x" at the same time, and this one "y"`,
    ],
    ["a file with a mistake", "ownersFile: broken.csv", "first error: (row) (line 2): required: a value of team"],
    ["a file that contradicts itself", "ownersFile: torn.csv", `line 2 gives team "nlp" and line 3 "speech"`],
    ["an empty team in the register", `register: [""]`, `register[0] (line 1): "" is not a team`],
  ])("are refused with %s", (_, text, sentence) => {
    expect(wrongWith(text)).toEqual([expect.stringContaining(sentence)]);
  });
});

describe("policies", () => {
  it("begin with the billing policy, whose bills are kept; the first one is billing by default", () => {
    const named = (text: string) => ledger(text).policies.map(({ name, keep }) => [name, keep]);
    expect(named("policies: [{ name: a }, { name: b, billing: true }, { name: c, keep: true }]")).toEqual([
      ["b", true],
      ["a", false],
      ["c", true],
    ]);
    expect(named("policies: [{ name: a }, { name: b }]")).toEqual([
      ["a", true],
      ["b", false],
    ]);
  });

  it("have the default values for missing keys", () => {
    expect(ledger("policies: [{ name: default }]").policies).toEqual([{ ...DEFAULT_POLICY, keep: true }]);
    expect(ledger("policies: [{ name: a, payers: { idle: platform } }]").policies[0].payers.idle).toBe("platform");
  });

  it.each([
    ["without a name", "policies: [{}]", "policies[0].name (line 1): required: a policy's name"],
    ["with an empty name", `policies: [{ name: "" }]`, `policies[0].name (line 1): "" is not a policy's name`],
    [
      "beside another billing policy",
      "policies: [{ name: a, billing: true }, { name: b, billing: true }]",
      "is not policies with exactly one billing policy: a and b have billing: true",
    ],
    [
      "with the name of another policy",
      "policies: [{ name: a }, { name: a }]",
      `policies[1].name (line 1): "a" is not a name that no`,
    ],
    [
      "by usage with idle time paid by the holder",
      "policies: [{ name: a, basis: usage, payers: { idle: holder } }]",
      `policies[0].payers.idle (line 1): "holder" is not platform, or no value`,
    ],
    [
      "that spreads by quota over a node",
      "policies: [{ name: a, spread: { by: quota } }]",
      "policies[0].spread.over (line 1): cluster: a quota belongs to a cluster",
    ],
    [
      "that spreads by quota in a day",
      "policies: [{ name: a, spread: { by: quota, over: cluster, window: day } }]",
      `policies[0].spread.window (line 1): "day" is not hour: quotas are compared hour by hour`,
    ],
    [
      "that spreads held states",
      "policies: [{ name: a, payers: { idle: spread } }]",
      `policies[0].payers.idle (line 1): "spread" is not one of: holder, platform`,
    ],
    [
      "with an unknown key",
      "policies: [{ name: a, payer: {} }]",
      "policies[0].payer (line 1): no such key, the nearest is payers; see config/gpu-ledger.example.yaml",
    ],
  ])("%s are refused", (_, text, sentence) => {
    expect(wrongWith(text)).toEqual([expect.stringContaining(sentence)]);
  });
});

describe("energy", () => {
  it("is read exactly, its table by time", () => {
    const { energy } = ledger(
      `energy: { pue: "1.25", gramsPerKWh: [{ from: 2026-02-01, grams: "350.5" }, { from: 2026-01-01, grams: "380" }] }`,
    );
    expect(energy && exactDecimal(energy.pue, 9)).toBe("1.25");
    expect(energy?.gramsPerKWh.map(({ fromMillis, grams }) => [fromMillis, exactDecimal(grams, 9)])).toEqual([
      [Date.UTC(2026, 0, 1), "380"],
      [Date.UTC(2026, 1, 1), "350.5"],
    ]);
  });

  it.each([
    ["a PUE below 1", `energy: { pue: "0.9" }`, `energy.pue (line 1): "0.9" is not a decimal in quotes, 1 or more`],
    ["a PUE that is a number", "energy: { pue: 1.4 }", "energy.pue (line 1): 1.4 is not a decimal in quotes"],
    [
      "two values from the same moment on",
      `energy: { gramsPerKWh: [{ from: 2026-01-01, grams: "1" }, { from: 2026-01-01, grams: "2" }] }`,
      `energy.gramsPerKWh[1].from (line 1): "2026-01-01" is not a moment that no other value begins at`,
    ],
    [
      "a day that its month does not have",
      `energy: { gramsPerKWh: [{ from: 2026-02-30, grams: "1" }] }`,
      `energy.gramsPerKWh[0].from (line 1): "2026-02-30" is not a date such as`,
    ],
  ])("with %s is refused", (_, text, sentence) => {
    expect(wrongWith(text)).toEqual([expect.stringContaining(sentence)]);
  });
});

describe("closing", () => {
  it("waits for late data for the retention of raw rows minus a day, and 35 days at most", () => {
    expect(ledger("store: { rawDays: 10 }").closing.latenessMillis).toBe(9 * DAY);
    expect(ledger("closing: { day: 5, lateness: 39d }").closing).toEqual({ day: 5, latenessMillis: 39 * DAY });
  });

  it.each([
    [
      "a day that not every month has",
      "closing: { day: 31 }",
      "closing.day (line 1): 31 is not a whole number from 1 to 28",
    ],
    [
      "data that is later than the retention of raw rows",
      "closing: { lateness: 40d }",
      `closing.lateness (line 1): "40d" is not at most one day less than store.rawDays, which is 40d`,
    ],
  ])("with %s is refused", (_, text, sentence) => {
    expect(wrongWith(text)).toEqual([expect.stringContaining(sentence)]);
  });
});
