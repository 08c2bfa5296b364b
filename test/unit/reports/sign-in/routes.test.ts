import Fastify from "fastify";
import pino from "pino";
import { expect, it } from "vitest";
import type { AccessEntry } from "../../../../reports/access/audit.ts";
import { SignInError } from "../../../../reports/sign-in/issuer.ts";
import type { SignIn } from "../../../../reports/sign-in/people.ts";
import { addSignIn } from "../../../../reports/sign-in/routes.ts";

it("a flood of failed sign-ins adds at most 60 entries to the audit trail in a minute", async () => {
  const entries: AccessEntry[] = [];
  const signIn = {
    issuer: { finish: () => Promise.reject(new SignInError("refused", "no")) },
    sessions: { begunWith: () => Promise.resolve({ state: "s", nonce: "n", verifier: "v", next: "/" }) },
    publicUrl: "https://ledger.example",
  } as unknown as SignIn;
  const record = async (entry: AccessEntry): Promise<void> => void entries.push(entry);
  const server = Fastify();
  addSignIn(server, signIn, { record, logger: pino({ level: "silent" }) });
  const sent = await Promise.all(Array.from({ length: 100 }, () => server.inject("/sign-in/callback?state=s")));
  await server.close();
  expect(new Set(sent.map(({ statusCode }) => statusCode))).toEqual(new Set([400]));
  expect(entries).toHaveLength(60);
});
