import type { VNode } from "preact";
import { z } from "zod";
import { askPractices, givenOf, practicesQuery } from "../api/practices.ts";
import { formatAmount, type Money as Exact } from "../../domain/exact/units.ts";
import { SEVERITIES, type Check, type Finding, type FoundObject } from "../../domain/practice/check.ts";
import { CHECKS } from "../../domain/practice/checks.ts";
import { whyAddress } from "../../domain/practice/page.ts";
import { DAY_MILLIS, hourOf } from "../../domain/time.ts";
import { seesAll } from "../access/viewer.ts";
import type { Filter } from "../question/question.ts";
import { fixedSpan } from "../report/json.ts";
import { filteredFindings, type FindingFilter } from "../read/practices.ts";
import { address, explainAddress } from "../parts/address.ts";
import { Money } from "../parts/money.tsx";
import { pagingOf, type Paging } from "../parts/paging.tsx";
import { Empty, Table } from "../parts/table.tsx";
import { utc } from "../parts/time.ts";
import type { AddPage, PageContext } from "./context.ts";

/** Adds the page of findings: where the clusters do not follow a practice, by urgency, and the objects of the findings of one check. */
export function addPractices(add: AddPage, context: PageContext): void {
  const { ledger, practices, now } = context;
  const query = z.object(practicesQuery);
  add("/practices", { schema: { querystring: query }, isLive: true }, async (request, asking) => {
    const filter: FindingFilter = givenOf(request.query as z.output<typeof query>);
    const all = await askPractices(context, asking);
    const view = {
      findings: filteredFindings(all, filter),
      filter,
      teams: [...new Set(all.flatMap(({ team }) => team ?? []))].sort(),
      days: practices.days,
      currency: ledger.book.currency,
      policy: ledger.policies[0].name,
      isOfAll: seesAll(request.viewer),
      paging: pagingOf(request.url, "findings"),
      at: now(),
    };
    return { title: "Practices", content: <PracticesPage {...view} /> };
  });
}

interface PracticesProps {
  readonly findings: readonly Finding[];
  readonly filter: FindingFilter;
  readonly teams: readonly string[];
  readonly days: number;
  readonly currency: string;
  /** The billing policy. */
  readonly policy: string;
  readonly isOfAll: boolean;
  readonly paging: Paging;
  readonly at: number;
}

/** The most findings whose objects are shown. */
const MOST_SHOWN = 20;

function PracticesPage({
  findings,
  filter,
  teams,
  days,
  currency,
  policy,
  isOfAll,
  paging,
  at,
}: PracticesProps): VNode {
  const chosen = CHECKS.find(({ name }) => name === filter.check);
  const until = hourOf(at);
  const span = fixedSpan({ name: "", from: until - days * DAY_MILLIS, until });
  const explain = (where: readonly Filter[]): string => explainAddress({ policy, kind: "showback", span, where });
  return (
    <>
      <h1>Practices</h1>
      <p class="lead">
        Where the clusters do not follow a practice, as of {utc(at)}. The money at stake was charged in the last {days}{" "}
        days for GPUs without work, or for work that an interruption makes worthless, because the practice is not
        followed. Practices that risk something else have no amount. Amounts of different checks overlap and do not add
        up.
      </p>
      <FilterForm filter={filter} teams={teams} />
      {findings.length === 0 ? (
        <Empty>
          <p>
            No finding. Only watched clusters have facts. Add clusters under <code>kubernetes.clusters</code> to watch
            them.
          </p>
        </Empty>
      ) : (
        <Table
          caption={isOfAll ? "Findings" : "Findings of your teams"}
          order="most urgent first"
          rows={findings}
          paging={paging}
          columns={[
            {
              head: "finding",
              cell: ({ title, check, team }) => (
                <a href={address("/practices", { check, team, severity: filter.severity })}>{title}</a>
              ),
            },
            { head: "severity", cell: ({ severity }) => severity },
            { head: "cluster", cell: ({ cluster }) => <bdi>{cluster}</bdi> },
            { head: "team", cell: ({ team }) => (team === undefined ? "" : <bdi>{team}</bdi>) },
            { head: "objects", isNumber: true, cell: ({ count }) => count },
            {
              head: `${currency} at stake`,
              isNumber: true,
              value: ({ atStake }) => Number(atStake ?? 0n),
              cell: ({ check, team, atStake }) => (
                <AtStake amount={atStake} currency={currency} to={address("/practices", { check, team })} />
              ),
            },
          ]}
        />
      )}
      {chosen !== undefined && (
        <>
          <h2>{chosen.title}</h2>
          <p>{chosen.what}</p>
          <p>{chosen.why}</p>
          <p class="links">
            <a href={whyAddress(chosen.name)}>The text about {chosen.name}</a>
            <a href={address("/api/v1/practices", { ...filter })}>The findings as JSON</a>
          </p>
          {findings.slice(0, MOST_SHOWN).map((finding) => (
            <FoundObjects finding={finding} currency={currency} check={chosen} explain={explain} />
          ))}
        </>
      )}
    </>
  );
}

