import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ALERT_NAMES } from "../../alerts/catalog/catalog.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createTestDatabase } from "../support/database.ts";
import { createReportsServer, VISION, type ReportsServer } from "../support/reports-server.ts";

/** The text of a page without its tags. */
const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&amp;", "&");

describe("the page of runbooks", () => {
  let store: StoreClient;
  let server: ReportsServer;

  beforeAll(async () => {
    store = await createTestDatabase("runbook");
    server = await createReportsServer(store, Date.UTC(2026, 2, 31, 12), "");
  });
  afterAll(async () => {
    await server.close();
    await store.close();
  });

  it("has each alert's runbook, for each viewer, and a list of all", async () => {
    const list = await server.get("/runbook", VISION);
    for (const name of ALERT_NAMES) {
      expect(list.body).toContain(`href="/runbook?alert=${name}"`);
      const { statusCode, body } = await server.get(`/runbook?alert=${name}`, VISION);
      expect(body).toContain('<a href="/runbook">Runbooks</a></li><li aria-current="page">');
      expect([name, statusCode, body.match(/<h1>.*?<\/h1>/)?.[0]]).toEqual([name, 200, `<h1>${name}</h1>`]);
      expect(body).toContain("<h2>Mitigation</h2>");
      expect(body).not.toMatch(/```|\]\(/);
    }
    expect((await server.get("/runbook?alert=GPUTooGood")).statusCode).toBe(404);
    expect((await server.get("/runbook?alert=../../package.json")).statusCode).toBe(404);
  });

  it("has the names of an alert in its commands and queries, and in its links to other runbooks", async () => {
    const { body } = await server.get(
      "/runbook?alert=GPUSustainedLowUtilization&cluster=eu&node=gpu-a&namespace=ml&pod=train-0",
    );
    const text = textOf(body);
    expect(text).toContain('pod:gpu_activity:avg6h{namespace="ml", pod="train-0"}');
    expect(text).toContain("gpu-ledger explain --namespace ml --state idle");
    expect(text).not.toMatch(/\b(NAMESPACE|POD)\b/);
    expect(body).toContain(
      'href="/runbook?alert=GPUAllocatedIdle&amp;cluster=eu&amp;node=gpu-a&amp;namespace=ml&amp;pod=train-0"',
    );
    expect(body).toContain('href="https://github.com/gpu-ledger/gpu-ledger/blob/main/docs/alerts.md#waste"');
    const down = textOf((await server.get("/runbook?alert=GPUExporterDown&node=gpu-a&namespace=ops&pod=dcgm-1")).body);
    expect(down).toContain("kubectl debug node/gpu-a -it");
    expect(down).toContain("kubectl -n ops logs dcgm-1 --previous");
  });

  it("quotes any name for the shell and for the page, and refuses options and control characters", async () => {
    const pod = `x'; touch /tmp/pwned; <script>alert(1)</script>`;
    const { body } = await server.get(`/runbook?alert=GPUExporterDown&pod=${encodeURIComponent(pod)}`);
    expect(body).not.toContain("<script>alert");
    expect(textOf(body)).toContain(`logs 'x'\\''; touch /tmp/pwned; <script>alert(1)</script>' --previous`);
    for (const wrong of ["--all", "a%0Ab", "a%00"])
      expect((await server.get(`/runbook?alert=GPUExporterDown&pod=${wrong}`)).statusCode).toBe(400);
  });
});
