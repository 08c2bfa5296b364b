import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ADMIN_TOKEN, ADMIN_TOKEN_HASH, makeSecrets, SECRETS } from "../../cli/generate/secrets.ts";
import { createPortAccess } from "../../services/port-access.ts";
import { startStatusServer } from "../../runtime/http/status-server.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { mountedFrom, readComposeFile } from "../support/compose.ts";
import { temporaryFolder } from "../support/folder.ts";
import { prepareKafka, setUpAsImage } from "../support/kafka-broker.ts";
import { requirePart } from "../support/parts.ts";
import { silent } from "../support/pipeline.ts";
import { checkConfiguration } from "../support/rules/alertmanager.ts";

const run = promisify(execFile);
const hasCompose = requirePart("docker-compose");
const hasPrometheus = requirePart("prometheus") && requirePart("promtool");
const hasAlertmanager = requirePart("alertmanager") && requirePart("amtool");
const hasKafka = await prepareKafka();

const { services } = readComposeFile();
const ours = Object.entries(services)
  .filter(([name, { image }]) => image.startsWith("ghcr.io/gpu-ledger/gpu-ledger:") && name !== "secrets")
  .map(([name, { command }]) => ({ name, command: command! }));

describe.skipIf(!hasCompose)("docker-compose.yml", () => {
  it.each(["demo", "real"])(
    "is accepted by docker-compose 1.29 with the profile %s, and has the same meaning as in the tests",
    async (profile) => {
      const { stdout, stderr } = await run("docker-compose", ["--profile", profile, "config"]);
      expect(stderr).toBe("");
      const read = parse(stdout) as { readonly services: Readonly<Record<string, object>> };
      expect(Object.keys(read.services).toSorted()).toEqual(Object.keys(services).toSorted());
      for (const [name, { command, depends_on, healthcheck, user, read_only, cap_drop, profiles }] of Object.entries(
        services,
      ))
        expect([name, read.services[name]]).toMatchObject([
          name,
          JSON.parse(JSON.stringify({ command, depends_on, healthcheck, user, read_only, cap_drop, profiles })),
        ]);
    },
  );
});

describe("the program's commands in docker-compose.yml", () => {
  let folder: CommandFolder;

  beforeAll(() => {
    folder = createCommandFolder();
    folder.write("gpu-ledger.yaml", "nonsense: true\n");
  });
  afterAll(() => folder.dispose());

  // An action with the configuration runs only when all options were parsed.
  it.each(ours)("$name is a command with these options", async ({ command }) => {
    const { code, stderr } = await folder.call(command);
    expect([code, stderr.split("\n")[0]]).toEqual([2, "gpu-ledger.yaml is not a valid configuration:"]);
    const wrong = await folder.call([...command, "--no-such-option"]);
    expect(wrong).toMatchObject({ code: 2, stderr: "error: unknown option '--no-such-option'\n" });
  });

  it("the command secrets makes every secret once, and prints none", async () => {
    const command = services["secrets"]!.command!.map((word) => word.replace("/run/gpu-ledger", "made"));
    const { code, stdout, stderr } = await folder.call(command);
    const names = Object.keys(SECRETS);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: names.map((name) => `made/${name}\n`).join(""),
      stderr: "",
    });
    const made = join(folder.path, "made");
    expect(readdirSync(made).toSorted()).toEqual([...names, ADMIN_TOKEN_HASH].toSorted());
    const token = readFileSync(join(made, ADMIN_TOKEN), "utf8");
    expect(await folder.call(command)).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(readFileSync(join(made, ADMIN_TOKEN), "utf8")).toBe(token);
  });
});

