import type { VNode } from "preact";
import type { ExplainedLine } from "../explain/explanation.ts";
import type { LineOrder, LinesPart } from "../explain/read-explanation.ts";
import { ROWS_OF_PAGE, type Paging } from "../parts/paging.tsx";
import type { LabelHistory } from "../read/label-history.ts";
import type { MeasuredSample } from "../read/samples.ts";
import { address, teamAddress } from "../parts/address.ts";
import { SamplesChart } from "../parts/charts/samples.tsx";
import { Figure } from "../parts/figures.tsx";
import { hoursColumn, moneyColumn, Ratio } from "../parts/money.tsx";
import { Empty, Table } from "../parts/table.tsx";
import { utc } from "../parts/time.ts";

/** The evidence for the holder of a GPU, by the name that is stored with each line. */
export const EVIDENCE: Readonly<Record<string, string>> = {
  dra: "the devices that DRA allocated",
  annotation: "the scheduler’s annotation on the pod",
  group: "the group whose reservation pod has the GPU",
  label: "the exporter’s label",
  "hpc-job": "the job that the exporter names",
  node: "only the node: its GPU is unknown",
};

interface LinesProps {
  readonly lines: readonly ExplainedLine[];
  /** The number of all lines. */
  readonly count: number;
  readonly currency: string;
  readonly policy: string;
  readonly paging: Paging;
}

/** The part of the lines that the address of a page selects. */
export function linesPartOf({ page, sort }: Paging): LinesPart {
  const by = LINE_HEADS.find(([, head]) => head === sort?.head)?.[0];
  const order = by === undefined ? undefined : { by, isDescending: sort!.isDescending };
  return { most: ROWS_OF_PAGE, skip: (page - 1) * ROWS_OF_PAGE, order };
}

/** The heads of the columns by which lines are sorted. */
const LINE_HEADS: readonly (readonly [by: LineOrder, head: string])[] = [
  ["gpu", "GPU"],
  ["from", "from, UTC"],
  ["state", "state"],
  ["holder", "holder"],
  ["team", "team"],
  ["gpuHours", "GPU-hours"],
  ["cost", "cost"],
];

/** Lines with links to their samples. */
export function Lines({ lines, count, currency, policy, paging }: LinesProps): VNode {
  return (
    <Table
      isWide
      caption={`Charges of at most one hour, each with a link to its samples (${currency})`}
      order="highest cost first"
      rows={lines}
      part={{ count, heads: LINE_HEADS.map(([, head]) => head) }}
      paging={paging}
      columns={[
        {
          head: "GPU",
          cell: ({ cluster, node, gpu, from }) =>
            gpu === null ? (
              node || "no node"
            ) : (
              <a href={address("/explain", { line: `${cluster}/${node}/${gpu}@${from}`, policy })}>
                GPU {gpu} of {node}
              </a>
            ),
        },
        { head: "from, UTC", cell: ({ from }) => utc(Date.parse(from)).slice(0, 19) },
        { head: "until", cell: ({ until }) => utc(Date.parse(until)).slice(11, 19) },
        { head: "state", cell: ({ state, isCorrection }) => (isCorrection ? `${state}, a correction` : state) },
        { head: "holder", cell: (line) => <Holder line={line} /> },
        {
          head: "share",
          cell: ({ share, rawShare }) => (share === rawShare ? share : `${share} (requested: ${rawShare})`),
        },
        { head: "team", cell: (line) => <Team line={line} /> },
        { head: "GPU-hours", ...hoursColumn(lines, ({ gpuHours }) => gpuHours), foot: undefined },
        { head: "cost", ...moneyColumn(lines, ({ cost }) => cost, currency), foot: undefined },
      ]}
    />
  );
}

/** The pod of a line, with its page of the day; nothing without a pod. */
function Holder({ line: { cluster, namespace, pod, from } }: LineProps): VNode | null {
  if (pod === "") return null;
  return (
    <a href={address("/workload", { cluster, namespace, pod, span: from.slice(0, 10) })}>
      <bdi>{`${namespace}/${pod}`}</bdi>
    </a>
  );
}

/** The team of a line, with its page of the day. */
function Team({ line: { team, from } }: LineProps): VNode {
  return (
    <a href={teamAddress(team, from.slice(0, 10))}>
      <bdi>{team}</bdi>
    </a>
  );
}

