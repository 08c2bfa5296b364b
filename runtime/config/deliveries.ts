import { isAbsolute } from "node:path";
import { CronExpressionParser } from "cron-parser";
import { validate } from "node-cron";
import { z } from "zod";
import { CHARGE_DIMENSIONS, isChargeDimension, labelOfDimension } from "../../domain/charge/dimension.ts";
import { between } from "./between.ts";
import { focusVersion } from "./focus.ts";
import { policiesOf, type WrittenPolicy } from "./policies.ts";
import { duration } from "./quantity.ts";
import { flag, list, oneOf, secret, text, isWebAddress, type ConfigSources } from "./words.ts";

/** The formats of a delivered file, with the names of `gpu-ledger report`. `lines-…` has every line. */
const DELIVERED_FORMATS = [
  "csv",
  "json",
  "ndjson",
  "parquet",
  "html",
  "pdf",
  "focus",
  "focus-parquet",
  "lines-csv",
  "lines-ndjson",
  "lines-parquet",
] as const;

const NAME = "a name of a-z, 0-9 and -, at most 60 characters";
const SCHEDULE = "five fields of cron: minute, hour, day of the month, month, day of the week, such as 0 6 3 * *";
const ZONE = "a time zone of IANA, such as Europe/Berlin";
const FOLDER = "an absolute path";
const ADDRESS = "an http:// or https:// address without a user name";
/**
 * Names of months and days, and the last day (`L`). `H` is not allowed: some tools read it as a random value, which would differ between
 * processes.
 */
const WORDS = /^(JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC|SUN|MON|TUE|WED|THU|FRI|SAT|L)?$/i;

const name = z
  .string({ error: NAME })
  .regex(/^[a-z0-9-]{1,60}$/, { error: NAME })
  .meta({ description: NAME });

const schedule = z
  .string({ error: SCHEDULE })
  .refine((value) => isSchedule(value), { error: SCHEDULE })
  .meta({ description: SCHEDULE });

const timeZone = z
  .string({ error: ZONE })
  .refine((value) => isTimeZone(value), { error: ZONE })
  .meta({ description: ZONE });

const dimension = z.string({ error: "a dimension" }).refine(isDimension, {
  error: `one of: ${CHARGE_DIMENSIONS.join(", ")}, label.<name>`,
});

/** Returns the schema of an address that receives files. */
export const webhook = (sources: ConfigSources) =>
  z.strictObject({
    url: secret(sources)
      .refine((url) => isWebAddress(url), { error: ADDRESS })
      .describe("The address that receives the file by POST."),
    bearerToken: secret(sources).optional().describe("The bearer token of the request."),
    signingSecret: secret(sources).optional().describe("Signs the file: HMAC-SHA-256."),
    timeout: duration("1s", "10m").prefault("30s").describe("The longest time of the whole request."),
    allowLinkLocal: flag
      .default(false)
      .describe("Allows a host with a link-local address, such as a metadata service of a cloud."),
  });

const recipient = (sources: ConfigSources) =>
  z
    .strictObject({
      name: name.describe("The recipient's name in lists and logs."),
      folder: z
        .string({ error: FOLDER })
        .refine((path) => isAbsolute(path), { error: FOLDER })
        .optional()
        .describe("An existing folder. All servers must see the same folder."),
      webhook: webhook(sources).optional(),
    })
    .refine(({ folder, webhook }) => (folder === undefined) !== (webhook === undefined), {
      error: "one of folder and webhook",
    });

const delivery = (sources: ConfigSources) =>
  z
    .strictObject({
      name: name.describe("The delivery's name in file names and lists."),
      schedule: schedule.describe("The time of the delivery: minute, hour, day of the month, month, day of the week."),
      timeZone: timeZone.default("UTC").describe("The time zone of the schedule."),
      period: oneOf("day", "week", "month")
        .default("month")
        .describe(
          "The time of the report: the last UTC day, week (from Monday) or month that ended before the delivery was due.",
        ),
      report: z
        .strictObject({
          kind: oneOf("chargeback", "showback")
            .optional()
            .describe("Default: chargeback for months, showback for days and weeks."),
          by: list(dimension).min(1, { error: "at least one dimension" }).default(["team", "costCenter"]),
          where: z
            .record(dimension, list(z.string({ error: "a text" })), { error: "dimensions with their values" })
            .default({})
            .describe("Only lines with these values, such as { team: [vision] }."),
          policy: text("a policy's name")
            .optional()
            .describe("A policy with kept charges. Default: the billing policy."),
          format: oneOf(...DELIVERED_FORMATS).default("csv"),
          focusVersion: focusVersion
            .optional()
            .describe(
              "The version of FOCUS, with focus and focus-parquet. Default: `focus.version`. A delivered period keeps its version.",
            ),
          listPrices: flag
            .default(false)
            .describe("Deliver charges by public list prices too, which apply without a price book."),
          advice: flag
            .default(false)
            .describe("Adds the largest savings of the newest advice to html and pdf. See docs/advice.md."),
        })
        .prefault({})
        .describe("The delivered report. See docs/reports.md."),
      waitFor: oneOf("settled", "closed", "nothing")
        .default("settled")
        .describe("settled: until all hours are charged. closed: until the months are closed. nothing: no wait."),
      allowUnpriced: flag.default(false).describe("Deliver the report even if it has GPU-hours without a price."),
      giveUpAfter: duration("1m", "30d").prefault("2d").describe("The time from the first attempt to the last one."),
      to: list(recipient(sources)).min(1, { error: "at least one recipient" }),
    })
    .superRefine((given, context) => {
      const complain = (path: PropertyKey[], message: string): void =>
        context.addIssue({ code: "custom", path, message });
      const { period, report, waitFor, to } = given;
      if (period !== "month" && report.kind === "chargeback")
        complain(["report", "kind"], `showback, because period is ${period}: a chargeback has whole months`);
      if (period !== "month" && waitFor === "closed")
        complain(["waitFor"], `settled or nothing, because period is ${period}: only months are closed`);
      if (report.focusVersion !== undefined && !report.format.startsWith("focus"))
        complain(
          ["report", "focusVersion"],
          `none, because format is ${report.format}: only focus and focus-parquet have one`,
        );
      if (report.advice && report.format !== "html" && report.format !== "pdf")
        complain(["report", "advice"], `false, because format is ${report.format}: only html and pdf have the advice`);
      if (report.advice && Object.keys(report.where).some((dimension) => dimension !== "team"))
        complain(["report", "advice"], "false, because cards have no other dimension of report.where than team");
      if (new Set(report.by).size < report.by.length) complain(["report", "by"], "dimensions without duplicates");
      to.forEach((each, index) => {
        const before = to.slice(0, index);
        if (before.some((other) => other.name === each.name))
          complain(["to", index, "name"], "a name that no other recipient has");
        if (each.folder !== undefined && before.some(({ folder }) => folder === each.folder))
          complain(["to", index, "folder"], "a folder that no other recipient has");
      });
    })
    .transform(({ report, ...rest }) => ({
      ...rest,
      report: { ...report, kind: report.kind ?? (rest.period === "month" ? ("chargeback" as const) : "showback") },
    }));

