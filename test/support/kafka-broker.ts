import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { requirePart } from "./parts.ts";
import { freePort } from "./ports.ts";

const run = promisify(execFile);
const CACHE = resolve("node_modules/.cache/gpu-ledger/kafka");
const POM = resolve("test/support/kafka/pom.xml");
const LIBS = join(CACHE, "libs-4.1.0");
/** The classes that a broker loads, in an archive that Java maps into memory: with it a start takes half of the processor time. */
const CLASSES = join(CACHE, "classes-4.1.0.jsa");
const WITH_CLASSES = `-XX:SharedArchiveFile=${CLASSES}`;
/** For programs that run for seconds. */
const QUICK_JAVA = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];
const CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw";
const KEYSTORE_PASSWORD = "only-for-tests";
const START_TIMEOUT_MILLIS = 60_000;

/** A real broker, alone in its cluster, with its data in a temporary folder. */
export interface KafkaBroker {
  /** `127.0.0.1:port`; the same after a restart. */
  readonly address: string;
  /** The id of the running process. */
  readonly processId: number;
  /** For a broker that was started as `secure`: the address for TLS with a password (`ledger`, `right`), and its certificate. */
  readonly secure: { readonly address: string; readonly certificate: string } | undefined;
  /** Starts the broker again after `stop` or `kill`, with the same port and data. */
  start(): Promise<void>;
  /** Lets the broker shut down in order. */
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Stops the broker and removes its data. */
  dispose(): Promise<void>;
}

/** The broker's port on 127.0.0.1 and its data folder. */
export interface BrokerPlace {
  readonly data: string;
  readonly port: number;
  readonly controllerPort: number;
}

/**
 * Downloads the broker's jars from Maven Central (43 MB) and archives the classes that it loads, once; both are kept under `node_modules/.cache`.
 * `false` where Java or Maven is missing and can't be installed; see {@link requirePart}.
 */
export async function prepareKafka(): Promise<boolean> {
  if (!requirePart("java")) return false;
  if (!existsSync(LIBS)) {
    if (!requirePart("mvn")) return false;
    await fetchJars();
  }
  if (!existsSync(CLASSES)) await archiveClasses();
  return true;
}

async function fetchJars(): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  // Fills a separate folder and then renames it, so that an interrupted run leaves no half-filled cache.
  const partial = mkdtempSync(join(CACHE, "partial-"));
  await run("mvn", ["-q", "-B", "-f", POM, "dependency:copy-dependencies", `-DoutputDirectory=${partial}`]);
  if (existsSync(LIBS)) rmSync(partial, { recursive: true });
  else renameSync(partial, LIBS);
}

async function archiveClasses(): Promise<void> {
  const partial = `${CLASSES}-${process.pid}`;
  const broker = await startBroker({}, `-XX:ArchiveClassesAtExit=${partial}`);
  await broker.stop();
  await broker.dispose();
  renameSync(partial, CLASSES);
}

/** The options of a broker; see {@link startKafkaBroker}. */
export interface BrokerOptions {
  readonly secure?: boolean;
  readonly steady?: boolean;
  readonly settings?: (place: BrokerPlace) => string;
}

/**
 * Starts a broker (KRaft, broker and controller in one process; about 3 s and 330 MB). Its settings make it quick for tests: segments roll after a
 * second and the cleaner runs every 200 ms, so that tests can observe compaction; groups do not wait for more members, and may have short sessions. A
 * `secure` broker also listens with TLS and SASL (PLAIN and SCRAM). A `steady` broker has Kafka's own settings, all of Java's compilers and its whole
 * heap from the start, for the soak. `settings` replace the broker's settings of the same names.
 */
export async function startKafkaBroker(options: BrokerOptions = {}): Promise<KafkaBroker> {
  if (!(await prepareKafka())) throw new Error("Java or Maven is missing, so there is no broker.");
  return startBroker(options, WITH_CLASSES);
}

