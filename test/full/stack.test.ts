import { setTimeout as pause } from "node:timers/promises";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { SAMPLES_TOPIC } from "../../domain/messages/topics.ts";
import { prepareKafka } from "../support/kafka-broker.ts";
import { requirePart } from "../support/parts.ts";
import { PROGRAMS, startStack, type Stack } from "../support/stack.ts";
import {
  chargedHours,
  expectChargesToAddUp,
  expectMetricsToBeRight,
  expectNothingLost,
  expectProgramsToRun,
  statusOf,
} from "../support/stack-truths.ts";
import { MINUTE_MILLIS as MINUTE } from "../../domain/time.ts";

const hasParts = requirePart("prometheus") && requirePart("alertmanager") && (await prepareKafka());
const RUN_MILLIS = 3 * MINUTE;
const PAST_HOURS = 6;
const SOON = { timeout: 2 * MINUTE, interval: 1_000 };

/** The demo fleet on the whole stack for at least three minutes, in which a processor is killed and the broker is restarted. */
describe.skipIf(!hasParts)("the stack of docker-compose.yml, without containers", () => {
  let stack: Stack;
  let startedAt: number;

  beforeAll(async () => {
    stack = await startStack({ history: `${PAST_HOURS}h` });
    startedAt = Date.now();
  }, 4 * MINUTE);
  afterAll(() => stack?.stop());
  beforeEach(() => expectProgramsToRun(stack));

  it("is ready, part by part, and refuses clients without a token", async () => {
    const readiness = async (): Promise<readonly number[]> =>
      Promise.all(PROGRAMS.map(async (name) => (await fetch(`${stack.program(name).url}/readyz`)).status));
    await expect.poll(readiness, SOON).toEqual(PROGRAMS.map(() => 200));
    expect((await fetch(`${stack.program("serve").url}/api/v1/fleet`)).status).toBe(401);
    const headers = { authorization: `Bearer ${stack.secret("admin-token")}` };
    expect((await fetch(`${stack.program("serve").url}/api/v1/fleet`, { headers })).status).toBe(200);
    expect((await fetch(`${stack.program("process").url}/metrics`)).status).toBe(401);
    expect(await (await fetch(`${stack.program("serve").url}/`, { headers })).text()).toContain("Demo:");
  });

  it("continues when a processor is killed, and starts it again", async () => {
    await vi.waitUntil(async () => (await statusOf(stack, "process")).processor.rowsStored > 0, SOON);
    const { command } = stack.program("process");
    command.child.kill("SIGKILL");
    await command.ended;
    await pause(10_000);
    await stack.restart("process");
    const stored = async (): Promise<number> => (await statusOf(stack, "process")).processor.rowsStored;
    await expect.poll(stored, SOON).toBeGreaterThan(0);
  });

  it("collects while the broker is away, and sends the waiting messages when it is back", async () => {
    await stack.broker.stop();
    const waiting = async (): Promise<number> => (await statusOf(stack, "collect")).collector.spool.messages;
    await expect.poll(waiting, SOON).toBeGreaterThan(0);
    await stack.broker.start();
    await expect.poll(waiting, SOON).toBe(0);
  });

  it("alerts on-call about a message that cannot be decoded, through Prometheus and Alertmanager", async () => {
    // A counter that is seen for the first time has not risen, so Prometheus must already have those of both processors.
    const now = Date.now() / 1000;
    const seenAt = 'timestamp(gpu_ledger_messages_total{job="gpu-ledger",outcome="not-a-scrape"})';
    const seen = async (): Promise<unknown> =>
      (await stack.prometheus.query(seenAt))
        .filter(({ values }) => Number(values[0]![1]) > now)
        .map(({ metric }) => metric["instance"]);
    const processors = (["process", "process-2"] as const).map((name) => new URL(stack.program(name).url).host);
    await expect.poll(seen, SOON).toEqual(expect.arrayContaining(processors));
    const kafka = new Kafka({ brokers: [stack.broker.address], logLevel: logLevel.NOTHING });
    const producer = kafka.producer();
    await producer.connect();
    await producer.send({ topic: SAMPLES_TOPIC, messages: [{ value: "no scrape" }] });
    await producer.disconnect();
    const alertLabels = async (): Promise<unknown> => {
      const answer = await fetch(`${stack.alertmanager.url}/api/v2/alerts`);
      const alerts = (await answer.json()) as readonly { readonly labels: Readonly<Record<string, string>> }[];
      return alerts.find(({ labels }) => labels["alertname"] === "GPULedgerDeadLetters")?.labels;
    };
    await expect
      .poll(alertLabels, { timeout: 4 * MINUTE, interval: 2_000 })
      .toMatchObject({ job: "gpu-ledger", severity: "warning", notify: "ticket" });
  });

  it("has lost nothing, and samples, charges and metrics are right", async () => {
    await vi.waitUntil(async () => (await chargedHours(stack)) >= PAST_HOURS, {
      timeout: 10 * MINUTE,
      interval: 2_000,
    });
    await pause(Math.max(0, startedAt + RUN_MILLIS - Date.now()));
    await vi.waitUntil(async () => {
      const lags = ["process", "process-2"] as const;
      const statuses = await Promise.all(lags.map((name) => statusOf(stack, name)));
      return statuses.every(({ processor }) => processor.lagMessages < 20);
    }, SOON);
    await expectNothingLost(stack, startedAt, 1);
    const programs = await stack.store.query("SELECT DISTINCT exporter FROM serving_samples ORDER BY exporter");
    expect(programs).toEqual([{ exporter: "litellm" }, { exporter: "vllm" }]);
    await expectChargesToAddUp(stack);
    await expectMetricsToBeRight(stack);
  });

  it("ends with exit code 0 of every program", async () => {
    const ended = await Promise.all(PROGRAMS.map((name) => stack.program(name).command.end("SIGTERM")));
    expect(ended.map(({ code }) => code)).toEqual(PROGRAMS.map(() => 0));
  });
});
