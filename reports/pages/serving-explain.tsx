import type { VNode } from "preact";
import { z } from "zod";
import { SPLIT_RULES } from "../../domain/serving/split-rule.ts";
import { questionOf } from "../api/charges.ts";
import { splitRuleOf } from "../api/serving.ts";
import { conditions } from "../api/words.ts";
import { filterText, type Filter } from "../question/question.ts";
import { explainServing, type ExplainedHour, type ServingExplanation } from "../serving/explain-serving.ts";
import { readServingFilters, type ServingQuestion } from "../serving/question.ts";
import { address } from "../parts/address.ts";
import { hoursColumn, Money, moneyColumn } from "../parts/money.tsx";
import { Empty, Table } from "../parts/table.tsx";
import { utc } from "../parts/time.ts";
import type { AddPage, PageContext } from "./context.ts";

/** Returns the address of the page that explains a cost of inference. */
export function explainServingAddress(
  { policy, rule, kind, span, where }: Omit<ServingQuestion, "by">,
  more: readonly Filter[] = [],
): string {
  const parameters = new URLSearchParams({ span: span.name, kind, policy, rule });
  for (const filter of [...where, ...more]) parameters.append("where", filterText(filter));
  return `/serving/explain?${parameters.toString()}`;
}

/** Adds the page with the reasons of a cost of inference: its dearest hours, down to the pages of engines and to the GPUs. */
export function addServingExplain(add: AddPage, context: PageContext): void {
  const { words, ledger } = context;
  const query = z.object({
    span: words.span,
    kind: words.kind,
    where: conditions(readServingFilters, "model=qwen3-32b"),
    policy: words.policy,
    rule: z.enum(SPLIT_RULES).optional(),
  });
  add("/serving/explain", { schema: { querystring: query } }, async ({ query: asked, viewer }, { store }) => {
    const of = asked as z.output<typeof query>;
    const question = { ...questionOf(of, viewer, context), rule: splitRuleOf(ledger, of.rule) };
    const explanation = await explainServing(store, question, ledger.book.currency);
    return { title: "Inference explained", content: <ServingExplained explanation={explanation} /> };
  });
}

function ServingExplained({ explanation }: { readonly explanation: ServingExplanation }): VNode {
  const { total, currency, span, policy, rule, where, hours } = explanation;
  const { computedTokens, generatedTokens, unitCosts } = total;
  const { loaded } = unitCosts.millionTokens;
  return (
    <>
      <h1>
        Why <Money amount={total.cost} currency={currency} /> {currency} of inference in {span.name}
      </h1>
      <p class="lead">
        Exactly <code>{total.cost}</code> {currency} under the policy {policy}, split by <code>{rule}</code>
        {where.length === 0 ? "" : `; only ${where.map(filterText).join("; ")}`}.{" "}
        {loaded === null
          ? "No tokens were counted, so a million tokens have no cost."
          : `${total.cost} ${currency} ÷ (${computedTokens} computed + ${generatedTokens} generated tokens) × 1,000,000 = ${loaded} ${currency}.`}
      </p>
      {hours.length === 0 ? (
        <Empty>
          <p>No charges of services match.</p>
        </Empty>
      ) : (
        <p>The hours of services with the highest cost:</p>
      )}
      {hours.map((hour) => (
        <HourOfService hour={hour} currency={currency} />
      ))}
    </>
  );
}

function HourOfService({ hour: of, currency }: { readonly hour: ExplainedHour; readonly currency: string }): VNode {
  const { hour, cluster, namespace, workload, cost, phases, pages, gpus } = of;
  const parts = Object.entries(phases).map(([phase, part]) => ({ phase, ...part }));
  const ofHour = `${cluster}/${namespace}/${workload}, ${utc(Date.parse(hour))}`;
  return (
    <section>
      <h2>
        <bdi>{ofHour}</bdi>: <Money amount={cost} currency={currency} /> {currency}
      </h2>
      <Table
        caption={`The cost by phase of ${ofHour}`}
        rows={parts}
        columns={[
          { head: "phase", cell: ({ phase }) => phase, foot: "all" },
          { head: "divided by", cell: ({ basis }) => basis },
          { head: currency, ...moneyColumn(parts, (part) => part.cost, currency) },
        ]}
      />
      <Table
        caption={`The pages of the engines of ${ofHour}`}
        rows={pages}
        columns={[
          { head: "pod", cell: ({ pod }) => <bdi>{pod}</bdi> },
          { head: "program", cell: ({ exporter }) => exporter },
          { head: "scrapes", isNumber: true, cell: ({ scrapes, failures }) => `${scrapes}, ${failures} failed` },
          {
            head: "covered",
            isNumber: true,
            cell: ({ coveredSeconds, servedSeconds }) => `${coveredSeconds} of ${servedSeconds} s`,
          },
          { head: "idle", isNumber: true, cell: ({ idleSeconds }) => `${idleSeconds} s` },
          {
            head: "prompt tokens",
            isNumber: true,
            cell: ({ increases }) => increases["prompt_tokens"] ?? increases["computed_prompt_tokens"] ?? "–",
          },
          { head: "generated", isNumber: true, cell: ({ increases }) => increases["generation_tokens"] ?? "–" },
          {
            head: "last scrape",
            cell: ({ lastScrape }) => (lastScrape === null ? "expired" : utc(Date.parse(lastScrape))),
          },
        ]}
      />
      <Table
        caption={`The GPUs of ${ofHour}`}
        rows={gpus}
        columns={[
          { head: "pod", cell: ({ pod }) => <bdi>{pod}</bdi>, foot: "all" },
          {
            head: "GPU",
            cell: ({ line, gpuModel }) =>
              line === null ? (
                gpuModel
              ) : (
                <a href={address("/explain", { line })}>{gpuModel === "" ? line : gpuModel}</a>
              ),
          },
          { head: "price", cell: ({ price }) => (price === "" ? "none" : <a href="/prices">{price}</a>) },
          { head: "GPU-hours", ...hoursColumn(gpus, ({ gpuHours }) => gpuHours) },
          { head: currency, ...moneyColumn(gpus, (gpu) => gpu.cost, currency) },
        ]}
      />
    </section>
  );
}
