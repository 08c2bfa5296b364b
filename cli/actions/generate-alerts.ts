import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { alertFiles, type AlertFilesRequest, type AlertmanagerForm } from "../../alerts/files.ts";
import { NotInObjectError } from "../../alerts/alertmanager/object.ts";
import type { Contacts } from "../../alerts/alertmanager/contacts.ts";
import { ALERT_GROUPS } from "../../alerts/catalog/definition.ts";
import { exporterFiles, type GeneratedFile } from "../../alerts/exporter/files.ts";
import { ruleGroups } from "../../alerts/generate.ts";
import { ConfigError } from "../../runtime/config/config-error.ts";
import { readOwnersFile } from "../../runtime/config/owners-file.ts";
import type { FileProblem } from "../../runtime/config/file-problem.ts";
import { CommandError, type CommandContext } from "../context.ts";
import { alertOptionsOf, loadAlertConfig, type AlertConfig } from "../alerts/config.ts";
import { writeFiles } from "../generate/write-files.ts";

/** The options of `gpu-ledger generate alerts`. */
export interface GenerateAlertsOptions {
  readonly out: string;
  readonly config?: string;
  readonly only?: string;
  readonly prefix?: string;
  readonly rules: string;
  readonly namespace?: string;
  readonly label: readonly string[];
  readonly alertmanager?: string;
}

/** The options of `gpu-ledger generate exporter-config`. */
export interface GenerateExporterConfigOptions {
  readonly out: string;
  readonly config?: string;
  readonly names: string;
}

/** Writes the rules and the routes. Nothing is written unless everything can be. */
export function runGenerateAlerts(options: GenerateAlertsOptions, context: CommandContext): void {
  const { config, folder } = loadAlertConfig(options.config, context.env);
  checkTeams(config, folder, options.config);
  const alertOptions = {
    ...alertOptionsOf(config),
    ...(options.prefix === undefined ? {} : { prefix: prefixOf(options.prefix) }),
    ...(options.only === undefined ? {} : { only: groupsOf(options.only) }),
  };
  writeFiles(
    options.out,
    filesOf(() => alertFiles(alertOptions, contactsOf(config), requestOf(options))),
    context,
  );
}

/** Writes the configuration of dcgm-exporter that the alerts need. */
export function runGenerateExporterConfig(
  { out, config, names }: GenerateExporterConfigOptions,
  context: CommandContext,
): void {
  if (names !== "classic" && names !== "dcgm-4.7") throw wrong("--names", names, "classic or dcgm-4.7");
  writeFiles(
    out,
    exporterFiles(ruleGroups(alertOptionsOf(loadAlertConfig(config, context.env).config)), names),
    context,
  );
}

function wrong(flag: string, value: string, allowed: string): CommandError {
  return new CommandError(`${flag}: ${JSON.stringify(value)} is not ${allowed}`, 2);
}

function prefixOf(text: string): string {
  if (!/^[A-Za-z_]\w*$/.test(text)) throw wrong("--prefix", text, "letters, digits and underscores");
  return text;
}

function groupsOf(text: string): readonly string[] {
  const groups = text.split(",");
  const unknown = groups.find((group) => !ALERT_GROUPS.some((each) => each === group));
  if (unknown !== undefined) throw wrong("--only", unknown, `one of: ${ALERT_GROUPS.join(", ")}`);
  return groups;
}

function requestOf({ rules, namespace, label, alertmanager }: GenerateAlertsOptions): AlertFilesRequest {
  if (rules !== "files" && rules !== "objects") throw wrong("--rules", rules, "files or objects");
  const forms: readonly (AlertmanagerForm | undefined)[] = [undefined, "fragment", "full", "crd"];
  const form = forms.find((each) => each === alertmanager);
  if (form === undefined && alertmanager !== undefined) {
    throw wrong("--alertmanager", alertmanager, "one of: fragment, full, crd");
  }
  const labels = label.map((text) => {
    const [name, value] = [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)];
    if (!text.includes("=") || name === "") throw wrong("--label", text, "name=value");
    return [name, value] as const;
  });
  return { rules, metadata: { namespace, labels: Object.fromEntries(labels) }, alertmanager: form };
}

function contactsOf({ platform, contacts, smtp, repeat, workingHours }: AlertConfig): Contacts {
  return { platform, teams: contacts, smtp, repeat, workingHours };
}

/** Checks that teams with numbers or contacts of their own exist, if a file of owners lists the teams. */
function checkTeams({ ownersFile, teams, contacts }: AlertConfig, folder: string, source = "the configuration"): void {
  if (ownersFile === undefined) return;
  const fail = (problems: readonly FileProblem[]): never => {
    throw new ConfigError(source, problems);
  };
  let text: string;
  try {
    text = readFileSync(resolve(folder, ownersFile), "utf8");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return fail([{ key: "ownersFile", value: ownersFile, allowed: `the path of a file that can be read (${why})` }]);
  }
  const read = readOwnersFile(text);
  if ("problems" in read) return fail(read.problems.map((each) => ({ ...each, key: `ownersFile, ${each.key}` })));
  const known = new Set(read.value.flatMap(({ values }) => values.team ?? []));
  const named = [
    ...Object.keys(teams).map((team) => ["teams", team]),
    ...Object.keys(contacts).map((team) => ["contacts", team]),
  ];
  const problems = named
    .filter(([, team]) => !known.has(team!))
    .map(([key, team]) => ({
      key: `${key}.${team}`,
      value: team,
      allowed: `a team of ${ownersFile}: ${[...known].join(", ")}`,
    }));
  if (problems.length > 0) fail(problems);
}

function filesOf(make: () => readonly GeneratedFile[]): readonly GeneratedFile[] {
  try {
    return make();
  } catch (error) {
    if (error instanceof NotInObjectError) throw new CommandError(error.message, 2);
    throw error;
  }
}
