import { qualifiedName, type ApiResource, type ResourceCatalog } from "./resources.ts";
import { failure, named, type StatusError } from "./status.ts";

/** A permission in RBAC's form; `*` is everything. */
export interface AccessRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  /** A Role's namespace; absent for a ClusterRole. */
  readonly namespace?: string;
}

/** One attempted action. */
export interface AccessAttempt {
  readonly verb: string;
  readonly group: string;
  /** With its subresource, if it has one: `pods/proxy`. */
  readonly resource: string;
  /** Empty for all namespaces, and for resources without one. */
  readonly namespace: string;
  readonly name: string;
}

/** The permissions of a server. Everybody may do everything until something is set. */
export interface Access {
  /** Accepts only these bearer tokens from now on; `undefined` requires none. Open watches go on. */
  setTokens(tokens: Iterable<string> | undefined): void;
  /** Allows only these rules; `undefined` allows everything. */
  setRules(rules: readonly AccessRule[] | undefined): void;
  /** Removes verbs on one resource, regardless of the rules. */
  withdraw(group: string, resource: string, ...verbs: string[]): void;
  /** Restores everything that {@link withdraw} removed. */
  restore(): void;
  isAuthenticated(authorization: string | undefined): boolean;
  isAllowed(attempt: AccessAttempt): boolean;
  /** Returns the 403 of an attempt, in the words of real servers. */
  refusal(attempt: AccessAttempt): StatusError;
  /** Returns the list of a SelfSubjectRulesReview of a namespace. */
  rulesIn(namespace: string): readonly Omit<AccessRule, "namespace">[];
}

/** The resource of requests that the server passes on to pods. */
export const POD_PROXY = "pods/proxy";

const VERBS = ["get", "list", "watch", "create", "update"];

/** Creates an access that allows everything until something is set. `user` is the name in refusals. */
export function createAccess(catalog: ResourceCatalog, user: string): Access {
  let tokens: ReadonlySet<string> | undefined;
  let rules: readonly AccessRule[] | undefined;
  let withdrawn: readonly { readonly group: string; readonly resource: string; readonly verbs: readonly string[] }[] =
    [];

  const isWithdrawn = (group: string, resource: string, verb: string): boolean =>
    withdrawn.some((each) => each.group === group && each.resource === resource && covers(each.verbs, verb));

  function isAllowed({ verb, group, resource, namespace, name }: AccessAttempt): boolean {
    if (isWithdrawn(group, resource, verb)) return false;
    if (rules === undefined) return true;
    return rules.some(
      (rule) =>
        covers(rule.verbs, verb) &&
        covers(rule.apiGroups, group) &&
        covers(rule.resources, resource) &&
        (rule.namespace === undefined || rule.namespace === namespace) &&
        (rule.resourceNames === undefined || rule.resourceNames.includes(name)),
    );
  }

  return {
    setTokens(accepted) {
      tokens = accepted === undefined ? undefined : new Set(accepted);
    },
    setRules(next) {
      rules = next;
    },
    withdraw(group, resource, ...verbs) {
      withdrawn = [...withdrawn, { group, resource, verbs: verbs.length === 0 ? ["*"] : verbs }];
    },
    restore() {
      withdrawn = [];
    },
    isAuthenticated(authorization) {
      if (tokens === undefined) return true;
      const token = /^Bearer (\S+)$/.exec(authorization ?? "")?.[1];
      return token !== undefined && tokens.has(token);
    },
    isAllowed,
    refusal(attempt) {
      const { verb, group, resource, namespace, name } = attempt;
      // The subject of the sentence is the resource itself, also for a subresource.
      const [own = ""] = resource.split("/");
      const full: ApiResource = {
        group,
        resource: own,
        version: "",
        kind: "",
        namespaced: namespace !== "",
        custom: false,
      };
      const where = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
      const what = `${qualifiedName(full)}${name === "" ? "" : ` "${name}"`}`;
      const message = `${what} is forbidden: User "${user}" cannot ${verb} resource "${resource}" in API group "${group}" ${where}`;
      const { name: _name, ...unnamed } = named(full, name);
      return failure(403, "Forbidden", message, { details: name === "" ? unnamed : { name, ...unnamed } });
    },
    rulesIn(namespace) {
      const listed = rules?.filter((rule) => rule.namespace === undefined || rule.namespace === namespace);
      const whole: readonly AccessRule[] = [
        ...catalog.all().map(({ group, resource }) => ({ verbs: VERBS, apiGroups: [group], resources: [resource] })),
        { verbs: ["get"], apiGroups: [""], resources: [POD_PROXY] },
      ];
      return (listed ?? whole).flatMap(({ namespace: _namespace, ...rule }) => {
        const [group = "", resource = ""] = [rule.apiGroups[0], rule.resources[0]];
        const verbs = rule.verbs.filter((verb) => !isWithdrawn(group, resource, verb));
        return verbs.length === 0 ? [] : [{ ...rule, verbs }];
      });
    },
  };
}

function covers(list: readonly string[], value: string): boolean {
  return list.includes("*") || list.includes(value);
}
