import { pino } from "pino";
import { afterEach, describe, expect, test } from "vitest";
import { RefusedWrite } from "../../../../../collectors/prometheus/receive/refused-write.ts";
import { startWriteServer, type WriteServer } from "../../../../../collectors/prometheus/receive/write-server.ts";
import { ListenError } from "../../../../../runtime/http/listen-error.ts";

const servers: WriteServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

const V1 = { "content-type": "application/x-protobuf", "content-encoding": "snappy" };
const V2 = { ...V1, "content-type": "application/x-protobuf;proto=io.prometheus.write.v2.Request" };

async function started(
  given: Partial<Parameters<typeof startWriteServer>[0]> = {},
): Promise<{ readonly server: WriteServer; readonly received: [string, number][]; readonly codes: number[] }> {
  const received: [string, number][] = [];
  const codes: number[] = [];
  const server = await startWriteServer({
    config: { listen: "127.0.0.1:0" },
    credentials: {},
    bodyLimitBytes: 100,
    tls: undefined,
    receiver: {
      receive(body, version) {
        received.push([body.toString(), version]);
        return Promise.resolve({ samples: 7 });
      },
    },
    onRequest: (status) => void codes.push(status),
    onConnectionEnded: () => undefined,
    nowMillis: Date.now,
    logger: pino({ level: "silent" }),
    ...given,
  });
  servers.push(server);
  return { server, received, codes };
}

const post = (
  { url }: WriteServer,
  headers: Readonly<Record<string, string>> = V1,
  body: string | undefined = "body",
): Promise<Response> => fetch(`${url}/api/v1/write`, { method: "POST", headers, body });

describe("the port for remote write", () => {
  test("answers 204, and version 2.0 with what was written", async () => {
    const { server, received, codes } = await started();
    const first = await post(server);
    expect(first.status).toBe(204);
    expect(first.headers.get("x-prometheus-remote-write-samples-written")).toBeNull();
    const second = await post(server, V2);
    expect(second.status).toBe(204);
    expect(
      ["samples", "histograms", "exemplars"].map((kind) =>
        second.headers.get(`x-prometheus-remote-write-${kind}-written`),
      ),
    ).toEqual(["7", "0", "0"]);
    expect(received).toEqual([
      ["body", 1],
      ["body", 2],
    ]);
    expect(codes).toEqual([204, 204]);
    expect(server.senders()).toBe(1);
  });

  test.each([
    { ...V1, "content-type": "application/x-protobuf;proto=io.prometheus.write.v3.Request" },
    { ...V1, "content-type": "application/json" },
    { ...V1, "content-encoding": "zstd" },
  ])("refuses another kind of body with 415: %j", async (headers) => {
    const { server, received } = await started();
    expect((await post(server, headers)).status).toBe(415);
    expect(received).toEqual([]);
  });

  test("refuses a large body with 413, and other paths", async () => {
    const { server } = await started();
    expect((await post(server, V1, "x".repeat(101))).status).toBe(413);
    expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
  });

  test("answers with the status of the refusal, and when to come again", async () => {
    let status: 400 | 503 = 503;
    const { server } = await started({
      receiver: { receive: () => Promise.reject(new RefusedWrite(status, "the log is full")) },
    });
    const busy = await post(server);
    expect([busy.status, busy.headers.get("retry-after"), await busy.text()]).toEqual([503, "5", "the log is full\n"]);
    status = 400;
    const bad = await post(server);
    expect([bad.status, bad.headers.get("retry-after")]).toEqual([400, null]);
  });

  test("refuses requests without the token before it reads them", async () => {
    const { server, received } = await started({ credentials: { bearerToken: "secret" } });
    for (const authorization of ["", "Bearer", "Bearer wrong", "Basic secret", "secret"]) {
      const answer = await post(server, { ...V1, authorization });
      expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, 'Bearer realm="gpu-ledger"']);
    }
    expect((await fetch(`${server.url}/other`)).status).toBe(401);
    expect(received).toEqual([]);
    expect((await post(server, { ...V1, authorization: "Bearer secret" })).status).toBe(204);
  });

  test("accepts basic authentication", async () => {
    const { server } = await started({ credentials: { basic: { username: "a", password: "b:c" } } });
    const basic = (text: string): Record<string, string> => ({
      ...V1,
      authorization: `Basic ${Buffer.from(text).toString("base64")}`,
    });
    expect((await post(server, basic("a:b:c"))).status).toBe(204);
    expect((await post(server, basic("a:b"))).status).toBe(401);
  });

  test("fails if another program listens on the address", async () => {
    const { server } = await started();
    await expect(started({ config: { listen: new URL(server.url).host } })).rejects.toBeInstanceOf(ListenError);
  });
});
