import { isAbsolute } from "node:path";
import { CronExpressionParser } from "cron-parser";
import { validate } from "node-cron";
import { z } from "zod";
import { CHARGE_DIMENSIONS, isChargeDimension, labelOfDimension } from "../../domain/charge/dimension.ts";
import { between } from "./between.ts";
import { policiesOf, type WrittenPolicy } from "./policies.ts";
import { duration } from "./quantity.ts";
import { flag, list, oneOf, secret, text, webAddress, type ConfigSources } from "./words.ts";

/** The formats of a delivered file, with the names of `gpu-ledger report`. `lines-…` has every line. */
export const DELIVERED_FORMATS = [
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

const NAME = "a name of a-z, 0-9 and -, 60 characters at most";
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

const recipient = (sources: ConfigSources) =>
  z
    .strictObject({
      name: name.describe("Whom it goes to, in lists and logs."),
      folder: z
        .string({ error: FOLDER })
        .refine((path) => isAbsolute(path), { error: FOLDER })
        .optional()
        .describe("A folder that is there; all servers have to see the same one."),
      webhook: z
        .strictObject({
          url: secret(sources)
            .refine((url) => isAddress(url), { error: ADDRESS })
            .describe("Where the file is posted to."),
          bearerToken: secret(sources).optional().describe("Is sent with it."),
          signingSecret: secret(sources).optional().describe("Signs the file: HMAC-SHA-256."),
          timeout: duration("1s", "10m").prefault("30s").describe("How long the whole request may take."),
        })
        .optional(),
    })
    .refine(({ folder, webhook }) => (folder === undefined) !== (webhook === undefined), {
      error: "one of folder and webhook",
    });

const delivery = (sources: ConfigSources) =>
  z
    .strictObject({
      name: name.describe("Files and lists are named by it."),
      schedule: schedule.describe("When it is due: minute, hour, day of the month, month, day of the week."),
      timeZone: timeZone.default("UTC").describe("Whose clock the schedule goes by."),
      period: oneOf("day", "week", "month")
        .default("month")
        .describe("What it is of: the last UTC day, week (from Monday) or month that was over when it was due."),
      report: z
        .strictObject({
          kind: oneOf("chargeback", "showback")
            .optional()
            .describe("chargeback for months, showback for days and weeks where nothing says it."),
          by: list(dimension).min(1, { error: "one dimension at least" }).default(["team", "costCenter"]),
          where: z
            .record(dimension, list(z.string({ error: "a text" })), { error: "dimensions with their values" })
            .default({})
            .describe("Only lines with these values, such as { team: [vision] }."),
          policy: text("a policy's name")
            .optional()
            .describe("One whose charges are kept; the billing one by default."),
          format: oneOf(...DELIVERED_FORMATS).default("csv"),
        })
        .prefault({})
        .describe("What is delivered; see docs/reports.md."),
      waitFor: oneOf("settled", "closed", "nothing")
        .default("settled")
        .describe("Until every hour is charged, until the months are closed, or not at all."),
      allowUnpriced: flag.default(false).describe("Deliver it although there are GPU-hours without a price."),
      giveUpAfter: duration("1m", "30d").prefault("2d").describe("How long after its first attempt it is tried."),
      to: list(recipient(sources)).min(1, { error: "one recipient at least" }),
    })
    .superRefine((given, context) => {
      const complain = (path: PropertyKey[], message: string): void =>
        context.addIssue({ code: "custom", path, message });
      const { period, report, waitFor, to } = given;
      if (period !== "month" && report.kind === "chargeback")
        complain(["report", "kind"], `showback, as period is ${period}: a chargeback is of whole months`);
      if (period !== "month" && waitFor === "closed")
        complain(["waitFor"], `settled or nothing, as period is ${period}: months are closed`);
      if (new Set(report.by).size < report.by.length) complain(["report", "by"], "dimensions that stand there once");
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
    .describe("Reports that are delivered on a schedule to folders and webhooks; see docs/delivery.md.");

/** A configured delivery. Durations are in milliseconds, secrets are already read. */
export type ConfiguredDelivery = z.output<ReturnType<typeof delivery>>;

/** A recipient of a delivery. */
export type ConfiguredRecipient = ConfiguredDelivery["to"][number];

/** A configured webhook. */
export type ConfiguredWebhook = NonNullable<ConfiguredRecipient["webhook"]>;

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
      complain(["report", "policy"], `one whose charges are kept: ${kept.join(", ")}`);
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

function isAddress(value: string): boolean {
  return webAddress.safeParse(value).success && new URL(value).username === "" && new URL(value).password === "";
}
