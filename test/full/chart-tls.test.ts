import type { V1ConfigMap, V1Container, V1PodTemplateSpec, V1Probe } from "@kubernetes/client-node";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SERVICE_MONITOR } from "../support/autoscaling-shapes.ts";
import { createAuthority, type Authority, type Pair } from "../support/certificates.ts";
import { notesOf, prepareHelm, renderChart, type ClusterObject, type Rendered } from "../support/chart/helm.ts";
import { LEAST, MUTUAL_TLS, TLS } from "../support/chart/values.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { requirePart } from "../support/parts.ts";
import { freePort } from "../support/ports.ts";

const run = promisify(execFile);
const MOUNTED = "/etc/gpu-ledger-tls";

/** The only container of a pod, and its Secrets by their folders. */
interface Pod {
  readonly container: V1Container;
  readonly annotations: object;
  readonly secrets: object;
}

function podsOf({ objects }: Rendered): readonly Pod[] {
  return objects.flatMap((object) => {
    const { spec } = object as ClusterObject & { readonly spec?: { readonly template?: V1PodTemplateSpec } };
    if (spec?.template === undefined) return [];
    const { metadata, spec: pod } = spec.template;
    const [container] = pod!.containers as [V1Container];
    const secrets = pod!.volumes!.flatMap(({ name, secret }) =>
      secret === undefined
        ? []
        : [[container.volumeMounts!.find((mount) => mount.name === name)!.mountPath, secret.secretName] as const],
    );
    return [{ container, annotations: metadata!.annotations!, secrets: Object.fromEntries(secrets) }];
  });
}

const probesOf = ({ container: { startupProbe, livenessProbe, readinessProbe } }: Pod): readonly V1Probe[] =>
  [startupProbe, livenessProbe, readinessProbe].filter((probe) => probe !== undefined);

const serversOf = ({ objects }: Rendered): readonly object[] =>
  objects
    .filter(({ kind }) => kind === "ConfigMap")
    .map((object) => (parse((object as V1ConfigMap).data!["gpu-ledger.yaml"]!) as { server: object }).server);

