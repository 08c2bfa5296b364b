import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeSecrets } from "../../cli/generate/secrets.ts";
import { createStoreClient, type StoreClient } from "../../runtime/store/client.ts";
import { createCommandFolder, type CommandFolder, type RunningCommand } from "./command.ts";
import { mountedFrom, readComposeFile } from "./compose.ts";
import { startTestStore, type TestStore } from "./embedded-store.ts";
import { startKafkaBroker, type KafkaBroker } from "./kafka-broker.ts";
import { freePort } from "./ports.ts";
import { startPrometheusWith, type PrometheusServer } from "./prometheus-server.ts";
import { startAlertmanagerWith, type Alertmanager } from "./rules/alertmanager.ts";

/** The program's long-running services; there is one more processor than in docker-compose.yml. */
export const PROGRAMS = ["demo", "collect", "process", "process-2", "serve"] as const;

/** One of {@link PROGRAMS}. */
export type ProgramName = (typeof PROGRAMS)[number];

/** A running program of the stack. */
export interface StackProgram {
  readonly command: RunningCommand;
  readonly url: string;
}

/**
 * The services of docker-compose.yml with the profile `demo`, without containers. Each program is a process of its own. It starts with the same
 * command and the same files that are mounted into its container; their hosts are replaced by 127.0.0.1 with other ports, and their paths by those of
 * a temporary folder. ClickHouse is the embedded engine behind its HTTP interface.
 */
export interface Stack {
  readonly broker: KafkaBroker;
  readonly embedded: TestStore;
  readonly store: StoreClient;
  readonly prometheus: PrometheusServer;
  readonly alertmanager: Alertmanager;
  /** A secret that `generate secrets` made. */
  secret(name: string): string;
  program(name: ProgramName): StackProgram;
  /** Starts a program that has ended again. */
  restart(name: ProgramName): Promise<void>;
  /** Runs a command of the program to its end, with the configuration of a processor. */
  run(args: readonly string[]): ReturnType<CommandFolder["run"]>;
  stop(): Promise<void>;
}

const DATABASE = "gpu_ledger";

/** The options of a stack. */
export interface StackOptions {
  /** True if the broker has all of its heap from the start. */
  readonly steady?: boolean;
  /** The demo's past; a week by default. */
  readonly history?: string;
  /** Called with the demo's address, data folder and metrics token when the demo answers. Returns replacements for the other programs' configurations. */
  readonly surround?: (demo: string, folder: string, metricsToken: string) => Promise<Readonly<Record<string, string>>>;
}

