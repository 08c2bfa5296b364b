import type { VNode } from "preact";
import { z } from "zod";
import { counted } from "../../domain/counted.ts";
import { DAY_MILLIS, HOUR_MILLIS, MINUTE_MILLIS } from "../../domain/time.ts";
import { isThrottled } from "../../domain/fleet/throttling.ts";
import { troublesOfNode, xidText } from "../../domain/fleet/trouble.ts";
import { seesAll } from "../access/viewer.ts";
import { allowed, policyOf } from "../api/context.ts";
import { alertsOf, alertsSeenBy, type AlertsNow } from "../firing-alerts.ts";
import { address } from "../parts/address.ts";
import { AlertsTable } from "../parts/alerts-table.tsx";
import { MeasurementsChart } from "../parts/charts/measurements.tsx";
import { LiveTable } from "../parts/live-table.tsx";
import { Notes } from "../parts/notes.tsx";
import { Table } from "../parts/table.tsx";
import { utc } from "../parts/time.ts";
import { pagingOf } from "../parts/paging.tsx";
import { fixedSpan } from "../report/json.ts";
import type { Filter } from "../question/question.ts";
import { readDeviceEvents, type DeviceEvent } from "../read/device-events.ts";
import { readHourlyCosts, type HourlyCost } from "../read/hourly-cost.ts";
import { readLiveFleet, type LiveFleet } from "../read/live-gpus.ts";
import { readMeasurements, type MeasuredStep, type MeasuredTime } from "../read/measurements.ts";
import { heldBy, type SampleScope } from "../read/sample-scope.ts";
import { fleetSeenBy } from "../read/seen.ts";
import type { Asking } from "../server/asking.ts";
import type { PageContext } from "./context.ts";

/** The times of the charts, and the length of a step of each. */
const WINDOWS = {
  hour: { title: "1 hour", length: HOUR_MILLIS, stepMillis: MINUTE_MILLIS },
  day: { title: "1 day", length: DAY_MILLIS, stepMillis: 10 * MINUTE_MILLIS },
  week: { title: "7 days", length: 7 * DAY_MILLIS, stepMillis: HOUR_MILLIS },
} as const;

type WindowName = keyof typeof WINDOWS;

/** The parameters of a live section in the address: the length of its charts, and the time at their middle; now if absent. */
export const LIVE_WORDS = {
  window: z.enum(["hour", "day", "week"]).default("hour"),
  at: z.iso.datetime().optional(),
};

/** See {@link LIVE_WORDS}. */
export interface LiveWords {
  readonly window: WindowName;
  readonly at?: string | undefined;
}

/** The GPUs of a subject now, or at the time of the address, and their measurements around that time. */
export interface LiveView {
  readonly fleet: LiveFleet;
  readonly words: LiveWords;
  readonly time: MeasuredTime;
  readonly steps: readonly MeasuredStep[];
  readonly costs: readonly HourlyCost[];
  readonly events: readonly DeviceEvent[];
  /** The firing alerts of the subject; undefined for a time in the past, and without a Prometheus. */
  readonly alerts: AlertsNow | undefined;
  readonly currency: string;
}

/** Reads the live section of a subject as far as the viewer may see it. Fails with a `StoreError`. */
export async function readLiveView(
  { ledger, now, readAlerts }: Pick<PageContext, "ledger" | "now" | "readAlerts">,
  { store, viewer }: Pick<Asking, "store" | "viewer">,
  words: LiveWords,
  subject: {
    readonly scope: SampleScope;
    readonly where: readonly Filter[];
    /** The labels of its alerts. */
    readonly labels: Readonly<Record<string, string>>;
  },
): Promise<LiveView> {
  const { length, stepMillis } = WINDOWS[words.window];
  const at = words.at === undefined ? now() : Math.min(Date.parse(words.at), now());
  const until = words.at === undefined ? now() : Math.min(at + length / 2, now());
  const time = { from: until - length, until, stepMillis };
  const fleet = fleetSeenBy(viewer, await readLiveFleet(store, ledger.owners, at, subject.scope));
  const uids = fleet.gpus.flatMap(({ holder }) => holder?.uid ?? []);
  const scope = seesAll(viewer) ? subject.scope : heldBy(subject.scope, [...new Set(uids)]);
  const span = fixedSpan({ name: "", from: time.from - HOUR_MILLIS, until });
  const where = allowed(subject.where, viewer);
  const [alerts, steps, costs] = await Promise.all([
    words.at === undefined ? readAlerts() : undefined,
    readMeasurements(store, scope, time),
    words.window === "hour"
      ? []
      : readHourlyCosts(store, { policy: policyOf(ledger, undefined), kind: "showback", span, where }),
  ]);
  const pods = [...new Set(steps.flatMap(({ holders }) => holders))];
  const events = await readDeviceEvents(store, scope, { from: time.from, until, pods });
  const seen = alertsSeenBy(viewer, alerts);
  const own = seen === undefined || seen === "away" ? seen : alertsOf(seen, labelsOf(subject.labels, fleet));
  return { fleet, words, time, steps, costs, events, alerts: own, currency: ledger.book.currency };
}

