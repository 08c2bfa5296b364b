import { firstValue, type Labels, type ServingDialect } from "../../../domain/serving/dialect/dialect.ts";

/** The rules by which a job reads the tenants of gateways. */
export interface TenantRules {
  /** The labels with the tenant, instead of the labels of the gateway's dialect. The first one with a value counts. */
  readonly labels?: readonly string[] | undefined;
  /** Accepts tenants that look like e-mail addresses. */
  readonly allowEmails: boolean;
  /** The most tenants of one page. */
  readonly most: number;
}

/** The rules of the service, unless the configuration sets others. */
export const TENANT_RULES: TenantRules = { allowEmails: false, most: 10_000 };

/** The tenant that stands for all tenants beyond the limit. */
export const OTHER_TENANT = "other";

/** The tenant of a series, and the reason if the text of its label is not the tenant. */
export interface ReadTenant {
  readonly tenant?: string;
  readonly changed?: "email-tenant" | "tenant-limit";
}

/** Reads the tenants of one target. */
export type Tenants = (dialect: ServingDialect, labels: Labels) => ReadTenant;

const EMAIL = /[^\s@<>()]+@[^\s@<>()]+\.[^\s@<>()]+/;
const NONE: ReadTenant = {};

/**
 * Creates a reader of the tenants of one target. It reads no label outside of the rules. The first tenants up to the limit stay, also while
 * they are not on the page: if another one took their place, the sums of all others would jump.
 */
export function createTenants({ labels: ofJob, allowEmails, most }: TenantRules): Tenants {
  const kept = new Set<string>();
  return ({ tenant: ofDialect = [], kind, noValue }, labels) => {
    const tenant = kind === "gateway" ? firstValue(labels, ofJob ?? ofDialect, noValue) : undefined;
    if (tenant === undefined) return NONE;
    if (!allowEmails && EMAIL.test(tenant)) return { changed: "email-tenant" };
    if (!kept.has(tenant) && kept.size >= most) return { tenant: OTHER_TENANT, changed: "tenant-limit" };
    kept.add(tenant);
    return { tenant };
  };
}
