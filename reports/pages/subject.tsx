import type { VNode } from "preact";
import { z } from "zod";
import { allowed, keptPolicies, policyOf } from "../api/context.ts";
import type { Filter, ReportQuestion } from "../question/question.ts";
import type { Span } from "../question/span.ts";
import { fixedSpan } from "../report/json.ts";
import type { Report, ReportRow } from "../report/report.ts";
import { readLargestCards, type LargestCards } from "../advice/read-cards.ts";
import { machineScope, podScope, type SampleScope } from "../read/sample-scope.ts";
import { readSlots } from "../read/slots.ts";
import { address, explainAddress, teamAddress } from "../parts/address.ts";
import { DaysChart } from "../parts/charts/states.tsx";
import { Figures } from "../parts/figures.tsx";
import { pagingOf, type Paging } from "../parts/paging.tsx";
import { TeamCards } from "../parts/largest-cards.tsx";
import { chargeColumns } from "../parts/charge-columns.tsx";
import { SpanForm } from "../parts/span-form.tsx";
import { Empty, Table } from "../parts/table.tsx";
import { readParts } from "../api/read-part.ts";
import type { Asking } from "../server/asking.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { AddPage, PageContext } from "./context.ts";
import { LIVE_WORDS, LiveSection, readLiveView, type LiveView } from "./live-section.tsx";

/** The subject of a page: a team, a workload, a node or a GPU. */
interface Subject {
  readonly path: string;
  /** The address parameters that identify it. */
  readonly named: readonly string[];
  /** Returns its title: `Team vision`. */
  readonly title: (of: Named) => string;
  /** Returns its charges. */
  readonly find: (of: Named, store: StoreClient, span: Span) => Promise<Found>;
  /** The dimensions that divide its charges, and the link of each part. */
  readonly parts: readonly Breakdown[];
  /** Returns its samples; absent for a subject without a live section. */
  readonly scope?: (of: Named) => SampleScope;
}

type Named = Readonly<Record<string, string>>;

/** The charges of a subject. */
interface Found {
  /** The conditions. They match nothing if nothing of the name was ever charged. */
  readonly where: readonly Filter[];
  /** Other locations of the subject in the time, which are charged under other names. */
  readonly elsewhere?: readonly { readonly name: string; readonly href: string }[];
}

interface Breakdown {
  readonly title: string;
  /** The id of its table, in the address. */
  readonly id: string;
  readonly by: readonly string[];
  readonly name: (dimensions: Named) => string;
  /** Undefined if there is no further page. */
  readonly href: (dimensions: Named, span: string) => string | undefined;
}

const is = (dimension: string, value: string): Filter => ({ dimension, values: [value] });

const BY_WORKLOAD: Breakdown = {
  title: "By workload",
  id: "workloads",
  by: ["cluster", "namespace", "workloadKind", "workload"],
  name: ({ namespace, workload }) => (workload === "" ? "not held" : `${namespace}/${workload}`),
  href: ({ cluster, namespace, workload }, span) =>
    workload === "" ? undefined : address("/workload", { cluster, namespace, workload, span }),
};
const BY_GPU: Breakdown = {
  title: "By GPU",
  id: "gpus",
  by: ["cluster", "node", "gpu"],
  name: ({ node, gpu }) => (gpu === "" ? `${node}, without a GPU` : `GPU ${gpu} of ${node}`),
  href: ({ cluster, node, gpu }, span) =>
    gpu === "" ? undefined : address("/gpu", { cluster: cluster!, node: node!, gpu: gpu!, span }),
};
const BY_TEAM: Breakdown = {
  title: "By team",
  id: "teams",
  by: ["team"],
  name: ({ team }) => team!,
  href: ({ team }, span) => teamAddress(team!, span),
};
const BY_POD: Breakdown = {
  title: "By pod",
  id: "pods",
  by: ["cluster", "namespace", "pod"],
  name: ({ namespace, pod }) => (pod === "" ? "not held" : `${namespace}/${pod}`),
  href: ({ cluster, namespace, pod }, span) =>
    pod === "" ? undefined : address("/workload", { cluster, namespace, pod, span }),
};
const BY_COST_CENTRE: Breakdown = {
  title: "By cost center and project",
  id: "centers",
  by: ["costCenter", "project"],
  name: ({ costCenter, project }) => [costCenter, project].filter((name) => name !== "").join(" / ") || "none",
  href: () => undefined,
};