async function startBroker(options: BrokerOptions, archive: string): Promise<KafkaBroker> {
  const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-kafka-"));
  const [port, controllerPort, securePort] = [await freePort(), await freePort(), await freePort()];
  const config = join(folder, "server.properties");
  const certificate = options.secure === true ? await createCertificate(folder) : undefined;
  const alone = serverSettings(folder, port, controllerPort);
  const settings = options.steady === true ? alone : { ...alone, ...QUICK };
  const own = properties(certificate === undefined ? settings : secured(settings, folder, securePort));
  writeFileSync(config, options.settings?.({ data: join(folder, "data"), port, controllerPort }) ?? own);
  writeFileSync(join(folder, "log4j2.properties"), LOGGING);
  const java = ["-cp", `${LIBS}/*`, `-Dlog4j2.configurationFile=${join(folder, "log4j2.properties")}`];
  const users = ["SCRAM-SHA-256", "SCRAM-SHA-512"].flatMap((mechanism) => [
    "--add-scram",
    `${mechanism}=[name=ledger,password=right]`,
  ]);
  const format = ["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", config];
  await run("java", [...QUICK_JAVA, WITH_CLASSES, ...java, ...format, ...(certificate === undefined ? [] : users)]);

  let child: ChildProcess | undefined;
  process.once("exit", () => child?.kill("SIGKILL"));

  async function start(): Promise<void> {
    const log = openSync(join(folder, "broker.log"), "a");
    const steady = ["-XX:+UseSerialGC", "-Xms512m", "-XX:+AlwaysPreTouch"];
    const tuning = ["-Xmx512m", ...(options.steady === true ? steady : ["-Xms64m", ...QUICK_JAVA, archive])];
    child = spawn("java", [...tuning, ...java, "kafka.Kafka", config], { stdio: ["ignore", log, log] });
    const until = Date.now() + START_TIMEOUT_MILLIS;
    while (!(await listens(port))) {
      if (child.exitCode !== null || Date.now() > until) {
        throw new Error(`The broker did not start:\n${readFileSync(join(folder, "broker.log"), "utf8").slice(-4_000)}`);
      }
      await delay(100);
    }
  }

  async function end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const ending = child;
    child = undefined;
    if (ending === undefined || ending.exitCode !== null) return;
    const gone = new Promise((resolve) => ending.once("exit", resolve));
    ending.kill(signal);
    await gone;
  }

  await start();
  return {
    address: `127.0.0.1:${port}`,
    get processId() {
      return child!.pid!;
    },
    secure: certificate === undefined ? undefined : { address: `127.0.0.1:${securePort}`, certificate },
    start,
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
    async dispose() {
      await end("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Does the same with settings as Kafka's image does with a mounted `server.properties` before its broker starts: writes the broker's configuration,
 * and formats its data folder. Returns that configuration, and fails with Kafka's message.
 */
export async function setUpAsImage(folder: string, settings: string): Promise<string> {
  const [given, mounted, final] = ["default", "mounted", "final"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [given, mounted, final]) mkdirSync(path);
  for (const name of ["server.properties", "log4j2.yaml", "tools-log4j2.yaml"]) writeFileSync(join(given, name), "\n");
  writeFileSync(join(mounted, "server.properties"), settings);
  const folders = ["--default-configs-dir", given, "--mounted-configs-dir", mounted, "--final-configs-dir", final];
  const env = { ...process.env, CLUSTER_ID };
  await run("java", ["-cp", `${LIBS}/*`, "kafka.docker.KafkaDockerWrapper", "setup", ...folders], { env });
  return readFileSync(join(final, "server.properties"), "utf8");
}

function serverSettings(folder: string, port: number, controllerPort: number): Record<string, string> {
  return {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.quorum.voters": `1@127.0.0.1:${controllerPort}`,
    "controller.listener.names": "CONTROLLER",
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    "advertised.listeners": `PLAINTEXT://127.0.0.1:${port}`,
    "log.dirs": join(folder, "data"),
    "auto.create.topics.enable": "false",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
  };
}

const QUICK = {
  // A killed broker may register again only after its former session has ended.
  "broker.session.timeout.ms": "2000",
  "broker.heartbeat.interval.ms": "500",
  "log.roll.ms": "1000",
  "log.cleaner.backoff.ms": "200",
  "log.cleaner.min.cleanable.ratio": "0.01",
  "log.cleaner.dedupe.buffer.size": "4000000",
};

/** The settings with one more listener, on which clients need TLS and a password. */
function secured(settings: Readonly<Record<string, string>>, folder: string, port: number): Record<string, string> {
  const login = "org.apache.kafka.common.security";
  return {
    ...settings,
    listeners: `${settings["listeners"]},SECURE://127.0.0.1:${port}`,
    "advertised.listeners": `${settings["advertised.listeners"]},SECURE://127.0.0.1:${port}`,
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL",
    "listener.name.secure.ssl.keystore.location": join(folder, "keystore.p12"),
    "listener.name.secure.ssl.keystore.password": KEYSTORE_PASSWORD,
    "listener.name.secure.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
    "listener.name.secure.plain.sasl.jaas.config": `${login}.plain.PlainLoginModule required user_ledger="right";`,
    "listener.name.secure.scram-sha-256.sasl.jaas.config": `${login}.scram.ScramLoginModule required;`,
    "listener.name.secure.scram-sha-512.sasl.jaas.config": `${login}.scram.ScramLoginModule required;`,
  };
}

/** A key and its own certificate in the broker's folder, made by Java's keytool; returns the PEM text. */
async function createCertificate(folder: string): Promise<string> {
  const store = ["-keystore", join(folder, "keystore.p12"), "-storetype", "PKCS12", "-storepass", KEYSTORE_PASSWORD];
  const names = ["-alias", "broker", "-dname", "CN=127.0.0.1", "-ext", "SAN=ip:127.0.0.1"];
  await run("keytool", ["-genkeypair", "-keyalg", "EC", "-validity", "2", ...names, ...store]);
  const { stdout } = await run("keytool", ["-exportcert", "-rfc", "-alias", "broker", ...store]);
  return stdout;
}

const LOGGING = properties({
  "appender.out.type": "Console",
  "appender.out.name": "out",
  "appender.out.layout.type": "PatternLayout",
  "appender.out.layout.pattern": "%d{ISO8601} %p %c{1} %m%n",
  "rootLogger.level": "warn",
  "rootLogger.appenderRef.out.ref": "out",
});

function properties(entries: Readonly<Record<string, string>>): string {
  return Object.entries(entries)
    .map(([key, value]) => `${key}=${value}\n`)
    .join("");
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
