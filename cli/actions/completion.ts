import type { Argument, Command, Option } from "commander";

/** A shell with completions. */
export type Shell = "bash" | "zsh" | "fish";

/** A command with its parents' names before its own: `generate alerts`. The program's is empty. */
interface Place {
  readonly path: readonly string[];
  readonly command: Command;
}

/** Returns the script of a shell that completes the commands, options and choices of a program. Other words are completed as files. */
export function completionScript(program: Command, shell: Shell): string {
  const places = placesOf({ path: [], command: program });
  if (shell === "fish") return fish(program.name(), places);
  const load = "autoload -U +X compinit bashcompinit && compinit -i && bashcompinit\n";
  return `${shell === "zsh" ? load : ""}${bash(program.name(), places)}`;
}

function placesOf({ path, command }: Place): readonly Place[] {
  const inner = command.commands.map((child) => ({ path: [...path, child.name()], command: child }));
  return [{ path, command }, ...inner.flatMap(placesOf)];
}

function optionsOf({ command }: Place): readonly Option[] {
  return command.createHelp().visibleOptions(command);
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

function bash(name: string, places: readonly Place[]): string {
  const keyOf = ({ path }: Place): string => path.join(" ");
  const paths = places.flatMap((place) => (place.path.length === 0 ? [] : `"${keyOf(place)}"`));
  const values = places.flatMap((place) =>
    optionsOf(place).flatMap((option) => {
      if (!takesValue(option)) return [];
      const flags = [option.short, option.long].flatMap((flag) => flag ?? []);
      const words = (option.argChoices ?? []).join(" ");
      return `    ${flags.map((flag) => `"${keyOf(place)}|${flag}"`).join(" | ")}) words="${words}" ;;`;
    }),
  );
  const words = places.map((place) => {
    const { command } = place;
    const flags = optionsOf(place).map(({ long, short }) => long ?? short ?? "");
    const known = [
      ...command.commands.map((child) => child.name()),
      ...choicesOf(command.registeredArguments),
      ...flags,
    ];
    return `    "${keyOf(place)}") words="${known.join(" ")}" ;;`;
  });
  const own = `_${name.replaceAll("-", "_")}`;
  return `${own}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD - 1]}" path="" words="" index word
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${path:+$path }\${COMP_WORDS[index]}"
    case "$word" in
      ${paths.join(" | ")}) path="$word" ;;
    esac
  done
  case "$path" in
${words.join("\n")}
  esac
  case "$path|$before" in
${values.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F ${own} ${name}
`;
}

function fish(name: string, places: readonly Place[]): string {
  const lines = places.flatMap((place) => {
    const { path, command } = place;
    const inner = command.commands.map((child) => child.name()).join(" ");
    const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`);
    const here =
      path.length === 0
        ? "__fish_use_subcommand"
        : [...seen, ...(inner === "" ? [] : [`not __fish_seen_subcommand_from ${inner}`])].join("; and ");
    const line = (rest: string, description: string): string =>
      `complete -c ${name} -n ${quoted(here)} ${rest} -d ${quoted(description)}`;
    return [
      ...command.commands.map((child) => line(`-f -a ${child.name()}`, child.description())),
      ...choicesOf(command.registeredArguments).map((choice) => line(`-f -a ${choice}`, "")),
      ...optionsOf(place).map((option) => {
        const flags = [
          ...(option.short === undefined ? [] : [`-s ${option.short.slice(1)}`]),
          ...(option.long === undefined ? [] : [`-l ${option.long.slice(2)}`]),
        ];
        const value =
          option.argChoices === undefined
            ? takesValue(option)
              ? " -r"
              : ""
            : ` -x -a ${quoted(option.argChoices.join(" "))}`;
        return line(`${flags.join(" ")}${value}`, option.description);
      }),
    ];
  });
  return `${lines.join("\n")}\n`;
}

function choicesOf(values: readonly Argument[]): readonly string[] {
  return values.flatMap(({ argChoices = [] }) => argChoices);
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
