import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { keepCards } from "../../processors/ledger/advice/keep-cards.ts";
import { writeMark } from "../../reports/advice/marks.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { createTestDatabase } from "../support/database.ts";
import { sharedStore } from "../support/embedded-store.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { ADVICE_UNTIL, CARDS, sampleAdvice } from "../support/sample-advice.ts";

describe("gpu-ledger act --dry-run", () => {
  const embedded = sharedStore();
  let folder: CommandFolder;
  let store: StoreClient;
  let config: string;

  beforeAll(async () => {
    folder = createCommandFolder();
    const { username, password } = embedded.user;
    const of = { kind: "clickhouse", database: "act", clickhouse: { url: embedded.url, username, password } };
    config = folder.write("act.yaml", { store: of });
    store = await createTestDatabase("act");
  });
  afterAll(async () => {
    await store.close();
    await folder.dispose();
  });

  const act = (out: string, ...args: readonly string[]) =>
    folder.call(["act", "--dry-run", "--out", join(folder.path, out), "--config", config, ...args]);
  const read = (out: string, name: string): string => readFileSync(join(folder.path, out, name), "utf8");

  it("has no files before the first run", async () => {
    const { code, stderr } = await act("none");
    expect([code, stderr]).toEqual([
      1,
      "gpu-ledger: there are no cards yet: the leading processor makes them after midnight\n",
    ]);
    const advice = sampleAdvice();
    const [nodes, vision, nlp, odd] = advice.cards;
    const cards = [
      { ...nodes!, remedy: { what: "Remove 1 node.", lines: "kubectl drain gpu-x --ignore-daemonsets" } },
      { ...vision!, doubts: ["One line.\nkubectl delete everything"] },
      { ...nlp!, remedy: { what: "Request 1 GPU.", lines: "resources:\n  limits:\n    nvidia.com/gpu: 1" } },
      { ...odd!, subject: { ...odd!.subject, namespace: "a delete ns/b" } },
    ];
    await keepCards(store, { ...advice, cards }, { basis: "", madeAt: ADVICE_UNTIL, seconds: 1 });
  });

  it("writes commands as a shell file with the text of the card as comments", async () => {
    const { code, stdout } = await act("one", "--card", CARDS.vision);
    const name = `${CARDS.vision}-idle-workload.sh`;
    expect([code, stdout]).toEqual([0, `${join(folder.path, "one", name)}\n`]);
    const text = read("one", name);
    execFileSync("sh", ["-n", join(folder.path, "one", name)]);
    const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    expect(lines).toEqual(["set -eu", "kubectl -n vision delete job/train"]);
    expect(text).toContain("# In 7 days the owner would have paid 168 USD less, 730 USD less a month.\n");
    expect(text).toContain("# kubectl delete everything\n");
    expect(text).toContain("# Risk: State that is only in memory is lost.\n");
  });

  it("writes lines of a manifest as YAML", async () => {
    await act("yaml", "--team", "nlp");
    const text = read("yaml", `${CARDS.nlp}-fewer-replicas.yaml`);
    expect(parse(text)).toEqual({ resources: { limits: { "nvidia.com/gpu": 1 } } });
    expect(text).toContain("# Request 1 GPU.\n");
  });

  it("writes no file with a name that could be another command", async () => {
    const { stdout, stderr } = await act("all");
    expect(stdout.split("\n")).toHaveLength(4);
    expect(stderr).toBe(`${CARDS.odd}: no file, because a name in it is not a valid name in Kubernetes\n`);
    expect(readdirSync(join(folder.path, "all")).toSorted()).toEqual([
      `${CARDS.nlp}-fewer-replicas.yaml`,
      `${CARDS.nodes}-empty-nodes.sh`,
      `${CARDS.vision}-idle-workload.sh`,
    ]);
  });

  describe("--post", () => {
    let receiver: Receiver;
    const configured = (webhook: object): string => {
      const { username, password } = embedded.user;
      const of = { kind: "clickhouse", database: "act", clickhouse: { url: embedded.url, username, password } };
      return folder.write("post.yaml", { store: of, act: { webhook } });
    };
    const post = (...args: readonly string[]) => folder.call(["act", "--dry-run", "--post", ...args]);
    beforeAll(async () => {
      receiver = await startReceiver();
    });
    afterAll(() => receiver.close());

    it("sends each card with its file, signed, to the webhook", async () => {
      const secrets = { bearerToken: "a-bearer-token", signingSecret: "a-signing-secret" };
      const path = configured({ url: `${receiver.url}/cards`, ...secrets });
      const { code, stdout } = await post("--config", path, "--card", CARDS.vision, "--card", CARDS.odd);
      expect([code, stdout.split("\n").toSorted()]).toEqual([
        0,
        ["", `${CARDS.vision} posted`, `${CARDS.odd} posted`].toSorted(),
      ]);
      const [first, second] = receiver.posted;
      expect(first).toMatchObject({
        path: "/cards",
        headers: {
          "content-type": "application/json",
          "content-disposition": `attachment; filename="${CARDS.vision}.json"`,
          "idempotency-key": `card/${CARDS.vision}/${ADVICE_UNTIL}`,
          "x-gpu-ledger-card": CARDS.vision,
          authorization: "Bearer a-bearer-token",
          "x-gpu-ledger-signature": `sha256=${createHmac("sha256", "a-signing-secret").update(first!.body).digest("hex")}`,
        },
      });
      const { card, file } = JSON.parse(first!.body.toString()) as Record<"card" | "file", object>;
      expect(card).toMatchObject({ id: CARDS.vision, kind: "idle-workload", saving: { owner: "168" }, mark: null });
      expect(file).toEqual({
        name: `${CARDS.vision}-idle-workload.sh`,
        text: read("one", `${CARDS.vision}-idle-workload.sh`),
      });
      expect(JSON.parse(second!.body.toString())).toMatchObject({ card: { id: CARDS.odd }, file: null });
    });

    it("ends at the first card that the webhook refuses", async () => {
      receiver.answers = [200, 503];
      const path = configured({ url: receiver.url });
      const { code, stdout, stderr } = await post("--config", path);
      expect([code, stdout.split("\n")]).toEqual([1, [expect.stringMatching(/^\w+ posted$/), ""]]);
      expect(stderr).toMatch(/^gpu-ledger: card \w+: the webhook answered 503\n$/);
    });

    it("needs a webhook, and a host of webhookHosts", async () => {
      expect(await post("--config", config)).toMatchObject({
        code: 2,
        stderr: "gpu-ledger: --post: the configuration has no act.webhook\n",
      });
      const other = folder.write("other.yaml", {
        webhookHosts: ["tickets.example.com"],
        act: { webhook: { url: receiver.url } },
      });
      const { code, stderr } = await post("--config", other);
      expect(code).toBe(2);
      expect(stderr).toContain("act.webhook.url");
      expect(stderr).toContain("an address of webhookHosts: tickets.example.com");
    });
  });

  it("leaves dismissed cards out", async () => {
    const mark = { what: "dismissed", at: ADVICE_UNTIL, until: undefined, who: "ada", why: "a demo" } as const;
    await writeMark(store, CARDS.vision, mark);
    expect((await act("less", "--kind", "idle-workload")).stdout).toBe("");
    expect(await act("less", "--card", CARDS.vision)).toMatchObject({
      code: 2,
      stderr: `gpu-ledger: --card ${CARDS.vision}: not in the newest cards, or dismissed\n`,
    });
  });

  it("does nothing without --dry-run", async () => {
    const { code, stderr } = await folder.call(["act", "--out", join(folder.path, "no"), "--config", config]);
    expect([code, stderr]).toEqual([
      2,
      "gpu-ledger: --dry-run is required: gpu-ledger hands over, and changes nothing in a cluster\n",
    ]);
    expect(await folder.call(["act", "--dry-run", "--config", config])).toMatchObject({
      code: 2,
      stderr: "gpu-ledger: one of --out and --post is required\n",
    });
  });
});
