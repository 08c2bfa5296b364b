import type { VNode } from "preact";
import { z } from "zod";
import type { ServingDimension } from "../../domain/serving/dimension.ts";
import { SPLIT_RULES } from "../../domain/serving/split-rule.ts";
import { allowed, keptPolicies, policyOf } from "../api/context.ts";
import { readServingPart, readUnmatchedPart, splitRuleOf } from "../api/serving.ts";
import type { Filter } from "../question/question.ts";
import { fixedSpan } from "../report/json.ts";
import type { ServingQuestion } from "../serving/question.ts";
import type { ServingMeasures, ServingReport } from "../serving/read-serving.ts";
import { unmatchedText, type UnmatchedModel } from "../serving/unmatched.ts";
import { address } from "../parts/address.ts";
import { TokenCostsChart } from "../parts/charts/token-costs.tsx";
import { PhasesChart } from "../parts/charts/phases.tsx";
import { Figure } from "../parts/figures.tsx";
import { Hours, Money, Ratio, ratioOf } from "../parts/money.tsx";
import { pagingOf } from "../parts/paging.tsx";
import { Count, PartTable, UnitCost, type Breakdown, type Explain, type Part, type Subject } from "./serving-table.tsx";
import { explainServingAddress } from "./serving-explain.tsx";
import { SpanForm } from "../parts/span-form.tsx";
import { Empty } from "../parts/table.tsx";
import type { AddPage, PageContext } from "./context.ts";

const BREAKDOWNS: readonly Breakdown[] = [
  { id: "models", title: "By model", by: ["model", "adapter"], sets: "model" },
  { id: "tenants", title: "By tenant", by: ["tenant"], sets: "tenant" },
  { id: "workloads", title: "By workload", by: ["cluster", "namespace", "workload", "gpuModel"] },
];

/** Adds the page with the cost of inference: of all models, of a model, or of a tenant. */
export function addServingPage(add: AddPage, context: PageContext): void {
  const query = z.object({
    span: context.words.span,
    policy: context.words.policy,
    rule: z.enum(SPLIT_RULES).optional(),
    model: z.string().max(500).optional(),
    tenant: z.string().max(500).optional(),
  });
  add("/serving", { schema: { querystring: query } }, async ({ query: asked, viewer, url }, asking) => {
    const { span, policy, rule, model, tenant } = asked as z.output<typeof query>;
    const { ledger } = context;
    const is = (dimension: string, value: string | undefined): readonly Filter[] =>
      value === undefined ? [] : [{ dimension, values: [value] }];
    const question: Omit<ServingQuestion, "by"> = {
      policy: policyOf(ledger, policy),
      rule: splitRuleOf(ledger, rule),
      kind: "showback",
      span: fixedSpan(span.span),
      where: allowed([...is("model", model), ...is("tenant", tenant)], viewer),
    };
    const read = (by: readonly ServingDimension[]): Promise<ServingReport> =>
      readServingPart(context, asking, { ...question, by });
    const tables = BREAKDOWNS.filter(({ sets }) => sets === undefined || { model, tenant }[sets] === undefined);
    const byDay = await read(["chargeDay"]);
    const byDayAndModel = await read(["chargeDay", "model"]);
    const parts: Part[] = [];
    for (const table of tables) parts.push({ table, report: await read(table.by), paging: pagingOf(url, table.id) });
    const of = { span: span.span.name, policy: question.policy, model, tenant };
    const view = {
      of,
      to: (more: readonly Filter[]) => explainServingAddress(question, more),
      byDay,
      byDayAndModel,
      parts,
      unmatched: await readUnmatchedPart(context, asking, question),
      policies: keptPolicies(ledger),
      rules: ledger.serving.rules.map((each) => each.rule),
    };
    return { title: "Serving", content: <ServingPage {...view} /> };
  });
}

interface ServingProps {
  readonly of: Subject;
  /** Returns the address of the explanation of the figures with more conditions. */
  readonly to: Explain;
  readonly byDay: ServingReport;
  readonly byDayAndModel: ServingReport;
  readonly parts: readonly Part[];
  readonly unmatched: readonly UnmatchedModel[];
  readonly policies: readonly string[];
  readonly rules: readonly string[];
}

