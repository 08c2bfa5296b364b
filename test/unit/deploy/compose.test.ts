import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ADMIN_TOKEN_HASH, SECRETS } from "../../../cli/generate/secrets.ts";
import { DEFAULT_FILES } from "../../../runtime/config/load.ts";
import { mountsOf, readComposeFile, type ComposeService } from "../../support/compose.ts";

const { services, volumes } = readComposeFile();
const NAMED = Object.entries(services).map(([name, service]) => ({ name, service }));
const LONG_RUNNING = NAMED.filter(({ service }) => service.restart !== undefined);
const { version, config } = JSON.parse(readFileSync("package.json", "utf8")) as {
  readonly version: string;
  readonly config: { readonly image: string };
};
const SECRETS_FOLDER = "/run/gpu-ledger";

/** The services for which a service waits, directly or through others. */
function waitsFor(name: string): readonly string[] {
  return Object.keys(services[name]?.depends_on ?? {}).flatMap((each) => [each, ...waitsFor(each)]);
}

/** True if a service starts whenever another one does. */
function startsWith(service: ComposeService, other: ComposeService): boolean {
  return service.profiles === undefined || (other.profiles ?? []).some((each) => service.profiles!.includes(each));
}

describe("the services of docker-compose.yml", () => {
  it("are those of the stack, with the program in containers of its own", () => {
    const names =
      "secrets kafka clickhouse demo migrate collect process serve migrate-real collect-real process-real serve-real";
    expect(NAMED.map(({ name }) => name).join(" ")).toBe(`${names} prometheus alertmanager grafana`);
  });

  it.each(NAMED)("$name has an image of one release", ({ service: { image } }) => {
    expect(image).toMatch(/^[\w./-]+:v?\d+(\.\d+){2,3}(@sha256:[0-9a-f]{64})?$/);
  });

  it.each(NAMED)("$name has only the rights that it needs, and limits for its resources", ({ service }) => {
    expect(service.user).not.toMatch(/^(0|root)\b/);
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
      logging: { options: { "max-size": "10m" } },
    });
    expect(service.mem_limit).toMatch(/^\d+[mg]$/);
    // Docker refuses more processors than the machine has. The limit is two at most.
    expect(service.cpus).toBeLessThanOrEqual(2);
  });

  it.each(LONG_RUNNING)("$name restarts when it ends, and has a health check", ({ service }) => {
    expect(service.restart).toBe("unless-stopped");
    expect(service.healthcheck?.test[0]).toBe("CMD");
  });

  it.each(NAMED)(
    "$name waits for others until they are healthy or completed, and they start whenever it does",
    (named) => {
      for (const [name, { condition }] of Object.entries(named.service.depends_on ?? {})) {
        const other = services[name]!;
        expect(condition).toBe(other.restart === undefined ? "service_completed_successfully" : "service_healthy");
        expect([name, startsWith(other, named.service)]).toEqual([name, true]);
      }
    },
  );

  it("wait for the secrets that they read, which only one service writes", () => {
    const readers = NAMED.filter(({ service }) => mountsOf(service).some(({ from }) => from === "secrets"));
    expect(readers.length).toBeGreaterThan(10);
    for (const { name, service } of readers.filter((each) => each.name !== "secrets")) {
      expect(waitsFor(name)).toContain("secrets");
      expect(mountsOf(service)).toContainEqual({ from: "secrets", to: SECRETS_FOLDER, isReadOnly: true });
    }
    expect(services["secrets"]?.command).toEqual(["generate", "secrets", "--out", SECRETS_FOLDER]);
    expect(mountsOf(services["secrets"]!)).toEqual([{ from: "secrets", to: SECRETS_FOLDER, isReadOnly: false }]);
  });

  it("publish ports on 127.0.0.1 alone, each once", () => {
    const ports = NAMED.filter(({ name }) => !name.endsWith("-real")).flatMap(({ service }) => service.ports ?? []);
    expect(ports.map((port) => port.split(":"))).toEqual([
      ["127.0.0.1", "8080", "8080"],
      ["127.0.0.1", "9090", "9090"],
      ["127.0.0.1", "9093", "9093"],
      ["127.0.0.1", "3000", "3000"],
    ]);
  });

  it("have only generated passwords, and refer only to existing ones", () => {
    const known = [...Object.keys(SECRETS), ADMIN_TOKEN_HASH].map((name) => `${SECRETS_FOLDER}/${name}`);
    const given = NAMED.flatMap(({ service }) => Object.entries(service.environment ?? {}));
    const secret = given.filter(([name]) => /PASSWORD|TOKEN|SECRET|KEY/.test(name));
    expect(secret.map(([name]) => name)).toEqual(["CLICKHOUSE_PASSWORD_FILE", "GF_SECURITY_ADMIN_PASSWORD__FILE"]);
    for (const [, value] of secret) expect(known).toContain(value);
    const files = [
      "docker-compose.yml",
      "deploy/compose/gpu-ledger.yaml",
      "deploy/compose/gpu-ledger-real.yaml",
      "deploy/compose/prometheus/prometheus.yaml",
      "deploy/compose/grafana/provisioning/datasources/datasources.yaml",
    ];
    const named = files.flatMap((file) => readFileSync(file, "utf8").match(/\/run\/gpu-ledger\/[\w.-]+/g) ?? []);
    expect(named.length).toBeGreaterThan(8);
    for (const path of named) expect(known).toContain(path);
  });

  it("mount existing files of the repository, read-only, and declared volumes", () => {
    const mounts = NAMED.flatMap(({ service }) => mountsOf(service));
    const ofRepository = mounts.filter(({ from }) => from.startsWith("./"));
    for (const { from, isReadOnly } of ofRepository)
      expect([from, existsSync(from), isReadOnly]).toEqual([from, true, true]);
    const named = mounts.map(({ from }) => from).filter((from) => !from.startsWith("./"));
    expect([...new Set(named)].toSorted()).toEqual(Object.keys(volumes).toSorted());
  });
});