const SUBJECTS: readonly Subject[] = [
  {
    path: "/team",
    named: ["team"],
    title: ({ team }) => `Team ${team}`,
    find: ({ team }) => Promise.resolve({ where: [is("team", team!)] }),
    parts: [BY_WORKLOAD, BY_COST_CENTRE],
  },
  {
    path: "/workload",
    named: ["cluster", "namespace", "workload", "pod"],
    title: ({ namespace, workload, pod }) =>
      pod === "" ? `Workload ${namespace}/${workload}` : `Pod ${namespace}/${pod}`,
    find: ({ cluster, namespace, workload, pod }) =>
      Promise.resolve({
        where: [
          ...(cluster === "" ? [] : [is("cluster", cluster!)]),
          is("namespace", namespace!),
          ...(workload === "" ? [] : [is("workload", workload!)]),
          ...(pod === "" ? [] : [is("pod", pod!)]),
        ],
      }),
    parts: [BY_POD, BY_GPU, BY_TEAM],
    scope: ({ cluster, namespace, pod, workload }) =>
      podScope({ cluster: cluster!, namespace: namespace!, pod: pod!, workload: workload! }),
  },
  {
    path: "/node",
    named: ["cluster", "node"],
    title: ({ node }) => `Node ${node}`,
    find: ({ cluster, node }) => Promise.resolve({ where: [is("cluster", cluster!), is("node", node!)] }),
    parts: [BY_GPU, BY_WORKLOAD, BY_TEAM],
    scope: ({ cluster, node }) => machineScope({ cluster: cluster!, node: node! }),
  },
  {
    path: "/gpu",
    named: ["cluster", "uuid", "node", "gpu"],
    title: ({ node, gpu, uuid }) => (uuid === "" ? `GPU ${gpu} of ${node}` : `GPU ${uuid}`),
    async find({ cluster, uuid, node, gpu }, store, span) {
      if (uuid === "") return { where: [is("cluster", cluster!), is("node", node!), is("gpu", gpu!)] };
      // The last node of the GPU. A GPU without charges has no node, and no node has an empty name.
      const [last, ...others] = await readSlots(store, { cluster: cluster!, gpuKey: uuid!, ...span });
      if (last === undefined) return { where: [is("cluster", cluster!), is("node", "")] };
      return {
        where: [is("cluster", cluster!), is("node", last.node), is("gpu", String(last.slot))],
        elsewhere: others.map((slot) => ({
          name: `GPU ${slot.slot} of ${slot.node}`,
          href: address("/gpu", { cluster: cluster!, node: slot.node, gpu: String(slot.slot), span: span.name }),
        })),
      };
    },
    parts: [BY_POD, BY_TEAM],
    scope: ({ cluster, node, gpu, uuid }) =>
      machineScope(uuid === "" ? { cluster: cluster!, node: node!, gpu: gpu! } : { cluster: cluster!, uuid: uuid! }),
  },
];

/** Adds the pages of a team, a workload, a node and a GPU, each with its cost, its states and its parts. */
export function addSubjects(add: AddPage, context: PageContext): void {
  for (const subject of SUBJECTS) addSubject(add, context, subject);
}

function addSubject(add: AddPage, context: PageContext, subject: Subject): void {
  const { words, ledger } = context;
  const named = Object.fromEntries(subject.named.map((name) => [name, z.string().max(500).default("")]));
  const query = z.object({ span: words.span, policy: words.policy, ...LIVE_WORDS, ...named });
  const isLive = subject.scope !== undefined;
  add(subject.path, { schema: { querystring: query }, isLive }, async ({ query: asked, viewer, url }, asking) => {
    const { span, policy, window, at, ...of } = asked as z.output<typeof query> & Named;
    const { where: own, elsewhere = [] } = await subject.find(of, asking.store, span.span);
    const question = {
      policy: policyOf(ledger, policy),
      kind: "showback",
      span: fixedSpan(span.span),
      where: allowed(own, viewer),
    } as const;
    const bys = [["chargeDay"], ...subject.parts.map(({ by }) => by)];
    const [[byDay, ...parts], advice, live] = await Promise.all([
      readParts(context, asking, question, bys),
      adviceOf(subject, of, asking, context),
      subject.scope && readLiveView(context, asking, { window, at }, { scope: subject.scope(of), where: own }),
    ]);
    const keep = Object.fromEntries(Object.entries(of).filter(([, value]) => value !== ""));
    // A link to a GPU by its UUID needs a title that people know.
    const [gpu] = live?.fleet.gpus ?? [];
    const isByUuid = gpu !== undefined && of["uuid"] === gpu.device;
    const title = subject.title(isByUuid ? { ...of, uuid: "", node: gpu.node, gpu: gpu.gpu } : of);
    const view = {
      title,
      subject,
      keep,
      byDay: byDay!,
      parts,
      question: { ...question, where: own },
      span: span.span.name,
      elsewhere,
      url,
      advice,
      live,
    };
    return { title, content: <SubjectPage {...view} policies={keptPolicies(ledger)} /> };
  });
}

