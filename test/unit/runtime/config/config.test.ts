import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ConfigError } from "../../../../runtime/config/config-error.ts";
import { loadConfig, parseConfig } from "../../../../runtime/config/load.ts";
import { describeProblem, type FileProblem } from "../../../../runtime/config/file-problem.ts";
import { parseDuration, parseSize } from "../../../../runtime/config/quantity.ts";
import { configJsonSchema } from "../../../../runtime/config/schema.ts";

const EXAMPLE = readFileSync("config/gpu-ledger.example.yaml", "utf8");
const EXAMPLE_ENV = { KAFKA_PASSWORD: "k", CLICKHOUSE_PASSWORD: "c", REMOTE_WRITE_TOKEN: "r" };

const read = (text: string, env: NodeJS.ProcessEnv = {}) =>
  parseConfig(text, { source: "test", folder: "config", env });

function problemsOf(text: string, env: NodeJS.ProcessEnv = {}): readonly FileProblem[] {
  try {
    read(text, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("durations and sizes", () => {
  it.each([
    ["30s", 30_000],
    ["1m30s", 90_000],
    ["1h", 3_600_000],
    ["7d", 604_800_000],
    ["1.5s", 1500],
    ["250ms", 250],
  ])("reads %s", (text, millis) => expect(parseDuration(text)).toBe(millis));

  it.each(["", "30", "s", "30 s", "30s!", "-5s", "5y"])("refuses %j as a duration", (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it.each([
    ["512MiB", 536_870_912],
    ["2GB", 2_000_000_000],
    ["100Gi", 107_374_182_400],
    ["64kB", 64_000],
    ["10 MB", 10_000_000],
    ["0B", 0],
  ])("reads %s", (text, bytes) => expect(parseSize(text)).toBe(bytes));

  it.each(["", "12", "12 parsecs", "MB", "1GBB"])("refuses %j as a size", (text) => {
    expect(parseSize(text)).toBeUndefined();
  });

  it.each([
    "server: { metricsToken: [hunter2] }",
    "server: { metricTokens: hunter2 }",
    "server: { metricsToken: { value: hunter2 } }",
    "store: { kind: clickhouse, clickhouse: { url: 'http://ops:hunter2@' } }",
    "store: { clickhouse: { password: { text: hunter2 } } }",
    "bus: { kafka: { sasl: { mechanism: plain, username: u, pasword: hunter2 } } }",
    "bus: { kafka: hunter2 }\nserver: { listen: '${SECRET}' }",
    "collector: { jobs: [{ name: a, targets: ['http://u:hunter2@host:port'] }] }",
    "collector: { jobs: [{ name: a, credentials: { bearerToken: hunter2, bearerTokenFile: b } }] }",
    "cluster: '${SECRET}'\nlog: { level: '${SECRET}' }",
    "cluster: *\nserver: { metricsToken: hunter2 }",
    "server:\n  metricsToken: |hunter2",
    "server: { metricsToken: *hunter2 }",
    "server: { metricsToken: !hunter2! x }",
    "server: { metricsToken: !hunter2 [x] }",
    'server: { metricsToken: "\\Uhunter2" }',
    "%hunter2 x\n---\nserver: { metricsToken: [x] }",
    "server:\n  metricsToken: | hunter2",
    "server:\n  metricsToken: '\\' hunter2",
    "collector: { jobs: [{ name: a, targets: ['http://u:with/slash-hunter2@host:port'] }] }",
    "collector: { jobs: [{ name: a, http: [{ url: 'htp://u:with blank hunter2@host' }] }] }",
    "collector: { jobs: [{ name: a, http: [{ url: 'htp://hunter2@host' }] }] }",
    "training: { prometheus: [{ url: 'http://p:9090', basic: hunter2 }] }",
    "training: { prometheus: [{ url: 'http://u:hunter2@p:9090' }] }",
    "training: { prometheus: [{ url: 'http://p', ca: \"-----BEGIN KEY-----\\nhunter2\" }] }",
    "training: { prometheus: [{ url: 'http://p', bearerToken: { file: \"-----BEGIN KEY-----\\nhunter2\" } }] }",
    "collector: { remoteWrite: { listen: '127.0.0.1:9', basic: 'u:hunter2' } }",
    "collector: { remoteWrite: hunter2 }",
    "server: { signIn: hunter2 }",
  ])("prints no secret of %j in its errors", (text) => {
    const described = problemsOf(text.replace("kafka: hunter2", "kafka: [hunter2]"), { SECRET: "hunter2" });
    expect(described.length).toBeGreaterThan(0);
    expect(described.map(describeProblem).join("\n")).not.toContain("hunter2");
  });

  it.each([
    [
      "aliases of aliases",
      `a: &a [x, x]\n${["b", "c", "d", "e", "f", "g", "h", "i"].map((name, at) => `${name}: &${name} [${Array.from({ length: 9 }, () => `*${"abcdefghi"[at]}`).join(", ")}]`).join("\n")}`,
    ],
    ["an anchor that holds itself", "a: &a [*a]"],
    ["an alias without an anchor", "cluster: *a"],
    ["60 kB of brackets", `collector: ${"[".repeat(60_000)}`],
    ["60 kB of mappings", `collector: ${"{a: ".repeat(15_000)}`],
    ["60 kB of lists", `collector:\n ${"- ".repeat(30_000)}x`],
    [
      "a chain of 150 aliases",
      `a0: &a0 [x]\n${Array.from({ length: 150 }, (_, index) => `a${index + 1}: &a${index + 1} [*a${index}]`).join("\n")}`,
    ],
    [
      "a chain of 20,000 aliases",
      `a0: &a0 [x]\n${Array.from({ length: 20_000 }, (_, index) => `a${index + 1}: &a${index + 1} [*a${index}]`).join("\n")}`,
    ],
  ])("refuses %s with one clear error", (_, text) => {
    expect(problemsOf(text)).toHaveLength(1);
  });
});

it.each([
  ["20,000 unknown keys", Array.from({ length: 20_000 }, (_, index) => `a${index}: b`).join("\n")],
  ["25,000 keys without a value", `log: { ${Array.from({ length: 25_000 }, (_, index) => `a${index}`).join(", ")} }`],
  ["40,000 variables without an end", `log: "${"${A:-".repeat(40_000)}"`],
])("refuses a file of %s in a time in proportion to its size", (_, text) => {
  const before = process.cpuUsage();
  expect(problemsOf(text).length).toBeGreaterThan(0);
  const { user, system } = process.cpuUsage(before);
  // In proportion to its square: 18 s and more.
  expect((user + system) / 1000).toBeLessThan(8_000);
});

it.each(["cluster: a\ncluster: b", 'cluster: a\n"cluster": b', "log: { 1: a, '1': b }"])(
  "refuses the repeated key of %j",
  (text) => {
    expect(problemsOf(text).map(({ allowed }) => allowed)).toEqual(["Map keys must be unique"]);
  },
);

it("names at most 5 errors of the syntax of a file: the later ones follow from the first", () => {
  const problems = problemsOf(`cluster: *\n${"log: { level: info }\n".repeat(50)}`);
  expect(problems.slice(0, 2).map(describeProblem)).toEqual([
    "  (YAML) (line 1): Alias cannot be an empty string",
    "  (YAML) (line 3): Map keys must be unique",
  ]);
  expect(problems).toHaveLength(5);
});

it.each(["!!set { log }", "!!omap [log: { level: info }]", "log: !!set { level }"])(
  "refuses %s, whose keys would be ignored",
  (text) => {
    expect(problemsOf(text).length).toBeGreaterThan(0);
  },
);

describe("the configuration", () => {
  it("is complete without a file", () => {
    const { config } = loadConfig(undefined, {});
    expect(config.collector.interval).toBe(30_000);
    expect(config.bus.kind).toBe("embedded");
    expect(config.collector.jobs).toEqual([]);
  });

  it("loads the annotated example, which has every key", () => {
    const config = read(EXAMPLE, EXAMPLE_ENV);
    expect(config.collector.jobs[0]!.targets[1]).toEqual({ address: "10.0.0.2:9400", labels: { node: "gpu-b" } });
    expect(config.bus.kafka!.sasl!.password).toBe("k");
    for (const key of keysOf(configJsonSchema())) {
      expect(EXAMPLE, `the example does not show ${key}`).toMatch(new RegExp(`\\b${key}:`));
    }
  });

  it("has the defaults that the annotated example shows", () => {
    const shown = read(EXAMPLE, EXAMPLE_ENV);
    const defaults = read("");
    expect({ ...shown.collector, jobs: [], remoteWrite: undefined }).toEqual(defaults.collector);
    expect({ ...shown.bus, kafka: undefined }).toEqual({ ...defaults.bus, kafka: undefined });
    expect({ ...shown.store, clickhouse: undefined }).toEqual({ ...defaults.store, clickhouse: undefined });
    expect({ ...shown.tracing, otlp: undefined }).toEqual({ ...defaults.tracing, otlp: undefined });
    for (const key of ["cluster", "data", "log", "processor", "server", "demo"] as const) {
      expect(shown[key]).toEqual(defaults[key]);
    }
  });

  it("matches the committed JSON Schema, which `npm run generate` writes", () => {
    const committed: unknown = JSON.parse(readFileSync("config/gpu-ledger.schema.json", "utf8"));
    expect(committed).toEqual(JSON.parse(JSON.stringify(configJsonSchema())));
  });

  it("reports all problems at once, each with key, line, value and allowed values", () => {
    const problems = problemsOf(
      [
        "collector:",
        "  interval: 5 minutes",
        "  seriesLimit: many",
        "  jobs:",
        "    - name: a",
        "      scheme: ftp",
        "      http: [{ url: 'not a url' }]",
        "bus: { kind: rabbit }",
        "sever: {}",
        "server: { listen: 8080 }",
      ].join("\n"),
    );
    expect(problems).toEqual(
      expect.arrayContaining([
        {
          key: "collector.interval",
          line: 2,
          value: "5 minutes",
          allowed: "a duration from 1s to 1h, such as 30s, 5m or 1h30m",
        },
        { key: "collector.seriesLimit", line: 3, value: "many", allowed: "a whole number from 1 to 10000000" },
        { key: "collector.jobs[0].scheme", line: 6, value: "ftp", allowed: "one of: http, https" },
        {
          key: "collector.jobs[0].http[0].url",
          line: 7,
          value: "not a url",
          allowed: "an http:// or https:// address without a user name and a password",
        },
        { key: "bus.kind", line: 8, value: "rabbit", allowed: "one of: embedded, kafka" },
        {
          key: "sever",
          line: 9,
          value: {},
          allowed: "no such key, the nearest is server; see config/gpu-ledger.example.yaml",
          isUnknownKey: true,
        },
        { key: "server.listen", line: 10, value: 8080, allowed: "host:port, such as 127.0.0.1:8080" },
      ]),
    );
    expect(problems).toHaveLength(7);
  });

  it("reports an unknown key and the required kind of a value in a sentence", () => {
    expect(problemsOf("colector: { jobs: [] }\nserver: hello\n").map(describeProblem)).toEqual([
      "  server (line 2): a text is not a mapping",
      "  colector (line 1): no such key, the nearest is collector; see config/gpu-ledger.example.yaml",
    ]);
    expect(problemsOf('"hello"').map(describeProblem)).toEqual(["  (the whole file): a text is not a mapping"]);
  });

  it("reports problems between keys together with those of single keys", () => {
    const problems = problemsOf(
      [
        "colector: {}",
        "log: { level: loud }",
        "collector: { jobs: [{ name: a }, { name: a }] }",
        "policies: [{ name: a, billing: true }, { name: b, billing: true }]",
        "store: { kind: clickhouse, rawDays: many }",
        "deliveries: soon",
      ].join("\n"),
    );
    expect(problems.map(({ key }) => key).toSorted()).toEqual(
      [
        "colector",
        "log.level",
        "collector.jobs[1].name",
        "policies",
        "store.rawDays",
        "store.clickhouse",
        "deliveries",
      ].toSorted(),
    );
  });

  it("sends a job's credentials only to named namespaces", () => {
    const problemsWith = (kubernetes: string, credentials: string): readonly string[] =>
      problemsOf(`collector: { jobs: [{ name: a, kubernetes: ${kubernetes}, credentials: ${credentials} }] }`).map(
        ({ key, allowed }) => `${key}: ${allowed}`,
      );
    const refusal =
      "collector.jobs[0].kubernetes: names of namespaces without *, because the job has credentials that any pod could read";
    const token = "{ bearerTokenFile: /token }";
    expect(problemsWith("{ namespaces: ['*'] }", token)).toEqual([refusal]);
    expect(problemsWith("{ exporters: [{ labels: app=x, namespaces: [a, '*'] }] }", token)).toEqual([refusal]);
    expect(problemsWith("{ exporters: [{ labels: app=x }] }", token)).toEqual([]);
    expect(problemsWith("{ namespaces: ['*'] }", "{}")).toEqual([]);
  });

  it("needs the namespaces of engines and gateways, because they have no usual ones", () => {
    const problemsWith = (job: string): readonly string[] =>
      problemsOf(`collector: { jobs: [{ name: a, ${job} }] }`).map(({ key, allowed }) => `${key}: ${allowed}`);
    const needed =
      'collector.jobs[0].kubernetes: namespaces of engines and gateways, or ["*"] for any: they run where their owners run them';
    expect(problemsWith("reads: serving, kubernetes: {}")).toEqual([needed]);
    expect(problemsWith("reads: serving, kubernetes: { exporters: [{ labels: app=x }] }")).toEqual([needed]);
    expect(problemsWith("reads: serving, kubernetes: { exporters: [{ labels: app=x, namespaces: [a] }] }")).toEqual([]);
    expect(problemsWith("reads: serving, kubernetes: { namespaces: ['*'] }")).toEqual([]);
    expect(problemsWith("reads: serving, targets: [engine-a]")).toEqual([]);
    expect(problemsWith("kubernetes: {}")).toEqual([]);
    expect(problemsWith("tenant: [team]")).toEqual([
      "collector.jobs[0].tenant: no labels of tenants, because only gateways have tenants: reads: serving",
    ]);
  });

  it("reports a required key that is missing", () => {
    expect(problemsOf("collector: { jobs: [{}] }")).toEqual([
      { key: "collector.jobs[0].name", line: 1, allowed: "required: a name" },
    ]);
    expect(problemsOf("bus: { kind: kafka }")).toEqual([
      { key: "bus.kafka", line: 1, allowed: "brokers, because bus.kind is kafka" },
    ]);
  });

  it("refuses a timeout longer than the interval, and two jobs of one name", () => {
    expect(
      problemsOf("collector: { jobs: [{ name: a, interval: 5s }, { name: a, interval: 20s, timeout: 30s }] }").map(
        ({ key }) => key,
      ),
    ).toEqual(["collector.jobs[0].timeout", "collector.jobs[1].timeout", "collector.jobs[1].name"]);
  });

  it("reports the place of a YAML error", () => {
    const [problem] = problemsOf("collector:\n  interval: [30s\n");
    expect(problem).toMatchObject({ key: "(YAML)" });
    expect(problem!.line).toBeGreaterThanOrEqual(2);
  });

  it("replaces variables, and reports those that are not set", () => {
    expect(read("cluster: '${REGION}-${STAGE:-dev}'", { REGION: "eu" }).cluster).toBe("eu-dev");
    expect(problemsOf("collector:\n  jobs: [{ name: '${NOBODY}' }]")).toEqual([
      {
        key: "collector.jobs[0].name",
        line: 2,
        value: "${NOBODY}",
        allowed: "a variable that is set; NOBODY is not (or write ${NOBODY:-default})",
      },
    ]);
  });

  it("reads secrets from files and variables, and reports those that cannot be read", () => {
    const withPassword = (password: string) =>
      `collector: { jobs: [{ name: a, credentials: { basic: { username: u, password: ${password} } } }] }`;
    const passwordOf = (given: string, env: NodeJS.ProcessEnv = {}) =>
      read(withPassword(given), env).collector.jobs[0]!.credentials.basic!.password;
    expect(passwordOf("plain")).toBe("plain");
    expect(passwordOf("{ env: SECRET }", { SECRET: "s" })).toBe("s");
    expect(passwordOf("{ file: ../.oxfmtrc.json }")).toBe(readFileSync(".oxfmtrc.json", "utf8").trim());
    const [problem] = problemsOf(withPassword("{ file: nowhere }"));
    expect(problem).toMatchObject({ key: "collector.jobs[0].credentials.basic.password" });
    expect(problem!.allowed).toContain("no such file");
  });

  it("refuses two ways of authentication at once", () => {
    expect(
      problemsOf("collector: { jobs: [{ name: a, credentials: { bearerToken: x, bearerTokenFile: y } }] }"),
    ).toMatchObject([{ allowed: "one of basic, bearerToken and bearerTokenFile" }]);
  });
});

/** Every property name of a JSON Schema, at any depth. */
function keysOf(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) => [
    ...(key === "properties" ? Object.keys(value as object).filter((name) => name !== "env" && name !== "file") : []),
    ...keysOf(value),
  ]);
}
