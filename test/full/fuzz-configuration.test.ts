import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { loadAlertConfig } from "../../cli/alerts/config.ts";
import { readInvoice } from "../../runtime/config/invoice.ts";
import { ConfigError } from "../../runtime/config/config-error.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import { readOwnersFile } from "../../runtime/config/owners-file.ts";
import { readPriceFile } from "../../runtime/config/price-book.ts";
import { describeProblem, type FileProblem } from "../../runtime/config/file-problem.ts";
import { readScenario, ScenarioError } from "../../scenarios/read.ts";
import { temporaryFolder } from "../support/folder.ts";
import { FUZZ_SEED, fuzz } from "../support/fuzz.ts";
import { oddYaml } from "../support/odd-yaml.ts";

/** The secret of every key that can have one, and of every variable. */
const SECRET = "hunter2secret";
const ENV = {
  KAFKA_PASSWORD: SECRET,
  CLICKHOUSE_PASSWORD: SECRET,
  METRICS_TOKEN: SECRET,
  SCRAPE_TOKEN: SECRET,
  FINANCE_TOKEN: SECRET,
  HOME: SECRET,
};
/** The longest time of the processor for one text. The largest has 300 kB, which takes 2 s. A busy machine needs up to twice the time. */
const MOST_MILLIS = 6_000;

const SECRETS = `
collector:
  jobs:
    - { name: a, targets: [a], credentials: { bearerToken: ${SECRET} } }
    - name: b
      credentials:
        basic:
          username: u
          password: ${SECRET}
bus:
  kind: kafka
  kafka:
    brokers: [a:9092]
    sasl: { mechanism: plain, username: u, password: "${SECRET}" }
store:
  clickhouse:
    url: http://user:${SECRET}@clickhouse:8123
    password: ${SECRET}
server:
  metricsToken: ${SECRET}
deliveries:
  - name: a
    schedule: 0 6 4 * *
    report: { by: [team], format: csv }
    to: [{ name: f, webhook: { url: "https://a.example.com/${SECRET}", bearerToken: '${SECRET}', signingSecret: ${SECRET} } }]
`;

const blocks = (page: string): readonly string[] =>
  [...readFileSync(page, "utf8").matchAll(/^( *)```yaml\n([\s\S]*?)^\1```/gm)].map(([, , text]) => text!);
/** The top-level keys of a file, each as a text of its own, which is read quicker. */
const sectionsOf = (file: string): readonly string[] =>
  readFileSync(file, "utf8")
    .split(/^(?=\w)/m)
    .filter((section) => /^\w/.test(section));
const filesOf = (folder: string): readonly string[] =>
  readdirSync(folder).flatMap((name) => (/\.ya?ml$/.test(name) ? [readFileSync(join(folder, name), "utf8")] : []));
/** Texts with their values; texts of more than one document have no value. */
const withValues = (texts: readonly string[]) =>
  texts.map((text) => {
    try {
      return [text, parse(text, { merge: true }) as unknown] as const;
    } catch {
      return [text, {}] as const;
    }
  });

const DOCS = readdirSync("docs").flatMap((name) => (name.endsWith(".md") ? blocks(`docs/${name}`) : []));
const PRICES = [...sectionsOf("config/prices.example.yaml"), ...blocks("docs/prices.md")];
const INVOICE = '- { account: aws-main, instanceType: p5, capacityType: spot, amount: "12.50", currency: USD }\n';
const OWNERS = readFileSync("config/owners.example.csv", "utf8");

type Read = (text: string) => { readonly problems: readonly FileProblem[] } | object;

/** The problems of an error that lists problems. Other errors are faults of the reader. */
function problemsOf(error: unknown): { readonly problems: readonly FileProblem[] } {
  if (error instanceof ConfigError || error instanceof ScenarioError) return error;
  throw error;
}

function caught(read: () => object): ReturnType<Read> {
  try {
    return read();
  } catch (error) {
    return problemsOf(error);
  }
}

const READERS: readonly {
  readonly of: string;
  readonly part: number;
  readonly texts: readonly string[];
  readonly key: string;
  readonly read: Read;
}[] = [
  {
    of: "a configuration",
    part: 0.4,
    texts: [...sectionsOf("config/gpu-ledger.example.yaml"), SECRETS, SECRETS, ...DOCS, ...filesOf("deploy/compose")],
    key: "collector",
    read: (text) => caught(() => parseConfig(text, { source: "a", folder: "config", env: ENV })),
  },
  { of: "a price book", part: 0.15, texts: PRICES, key: "prices", read: readPriceFile },
  {
    of: "a scenario",
    part: 0.2,
    texts: [...filesOf("test/scenarios"), ...blocks("docs/scenarios.md")],
    key: "pods",
    read: (text) => caught(() => readScenario(text, "test/scenarios/a.yaml")),
  },
  { of: "an invoice", part: 0.05, texts: [INVOICE], key: "account", read: (text) => readInvoice(text, "yaml") },
  {
    of: "an invoice in CSV",
    part: 0.05,
    texts: [`account,instanceType,capacityType,amount,currency\na,b,spot,"1",USD\n`],
    key: "a",
    read: (text) => readInvoice(text, "csv"),
  },
  { of: "an owners file", part: 0.05, texts: [OWNERS], key: "kind", read: readOwnersFile },
];

describe(`a file with any faults (FUZZ_SEED=${FUZZ_SEED})`, () => {
  /** Reads texts for a part of the time. Returns which outcomes there were. */
  async function outcomesOf(
    part: number,
    texts: readonly string[],
    key: string,
    read: Read,
  ): Promise<readonly string[]> {
    // On a busy machine the time may be too short for a random text that is valid.
    const outcomes = { valid: texts.some((text) => !("problems" in read(text))) ? 1 : 0, refused: 0 };
    const runs = await fuzz(part, oddYaml(withValues(texts), key), (text) => {
      const before = process.cpuUsage();
      const result = read(text);
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1000, "milliseconds of the processor").toBeLessThan(MOST_MILLIS);
      const problems = "problems" in result ? (result.problems as readonly FileProblem[]) : undefined;
      outcomes[problems === undefined ? "valid" : "refused"]++;
      expect(problems?.length).not.toBe(0);
      expect((problems ?? []).map(describeProblem).join("\n")).not.toContain(SECRET);
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    });
    process.stdout.write(`${runs} texts: ${outcomes.valid} valid, ${outcomes.refused} refused\n`);
    return Object.entries(outcomes).flatMap(([outcome, count]) => (count > 0 ? [outcome] : []));
  }

  it.each(READERS)(
    "$of is read, or refused with its problems and without a secret",
    async ({ part, texts, key, read }) => {
      expect(await outcomesOf(part, texts, key, read)).toEqual(["valid", "refused"]);
    },
  );

  it("a configuration of alerts is read, or refused with its problems and without a secret", async () => {
    const path = join(temporaryFolder("alerts"), "alerts.yaml");
    const read: Read = (text) => {
      writeFileSync(path, text);
      return caught(() => loadAlertConfig(path, ENV));
    };
    const texts = sectionsOf("config/alerts.example.yaml");
    expect(await outcomesOf(0.1, texts, "alerts", read)).toEqual(["valid", "refused"]);
  });
});
