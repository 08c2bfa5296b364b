import type { VNode } from "preact";
import { z } from "zod";
import { allowed, keptPolicies, policyOf } from "../api/context.ts";
import type { Filter, ReportQuestion } from "../question/question.ts";
import { fixedSpan } from "../report/json.ts";
import type { Report, ReportRow } from "../report/report.ts";
import { readLargestCards, type LargestCards as Advice } from "../advice/read-cards.ts";
import { explainAddress } from "../parts/address.ts";
import { DaysChart } from "../parts/charts/states.tsx";
import { Figures } from "../parts/figures.tsx";
import { pagingOf, type Paging } from "../parts/paging.tsx";
import { LargestCards } from "../parts/largest-cards.tsx";
import { chargeColumns } from "../parts/charge-columns.tsx";
import { spanTitle } from "../parts/time.ts";
import { isZero } from "../format/rounded.ts";
import { SpanForm } from "../parts/span-form.tsx";
import { Empty, Table } from "../parts/table.tsx";
import { readParts } from "../api/read-part.ts";
import type { Asking } from "../server/asking.ts";
import type { AddPage, PageContext } from "./context.ts";
import { Running, readRunning } from "./running.tsx";
import { is, SUBJECTS, type Breakdown, type Found, type Named, type Subject } from "./subject-kinds.ts";
import type { LiveFleet } from "../read/live-gpus.ts";
import { LIVE_WORDS, LiveSection, readLiveView, type LiveView } from "./live-section.tsx";

/** Adds the pages of a team, a workload, a node and a GPU, each with its cost, its states and its parts. */
export function addSubjects(add: AddPage, context: PageContext): void {
  for (const subject of SUBJECTS) addSubject(add, context, subject);
}

function addSubject(add: AddPage, context: PageContext, subject: Subject): void {
  const { words, ledger } = context;
  const named = Object.fromEntries(subject.named.map((name) => [name, z.string().max(500).default("")]));
  const query = z.object({ span: words.span, policy: words.policy, compare: words.compare, ...LIVE_WORDS, ...named });
  const isOfTeam = subject.path === "/team";
  const isLive = isOfTeam || subject.scope !== undefined;
  add(subject.path, { schema: { querystring: query }, isLive }, async ({ query: asked, viewer, url }, asking) => {
    const { span, policy, compare, window, at, ...of } = asked as z.output<typeof query> & Named;
    const { where: own, elsewhere = [] } = await subject.find(of, asking.store, span.span);
    const question = {
      policy: policyOf(ledger, policy),
      kind: "showback",
      span: fixedSpan(span.span),
      where: allowed(own, viewer),
      compared: compare && fixedSpan(compare.span),
    } as const;
    const bys = [["chargeDay"], ...subject.parts.map(({ by }) => by)];
    const [[byDay, ...parts], advice, live] = await Promise.all([
      readParts(context, asking, question, bys),
      adviceOf(subject, of, asking, context),
      subject.scope &&
        readLiveView(context, asking, { window, at }, { scope: subject.scope(of), where: own, labels: of }),
    ]);
    const running = isOfTeam ? await readRunning(context, asking, of["team"]!, parts[0]!) : undefined;
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
      running,
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
): Promise<Advice | undefined> {
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
  readonly advice: Advice | undefined;
  readonly live: LiveView | undefined;
  /** The GPUs that a team holds now. */
  readonly running: LiveFleet | undefined;
}

function SubjectPage(props: SubjectProps): VNode {
  const { title, subject, keep, byDay, parts, question, span, policies, elsewhere, url, advice, live, running } = props;
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
      <SpanForm
        path={subject.path}
        {...{ span, policies, keep }}
        policy={question.policy}
        compared={question.compared?.name ?? ""}
      />
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
            This name has no charges in {spanTitle(question.span)}. Choose another time above.{" "}
            <a href="/">The overview</a> shows the charges, and <a href="/fleet">the fleet</a> shows the current
            samples.
          </p>
        </Empty>
      </>
    );
  return (
    <>
      {head}
      <Figures report={whole} question={question} />
      {advice !== undefined && <LargestCards advice={advice} currency={whole.currency} team={keep["team"]!} />}
      {running !== undefined && <Running fleet={running} team={keep["team"]!} url={url} />}
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
  const { currency } = report;
  // The others have charges only in the time of the comparison.
  const rows = report.rows.filter(({ cost, gpuHours }) => !isZero(cost) || !isZero(gpuHours));
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
        caption={`${part.title} (${currency})`}
        order="highest first"
        rows={rows}
        paging={paging}
        columns={[{ head: part.title.slice(3), cell: linked, foot: "all" }, ...chargeColumns(rows, currency, explain)]}
      />
    </>
  );
}