describe("the health check of the program's services", () => {
  const [, program, flag, script] = services["collect"]!.healthcheck!.test;

  async function exitCodeAt(url: string): Promise<number> {
    const asked = script!.replace("http://127.0.0.1:8080", url);
    expect([program, flag, asked === script]).toEqual(["node", "--eval", false]);
    return run(process.execPath, [flag!, asked]).then(
      () => 0,
      (error: { readonly code: number }) => error.code,
    );
  }

  it("fails if the request has no result", async () => {
    const withoutResult = "data:text/javascript,globalThis.fetch = () => new Promise(() => {})";
    await expect(run(process.execPath, ["--import", withoutResult, flag!, script!])).rejects.toMatchObject({ code: 1 });
  });

  it("passes for a ready server, and fails for a server that is not ready or not there", async () => {
    const reasons: string[] = [];
    const server = { listen: "127.0.0.1:0", metricsToken: "secret", access: { tokens: [] } };
    const views = {
      status: () => Promise.resolve({}),
      metrics: () => Promise.resolve(""),
      notReady: () => reasons,
      guard: createPortAccess("collector", server, { logger: silent }),
    };
    const running = await startStatusServer(server, views, silent);
    expect(await exitCodeAt(running.url)).toBe(0);
    reasons.push("Kafka is away");
    expect(await exitCodeAt(running.url)).toBe(1);
    await running.stop();
    expect(await exitCodeAt(running.url)).toBe(1);
  });
});

describe.skipIf(!hasPrometheus)("the stack's Prometheus", () => {
  const prometheus = services["prometheus"]!;

  it("has a configuration that promtool accepts, with both files of rules", async () => {
    const secrets = temporaryFolder("secrets");
    makeSecrets(secrets);
    const mounted = (path: string): string => resolve(mountedFrom(prometheus, path));
    const text = readFileSync(mounted("/etc/prometheus/prometheus.yaml"), "utf8")
      .replaceAll(/\/etc\/prometheus\/(rules|targets)/g, mounted)
      .replaceAll("/run/gpu-ledger", secrets);
    const folder = createCommandFolder();
    const { stdout } = await run("promtool", ["check", "config", folder.write("prometheus.yaml", text)]);
    await folder.dispose();
    expect(stdout).toContain("SUCCESS: 2 rule files found");
    expect(stdout).toContain("is valid prometheus config file syntax");
    expect(stdout.match(/SUCCESS: \d+ rules found/g)).toHaveLength(2);
  });

  it("accepts the flags of its command", async () => {
    const { command } = prometheus;
    await expect(run("prometheus", [...command!, "--help"])).resolves.toBeDefined();
    await expect(run("prometheus", [...command!, "--no-such-flag", "--help"])).rejects.toThrow("unknown long flag");
  });
});

describe.skipIf(!hasAlertmanager)("the stack's Alertmanager", () => {
  const alertmanager = services["alertmanager"]!;

  it("has a configuration that amtool accepts, with its templates, and that notifies no receiver", async () => {
    const names = ["alertmanager.yaml", "gpu-ledger.tmpl"];
    const files = names.map((name) => [
      name,
      readFileSync(mountedFrom(alertmanager, `/etc/alertmanager/${name}`), "utf8"),
    ]);
    expect(await checkConfiguration(Object.fromEntries(files) as Record<string, string>)).toContain("1 templates");
    const { receivers } = parse(files[0]![1]!) as { readonly receivers: readonly object[] };
    expect(receivers.map((receiver) => Object.keys(receiver))).toEqual([["name"], ["name"]]);
  });

  it("accepts the flags of its command", async () => {
    const { command } = alertmanager;
    await expect(run("prometheus-alertmanager", [...command!, "--help"])).resolves.toBeDefined();
    const wrong = run("prometheus-alertmanager", [...command!, "--no-such-flag", "--help"]);
    await expect(wrong).rejects.toThrow("unknown long flag");
  });
});

describe.skipIf(!hasKafka)("the stack's Kafka", () => {
  it("is set up by its settings in the same way as by its image", async () => {
    const folder = temporaryFolder("kafka-image");
    const mounted = mountedFrom(services["kafka"]!, "/mnt/shared/config/server.properties");
    const settings = readFileSync(mounted, "utf8").replace("/var/lib/kafka/data", join(folder, "data"));
    expect(await setUpAsImage(folder, settings)).toContain(settings);
    expect(existsSync(join(folder, "data", "meta.properties"))).toBe(true);
  });
});