describe("the profiles of docker-compose.yml", () => {
  const OF_PROFILE = ["profiles", "volumes", "depends_on", "networks"];
  const shared = (service: ComposeService): object =>
    Object.fromEntries(Object.entries(service).filter(([key]) => !OF_PROFILE.includes(key)));

  it("are the demo's by default", () => {
    expect(readFileSync(".env", "utf8")).toMatch(/^COMPOSE_PROFILES=demo$/m);
    const ofDemo = NAMED.filter(({ service }) => service.profiles?.includes("demo") === true).map(({ name }) => name);
    expect(ofDemo).toEqual(["demo", "migrate", "collect", "process", "serve"]);
  });

  it.each(["migrate", "collect", "process", "serve"])("run %s in the same way, with another configuration", (name) => {
    const [ofDemo, real] = [services[name]!, services[`${name}-real`]!];
    expect(real.profiles).toEqual(["real"]);
    expect(shared(real)).toEqual(shared(ofDemo));
    const config = (service: ComposeService): string | undefined =>
      mountsOf(service).find(({ to }) => DEFAULT_FILES.includes(to))?.from;
    expect([config(ofDemo), config(real)]).toEqual([
      "./deploy/compose/gpu-ledger.yaml",
      "./deploy/compose/gpu-ledger-real.yaml",
    ]);
  });

  it.each(["collect", "process", "serve"])("have %s under one name, which Prometheus scrapes", (name) => {
    expect(services[`${name}-real`]?.networks).toEqual({ default: { aliases: [name] } });
  });
});

