import type { VNode } from "preact";
import { z } from "zod";
import { formatAmount, type Money as Amount } from "../../domain/exact/units.ts";
import { incidentGroups, INCIDENT_PARTS } from "../../domain/training/incident.ts";
import type { RunPhase } from "../../domain/training/phases.ts";
import { signalText } from "../../domain/training/signals.ts";
import { seesAll } from "../access/viewer.ts";
import { keptPolicies, policyOf } from "../api/context.ts";
import { askIncidents, askRuns, teamQuery } from "../api/training.ts";
import { INCIDENT_GROUPS, type NodeIncident } from "../training/read-incidents.ts";
import type { ChargedRun } from "../training/read-reports.ts";
import { durationText, PART_TITLES, progressRatio } from "../training/words.ts";
import { address, teamAddress } from "../parts/address.ts";
import { Link } from "../parts/link.tsx";
import { explained, hoursColumn, Money, moneyColumn, Ratio } from "../parts/money.tsx";
import { pagingOf, type Paging } from "../parts/paging.tsx";
import { SpanForm } from "../parts/span-form.tsx";
import { Empty, Table } from "../parts/table.tsx";
import { utc } from "../parts/time.ts";
import { addTrainingRun, runAddress } from "./training-run.tsx";
import type { AddPage, PageContext } from "./context.ts";

/** Adds the pages of training runs, of one run, and of incidents. */
export function addTraining(add: AddPage, context: PageContext): void {
  const { ledger, words } = context;
  const { currency } = ledger.book;
  const query = z.object({ span: words.span, team: teamQuery, policy: words.policy });
  const policies = keptPolicies(ledger);
  add("/training", { schema: { querystring: query } }, async ({ query: given, url }, asking) => {
    const { span, team, policy: named } = given as z.output<typeof query>;
    const policy = policyOf(ledger, named);
    const runs = await askRuns(context, asking, { span: span.span, team, policy });
    const view = { runs, currency, span: span.span.name, team, policy, policies, paging: pagingOf(url, "runs") };
    return { title: "Training runs", content: <RunsPage {...view} /> };
  });
  add("/training/incidents", { schema: { querystring: query } }, async ({ query: given, url, viewer }, asking) => {
    const { span, policy: named } = given as z.output<typeof query>;
    const policy = policyOf(ledger, named);
    const incidents = await askIncidents(context, asking, { span: span.span, policy });
    const view = { incidents, currency, span: span.span.name, policy, policies, paging: pagingOf(url, "incidents") };
    return { title: "Incidents", content: <IncidentsPage {...view} isOfAll={seesAll(viewer)} /> };
  });
  addTrainingRun(add, context);
}

interface ViewProps {
  readonly currency: string;
  readonly span: string;
  readonly policy: string;
  readonly policies: readonly string[];
  readonly paging: Paging;
}

function RunsPage({ runs, team, currency, span, policy, policies, paging }: RunsProps): VNode {
  const json = address("/api/v1/training/runs", { span, team, policy });
  const to = (run?: ChargedRun): string => (run === undefined ? json : runAddress(run.run.id, policy));
  const cost = (head: string, ...phases: readonly RunPhase[]) => ({
    head,
    ...explained(
      moneyColumn(runs, (run) => phaseCost(run, phases), currency),
      to,
    ),
  });
  return (
    <>
      <h1>Training runs</h1>
      <p class="lead">
        Runs that existed in the time, each with the figures of the whole run. Progress is the part of the cost in which
        GPUs were active and the work was not lost.
      </p>
      <SpanForm path="/training" span={span} policies={policies} policy={policy} keep={team ? { team } : {}} />
      <p class="links">
        <a href={address("/training/incidents", { span, policy })}>What faults cost</a>
        <a href={json}>These runs as JSON</a>
      </p>
      {runs.length === 0 ? (
        <Empty>
          <p>
            No training run has charges in this time. Runs are made of the pods of watched clusters, under{" "}
            <code>kubernetes.clusters</code>.
          </p>
        </Empty>
      ) : (
        <Table
          caption={`Training runs (${currency})`}
          order="highest cost first"
          rows={runs}
          paging={paging}
          isWide
          columns={[
            {
              head: "run",
              cell: ({ run }) => (
                <a href={runAddress(run.id, policy)}>
                  <bdi>{`${run.namespace}/${run.name}`}</bdi>
                </a>
              ),
              foot: "all",
            },
            {
              head: "team",
              cell: (run) => (
                <a href={teamAddress(run.team, span)}>
                  <bdi>{run.team}</bdi>
                </a>
              ),
            },
            { head: "outcome", cell: ({ outcome }) => outcome },
            { head: "from", isWhole: true, cell: ({ run }) => utc(run.begun) },
            {
              head: "GPU-hours",
              ...explained(
                hoursColumn(runs, ({ total }) => formatAmount(total.gpuHours)),
                to,
              ),
            },
            {
              head: "cost",
              ...explained(
                moneyColumn(runs, ({ total }) => formatAmount(total.effective), currency),
                to,
              ),
            },
            {
              head: "progress",
              isNumber: true,
              value: (run) => Number(progressRatio(run) ?? 0),
              cell: (run) => (
                <Link to={to(run)}>
                  <Ratio ratio={progressRatio(run)} />
                </Link>
              ),
            },
            cost("recovering", "recovering"),
            cost("lost progress", "lost"),
            cost("estimated lost", "lost-estimated"),
            cost("waiting", "waiting"),
            cost("idle", "idle"),
            { head: "stops", isNumber: true, cell: ({ stops }) => stops.length },
          ]}
        />
      )}
    </>
  );
}

