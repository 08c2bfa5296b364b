import type { VNode } from "preact";
import { z } from "zod";
import { allowed, policyOf } from "../api/context.ts";
import { readText } from "../api/words.ts";
import type { ExplainedLine, Explanation, Part, Question } from "../explain/explanation.ts";
import { seesAll } from "../access/viewer.ts";
import { nodeOf, readExportLines, type ExportedLine } from "../explain/export-lines.ts";
import { explain } from "../explain/read-explanation.ts";
import { readGpuAt } from "../question/line.ts";
import { objectionTo, titleOfDimension, type ChargesQuestion, type Filter } from "../question/question.ts";
import { fixedSpan } from "../report/json.ts";
import { readLabelHistory, type LabelHistory } from "../read/label-history.ts";
import { readSamples, type MeasuredSample } from "../read/samples.ts";
import { Problem } from "../question/problem.ts";
import { explainAddress } from "../parts/address.ts";
import { EVIDENCE, Labels, Lines, linesPartOf, LinesOfGpu } from "./explain-lines.tsx";
import { hoursColumn, Money, moneyColumn } from "../parts/money.tsx";
import { pagingOf, type Paging } from "../parts/paging.tsx";
import { Empty, Table, type Column } from "../parts/table.tsx";
import { utc } from "../parts/time.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { ExportLines } from "./export-lines.tsx";
import type { AddPage, PageContext } from "./context.ts";

/** Adds the page that explains a figure down to its samples. Every step is a table with links to the next step. */
export function addExplain(add: AddPage, { words, ledger, sums }: PageContext): void {
  const { span, kind, where, policy } = words;
  const line = z.string().transform(readText(readGpuAt)).optional();
  const query = z.object({ span, kind, where, policy, line, shown: z.enum(SHOWN).default(SHOWN[0]) });
  add("/explain", { schema: { querystring: query } }, async (request, { ledgerVersion, store }) => {
    const asked = request.query as z.output<typeof query>;
    const { viewer } = request;
    const objection = objectionTo({ kind: asked.kind, span: asked.span.span });
    if (objection !== undefined) throw new Problem("wrong-parameter", objection);
    const of = { policy: policyOf(ledger, asked.policy), where: allowed(asked.where, viewer) };
    const question: Question =
      asked.line === undefined
        ? { ...of, kind: asked.kind, span: fixedSpan(asked.span.span) }
        : { ...of, ...asked.line.line };
    const paging = pagingOf(request.url, "lines");
    const explanation = await explain(store, question, {
      chooseTable: sums.at(ledgerVersion),
      hasSegments: "gpu" in question,
      most: Number(asked.shown),
      lines: linesPartOf(paging),
    });
    const [first] = explanation.lines;
    const samples =
      "gpu" in question && first !== undefined ? await samplesOf(store, first, viewer.teams !== "all") : [];
    const exported = "gpu" in question && seesAll(viewer) ? await readExportLines(store, nodeOf(question)) : [];
    const labels = "gpu" in question ? await labelsOf(store, explanation) : [];
    const { where: seen, shown } = asked;
    const content = (
      <ExplainPage
        {...{ explanation, samples, currency: ledger.book.currency, seen, shown, paging, labels, exported }}
      />
    );
    return { title: `Explained: ${titleOf(question, seen)}`, content };
  });
}

/** Returns the measured samples. A viewer of some teams gets only those of their own pod. */
function samplesOf(
  store: StoreClient,
  { cluster, node, segment, namespace, pod }: ExplainedLine,
  isOfPodAlone: boolean,
): Promise<readonly MeasuredSample[]> {
  if (segment === null || segment.gpuKey === "") return Promise.resolve([]);
  const [from, until] = [Date.parse(segment.from), Date.parse(segment.until)];
  const own = isOfPodAlone ? { pod: { namespace, name: pod } } : {};
  return readSamples(store, { cluster, node, gpuKey: segment.gpuKey, from, until, ...own });
}

/** Returns the labels by which the teams of the lines of a GPU were found, with their history. */
async function labelsOf(store: StoreClient, { lines, owners }: Explanation): Promise<readonly LabelHistory[]> {
  const ruleOf = new Map(owners.map(({ team, rule }) => [team, rule]));
  const held = lines.filter(({ pod }) => pod !== "").slice(0, MOST_LABELS);
  const found = await Promise.all(
    held.map(({ cluster, namespace, pod, team }) =>
      readLabelHistory(store, { cluster, namespace, pod, rule: ruleOf.get(team) ?? "" }),
    ),
  );
  return [
    ...new Map(found.flatMap((label) => (label === undefined ? [] : [[`${label.of} ${label.key}`, label]]))).values(),
  ];
}

/** The limit of lines whose labels are read: the pods of a shared GPU. */
const MOST_LABELS = 20;

/** The numbers of rows that a table can have. */
const SHOWN = ["10", "100", "1000"] as const;
type Shown = (typeof SHOWN)[number];

interface ExplainProps {
  readonly explanation: Explanation;
  readonly samples: readonly MeasuredSample[];
  readonly labels: readonly LabelHistory[];
  readonly currency: string;
  /** The conditions of the request, without those of the viewer's teams. */
  readonly seen: readonly Filter[];
  /** The number of rows of each table, but for the lines. */
  readonly shown: Shown;
  readonly paging: Paging;
  readonly exported: readonly ExportedLine[];
}