/** The objects of a finding, and how to mend the first ones. */
function FoundObjects({ finding, currency, check, explain }: FoundProps): VNode {
  const { cluster, team, objects, count, atStake, fixes } = finding;
  const { amount: rule, states = [] } = check;
  const ofStates = states.length === 0 ? [] : [{ dimension: "state", values: states }];
  const addressOf = (object: FoundObject): string => explain([...conditionsOf(cluster, object), ...ofStates]);
  const of = team === undefined ? `of the cluster ${cluster}` : `of ${team} in ${cluster}`;
  return (
    <section>
      <h3>
        <bdi>{team ?? cluster}</bdi>
      </h3>
      {rule !== undefined && (
        <p>
          <AtStake amount={atStake} currency={currency} to={address("/practices", { check: check.name, team })} />{" "}
          {currency} are at stake: {rule}.
        </p>
      )}
      <Table
        caption={count > objects.length ? `The first ${objects.length} of ${count} objects ${of}` : `Objects ${of}`}
        rows={objects}
        columns={[
          {
            head: "object",
            cell: ({ kind, namespace, name }) => (
              <bdi>{`${kind} ${namespace === "" || kind === "Namespace" ? "" : `${namespace}/`}${name}`}</bdi>
            ),
          },
          { head: "found", cell: ({ detail }) => <bdi>{detail}</bdi> },
          ...(rule === undefined
            ? []
            : [
                {
                  head: `${currency} at stake`,
                  isNumber: true,
                  cell: (object: FoundObject) => (
                    <AtStake amount={object.atStake} currency={currency} to={addressOf(object)} />
                  ),
                },
              ]),
        ]}
      />
      <p>To mend {count > fixes.length ? "the first objects" : "them"}:</p>
      <pre tabIndex={0}>
        <code>{fixes.join("\n")}</code>
      </pre>
    </section>
  );
}

interface FoundProps {
  readonly finding: Finding;
  readonly currency: string;
  readonly check: Check;
  /** Returns the address of the explanation of charges of the days. */
  readonly explain: (where: readonly Filter[]) => string;
}

/** Returns the conditions on the charges of an object. */
function conditionsOf(cluster: string, { kind, namespace, name }: FoundObject): readonly Filter[] {
  const is = (dimension: string, value: string): Filter => ({ dimension, values: [value] });
  const own = is("cluster", cluster);
  if (kind === "Node") return [own, is("node", name)];
  if (kind === "NodePool") return [own, is("pool", name)];
  return [own, is("namespace", namespace), is("workloadKind", kind), is("workload", name)];
}

/** Money at stake with a link to its explanation; nothing for a check without. */
function AtStake({ amount, currency, to }: AtStakeProps): VNode | null {
  if (amount === undefined) return null;
  return (
    <a href={to}>
      <Money amount={formatAmount(amount)} currency={currency} />
    </a>
  );
}

interface AtStakeProps {
  readonly amount: Exact | undefined;
  readonly currency: string;
  readonly to: string;
}

/** A form for the conditions of the view. It works without a script. */
function FilterForm({ filter, teams }: { readonly filter: FindingFilter; readonly teams: readonly string[] }): VNode {
  const choices = [
    { name: "check", title: "Check", all: "all checks", values: CHECKS.map(({ name }) => name), chosen: filter.check },
    { name: "severity", title: "Severity", all: "all severities", values: SEVERITIES, chosen: filter.severity },
    { name: "team", title: "Team", all: "all teams", values: teams, chosen: filter.team },
  ];
  return (
    <form class="view" method="get" action="/practices">
      {choices.map(({ name, title, all, values, chosen }) => (
        <label>
          {title}
          <select name={name}>
            <option value="">{all}</option>
            {(chosen === undefined || values.includes(chosen as never) ? values : [chosen, ...values]).map((value) => (
              <option value={value} selected={value === chosen}>
                {value}
              </option>
            ))}
          </select>
        </label>
      ))}
      <button type="submit">Show</button>
    </form>
  );
}
