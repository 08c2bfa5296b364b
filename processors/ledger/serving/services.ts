import { groupedBy } from "../../../domain/grouped.ts";
import { worksOfEngines } from "../../../domain/serving/handed-on.ts";
import { split } from "../../../domain/exact/split.ts";
import type { Replica, Service, ServiceName, ServingTarget, TenantWork } from "../../../domain/serving/service.ts";
import { addModels, tokensOf, workOf, type ModelWork, type Work } from "../../../domain/serving/work.ts";
import { MOST_MODELS, OTHER_MODELS, type GatewayModels } from "../../../domain/serving/rules.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { together } from "../../../runtime/store/in-step.ts";
import { SERVING_HOUR_COLUMNS, type ServingHourRow } from "../../../runtime/store/schema/serving.ts";
import { rowReader, selectionOf } from "../../../runtime/store/schema/table.ts";
import type { WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";
import { tenantsOf, type Works } from "./gateways.ts";

const readRow = rowReader(SERVING_HOUR_COLUMNS) as (row: Readonly<Record<string, unknown>>) => ServingHourRow;

/** Reads the workloads that served models in a published hour, sorted by namespace and name. Fails with a `StoreError`. */
export async function readServices(
  store: StoreClient,
  window: WindowOfCluster,
  models: GatewayModels,
): Promise<readonly Service[]> {
  return servicesOf(await together(store, readHours, window), models);
}

async function readHours(
  store: StoreClient,
  windows: readonly WindowOfCluster[],
): Promise<readonly (readonly ServingHourRow[])[]> {
  const rows = await store.query<Record<string, unknown>>(
    `SELECT ${selectionOf(SERVING_HOUR_COLUMNS)} FROM serving_hours_published
     WHERE cluster = {cluster:String} AND toUnixTimestamp(hour) IN {hours:Array(Int64)}
     ORDER BY namespace, workload_kind, workload, pod_uid, target, kind, model, adapter, tenant`,
    { cluster: windows[0]!.cluster, hours: windows.map(({ windowStart }) => windowStart / 1000) },
  );
  const byHour = groupedBy(rows.map(readRow), ({ hour }) => hour);
  return windows.map(({ windowStart }) => byHour.get(windowStart) ?? []);
}

/**
 * Returns the workloads that served models, from the rows of an hour of one cluster. A workload serves if one of its pods has a page. The
 * tokens of a gateway belong to the services of the cluster that have the model; several of them share these tokens as their engines have
 * counted. The tokens and requests of a frontend count for the services of its namespace whose engines count no tokens. A request that
 * passes a prefill and a decode engine of a namespace counts once ({@link worksOfEngines}).
 */
export function servicesOf(rows: readonly ServingHourRow[], models: GatewayModels): readonly Service[] {
  const workloads = groupedBy(
    rows.filter(({ workload }) => workload !== ""),
    (row) => JSON.stringify(nameOf(row)),
  );
  const works = worksOfRows(rows);
  const engines = [...workloads.values()].flatMap((ofWorkload) => engineOf(ofWorkload, works) ?? []).map(withFewModels);
  const served = withFrontends(
    engines,
    rows.filter(({ kind }) => kind === "frontend"),
    works,
  );
  return withTenants(served, tenantsOf(rows, works, models));
}

type Engines = Omit<Service, "tenants">;

function worksOfRows(rows: readonly ServingHourRow[]): Works {
  const works = new Map<ServingHourRow, Work>();
  const together = groupedBy(rows, ({ kind, namespace, model }) => JSON.stringify([kind, namespace, model]));
  for (const group of together.values()) {
    const isEngines = group[0]!.kind === "engine";
    const ofGroup = isEngines ? worksOfEngines(group) : group.map(({ increases }) => workOf(increases));
    for (const [index, row] of group.entries()) works.set(row, ofGroup[index]!);
  }
  return works;
}

function engineOf(rows: readonly ServingHourRow[], works: Works): Engines | undefined {
  const pages = rows.filter(({ kind }) => kind === "page");
  if (pages.length === 0) return undefined;
  const series = groupedBy(
    rows.filter(({ kind }) => kind === "engine"),
    pageKey,
  );
  const pagesOf = groupedBy(pages, ({ pod_uid }) => pod_uid);
  const targetsOf = (pods: readonly string[]): readonly ServingTarget[] =>
    pods.flatMap((pod) =>
      (pagesOf.get(pod) ?? []).map((page) => targetOf(page, series.get(pageKey(page)) ?? [], works)),
    );
  const pods = rows.filter(({ kind }) => kind === "pod");
  const own = [...pagesOf.keys()].map((pod) => ({ pods: [pod], targets: targetsOf([pod]) }));
  return {
    ...nameOf(rows[0]!),
    replicas: [...own, ...followersOf(pods, pagesOf, targetsOf)],
    works: modelsOf(
      rows.filter(({ kind }) => kind === "engine"),
      works,
    ),
    frontend: [],
  };
}

/** Returns a service with at most {@link MOST_MODELS} models: those with the most tokens and inferences, and one for all others. */
function withFewModels(service: Engines): Engines {
  const { works, replicas } = service;
  if (works.length <= MOST_MODELS) return service;
  const sizeOf = ({ work }: ModelWork): number => tokensOf(work) + work.inferences;
  const bySize = works.toSorted((a, b) => sizeOf(b) - sizeOf(a));
  const kept = new Set(bySize.slice(0, MOST_MODELS).map(({ model }) => model));
  const few = (models: readonly ModelWork[]): readonly ModelWork[] =>
    addModels(models.map(({ model, work }) => ({ model: kept.has(model) ? model : OTHER_MODELS, work })));
  // Replicas of one gang share their pages.
  const targets = new Map(
    replicas.flatMap((replica) => replica.targets).map((target) => [target, { ...target, models: few(target.models) }]),
  );
  return {
    ...service,
    works: few(works),
    replicas: replicas.map((replica) => ({ ...replica, targets: replica.targets.map((each) => targets.get(each)!) })),
  };
}

/** Returns the pods without a page, by gang, each with the pages of its gang. Pods without a gang, or whose gang has no page, are left out. */
function followersOf(
  pods: readonly ServingHourRow[],
  pagesOf: ReadonlyMap<string, unknown>,
  targetsOf: (pods: readonly string[]) => readonly ServingTarget[],
): readonly Replica[] {
  const gangs = groupedBy(
    pods.filter(({ replica }) => replica !== ""),
    ({ replica }) => replica,
  );
  return [...gangs.values()].flatMap((members) => {
    const uids = members.map(({ pod_uid }) => pod_uid);
    const targets = targetsOf(uids);
    const silent = uids.filter((uid) => !pagesOf.has(uid));
    return targets.length === 0 || silent.length === 0 ? [] : [{ pods: silent, targets }];
  });
}

function targetOf(page: ServingHourRow, series: readonly ServingHourRow[], works: Works): ServingTarget {
  const { served_ms, loading_ms, covered_ms, idle_ms } = page;
  return {
    servedMillis: served_ms,
    loadingMillis: loading_ms,
    coveredMillis: covered_ms,
    idleMillis: idle_ms,
    models: modelsOf(series, works),
  };
}

function modelsOf(series: readonly ServingHourRow[], works: Works): readonly ModelWork[] {
  return addModels(series.map((row) => ({ model: row.model, work: works.get(row)! })));
}

function withFrontends(
  services: readonly Engines[],
  rows: readonly ServingHourRow[],
  works: Works,
): readonly Engines[] {
  if (rows.length === 0) return services;
  const frontends = groupedBy(rows, ({ namespace }) => namespace);
  const lacks = (service: Engines, model: string): boolean =>
    service.works.some((own) => own.model === model && tokensOf(own.work) === 0);
  return services.map((service) => {
    const counted = modelsOf(frontends.get(service.namespace) ?? [], works).filter(({ model }) =>
      lacks(service, model),
    );
    const frontend = counted.map(({ model, work }) => {
      const sharing = services.filter((other) => other.namespace === service.namespace && lacks(other, model));
      return { model, work: partOf(work, sharing.length, sharing.indexOf(service)) };
    });
    // The frontend has counted the same requests as the engines behind it.
    const again = new Set(frontend.filter(({ work }) => work.requests > 0).map(({ model }) => model));
    const own = service.works.map((each) =>
      again.has(each.model) ? { ...each, work: { ...each.work, requests: 0 } } : each,
    );
    return { ...service, frontend, works: addModels([...own, ...frontend]) };
  });
}

/** Returns one of equal parts of a work, each count rounded so that the parts sum to the work. */
function partOf(work: ModelWork["work"], parts: number, index: number): ModelWork["work"] {
  const weights = Array.from({ length: parts }, () => 1);
  return Object.fromEntries(
    Object.entries(work).map(([name, count]: [string, number]) => [
      name,
      Number(split(BigInt(count), weights)![index]),
    ]),
  ) as unknown as ModelWork["work"];
}

/** Divides the tokens of tenants over the services that have the model. */
function withTenants(services: readonly Engines[], tenants: readonly TenantWork[]): readonly Service[] {
  const byModel = groupedBy(tenants, ({ model }) => model);
  const countsOf = (model: string, countOf: (work: ModelWork["work"]) => number): readonly number[] =>
    services.map(({ works }) => {
      const own = works.find((each) => each.model === model);
      return own === undefined ? 0 : countOf(own.work);
    });
  const parts: TenantWork[][] = services.map(() => []);
  for (const [model, ofModel] of byModel) {
    const prompts = countsOf(model, ({ computedTokens, cachedTokens }) => computedTokens + cachedTokens);
    const generated = countsOf(model, ({ generatedTokens }) => generatedTokens);
    const requests = countsOf(model, (work) => work.requests);
    for (const tenant of ofModel) {
      const over = (count: number, weights: readonly number[]): readonly number[] =>
        split(BigInt(count), weights)?.map(Number) ?? weights;
      const all = prompts.map((count, index) => count + generated[index]!);
      const [ofPrompts, ofCached, ofGenerated, ofRequests, ofSpend] = [
        over(tenant.promptTokens, prompts),
        over(tenant.cachedTokens ?? 0, prompts),
        over(tenant.generatedTokens, generated),
        over(tenant.requests, requests),
        over(tenant.spendNanos, all),
      ];
      for (const [index, own] of parts.entries()) {
        if (prompts[index]! + generated[index]! === 0) continue;
        own.push({
          ...tenant,
          promptTokens: ofPrompts[index]!,
          cachedTokens: tenant.cachedTokens === undefined ? undefined : ofCached[index]!,
          generatedTokens: ofGenerated[index]!,
          requests: ofRequests[index]!,
          spendNanos: ofSpend[index]!,
        });
      }
    }
  }
  return services.map((service, index) => ({ ...service, tenants: parts[index]! }));
}

/** The identity of a page. An address can belong to several pods of an hour, one after the other. */
function pageKey({ target, pod_uid }: Pick<ServingHourRow, "target" | "pod_uid">): string {
  return JSON.stringify([target, pod_uid]);
}

function nameOf({ cluster, namespace, workload_kind: workloadKind, workload }: ServingHourRow): ServiceName {
  return { cluster, namespace, workloadKind, workload };
}