interface LineProps {
  readonly line: ExplainedLine;
}

interface LinesOfGpuProps {
  readonly lines: readonly ExplainedLine[];
  readonly samples: readonly MeasuredSample[];
  readonly currency: string;
}

/** The charges of one GPU at a moment, and its samples at that time. */
export function LinesOfGpu({ lines, samples, currency }: LinesOfGpuProps): VNode {
  const [first] = lines;
  const { segment } = first!;
  return (
    <>
      <h2>Charges</h2>
      <Table
        caption="All lines of the GPU at this time"
        rows={lines}
        columns={[
          { head: "state", cell: ({ state }) => state, foot: "all" },
          {
            head: "holder",
            cell: (line) => (line.pod === "" ? "nobody" : <Holder line={line} />),
          },
          { head: "share", cell: ({ share }) => share },
          { head: "team", cell: (line) => <Team line={line} /> },
          { head: "price", cell: ({ price }) => (price === "" ? "none" : <a href="/prices">{price}</a>) },
          {
            head: "evidence",
            cell: ({ attribution, imported }) => {
              const evidence = EVIDENCE[attribution] ?? attribution;
              return imported === null ? evidence : `${evidence}; imported from ${imported}`;
            },
          },
          { head: "GPU-hours", ...hoursColumn(lines, ({ gpuHours }) => gpuHours) },
          { head: currency, ...moneyColumn(lines, ({ cost }) => cost, currency) },
        ]}
      />
      <h2>Measurements</h2>
      {segment === null ? (
        <p>This line has no segment of the meter.</p>
      ) : (
        <>
          <dl class="figures">
            <Figure
              title="The segment"
              beside={`${utc(Date.parse(segment.from))} to ${utc(Date.parse(segment.until))}`}
            >
              {seconds(Date.parse(segment.until) - Date.parse(segment.from))} s
            </Figure>
            <Figure title="Samples of the segment" beside={samplesText(segment)}>
              {segment.samples}
            </Figure>
            <Figure title="Covered" beside={`${seconds(segment.coveredMillis)} s`}>
              <Ratio ratio={partOf(segment.coveredMillis, Date.parse(segment.until) - Date.parse(segment.from))} />
            </Figure>
            <Figure title="Active on average" beside="of the device, in the covered time">
              <Ratio ratio={segment.activityPpm === null ? null : (segment.activityPpm / 1e6).toFixed(6)} />
            </Figure>
          </dl>
          <p class="quiet">
            Device <code>{segment.gpuKey}</code>
          </p>
          {samples.length > 0 ? (
            <SamplesChart samples={samples} from={Date.parse(segment.from)} until={Date.parse(segment.until)} />
          ) : (
            <Empty>
              <p>
                {segment.samples === 0
                  ? "This time has no samples. Therefore it is unobserved or free."
                  : "The samples are deleted after store.rawDays. Their results above are kept."}
              </p>
            </Empty>
          )}
        </>
      )}
    </>
  );
}

/** The labels by which teams were found, with their values over time, for a dispute. */
export function Labels({ labels }: { readonly labels: readonly LabelHistory[] }): VNode | null {
  if (labels.length === 0) return null;
  const rows = labels.flatMap(({ values, ...of }) => values.map((value) => ({ ...of, ...value })));
  return (
    <>
      <h2>Labels that name the team</h2>
      <Table
        caption="Values as collectors have seen them"
        order="oldest first"
        rows={rows}
        columns={[
          { head: "of", cell: ({ of }) => <bdi>{of}</bdi> },
          { head: "label", cell: ({ key }) => <code>{key}</code> },
          { head: "value", cell: ({ value }) => (value === "" ? "none" : <bdi>{value}</bdi>) },
          { head: "since", isWhole: true, cell: ({ since }) => utc(since) },
        ]}
      />
    </>
  );
}

function samplesText({ firstSample, lastSample }: NonNullable<ExplainedLine["segment"]>): string {
  if (firstSample === null || lastSample === null) return "none";
  return `${utc(Date.parse(firstSample)).slice(11)} to ${utc(Date.parse(lastSample)).slice(11)}`;
}

function seconds(millis: number): string {
  return String(Math.round(millis / 1000));
}

function partOf(part: number, whole: number): string | null {
  return whole === 0 ? null : (part / whole).toFixed(6);
}