function ExplainPage({ explanation, samples, labels, currency, seen, shown, paging, exported }: ExplainProps): VNode {
  const { question, lines, lineCount, cost, gpuHours, unpricedGpuHours } = explanation;
  if (lineCount === 0)
    return (
      <>
        <h1>No charges</h1>
        <p class="lead">{titleOf(question, seen)}</p>
        <Empty>
          <p>
            Nothing was used, or the hours are not charged yet. <a href="/periods">The periods</a> show the time until
            which the ledger is charged. <a href="/">The overview</a> shows the charges.
          </p>
        </Empty>
      </>
    );
  return (
    <>
      <h1>
        Why <Money amount={cost} currency={currency} /> {currency}
      </h1>
      <p class="lead">{titleOf(question, seen)}</p>
      <p>
        Exactly <code>{cost}</code> {currency} for <code>{gpuHours}</code> GPU-hours, under the policy {question.policy}
        {unpricedGpuHours === "0" ? "" : `; ${unpricedGpuHours} of these GPU-hours have no price and no cost`}. These
        figures are stored; the page does not compute them again.
      </p>
      {"gpu" in question ? (
        <>
          <LinesOfGpu {...{ lines, samples, currency }} />
          <ExportLines lines={exported} />
          <Labels labels={labels} />
        </>
      ) : (
        <Steps {...{ explanation, question, currency, shown, paging }} />
      )}
    </>
  );
}

function titleOf(question: Question, seen: readonly Filter[]): string {
  const conditions = seen.map(({ dimension, values }) => {
    const value = values.map((one) => (one === "" ? "none" : one)).join(" or ");
    return `${titleOfDimension(dimension)}: ${value}`;
  });
  if ("gpu" in question) {
    const { gpu, at } = question;
    return [`GPU ${gpu.slot} of ${gpu.cluster}/${gpu.node} at ${utc(at)}`, ...conditions].join(" · ");
  }
  const { span, kind } = question;
  const booked = kind === "chargeback" ? "booked in" : "used in";
  return [`${booked} ${span.name}`, ...(conditions.length === 0 ? ["everything"] : conditions)].join(" · ");
}

interface StepsProps {
  readonly explanation: Explanation;
  readonly question: ChargesQuestion;
  readonly currency: string;
  readonly shown: Shown;
  readonly paging: Paging;
}

function Steps({ explanation, question, currency, shown, paging }: StepsProps): VNode {
  const { states, owners, prices, workloads, evidence, lines, lineCount } = explanation;
  const isCut = [states, owners, prices, workloads, evidence].some((rows) => rows.length >= Number(shown));
  const more = (filters: readonly Filter[]): string => explainAddress(question, filters);
  const is = (dimension: string, value: string): Filter => ({ dimension, values: [value] });
  const step = <Row extends Part>(
    caption: string,
    rows: readonly Row[],
    [first, ...others]: readonly [Column<Row>, ...Column<Row>[]],
    all = "all",
  ): VNode => (
    <Table
      caption={rows.length < Number(shown) ? caption : `${caption}: the ${shown} with the highest cost`}
      rows={rows}
      columns={[
        { ...first, foot: rows.length < Number(shown) ? all : "these" },
        ...others,
        { head: "GPU-hours", ...hoursColumn(rows, (row) => row.gpuHours) },
        { head: currency, ...moneyColumn(rows, (row) => row.cost, currency) },
      ]}
    />
  );
  return (
    <>
      <h2>States of the GPUs, and their payers</h2>
      {step("By state", states, [
        {
          head: "state",
          cell: ({ state, because }) => (
            <a href={more([is("state", state), ...(because === "" ? [] : [is("because", because)])])}>
              {state}
              {because === "" ? "" : `, because ${because}`}
            </a>
          ),
        },
        { head: "paid by", cell: ({ payer }) => (payer === "holder" ? "its holder" : "the platform") },
      ])}
      <h2>Owners</h2>
      {step("By team", owners, [
        { head: "team", cell: ({ team }) => <Named href={more([is("team", team)])} name={team} /> },
        { head: "by the rule", cell: ({ rule }) => (rule === "" ? "" : <code>{rule}</code>) },
      ])}
      <h2>Prices</h2>
      {step("By entry of the price book", prices, [
        {
          head: "entry",
          cell: ({ price }) => (price === "" ? "no price" : <a href="/prices">{price}</a>),
        },
        { head: "in use since", isWhole: true, cell: ({ since }) => (since === "" ? "" : utc(Date.parse(since))) },
      ])}
      <h2>Workloads</h2>
      {step("By workload", workloads, [
        {
          head: "workload",
          cell: ({ namespace, workload, workloadKind }) =>
            workload === "" ? (
              <a href={more([is("workload", "")])}>not held</a>
            ) : (
              <Named
                href={more([is("namespace", namespace), is("workloadKind", workloadKind), is("workload", workload)])}
                name={`${namespace}/${workload}`}
              />
            ),
        },
        { head: "kind", cell: ({ workloadKind }) => workloadKind },
        { head: "pods", isNumber: true, cell: ({ pods, workload }) => (workload === "" ? "" : pods) },
      ])}
      <h2>Evidence of the holder</h2>
      {step(
        "By evidence",
        evidence.filter(({ attribution }) => attribution !== ""),
        [{ head: "evidence", cell: ({ attribution }) => EVIDENCE[attribution] ?? attribution }],
        "all that was held",
      )}
      <h2>Lines</h2>
      <Lines {...{ lines, count: lineCount, currency, policy: question.policy, paging }} />
      <p class="links">
        {!isCut
          ? null
          : SHOWN.filter((more) => Number(more) > Number(shown)).map((more) => (
              <a key={more} href={`${explainAddress(question)}&shown=${more}`}>
                {more} rows of each table above
              </a>
            ))}
        <a href={explainAddress(question).replace("/explain?", "/api/v1/charges/lines?format=csv&")}>
          All lines as CSV
        </a>
      </p>
    </>
  );
}

function Named({ href, name }: { readonly href: string; readonly name: string }): VNode {
  return (
    <a href={href}>
      <bdi>{name}</bdi>
    </a>
  );
}