function ServingPage({ of, to, byDay, byDayAndModel, parts, unmatched, policies, rules }: ServingProps): VNode {
  const { span, policy, model, tenant } = of;
  const { total, currency, rule } = byDay;
  const keep = { ...(model !== undefined && { model }), ...(tenant !== undefined && { tenant }) };
  const subject = [model, tenant].filter((name) => name !== undefined).join(", ");
  return (
    <>
      <h1>{subject === "" ? "The cost of inference" : <bdi>{subject}</bdi>}</h1>
      <p class="lead">
        The charges of the workloads that serve models, split by <code>{rule}</code>. All lines of a workload sum to its
        charges. {subject !== "" && <a href={address("/serving", { span, policy })}>All models</a>}
      </p>
      <SpanForm path="/serving" span={span} policies={policies} policy={policy} keep={keep} />
      {rules.length > 1 && (
        <p>
          Other rules:{" "}
          {rules
            .filter((name) => name !== rule)
            .map((name, index) => (
              <>
                {index > 0 && ", "}
                <a href={address("/serving", { ...of, rule: name })}>{name}</a>
              </>
            ))}
        </p>
      )}
      {byDay.rows.length === 0 ? (
        <Empty>
          <p>
            No charges of services in {span}. Collectors read the pages of engines if a job has{" "}
            <code>reads: serving</code>.
          </p>
        </Empty>
      ) : (
        <>
          <ServingFigures total={total} currency={currency} to={to([])} />
          <PhasesChart byDay={byDay} />
          <TokenCostsChart byDay={byDayAndModel} />
          {parts.map((part) => (
            <PartTable part={part} of={of} to={to} />
          ))}
          {unmatched.length > 0 && (
            <p>
              <bdi>{unmatchedText(unmatched)}</bdi>
            </p>
          )}
        </>
      )}
    </>
  );
}

/** The sums of all services. Each of them links to the explanation of the whole. */
function ServingFigures({ total, currency, to }: ServingFiguresProps): VNode {
  const { unitCosts, phases, cost, saved, cachedTokens, gatewayPrice, margin } = total;
  const { loaded, busy } = unitCosts.millionTokens;
  return (
    <dl class="figures">
      <Figure
        to={to}
        title={`Cost in ${currency}`}
        beside={
          <>
            <Hours hours={total.gpuHours} /> GPU-hours
          </>
        }
      >
        <Money amount={cost} currency={currency} />
      </Figure>
      <Figure
        to={to}
        title="Cost of a million tokens"
        beside={
          busy === null ? (
            "no tokens"
          ) : (
            <>
              <UnitCost amount={busy} currency={currency} /> for time of work
            </>
          )
        }
      >
        <UnitCost amount={loaded} currency={currency} />
      </Figure>
      <Figure
        to={to}
        title="Prefill per million prompt tokens"
        beside={
          <>
            <Count count={total.computedTokens} /> computed
          </>
        }
      >
        <UnitCost amount={unitCosts.millionPromptTokens} currency={currency} />
      </Figure>
      <Figure
        to={to}
        title="Decode per million generated tokens"
        beside={
          <>
            <Count count={total.generatedTokens} /> generated
          </>
        }
      >
        <UnitCost amount={unitCosts.millionGeneratedTokens} currency={currency} />
      </Figure>
      <Figure to={to} title="Idle: no request" beside={<Share amount={phases.idle} of={cost} />}>
        <Money amount={phases.idle ?? "0"} currency={currency} />
      </Figure>
      <Figure to={to} title="Unmeasured: no page" beside={<Share amount={phases.unmeasured} of={cost} />}>
        <Money amount={phases.unmeasured ?? "0"} currency={currency} />
      </Figure>
      <Figure
        to={to}
        title="Saved by caches"
        beside={
          <>
            <Count count={cachedTokens} /> cached tokens
          </>
        }
      >
        <Money amount={saved} currency={currency} />
      </Figure>
      {gatewayPrice !== null && (
        <Figure
          to={to}
          title="Price of the gateways"
          beside={
            <>
              <Money amount={margin!.replace("-", "")} currency={currency} /> {currency}{" "}
              {margin!.startsWith("-") ? "less" : "more"} than the cost
            </>
          }
        >
          <Money amount={gatewayPrice} currency={currency} />
        </Figure>
      )}
    </dl>
  );
}

function Share({ amount = "0", of }: { readonly amount: string | undefined; readonly of: string }): VNode {
  return (
    <>
      <Ratio ratio={ratioOf(amount, of)} /> of the cost
    </>
  );
}

interface ServingFiguresProps {
  readonly total: ServingMeasures;
  readonly currency: string;
  readonly to: string;
}
