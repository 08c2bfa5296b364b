import { qualifiedName, type ApiResource, type ResourceCatalogue } from "./resources.ts";
import { failure, named, type StatusError } from "./status.ts";

/** What may be done, as RBAC writes it; `*` is everything. */
export interface AccessRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  /** A Role's namespace; a ClusterRole has none. */
  readonly namespace?: string;
}

/** One thing that somebody wants to do. */
export interface AccessAttempt {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** Empty for all namespaces, and for what has none. */
  readonly namespace: string;
  readonly name: string;
}

/** Who may do what. Everything, by anybody, until something is set. */
export interface Access {
  /** Accepts these bearer tokens alone from now on; `undefined` asks for none. Open watches go on. */
  setTokens(tokens: Iterable<string> | undefined): void;
  /** Allows what these rules say and nothing else; `undefined` allows everything. */
  setRules(rules: readonly AccessRule[] | undefined): void;
  /** Takes verbs on one resource away, whatever the rules say. */
  withdraw(group: string, resource: string, ...verbs: string[]): void;
  /** Gives back what {@link withdraw} took. */
  restore(): void;
  isAuthenticated(authorization: string | undefined): boolean;
  isAllowed(attempt: AccessAttempt): boolean;
  /** The 403 of an attempt, in the words of real servers. */
  refusal(attempt: AccessAttempt): StatusError;
  /** What a SelfSubjectRulesReview of a namespace lists. */
  rulesIn(namespace: string): readonly Omit<AccessRule, "namespace">[];
}

const VERBS = ["get", "list", "watch", "create", "update"];

/** An access that asks `user` for nothing yet. */
export function createAccess(catalogue: ResourceCatalogue, user: string): Access {
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
      const full: ApiResource = { group, resource, version: "", kind: "", namespaced: namespace !== "", custom: false };
      const where = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
      const what = `${qualifiedName(full)}${name === "" ? "" : ` "${name}"`}`;
      const message = `${what} is forbidden: User "${user}" cannot ${verb} resource "${resource}" in API group "${group}" ${where}`;
      const { name: _name, ...unnamed } = named(full, name);
      return failure(403, "Forbidden", message, { details: name === "" ? unnamed : { name, ...unnamed } });
    },
    rulesIn(namespace) {
      const listed = rules?.filter((rule) => rule.namespace === undefined || rule.namespace === namespace);
      const whole: readonly AccessRule[] = catalogue
        .all()
        .map(({ group, resource }) => ({ verbs: VERBS, apiGroups: [group], resources: [resource] }));
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