/** Starts the whole stack, without data of an earlier one. */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const { steady = false, history = "7d", surround } = options;
  const { services } = readComposeFile();
  const folder = createCommandFolder();
  const stops: (() => Promise<unknown>)[] = [() => folder.dispose()];
  const running = new Map<ProgramName, StackProgram>();
  let surroundings: Readonly<Record<string, string>> = {};
  const secrets = join(folder.path, "secrets");
  const [ports, embedded, broker] = await Promise.all([portsOf(PROGRAMS), startTestStore(), startBroker(steady)]);
  stops.push(
    () => embedded.stop(),
    () => broker.dispose(),
  );
  const address = (name: ProgramName): string => `127.0.0.1:${ports[name]}`;

  async function stop(): Promise<void> {
    for (const each of stops.toReversed()) await each();
  }

  /** A program's mounted configuration, changed for this machine. */
  function configurationOf(name: ProgramName): string {
    const text = textOf("process", "/etc/gpu-ledger/gpu-ledger.yaml");
    const local = replaced(text, {
      "listen: 0.0.0.0:8080": `listen: ${address(name)}`,
      "demo: { listen: 0.0.0.0 }": `demo: { listen: 127.0.0.1, history: ${history} }`,
      "http://demo:8080": `http://${address("demo")}`,
      "kafka:9092": broker.address,
      "http://clickhouse:8123": embedded.url,
      "username: gpu_ledger": `username: ${embedded.user.username}`,
      "/run/gpu-ledger": secrets,
      "/run/demo": join(folder.path, "demo"),
      "data: /var/lib/gpu-ledger": `data: ${join(folder.path, name)}`,
    });
    return replaced(local, surroundings);
  }

  async function start(name: ProgramName): Promise<void> {
    const { command } = services[name === "process-2" ? "process" : name]!;
    const config = folder.write(`${name}.yaml`, configurationOf(name));
    const started = folder.start([...command!, "--config", config]);
    running.set(name, { command: started, url: await started.address() });
  }

  try {
    mkdirSync(secrets);
    // The engine's own password stays: it has no users with another one.
    writeFileSync(join(secrets, "clickhouse-password"), embedded.user.password);
    makeSecrets(secrets);
    const config = folder.write("process.yaml", configurationOf("process"));
    const migrated = await folder.run(["migrate", "--config", config]);
    if (migrated.code !== 0) throw new Error(migrated.stderr);
    const store = createStoreClient({ url: embedded.url, ...embedded.user, database: DATABASE });
    stops.push(() => store.close());
    const alertmanager = await startAlertmanagerWith(
      flagsOf("alertmanager", {
        "/etc/alertmanager/alertmanager.yaml": pathOf("alertmanager", "/etc/alertmanager/alertmanager.yaml"),
        "=/alertmanager": `=${join(folder.path, "alertmanager")}`,
      }),
    );
    stops.push(() => alertmanager.stop());
    const scraping = replaced(textOf("prometheus", "/etc/prometheus/prometheus.yaml"), {
      "alertmanager:9093": new URL(alertmanager.url).host,
      "http://demo:8080": `http://${address("demo")}`,
      "dns_sd_configs: [{ names: [demo], type: A, port: 8080 }]": staticTargets([address("demo")]),
      "dns_sd_configs: [{ names: [collect, process, serve], type: A, port: 8080 }]": staticTargets(
        (["collect", "process", "process-2", "serve"] as const).map(address),
      ),
      "dns_sd_configs: [{ names: [process], type: A, port: 8080 }]": staticTargets(
        (["process", "process-2"] as const).map(address),
      ),
      "/etc/prometheus/rules": pathOf("prometheus", "/etc/prometheus/rules"),
      "/etc/prometheus/targets": pathOf("prometheus", "/etc/prometheus/targets"),
      "/run/gpu-ledger": secrets,
    });
    const prometheus = await startPrometheusWith(
      flagsOf("prometheus", {
        "/etc/prometheus/prometheus.yaml": folder.write("prometheus.yaml", scraping),
        "=/prometheus": `=${join(folder.path, "prometheus")}`,
      }),
    );
    stops.push(() => prometheus.stop());
    // The collector reads the demo's kubeconfig, so it starts when the demo is healthy.
    await start("demo");
    surroundings =
      (await surround?.(
        address("demo"),
        join(folder.path, "demo"),
        readFileSync(join(secrets, "metrics-token"), "utf8"),
      )) ?? {};
    await Promise.all(PROGRAMS.filter((name) => name !== "demo").map(start));
    return {
      broker,
      embedded,
      store,
      prometheus,
      alertmanager,
      secret: (name) => readFileSync(join(secrets, name), "utf8"),
      program: (name) => running.get(name)!,
      restart: start,
      run: (args) => folder.run([...args, "--config", config]),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function startBroker(steady: boolean): Promise<KafkaBroker> {
  return startKafkaBroker({
    steady,
    settings: ({ data, port, controllerPort }) =>
      replaced(textOf("kafka", "/mnt/shared/config/server.properties"), {
        "localhost:9093": `127.0.0.1:${controllerPort}`,
        "PLAINTEXT://:9092": `PLAINTEXT://127.0.0.1:${port}`,
        "PLAINTEXT://kafka:9092": `PLAINTEXT://127.0.0.1:${port}`,
        "/var/lib/kafka/data": data,
      }),
  });
}

async function portsOf(names: readonly ProgramName[]): Promise<Readonly<Record<ProgramName, number>>> {
  const entries = await Promise.all(names.map(async (name) => [name, await freePort()] as const));
  return Object.fromEntries(entries) as Record<ProgramName, number>;
}

/** The path on this machine for a path of a service. */
function pathOf(service: string, path: string): string {
  return resolve(mountedFrom(readComposeFile().services[service]!, path));
}

function textOf(service: string, path: string): string {
  return readFileSync(pathOf(service, path), "utf8");
}

/** The flags of a service's command, with other paths. */
function flagsOf(service: string, paths: Readonly<Record<string, string>>): readonly string[] {
  return replaced(readComposeFile().services[service]!.command!.join("\n"), paths).split("\n");
}

function staticTargets(addresses: readonly string[]): string {
  return `static_configs: [{ targets: ${JSON.stringify(addresses)} }]`;
}

/** A text with all of these replaced. Fails where one of them is missing: then the file has changed, and the stack would differ from it. */
function replaced(text: string, replacements: Readonly<Record<string, string>>): string {
  let changed = text;
  for (const [from, to] of Object.entries(replacements)) {
    if (!changed.includes(from)) throw new Error(`${JSON.stringify(from)} does not stand in\n${text}`);
    changed = changed.replaceAll(from, to);
  }
  return changed;
}
