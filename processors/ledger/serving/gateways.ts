import { engineModelOf } from "../../../domain/serving/gateway-model.ts";
import type { GatewayModels } from "../../../domain/serving/rules.ts";
import type { TenantWork } from "../../../domain/serving/service.ts";
import { addCounts, countsCached, tokensOf, type Work } from "../../../domain/serving/work.ts";
import { groupedBy } from "../../../domain/grouped.ts";
import type { ServingHourRow } from "../../../runtime/store/schema/serving.ts";

/** The work of each row of counters. */
export type Works = ReadonlyMap<ServingHourRow, Work>;

/** A row of a gateway with the engine's model that its name stands for. */
interface GatewayRow {
  readonly row: ServingHourRow;
  readonly model: string;
  readonly adapter: string;
}

/** Returns the tokens of each tenant of a model, from the rows of an hour. Rows of models without an engine are left out. */
export function tenantsOf(rows: readonly ServingHourRow[], works: Works, models: GatewayModels): readonly TenantWork[] {
  const served = new Set(rows.filter(({ kind }) => kind === "engine").map(({ model }) => model));
  const matched = rows.flatMap((row): readonly GatewayRow[] => {
    const found = row.kind === "gateway" ? engineModelOf(row.model, row.adapter, models, served) : undefined;
    return found === undefined ? [] : [{ row, ...found }];
  });
  const tenants = new Map<string, TenantWork>();
  for (const [name, ofModel] of groupedBy(matched, ({ model }) => model)) {
    const counted = countedBehind(
      rows.filter(({ model }) => model === name),
      works,
    );
    for (const { row, model, adapter } of outermost(ofModel, counted, works)) {
      const { tenant, increases } = row;
      const { computedTokens, cachedTokens, generatedTokens, requests } = works.get(row)!;
      const key = JSON.stringify([model, adapter, tenant]);
      const known = tenants.get(key);
      const isCounted = countsCached(increases) && (known === undefined || known.cachedTokens !== undefined);
      tenants.set(key, {
        model,
        adapter,
        tenant,
        promptTokens: addCounts(known?.promptTokens ?? 0, computedTokens + cachedTokens),
        cachedTokens: isCounted ? addCounts(known?.cachedTokens ?? 0, cachedTokens) : undefined,
        generatedTokens: addCounts(known?.generatedTokens ?? 0, generatedTokens),
        requests: addCounts(known?.requests ?? 0, requests),
        spendNanos: addCounts(known?.spendNanos ?? 0, increases["spend_nanos"] ?? 0),
      });
    }
  }
  return [...tenants.values()].filter(({ tenant }) => tenant !== "");
}

/** Returns the tokens of a model that passed its gateways. A frontend counts the tokens of its engines again. */
function countedBehind(ofModel: readonly ServingHourRow[], works: Works): number {
  const [engines, frontends] = (["engine", "frontend"] as const).map((each) =>
    ofModel.filter(({ kind }) => kind === each),
  );
  return Math.max(tokensIn(engines!, works), tokensIn(frontends!, works));
}

/** The part of the engines' tokens that a gateway has counted if all requests pass it. */
const ALL_REQUESTS = 0.95;

/**
 * Returns the rows of a model without those of inner gateways. Gateways of several programs or namespaces that each count all tokens of the
 * engines are a chain: each request passes all of them. The one with the most tenants counts.
 */
function outermost(ofModel: readonly GatewayRow[], counted: number, works: Works): readonly GatewayRow[] {
  const gateways = [...groupedBy(ofModel, ({ row }) => JSON.stringify([row.exporter, row.namespace])).values()];
  const isWhole = (rows: readonly GatewayRow[]): boolean =>
    counted > 0 &&
    tokensIn(
      rows.map(({ row }) => row),
      works,
    ) >=
      counted * ALL_REQUESTS;
  const tenantsIn = (rows: readonly GatewayRow[]): number => new Set(rows.map(({ row }) => row.tenant)).size;
  const [outer, ...inner] = gateways.filter(isWhole).toSorted((a, b) => tenantsIn(b) - tenantsIn(a));
  return inner.length === 0 || outer === undefined ? ofModel : gateways.filter((one) => !inner.includes(one)).flat();
}

function tokensIn(rows: readonly ServingHourRow[], works: Works): number {
  return rows.reduce((sum, row) => addCounts(sum, tokensOf(works.get(row)!)), 0);
}