describe("the images of the Dockerfile", () => {
  const text = readFileSync("Dockerfile", "utf8");
  const stages = [...text.matchAll(/^FROM (\S+) AS (\S+)$/gm)].map(([, from, name]) => ({ from: from!, name: name! }));

  it("are built on one Node, named once, with which CI tests the program, and which is the newest supported one", () => {
    const bases = stages.map(({ from }) => from).filter((from) => !stages.some(({ name }) => name === from));
    expect(new Set(bases)).toEqual(new Set(["node:${NODE_VERSION}-trixie-slim@${NODE_DIGEST}"]));
    const [, node, major] = /^ARG NODE_VERSION=((\d+)\.\d+\.\d+)$/m.exec(text)!;
    expect(text.split(node!)).toHaveLength(2);
    expect(readFileSync(".ci/run", "utf8")).toContain('step "npm run test:other-nodes"');
    expect(readFileSync("README.md", "utf8")).toContain(`Node 20.19 to ${major}.`);
  });

  it("are one for production, which the stack runs and which a build makes by default, and one with the embedded parts", () => {
    expect(stages.map(({ name }) => name).slice(-2)).toEqual(["embedded", "production"]);
    const built = NAMED.filter(({ service }) => service.build !== undefined);
    expect(built.map(({ name, service }) => [name, service.build])).toEqual([
      ["secrets", { context: ".", target: "production" }],
    ]);
    const ours = NAMED.filter(({ service }) => service.image.startsWith(`${config.image}:`));
    for (const { name } of ours.filter((each) => each.name !== "secrets")) expect(waitsFor(name)).toContain("secrets");
  });

  it("are of this release, run like the stack and the manifests, and have the volumes' folders", () => {
    expect(text).toContain(`org.opencontainers.image.version="${version}"`);
    expect(text).toContain('ENTRYPOINT ["tini", "--", "gpu-ledger"]');
    const [, user] = /^USER (\S+)$/m.exec(text)!;
    const ours = NAMED.filter(({ service }) => service.image === `${config.image}:${version}`);
    expect(ours).toHaveLength(10);
    for (const { service } of ours) expect(service.user).toBe(user);
    expect(readFileSync("deploy/kubernetes/5-processor.yaml", "utf8")).toContain(`runAsUser: ${user!.split(":")[0]}\n`);
    const written = ours.flatMap(({ service }) => mountsOf(service).filter(({ isReadOnly }) => !isReadOnly));
    const [, folders] = /install --directory --owner=65532 --group=65532 (.*)$/m.exec(text)!;
    expect([...new Set(written.map(({ to }) => to))].toSorted()).toEqual(folders!.split(" ").toSorted());
  });

  it("contain every compiled folder", () => {
    const { include } = JSON.parse(readFileSync("tsconfig.build.json", "utf8")) as {
      readonly include: readonly string[];
    };
    const given = readFileSync(".dockerignore", "utf8").split("\n");
    for (const folder of [...include, "scripts", "package.json", "package-lock.json"])
      expect(given).toContain(`!${folder}`);
  });

  it("have one name, that of package.json, in the stack, the chart, the manifests and the documents", () => {
    const files = [
      "docker-compose.yml",
      "deploy/values.yaml",
      ...readdirSync("deploy/kubernetes").map((file) => `deploy/kubernetes/${file}`),
      ...["README.md", "RELEASING.md", ...readdirSync("docs").map((file) => `docs/${file}`)].filter((file) =>
        file.endsWith(".md"),
      ),
    ];
    const named = files.flatMap((file) => {
      const names = readFileSync(file, "utf8").matchAll(
        /(?<![\w./-])((?:[\w-]+(?:\.[\w-]+)+\/)?(?:[\w-]+\/)*gpu-ledger)(?=:(?:\d+\.\d+\.\d+|VERSION))|(?<=repository: )(\S*gpu-ledger)$/gm,
      );
      return [...names].map(([, tagged, repository]) => ({ file, name: tagged ?? repository }));
    });
    expect(named.map(({ file }) => file)).toEqual(
      expect.arrayContaining([
        "docker-compose.yml",
        "deploy/values.yaml",
        "deploy/kubernetes/4-collector.yaml",
        "docs/install-cluster.md",
      ]),
    );
    expect(named.filter(({ name }) => name !== config.image)).toEqual([]);
  });
});
