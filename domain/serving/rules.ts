import type { ServingRule } from "./split-service.ts";

/** The engine's model, and its adapter, behind a name that a gateway uses. */
export type GatewayModels = ReadonlyMap<string, { readonly model: string; readonly adapter: string }>;

/** The rules by which the charges of services are split. */
export interface ServingRules {
  /** Each rule gives lines of its own. Reports use the first one unless they name another. */
  readonly rules: readonly [ServingRule, ...ServingRule[]];
  readonly models: GatewayModels;
}

/** The default ratio of a computed to a generated token under the rule `weights`. */
export const TOKEN_WEIGHTS = { computed: 1, generated: 4 } as const;

/** The default limit of the tenants of a model in an hour. */
export const MOST_TENANTS = 200;

/** The limit of the models of a service in an hour. */
export const MOST_MODELS = 256;

/** The model that stands for all models beyond a limit. */
export const OTHER_MODELS = "other";

/** The rules if the configuration has none. */
export const DEFAULT_SERVING: ServingRules = {
  rules: [{ rule: "gpu-time", tokens: TOKEN_WEIGHTS, mostTenants: MOST_TENANTS }],
  models: new Map(),
};
