import Fastify from "fastify";
import { expect, it } from "vitest";
import type { AccessEntry } from "../../../../reports/access/audit.ts";
import { createAnswers } from "../../../../reports/server/answers.ts";
import { createRemembered } from "../../../../reports/server/remembered.ts";
import type { Viewer } from "../../../../reports/access/viewer.ts";
import type { StoreClient } from "../../../../runtime/store/client.ts";

const PERSON: Viewer = { name: "books", subject: "u-mallory", role: "viewer", teams: ["vision"] };

it("a crowd of exports from memory writes at most two entries of the audit trail at once, each with the person", async () => {
  const entries: AccessEntry[] = [];
  let [running, most] = [0, 0];
  const answers = createAnswers({
    store: { bounded: () => ({}) } as unknown as StoreClient,
    ledgerVersions: { current: () => Promise.resolve("1"), watch: () => Promise.resolve(), forget() {} },
    remembered: createRemembered(1_000_000),
    async record(entry) {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 2));
      running -= 1;
      entries.push(entry);
    },
    now: Date.now,
  });
  const server = Fastify();
  server.decorateRequest("viewer");
  server.addHook("onRequest", async (request) => {
    request.viewer = PERSON;
  });
  server.get("/export", (request, reply) =>
    answers.send(request, reply, () =>
      Promise.resolve({ bytes: Buffer.from("a,b"), type: "text/csv", exported: { subject: "all", rows: 1 } }),
    ),
  );
  const sent = await Promise.all(Array.from({ length: 50 }, () => server.inject("/export")));
  await server.close();
  expect(new Set(sent.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
  expect(entries).toHaveLength(50);
  expect(most).toBe(2);
  // Another person, or a token, can have the same name.
  expect(entries[0]).toMatchObject({ who: "books", details: { person: "u-mallory" } });
});
