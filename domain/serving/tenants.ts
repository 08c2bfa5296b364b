import { split } from "../exact/split.ts";
import type { TenantWork } from "./service.ts";
import { addCounts, type Work } from "./work.ts";

/** The tenant of tokens that no gateway names. */
export const UNATTRIBUTED = "unattributed";

/** The tenant that stands for all tenants beyond the limit of a service. */
export const OTHER_TENANTS = "other";

/** The part of a model's work that belongs to a tenant. */
export interface TenantPart {
  readonly adapter: string;
  readonly tenant: string;
  readonly computedTokens: number;
  readonly cachedTokens: number;
  readonly generatedTokens: number;
  readonly requests: number;
  /** Tokens that the gateway counted beyond the engine's: requests that it repeated, or answers from its own cache. */
  readonly excessTokens: number;
  readonly spendNanos: number;
}

/**
 * Divides the work of a model over tenants. The parts sum to the work. What no gateway names belongs to {@link UNATTRIBUTED}. If gateways
 * count more than the engine, each tenant's tokens are scaled down in proportion, and the difference is its excess. Without tenants, the
 * whole work has the tenant "". At most `most` tenants are kept, those with the most tokens; {@link OTHER_TENANTS} has the others.
 */
export function tenantParts(work: Work, tenants: readonly TenantWork[], most: number): readonly TenantPart[] {
  const { computedTokens, cachedTokens, generatedTokens, requests } = work;
  if (tenants.length === 0)
    return [{ adapter: "", tenant: "", computedTokens, cachedTokens, generatedTokens, requests, ...NO_PRICE }];
  const kept = bounded(tenants, most);
  const counts = {
    ...promptParts(work, kept),
    generatedTokens: divided(
      generatedTokens,
      kept.map((tenant) => tenant.generatedTokens),
    ),
    requests: divided(
      requests,
      kept.map((tenant) => tenant.requests),
    ),
  };
  const partOf = (index: number) => ({
    computedTokens: counts.computedTokens[index]!,
    cachedTokens: counts.cachedTokens[index]!,
    generatedTokens: counts.generatedTokens[index]!,
    requests: counts.requests[index]!,
  });
  const named = kept.map((tenant, index) => {
    const part = partOf(index);
    const received = part.computedTokens + part.cachedTokens + part.generatedTokens;
    const excessTokens = Math.max(0, sizeOf(tenant) - received);
    const { adapter, tenant: name, spendNanos } = tenant;
    return { adapter, tenant: name, ...part, excessTokens, spendNanos };
  });
  return [...named, { adapter: "", tenant: UNATTRIBUTED, ...partOf(kept.length), ...NO_PRICE }];
}

const NO_PRICE = { excessTokens: 0, spendNanos: 0 };

/**
 * Divides computed and cached prompt tokens. If the gateway counts cached tokens, it decides who had them. Otherwise each tenant has the
 * cached part that all prompts have.
 */
function promptParts(
  { computedTokens, cachedTokens }: Work,
  tenants: readonly TenantWork[],
): Pick<Record<keyof TenantPart, readonly number[]>, "computedTokens" | "cachedTokens"> {
  const cached = tenants.map((tenant) => Math.min(tenant.cachedTokens ?? 0, tenant.promptTokens));
  if (tenants.every((tenant) => tenant.cachedTokens !== undefined))
    return {
      computedTokens: divided(
        computedTokens,
        tenants.map(({ promptTokens }, index) => promptTokens - cached[index]!),
      ),
      cachedTokens: divided(cachedTokens, cached),
    };
  const prompts = divided(
    computedTokens + cachedTokens,
    tenants.map(({ promptTokens }) => promptTokens),
  );
  const computed = split(BigInt(computedTokens), prompts)?.map(Number) ?? prompts;
  return { computedTokens: computed, cachedTokens: prompts.map((prompt, index) => prompt - computed[index]!) };
}

/**
 * Divides a count over claims. One more part, the last, gets what nobody claims. If more is claimed than there is, the claims are scaled
 * down.
 */
function divided(count: number, claims: readonly number[]): readonly number[] {
  const claimed = claims.reduce((sum, claim) => sum + claim, 0);
  const weights = [...claims, Math.max(0, count - claimed)];
  return split(BigInt(count), weights)?.map(Number) ?? weights;
}

/** Returns at most `most` tenants, sorted by name, with the others added into one. */
function bounded(tenants: readonly TenantWork[], most: number): readonly TenantWork[] {
  const byName = tenants.toSorted((a, b) => order(nameOf(a), nameOf(b)));
  if (byName.length <= most) return byName;
  const bySize = byName.toSorted((a, b) => sizeOf(b) - sizeOf(a));
  const kept = new Set(bySize.slice(0, most));
  const others = byName.filter((tenant) => !kept.has(tenant));
  const sum = (valueOf: (tenant: TenantWork) => number): number =>
    others.reduce((total, tenant) => addCounts(total, valueOf(tenant)), 0);
  const other = {
    model: others[0]!.model,
    adapter: "",
    tenant: OTHER_TENANTS,
    promptTokens: sum(({ promptTokens }) => promptTokens),
    cachedTokens: others.some(({ cachedTokens }) => cachedTokens === undefined)
      ? undefined
      : sum(({ cachedTokens = 0 }) => cachedTokens),
    generatedTokens: sum(({ generatedTokens }) => generatedTokens),
    requests: sum(({ requests }) => requests),
    spendNanos: sum(({ spendNanos }) => spendNanos),
  };
  return [...byName.filter((tenant) => kept.has(tenant)), other];
}

function nameOf({ adapter, tenant }: TenantWork): string {
  return JSON.stringify([tenant, adapter]);
}

function sizeOf({ promptTokens, generatedTokens }: TenantWork): number {
  return promptTokens + generatedTokens;
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
