import { describe, expect, it } from "vitest";
import type { ConfigError } from "../../../../runtime/config/config-error.ts";
import { parseConfig } from "../../../../runtime/config/load.ts";

const read = (text: string, env: Record<string, string> = {}) =>
  parseConfig(text, { source: "the test", folder: ".", env });
const DELIVERY = { name: "costs", schedule: "0 6 3 * *", to: [{ name: "archive", folder: "/srv/reports" }] };
const withDelivery = (more: object, others: object = {}): string =>
  JSON.stringify({ deliveries: [{ ...DELIVERY, ...more }], ...others });

function problemOf(text: string): { readonly key: string; readonly allowed: string } | undefined {
  try {
    read(text);
    return undefined;
  } catch (error) {
    const [{ key, allowed }] = (error as ConfigError).problems as [{ key: string; allowed: string }];
    return { key, allowed };
  }
}

describe("deliveries in the configuration", () => {
  it("need a name, a schedule and a recipient; all other keys have a default", () => {
    expect(read("").deliveries).toEqual([]);
    expect(read(withDelivery({})).deliveries).toEqual([
      {
        ...DELIVERY,
        timeZone: "UTC",
        period: "month",
        report: {
          kind: "chargeback",
          by: ["team", "costCenter"],
          where: {},
          format: "csv",
          listPrices: false,
          advice: false,
        },
        waitFor: "settled",
        allowUnpriced: false,
        giveUpAfter: 172_800_000,
      },
    ]);
    expect(read(withDelivery({ period: "week" })).deliveries[0]!.report.kind).toBe("showback");
  });

  it("may go to the webhooks of a list of hosts only", () => {
    const to = [{ name: "hook", webhook: { url: "https://hooks.example.com/T0/abc" } }];
    for (const webhookHosts of [["hooks.example.com"], ["*.example.com"], ["other.org", "HOOKS.example.com"]])
      expect(read(withDelivery({ to }, { webhookHosts })).deliveries).toHaveLength(1);
    for (const webhookHosts of [[], ["example.com"], ["*.hooks.example.com"], ["ample.com"]])
      expect(problemOf(withDelivery({ to }, { webhookHosts }))).toEqual({
        key: "deliveries[0].to[0].webhook.url",
        allowed: `an address of webhookHosts: ${webhookHosts.join(", ")}`,
      });
  });

  it("take the secrets of a webhook, including its address, from files or variables", () => {
    const url = "https://hooks.example.com/T0/abc";
    const webhook = { url: { env: "HOOK" }, bearerToken: "b", signingSecret: { env: "SIGN" }, timeout: "5s" };
    const { to } = read(withDelivery({ to: [{ name: "hook", webhook }] }), { HOOK: url, SIGN: "s" }).deliveries[0]!;
    expect(to[0]!.webhook).toEqual({
      url,
      bearerToken: "b",
      signingSecret: "s",
      timeout: 5_000,
      allowLinkLocal: false,
    });
  });

  it.each(["0 6 3 * *", "*/15 0-6 * JAN,FEB MON-FRI", "0 6 L * *", "0 6 * * 1#1", "30 2 29 2 *"])(
    "accept the schedule %s",
    (schedule) => expect(problemOf(withDelivery({ schedule }))).toBeUndefined(),
  );

  it.each([
    "",
    "0 6 3 *",
    "0 0 6 3 * *",
    "@monthly",
    "H 6 3 * *",
    "60 6 3 * *",
    "0 6 30 2 *",
    "0 6 * * 8",
    "*/0 * * * *",
    "5/15 * * * *",
    5,
  ])("refuse the schedule %j", (schedule) =>
    expect(problemOf(withDelivery({ schedule }))).toEqual({
      key: "deliveries[0].schedule",
      allowed: expect.stringContaining("five fields of cron") as string,
    }),
  );

  it.each([
    [{ timeZone: "Mars/Base" }, "timeZone", "a time zone of IANA"],
    [{ name: "Costs of us" }, "name", "a name of a-z, 0-9 and -"],
    [{ period: "hour" }, "period", "one of: day, week, month"],
    [{ period: "day", report: { kind: "chargeback" } }, "report.kind", "showback, because period is day"],
    [{ period: "week", waitFor: "closed" }, "waitFor", "settled or nothing, because period is week"],
    [{ report: { by: ["teem"] } }, "report.by[0]", "one of: team, costCenter"],
    [{ report: { by: [] } }, "report.by", "at least one dimension"],
    [{ report: { by: ["team", "team"] } }, "report.by", "dimensions without duplicates"],
    [{ report: { policy: "none" } }, "report.policy", "a policy with kept charges: default"],
    [{ report: { advice: true } }, "report.advice", "false, because format is csv"],
    [
      { report: { advice: true, format: "html", where: { workload: ["a"] } } },
      "report.advice",
      "false, because cards have no other dimension",
    ],
    [{ report: { format: "xls" } }, "report.format", "one of: csv, json"],
    [{ to: [] }, "to", "at least one recipient"],
    [{ to: [{ name: "a", folder: "reports" }] }, "to[0].folder", "an absolute path"],
    [{ to: [{ name: "a" }] }, "to[0]", "one of folder and webhook"],
    [{ to: [...DELIVERY.to, { ...DELIVERY.to[0], folder: "/b" }] }, "to[1].name", "a name that no other recipient has"],
    [
      { to: [...DELIVERY.to, { ...DELIVERY.to[0], name: "b" }] },
      "to[1].folder",
      "a folder that no other recipient has",
    ],
    [{ to: [{ name: "a", webhook: { url: "ftp://x" } }] }, "to[0].webhook.url", "an http:// or https:// address"],
    [{ to: [{ name: "a", webhook: { url: "http://a:b@x" } }] }, "to[0].webhook.url", "without a user name"],
    [{ giveUpAfter: "1s" }, "giveUpAfter", "a duration from 1m to 30d"],
  ])("report the problem of %j", (more, key, allowed) => {
    expect(problemOf(withDelivery(more))).toEqual({
      key: `deliveries[0].${key}`,
      allowed: expect.stringContaining(allowed) as string,
    });
  });

  it("have unique names", () => {
    expect(problemOf(JSON.stringify({ deliveries: [DELIVERY, DELIVERY] }))).toEqual({
      key: "deliveries[1].name",
      allowed: "a name that no other delivery has",
    });
  });
});