describe.skipIf(!(await prepareHelm()))("the chart with TLS", () => {
  let [tls, mutual, plain] = [] as unknown as [Rendered, Rendered, Rendered];
  beforeAll(async () => {
    [tls, mutual, plain] = await Promise.all([renderChart(TLS), renderChart(MUTUAL_TLS), renderChart(LEAST)]);
  });

  it("gives each part the certificate of the Secret, and plain HTTP only without one", () => {
    const files = { certFile: `${MOUNTED}/server/tls.crt`, keyFile: `${MOUNTED}/server/tls.key` };
    const clientAuth = { clientAuthType: "VerifyClientCertIfGiven", clientCaFile: `${MOUNTED}/client-ca/ca.crt` };
    const server = { listen: "0.0.0.0:8080", tls: { ...files, ...clientAuth, minVersion: "TLS13" } };
    expect(serversOf(tls)).toEqual([server, server]);
    expect(serversOf(plain)).toEqual(Array.from({ length: 2 }, () => ({ listen: "0.0.0.0:8080", plainHttp: true })));
    const secrets = { [`${MOUNTED}/server`]: "ledger-tls", [`${MOUNTED}/client-ca`]: "client-ca" };
    expect(podsOf(tls).map((pod) => pod.secrets)).toEqual([secrets, secrets, secrets]);
    expect(podsOf(plain).map((pod) => pod.secrets)).toEqual([{}, {}, {}]);
    expect(podsOf(mutual).map((pod) => pod.secrets)).toEqual([{ ...secrets, [`${MOUNTED}/probe`]: "probe-tls" }]);
  });

  it("probes over TLS, announces it to Prometheus, and names it in the Services", async () => {
    for (const pod of podsOf(tls)) {
      expect(probesOf(pod)).toHaveLength(2);
      for (const { httpGet } of probesOf(pod)) expect(httpGet).toMatchObject({ scheme: "HTTPS", port: "http" });
      expect(pod.annotations).toMatchObject({ "prometheus.io/scheme": "https" });
    }
    for (const { annotations } of podsOf(plain)) expect(annotations).not.toHaveProperty("prometheus.io/scheme");
    const protocolsOf = ({ objects }: Rendered): unknown =>
      objects
        .filter(({ kind }) => kind === "Service")
        .flatMap((object) => (object as unknown as { spec: { ports: { appProtocol?: string }[] } }).spec.ports)
        .map(({ appProtocol }) => appProtocol);
    expect([protocolsOf(tls), protocolsOf(plain)]).toEqual([
      ["https", "https"],
      [undefined, undefined],
    ]);
    expect(await notesOf(TLS)).toContain("https://127.0.0.1:8080");
    expect(await notesOf(LEAST)).not.toContain("https://127.0.0.1:8080");
  });

  it("lets Prometheus verify the certificate, and present one of its own", async () => {
    const monitored = await renderChart({ ...TLS, serviceMonitor: { enabled: true } });
    const endpointsOf = ({ objects }: Rendered) =>
      objects
        .filter(({ kind }) => kind === "ServiceMonitor")
        .flatMap((object) => SERVICE_MONITOR.parse(object).spec.endpoints)
        .map(({ scheme, tlsConfig }) => ({ scheme, tlsConfig }));
    const ca = { secret: { name: "ledger-tls", key: "ca.crt" } };
    const byDefault = { scheme: "https", tlsConfig: { ca, serverName: "gpu-ledger-server.gpu-ledger.svc" } };
    expect(endpointsOf(monitored)).toEqual([byDefault, byDefault]);
    const own = { scheme: "https", tlsConfig: MUTUAL_TLS.serviceMonitor.tlsConfig };
    expect(endpointsOf(mutual)).toEqual([own, own]);
  });

  it.each([
    ["no Secret", { ...LEAST, tls: { enabled: true } }, /tls\.secretName is empty/],
    ["no CA of clients", { ...TLS, tls: { ...TLS.tls, clientCaSecret: "" } }, /tls\.clientCaSecret is empty/],
    [
      "a CA for nobody",
      { ...TLS, tls: { ...TLS.tls, clientAuthType: "NoClientCert" } },
      /clientAuthType is NoClientCert/,
    ],
    [
      "probes without a certificate",
      { ...MUTUAL_TLS, tls: { ...MUTUAL_TLS.tls, probeSecret: "" } },
      /tls\.probeSecret is empty/,
    ],
    [
      "a Prometheus without a certificate",
      { ...MUTUAL_TLS, serviceMonitor: { enabled: true } },
      /serviceMonitor\.tlsConfig has no cert/,
    ],
    ["an unknown type", { ...TLS, tls: { ...TLS.tls, clientAuthType: "Always" } }, /clientAuthType/],
  ])("refuses %s, with a sentence", async (_, values, sentence) => {
    await expect(renderChart(values)).rejects.toThrow(sentence);
  });

  describe.skipIf(!requirePart("openssl"))("in which each client needs a certificate", () => {
    let [authority, other] = [] as unknown as [Authority, Authority];
    let folder: CommandFolder;
    beforeAll(() => {
      [authority, other] = [createAuthority(), createAuthority()];
      folder = createCommandFolder();
    });
    afterAll(async () => {
      await folder.dispose();
      authority.dispose();
      other.dispose();
    });

    it("has probes that succeed with the certificate of the pod, and with no other", async () => {
      const port = await freePort();
      const here = (text: string): string =>
        text.replaceAll(/\/etc\/gpu-ledger-tls\/([\w-]+)\//g, `${folder.path}/$1-`).replaceAll("8080", String(port));
      const mount = (name: string, { cert, key }: Pair): void => {
        writeFileSync(join(folder.path, `${name}-tls.crt`), cert);
        writeFileSync(join(folder.path, `${name}-tls.key`), key);
      };
      const client = { usage: "clientAuth", names: "DNS:prometheus.example.com" } as const;
      mount("server", authority.issue({ names: "DNS:gpu-ledger.example.com" }));
      mount("probe", authority.issue(client));
      writeFileSync(join(folder.path, "client-ca-ca.crt"), authority.ca);
      const outcomes = (): Promise<readonly string[]> =>
        Promise.all(
          probesOf(podsOf(mutual)[0]!).map(({ exec }) => {
            const [program, ...args] = exec!.command!.map(here) as [string, ...string[]];
            return run(program, args).then(
              () => "succeeds",
              (error: { readonly stderr: string }) => error.stderr.trim(),
            );
          }),
        );
      expect(await outcomes()).toEqual(Array.from({ length: 3 }, () => `connect ECONNREFUSED 127.0.0.1:${port}`));
      const settings = JSON.parse(here(JSON.stringify(serversOf(mutual)[0]))) as object;
      const demo = { gpus: 8, history: "0s" };
      const config = { data: "data", demo, server: { ...settings, listen: `127.0.0.1:${port}` } };
      await folder.start(["demo", "--config", folder.write("c.json", config)]).address();
      expect(await outcomes()).toEqual(Array.from({ length: 3 }, () => "succeeds"));
      mount("probe", other.issue(client));
      expect(await outcomes()).not.toContain("succeeds");
    });
  });
});