/** The number of cards on a team's page. */
const CARDS_OF_TEAM = 3;

/** Returns the largest cards of a team; undefined for other subjects, and without cards. */
function adviceOf(
  { path }: Subject,
  { team }: Named,
  { store, viewer }: Asking,
  { now }: PageContext,
): Promise<LargestCards | undefined> {
  if (path !== "/team" || team === undefined || team === "") return Promise.resolve(undefined);
  return readLargestCards(store, { teams: viewer.teams, now: now() }, { team, limit: CARDS_OF_TEAM });
}

interface SubjectProps {
  readonly title: string;
  readonly subject: Subject;
  readonly keep: Named;
  readonly byDay: Report;
  readonly parts: readonly Report[];
  readonly question: Omit<ReportQuestion, "by">;
  readonly span: string;
  readonly policies: readonly string[];
  readonly elsewhere: NonNullable<Found["elsewhere"]>;
  /** The address of the page. */
  readonly url: string;
  readonly advice: LargestCards | undefined;
  readonly live: LiveView | undefined;
}

function SubjectPage(props: SubjectProps): VNode {
  const { title, subject, keep, byDay, parts, question, span, policies, elsewhere, url, advice, live } = props;
  const head = (
    <>
      <h1>
        <bdi>{title}</bdi>
      </h1>
      {live !== undefined && (
        <>
          <LiveSection view={live} path={subject.path} keep={keep} url={url} />
          <h2>Cost</h2>
        </>
      )}
      <SpanForm path={subject.path} span={span} policies={policies} policy={question.policy} keep={keep} />
      {elsewhere.length > 0 && (
        <p class="links">
          <span class="quiet">In the same time the GPU was also in other slots. They are not in these figures:</span>
          {elsewhere.map(({ name, href }) => (
            <a href={href}>{name}</a>
          ))}
        </p>
      )}
    </>
  );
  const [whole] = parts;
  if (whole === undefined || whole.rows.length === 0)
    return (
      <>
        {head}
        <Empty>
          <p>
            This name has no charges in {question.span.name}. Choose another time above. <a href="/">The overview</a>{" "}
            shows the charges, and <a href="/fleet">the fleet</a> shows the current samples.
          </p>
        </Empty>
      </>
    );
  return (
    <>
      {head}
      <Figures report={whole} question={question} />
      {advice !== undefined && <TeamCards advice={advice} currency={whole.currency} />}
      <h2>Day by day</h2>
      <DaysChart byDay={byDay} />
      {subject.parts.map((part, index) => (
        <Parts {...{ part, report: parts[index]!, question, span, paging: pagingOf(url, part.id) }} />
      ))}
    </>
  );
}

interface PartsProps {
  readonly part: Breakdown;
  readonly report: Report;
  readonly question: Omit<ReportQuestion, "by">;
  readonly span: string;
  readonly paging: Paging;
}

function Parts({ part, report, question, span, paging }: PartsProps): VNode {
  const { currency, rows } = report;
  const explain = (row?: ReportRow, more: readonly Filter[] = []): string =>
    explainAddress(question, [
      ...(row === undefined ? [] : part.by.map((name) => is(name, row.dimensions[name]!))),
      ...more,
    ]);
  const linked = (row: ReportRow): VNode => {
    const href = part.href(row.dimensions, span);
    const name = <bdi>{part.name(row.dimensions)}</bdi>;
    return href === undefined ? name : <a href={href}>{name}</a>;
  };
  return (
    <>
      <h2>{part.title}</h2>
      <Table
        caption={`${part.title} (${currency}, highest first)`}
        rows={rows}
        paging={paging}
        columns={[{ head: part.title.slice(3), cell: linked, foot: "all" }, ...chargeColumns(rows, currency, explain)]}
      />
    </>
  );
}