/** Returns the labels of a subject's alerts. A GPU that is named by its UUID has a node and an index too. */
function labelsOf(labels: Readonly<Record<string, string>>, { gpus }: LiveFleet): Readonly<Record<string, string>> {
  const [gpu] = gpus;
  const { uuid = "", ...others } = labels;
  return uuid === "" || gpu === undefined ? others : { ...others, node: gpu.node, gpu: gpu.gpu };
}

/** The live section: the GPUs with their measurements, the charts around the time, and the events in them. */
export function LiveSection({ view, path, keep, url }: LiveSectionProps): VNode {
  const { fleet, time, steps, events, words } = view;
  const title = words.at === undefined ? "Now" : `At ${utc(fleet.atMillis)}`;
  return (
    <>
      <h2>{title}</h2>
      {fleet.gpus.length === 0 ? (
        <p>
          No GPU of it has a sample in the minutes before {utc(fleet.atMillis)}.{" "}
          {words.at === undefined ? "It is silent, or it does not run." : ""}
        </p>
      ) : (
        <LiveTable fleet={fleet} paging={pagingOf(url, "live")} />
      )}
      <AlertsTable alerts={view.alerts} paging={pagingOf(url, "alerts")} now={fleet.atMillis} />
      <Troubles fleet={fleet} path={path} node={keep["node"]} />
      <h2>Measurements</h2>
      <Windows path={path} keep={keep} words={words} />
      {steps.length === 0 ? (
        <p>
          There is no sample from {utc(time.from)} to {utc(time.until)}.
        </p>
      ) : (
        <MeasurementsChart {...view} label={labelOf(view)} />
      )}
      {events.length > 0 && <Events events={events} url={url} />}
    </>
  );
}

interface LiveSectionProps {
  readonly view: LiveView;
  readonly path: string;
  /** The parameters that name the subject. */
  readonly keep: Readonly<Record<string, string>>;
  readonly url: string;
}

function labelOf({ steps, time }: LiveView): string {
  const gpus = Math.max(...steps.map((step) => step.gpus));
  const means = steps.flatMap(({ activity }) => activity.mean ?? []);
  const percent = (ratio: number): string => `${Math.round(ratio * 100)} %`;
  const range =
    means.length === 0
      ? "no measured activity"
      : `mean activity from ${percent(Math.min(...means))} to ${percent(Math.max(...means))}`;
  const slowed = steps.filter(({ clockReasons }) => isThrottled(clockReasons)).length;
  const slow =
    slowed === 0 ? "" : ` Heat or the power brake slowed GPUs in ${slowed} of ${counted(steps.length, "step")}.`;
  return `Measurements of ${gpus === 1 ? "1 GPU" : `at most ${gpus} GPUs`} from ${utc(time.from)} to ${utc(time.until)}: ${range}.${slow}`;
}

/** The links to other lengths of the charts. */
function Windows({ path, keep, words }: Pick<LiveSectionProps, "path" | "keep"> & { words: LiveWords }): VNode {
  const link = (window: WindowName): string => address(path, { ...keep, at: words.at, window });
  return (
    <nav class="links tabs" aria-label="Time of the charts">
      {(["hour", "day", "week"] as const).map((name) => (
        <a href={link(name)} {...(name === words.window ? { "aria-current": "true" as const } : {})}>
          {WINDOWS[name].title}
        </a>
      ))}
      {words.at !== undefined && <a href={address(path, { ...keep, window: words.window })}>Now</a>}
    </nav>
  );
}

/** The faults of the shown GPUs, and on the page of a node those of the node. */
function Troubles({ fleet, path, node: name }: { fleet: LiveFleet; path: string; node: string | undefined }): VNode {
  const node = path === "/node" ? fleet.nodes.find((each) => each.node === name) : undefined;
  const notes = [
    ...(node === undefined ? [] : troublesOfNode(node).map(({ text, since }) => `${text}, since ${utc(since)}`)),
    ...(node?.cordonedSince === undefined ? [] : [`cordoned since ${utc(node.cordonedSince)}`]),
    ...fleet.gpus.flatMap(({ gpu, node: of, troubles }) => troubles.map((text) => `GPU ${gpu} of ${of}: ${text}`)),
  ];
  return <Notes notes={notes} />;
}

function Events({ events, url }: { readonly events: readonly DeviceEvent[]; readonly url: string }): VNode {
  return (
    <Table
      caption={`${counted(events.length, "event")} in this time`}
      order="the last one first"
      rows={events}
      paging={pagingOf(url, "events")}
      columns={[
        { head: "time", isWhole: true, value: ({ at }) => at, cell: ({ at }) => utc(at) },
        {
          head: "of",
          cell: ({ cluster, node, gpu, pod }) =>
            gpu === "" ? (
              <bdi>{pod}</bdi>
            ) : (
              <a href={address("/gpu", { cluster, node, gpu })}>{`GPU ${gpu} of ${node}`}</a>
            ),
        },
        {
          head: "event",
          cell: ({ kind, count }) =>
            kind === "xid" ? xidText(count) : `containers restarted: ${counted(count, "time")} since the pod exists`,
        },
      ]}
    />
  );
}