interface RunsProps extends ViewProps {
  readonly runs: readonly ChargedRun[];
  readonly team: string | undefined;
}

function phaseCost({ phases }: ChargedRun, names: readonly RunPhase[]): string {
  return formatAmount(names.reduce((sum, name) => sum + (phases.get(name)?.effective ?? 0n), 0n) as Amount);
}

function IncidentsPage({ incidents, isOfAll, currency, span, policy, policies, paging }: IncidentsProps): VNode {
  return (
    <>
      <h1>What faults cost</h1>
      <p class="lead">
        {isOfAll ? "Faults of nodes and stops of training runs" : "Faults and stops of your teams’ training runs"} that
        began in the time, with their cost until its end. The parts do not overlap.
      </p>
      <SpanForm path="/training/incidents" span={span} policies={policies} policy={policy} />
      <p class="links">
        <a href={address("/training", { span, policy })}>Training runs</a>
        <a href={address("/api/v1/training/incidents", { span, policy })}>These incidents as JSON</a>
      </p>
      {incidents.length === 0 ? (
        <Empty>
          <p>No incident began in this time.</p>
        </Empty>
      ) : (
        <>
          <Table
            caption={`Incidents (${currency})`}
            order="highest cost first"
            rows={incidents}
            paging={paging}
            isWide
            columns={[
              { head: "incident", cell: ({ main }) => signalText(main), foot: "all" },
              { head: "at", isWhole: true, cell: ({ at }) => utc(at) },
              {
                head: "node",
                cell: ({ cluster, node }) => (
                  <a href={address("/node", { cluster, node, span })}>
                    <bdi>{node}</bdi>
                  </a>
                ),
              },
              { head: "DCGM recommends", cell: ({ recovery }) => recovery ?? <span class="quiet">–</span> },
              ...INCIDENT_PARTS.map((part) => ({
                head: PART_TITLES[part],
                ...moneyColumn(incidents, ({ parts }) => formatAmount(parts[part].effective), currency),
              })),
              { head: "cost", ...moneyColumn(incidents, ({ total }) => formatAmount(total.effective), currency) },
              { head: "GPU-hours", ...hoursColumn(incidents, ({ total }) => formatAmount(total.gpuHours)) },
              { head: "runs", cell: (incident) => <StoppedRuns incident={incident} policy={policy} /> },
            ]}
          />
          <h2>Mean time between incidents</h2>
          {INCIDENT_GROUPS.map(({ title, keyOf }) => (
            <Table
              caption={`By ${title}`}
              rows={incidentGroups(incidents, keyOf)}
              columns={[
                { head: title, cell: ({ key }) => (key === "" ? "unknown" : <bdi>{key}</bdi>) },
                { head: "incidents", isNumber: true, cell: ({ incidents: count }) => count },
                {
                  head: "mean time between",
                  isNumber: true,
                  cell: ({ meanMillisBetween }) =>
                    meanMillisBetween === undefined ? <span class="quiet">–</span> : durationText(meanMillisBetween),
                },
                {
                  head: currency,
                  isNumber: true,
                  cell: ({ total }) => <Money amount={formatAmount(total.effective)} currency={currency} />,
                },
              ]}
            />
          ))}
        </>
      )}
    </>
  );
}

interface IncidentsProps extends ViewProps {
  readonly incidents: readonly NodeIncident[];
  readonly isOfAll: boolean;
}

/** Links to the runs that an incident stopped, each once. */
function StoppedRuns({ incident, policy }: { readonly incident: NodeIncident; readonly policy: string }): VNode {
  const runs = new Map(incident.affected.map(({ report: { run } }) => [run.id, run.name]));
  return (
    <>
      {[...runs].map(([id, name], index) => (
        <>
          {index > 0 && ", "}
          <a href={runAddress(id, policy)}>
            <bdi>{name}</bdi>
          </a>
        </>
      ))}
    </>
  );
}
