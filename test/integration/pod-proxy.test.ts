import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startApiServer, type ApiServer } from "../../demo/kubernetes/server/server.ts";
import { ask } from "../support/api-client.ts";
import { startExporterDouble, type ExporterDouble } from "../support/exporter-double.ts";

let server: ApiServer;
let exporter: ExporterDouble;

beforeEach(async () => {
  server = await startApiServer();
  exporter = await startExporterDouble(({ url = "" }, response, double) => {
    if (url.startsWith("/metrics")) return double.page(response, `page of ${url}\n`);
    response.writeHead(404).end("404 page not found\n");
  });
});
afterEach(async () => {
  await server.stop();
  await exporter.close();
});

function putPod(name: string, port: number, podIP?: string): void {
  const metadata = { name, namespace: "a", uid: `uid-${name}` };
  const spec = { containers: [{ ports: [{ containerPort: port }] }] };
  server.put({ apiVersion: "v1", kind: "Pod", metadata, spec, status: podIP === undefined ? {} : { podIP } });
}

const proxied = (target: string, path = "/metrics") =>
  ask(`${server.url}/api/v1/namespaces/a/pods/${target}/proxy${path}`);

describe("the pod proxy of the demo's API server", () => {
  it("passes a request on to a pod's port, with path and query, and the response back with its status", async () => {
    const { port } = new URL(exporter.url);
    putPod("p", Number(port), "127.0.0.1");
    for (const target of ["p", `p:${port}`, `http:p:${port}`]) {
      const answer = await proxied(target, "/metrics?collect=all");
      expect([answer.status, answer.bytes.toString()]).toEqual([200, "page of /metrics?collect=all\n"]);
    }
    expect((await proxied("p", "/other")).status).toBe(404);
  });

  it("refuses with a Status without the pod, without its address, without an answer, and without the permission", async () => {
    putPod("down", 1, "127.0.0.1");
    putPod("new", 9400);
    const failed = async (target: string) => (await proxied(target)).json<object>();
    expect(await failed("none")).toMatchObject({ code: 404, message: 'pods "none" not found' });
    expect(await failed("new")).toMatchObject({ code: 400, message: "address not allowed" });
    expect(await failed("down:1")).toMatchObject({
      code: 503,
      reason: "ServiceUnavailable",
      message: "error trying to reach service: connect ECONNREFUSED 127.0.0.1:1",
    });
    server.access.withdraw("", "pods/proxy", "get");
    expect(await failed("down:1")).toMatchObject({
      code: 403,
      message:
        'pods "down:1" is forbidden: User "system:serviceaccount:gpu-ledger:collector" cannot get resource "pods/proxy" in API group "" in the namespace "a"',
    });
    const resourceAttributes = { verb: "get", resource: "pods", subresource: "proxy", group: "", namespace: "a" };
    const review = { method: "POST", body: { spec: { resourceAttributes } } };
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    expect((await ask(server.url + path, review)).json()).toMatchObject({ status: { allowed: false } });
  });
});
