import { hash } from "node:crypto";
import { readName } from "../../../domain/owner/reserved.ts";
import { OTHER_TENANTS, UNATTRIBUTED } from "../../../domain/serving/tenants.ts";
import { firstValue, type Labels, type ServingDialect } from "../../../domain/serving/dialect/dialect.ts";

/** The rules by which a job reads the tenants of gateways. */
export interface TenantRules {
  /** The labels with the tenant, instead of the labels of the gateway's dialect. The first one with a value counts. */
  readonly labels?: readonly string[] | undefined;
  /**
   * The namespaces whose discovered pods may be gateways, `*` for any. Pages of other pods have no tenants: a user who may create a pod there could
   * name the tenants of any model of the cluster. Targets of other discoveries may always be gateways.
   */
  readonly gateways: readonly string[];
  /** Accepts tenants that look like e-mail addresses. */
  readonly allowEmails: boolean;
  /** The most tenants of one page. */
  readonly most: number;
}

/** The rules of the service, unless the configuration sets others. */
export const TENANT_RULES: TenantRules = { gateways: ["*"], allowEmails: false, most: 10_000 };

/** The tenant of a series, and the reason if the text of its label is not the tenant. */
export interface ReadTenant {
  readonly tenant?: string;
  readonly changed?: "gateway-namespace" | "email-tenant" | "reserved-tenant" | "tenant-limit";
}

/** Reads the tenants of one target. */
export type Tenants = (dialect: ServingDialect, labels: Labels) => ReadTenant;

/** An at sign between two characters, also full-width, small, or encoded as in a URL. The search is linear in the length of the text. */
const EMAIL = /\S(?:[@\uFF20\uFE6B]|%40)\S/;
/** Names that lines of a bill have for tokens without a tenant, and for tenants beyond a limit, and a name that nobody can read. */
const RESERVED: ReadonlySet<string> = new Set([UNATTRIBUTED, OTHER_TENANTS, ""]);
/** The longest name of a tenant. Names of keys, teams and customers of the gateways have at most 255 characters. */
const LONGEST = 256;
const NONE: ReadTenant = {};
const BEYOND: ReadTenant = { tenant: OTHER_TENANTS, changed: "tenant-limit" };

/**
 * Creates a reader of the tenants of one target. It reads no label outside of the rules. The first tenants up to the limit stay, also while
 * they are not on the page: if another one took their place, the sums of all others would jump. Tenants beyond the limit, and those with a
 * longer name than 256 characters, are one tenant. A tenant with a reserved name has none. `namespace` is that of a discovered pod.
 */
export function createTenants(
  { labels: ofJob, gateways, allowEmails, most }: TenantRules,
  namespace?: string,
): Tenants {
  // Digests instead of texts, so that tenants that have gone take little memory.
  const kept = new Set<number>();
  const mayBeGateway = namespace === undefined || gateways.includes("*") || gateways.includes(namespace);
  return ({ tenant: ofDialect = [], kind, noValue }, labels) => {
    const tenant = kind === "gateway" ? firstValue(labels, ofJob ?? ofDialect, noValue) : undefined;
    if (tenant === undefined) return NONE;
    if (!mayBeGateway) return { changed: "gateway-namespace" };
    if (!allowEmails && EMAIL.test(tenant)) return { changed: "email-tenant" };
    if (tenant.length > LONGEST) return BEYOND;
    if (RESERVED.has(readName(tenant))) return { changed: "reserved-tenant" };
    const digest = Number.parseInt(hash("sha1", tenant).slice(0, 12), 16);
    if (!kept.has(digest) && kept.size >= most) return BEYOND;
    kept.add(digest);
    return { tenant };
  };
}
