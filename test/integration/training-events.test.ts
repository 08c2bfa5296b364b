import { pino } from "pino";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { startApiServer, type ApiServer } from "../../demo/kubernetes/server/server.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createLeaderJobs, type LeaderJobs } from "../../services/leader/jobs.ts";
import { trainingEventsJob } from "../../services/leader/training-events.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { createFilledDatabase } from "../support/database.ts";
import { kubeconfigOf } from "../support/kubeconfig.ts";
import { playTrainingFleet, TRAINING_CONFIG } from "../support/training/fleet.ts";
import { clock } from "../support/training/pods.ts";

/** A processor that posts Events. */
interface Poster {
  time: string;
  readonly jobs: LeaderJobs;
  /** How often it has looked for runs that have ended. A look counts when it begins. */
  looks: number;
}

const LONG = { timeout: 90_000 };

describe("events of training runs", () => {
  let folder: CommandFolder;
  let store: StoreClient;
  let server: ApiServer;
  let started: LeaderJobs[];
  let warnings: string[];

  beforeAll(async () => {
    store = await createFilledDatabase("training_events", "training_fleet", playTrainingFleet);
  });
  afterAll(() => store.close());
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ["setInterval"] });
    server = await startApiServer();
    folder = createCommandFolder();
    folder.write("kubeconfig", kubeconfigOf({ here: server }));
    [started, warnings] = [[], []];
  });
  afterEach(async () => {
    for (const each of started) await each.stop();
    await server.stop();
    await folder.dispose();
    vi.useRealTimers();
  });

  function start(time: string, { isLeading = true, cluster = "default" } = {}): Poster {
    const text = `${TRAINING_CONFIG.replace("30m", "30m, events: true")}
kubernetes: { clusters: [{ name: ${cluster}, kubeconfig: ${folder.path}/kubeconfig }] }`;
    const logger = pino({ level: "warn" }, { write: (line: string) => void warnings.push(line) });
    const job = trainingEventsJob({
      config: parseConfig(text, { source: "the test", folder: folder.path, env: {} }),
      store,
      logger,
      now() {
        poster.looks += 1;
        return clock(poster.time);
      },
    });
    const poster: Poster = { time, looks: 0, jobs: createLeaderJobs([job], logger) };
    started.push(poster.jobs);
    if (isLeading) poster.jobs.begin();
    return poster;
  }
  /** Lets minutes pass for the posters until something is as expected. */
  const waitFor = (expectation: () => void): Promise<void> =>
    vi.waitFor(() => {
      vi.advanceTimersByTime(60_000);
      expectation();
    }, LONG);
  /** Waits for the end of a whole look. */
  async function waitForLook(poster: Poster): Promise<void> {
    const before = poster.looks;
    await waitFor(() => expect(poster.looks).toBeGreaterThan(before + 1));
  }
  const posts = (): readonly string[] =>
    server.requests.all.flatMap(({ method, path }) => (method === "POST" ? [path] : []));
  const events = async (): Promise<readonly object[]> => {
    const answer = await fetch(`${server.url}/api/v1/events`);
    return ((await answer.json()) as { readonly items: readonly object[] }).items;
  };

  it("have the report of a run some minutes after its end, once from all leaders", async () => {
    const other = start("12:10", { isLeading: false });
    const leader = start("12:03");
    await waitForLook(leader);
    expect(posts()).toEqual([]);
    leader.time = "12:05";
    await waitFor(() => expect(posts()).toEqual(["/api/v1/namespaces/vision/events"]));
    const sent = await events();
    expect(sent).toMatchObject([
      {
        metadata: { namespace: "vision", name: expect.stringMatching(/^llama\.[0-9a-f]{16}$/) as string },
        involvedObject: { kind: "JobSet", name: "llama", namespace: "vision" },
        type: "Normal",
        reason: "TrainingRunReport",
        message:
          "Training run succeeded: 57.12 USD for 15.87 GPU-hours. Progress: 76.8908 % of the cost. Stops: 1. Recovering: 4.20 USD. Lost progress: 7.20 USD. Suggestion: Checkpoints came every 2.6 h. Write them more often: half of the time between two is lost at each stop.",
        source: { component: "gpu-ledger" },
        firstTimestamp: "2026-03-02T12:05:00Z",
        lastTimestamp: "2026-03-02T12:05:00Z",
        count: 1,
      },
    ]);
    await waitForLook(leader);
    expect(posts()).toHaveLength(1);
    // The next leader does not know what the last one posted. The API server does.
    other.jobs.begin();
    await waitFor(() => expect(posts()).toHaveLength(2));
    expect(await events()).toEqual(sent);
    expect(warnings).toEqual([]);
  });

  it("are not posted for a run that ended long ago, or in a cluster without a server", async () => {
    // The job of nlp ended at 11:00, and the gang at 12:00.
    const posters = [start("12:46"), start("12:10", { cluster: "other" })];
    for (const poster of posters) await waitForLook(poster);
    expect(posts()).toEqual([]);
  });

  it("are tried once if the server forbids them, and again if it has no time", async () => {
    server.access.withdraw("", "events", "create");
    const forbidden = start("11:44");
    await waitFor(() => expect(warnings).toHaveLength(1));
    expect(warnings[0]).toContain("events is forbidden");
    await waitForLook(forbidden);
    expect(posts()).toHaveLength(1);
    server.access.restore();
    server.troubles.fail({ status: 503 });
    start("11:44");
    await waitFor(() => expect(posts()).toHaveLength(3));
    expect(await events()).toMatchObject([
      {
        involvedObject: { kind: "Job", name: "eval", namespace: "nlp" },
        message: expect.stringContaining("estimated") as string,
      },
    ]);
    expect(warnings).toHaveLength(2);
  });
});