/** Returns the schema of the deliveries: the report, the schedule and the recipients. */
export const deliveries = (sources: ConfigSources) =>
  list(delivery(sources))
    .default([])
    .describe("Reports that are delivered on a schedule to folders and webhooks. See docs/delivery.md.");

/** A configured delivery. Durations are in milliseconds, secrets are already read. */
export type ConfiguredDelivery = z.output<ReturnType<typeof delivery>>;

/** A recipient of a delivery. */
export type ConfiguredRecipient = ConfiguredDelivery["to"][number];

/** A configured webhook. */
export type ConfiguredWebhook = z.output<ReturnType<typeof webhook>>;

/** One of the {@link DELIVERED_FORMATS}. */
export type DeliveredFormat = (typeof DELIVERED_FORMATS)[number];

interface WrittenDeliveries {
  readonly deliveries: readonly ConfiguredDelivery[];
  readonly policies: readonly WrittenPolicy[];
}

/** A check between deliveries, and between deliveries and policies. */
export const deliveriesCheck: z.core.$ZodCheck<WrittenDeliveries> = between(
  [["deliveries"], ["policies"]],
  checkDeliveries,
);

function checkDeliveries(config: WrittenDeliveries, context: z.RefinementCtx): void {
  const kept = policiesOf(config.policies)
    .filter(({ keep }) => keep)
    .map((policy) => policy.name);
  config.deliveries.forEach((each, index) => {
    const complain = (path: PropertyKey[], message: string): void =>
      context.addIssue({ code: "custom", path: ["deliveries", index, ...path], message });
    if (config.deliveries.findIndex((other) => other.name === each.name) < index)
      complain(["name"], "a name that no other delivery has");
    const { policy } = each.report;
    if (policy !== undefined && !kept.includes(policy))
      complain(["report", "policy"], `a policy with kept charges: ${kept.join(", ")}`);
  });
}

/** Refuses webhooks of hosts that are not in the list, if there is one. `*.domain` is any host below the domain. */
export function checkWebhookHosts(
  config: {
    readonly deliveries: readonly ConfiguredDelivery[];
    readonly act: { readonly webhook?: ConfiguredWebhook | undefined };
    readonly webhookHosts?: readonly string[] | undefined;
  },
  context: z.RefinementCtx,
): void {
  const { webhookHosts: hosts } = config;
  if (hosts === undefined) return;
  const isAllowed = (host: string): boolean =>
    hosts.some((each) => (each.startsWith("*.") ? host.endsWith(each.slice(1)) : host === each.toLowerCase()));
  const check = (of: ConfiguredWebhook | undefined, path: PropertyKey[]): void => {
    if (of === undefined || isAllowed(new URL(of.url).hostname)) return;
    context.addIssue({
      code: "custom",
      path: [...path, "webhook", "url"],
      message: `an address of webhookHosts: ${hosts.join(", ")}`,
    });
  };
  check(config.act.webhook, ["act"]);
  config.deliveries.forEach(({ to }, index) => {
    to.forEach((each, number) => check(each.webhook, ["deliveries", index, "to", number]));
  });
}

function isSchedule(value: string): boolean {
  const fields = value.trim().split(/\s+/);
  if (fields.length !== 5 || !value.split(/[^A-Za-z]+/).every((word) => WORDS.test(word))) return false;
  try {
    // A moment that never comes is refused here, so that no recipient waits for it.
    CronExpressionParser.parse(fields.join(" "), { tz: "UTC", currentDate: new Date(0) }).next();
    return validate(fields.join(" "));
  } catch {
    return false;
  }
}

function isTimeZone(value: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: value }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

function isDimension(value: string): boolean {
  return isChargeDimension(value) || labelOfDimension(value) !== undefined;
}
