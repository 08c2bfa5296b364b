import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import { trainingServers } from "../../../../services/training-metrics.ts";
import { createTrainingMetrics } from "../../../../collectors/prometheus/training/metrics.ts";
import type { Run } from "../../../../domain/training/identity.ts";
import type { TrainingMetrics } from "../../../../domain/training/metrics.ts";
import { parseConfig } from "../../../../runtime/config/load.ts";

const BEGUN = Date.UTC(2026, 2, 2, 8);
const ENDED = BEGUN + 3_600_000;
const POD = { uid: "uid-0", name: "llama-0", node: "gpu-a", created: BEGUN, restarts: [] };
const RUN = { id: "run", cluster: "prod", namespace: "ml", begun: BEGUN, ended: ENDED, pods: [POD] } as unknown as Run;
const LABELS = { __name__: "gpu_ledger_training_step", namespace: "ml", pod: "llama-0" };

/** The metrics of a server that answers as a test wants. */
async function answering(answer: (path: string, response: ServerResponse) => void): Promise<TrainingMetrics> {
  const server = createServer((request, response) => answer(request.url ?? "", response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { training } = parseConfig(`training: { prometheus: [{ url: "${url}" }] }`, {
    source: "t",
    folder: ".",
    env: {},
  });
  const servers = trainingServers(training);
  onTestFinished(async () => {
    await Promise.all(servers.map(({ client }) => client.close()));
    server.close();
  });
  return createTrainingMetrics(servers, pino({ level: "silent" }));
}

describe("the metrics of a training from a server with wrong answers", () => {
  it.each([
    ["null", "null"],
    ["a list in the place of a mapping", '{"data":[{"__name__":"x"}]}'],
    ["a mapping in the place of a list", '{"data":{}}'],
    ["no JSON", "internal page text of http://10.0.0.1/secret"],
  ])("have a reason without a text of the server: %s", async (_, text) => {
    const metrics = await answering((path, response) =>
      response.end(
        path.startsWith("/api/v1/series") && text.includes("__name__") ? `{"data":[${JSON.stringify(LABELS)}]}` : text,
      ),
    );
    const { points, failures } = await metrics.progress([RUN], ENDED);
    expect([...points]).toEqual([]);
    expect(failures.get("run")).toBe("the answer of Prometheus cannot be read");
  });

  it("have no address and no sentence of the server if it refuses a request", async () => {
    const metrics = await answering((_, response) =>
      response.writeHead(302, { location: "http://10.0.0.1/" }).end("internal page text"),
    );
    const { failures } = await metrics.progress([RUN], ENDED);
    expect(failures.get("run")).toBe("the answer of Prometheus cannot be read");
  });

  it("count whole steps alone, and none that is no number of steps", async () => {
    const values = ["1.5", "-1e308", "-3", "7.25", "1e308", "NaN", "9"].map(
      (value, index) => [BEGUN / 1000 + 60 + index * 90, value] as const,
    );
    const metrics = await answering((path, response) => {
      if (path.startsWith("/api/v1/series")) return void response.end(JSON.stringify({ data: [LABELS] }));
      let form = "";
      response.req.on("data", (part: Buffer) => (form += part.toString()));
      response.req.on("end", () => {
        const isSteps = decodeURIComponent(form).includes("training_step");
        response.end(JSON.stringify({ data: { result: isSteps ? [{ metric: LABELS, values }] : [] } }));
      });
    });
    const { points, failures } = await metrics.progress([RUN], ENDED);
    expect([...failures]).toEqual([]);
    expect(points.get("run")?.map(({ step }) => step)).toEqual([1, 7, 9]);
  });
});
