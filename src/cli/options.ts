import { type Command, Option as CommanderOption, InvalidArgumentError } from 'commander';
import {
  flagOf,
  formatValue,
  isSwitch,
  messageWithHint,
  type Option,
  type OptionTable,
  type ValueKind,
  type ValuesOf,
} from '../settings/option.js';

/** Turns a parser's error into commander's, which names the option. */
export function parsed<T>(parse: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      throw new InvalidArgumentError(messageWithHint(error));
    }
  };
}

/** A kind of value as commander reads it. */
export const argument = <T>({ parse }: ValueKind<T>): ((text: string) => T) => parsed(parse);

interface AddOptions {
  /** Defaults that differ from the table's, by key. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  readonly hidden?: boolean;
  readonly group?: string;
}

/** Gives a command the options of a table. Hidden ones are read, but help does not show them. */
export function addOptions(
  command: Command,
  table: OptionTable,
  { defaults = {}, hidden = false, group }: AddOptions = {},
): Command {
  for (const [key, option] of Object.entries(table)) {
    const made = commanderOption(option, helpOf(option, defaults[key]));
    if (group !== undefined) made.helpGroup(group);
    command.addOption(hidden ? made.hideHelp() : made);
  }
  return command;
}

function commanderOption({ flags, kind }: Option, help = ''): CommanderOption {
  const made = new CommanderOption(flags, help);
  return isSwitch({ flags } as Option) ? made : made.argParser(argument(kind));
}

function helpOf(option: Option, own: unknown): string {
  const value = own ?? option.default;
  const written = value === undefined ? '' : formatValue(option, value);
  const text = own === undefined ? (option.defaultText ?? written) : written;
  return isSwitch(option) || text === '' ? option.help : `${option.help} (default: ${text})`;
}

/** The values that were given, by key; commander knows them by their flags. */
export function givenOptions(raw: unknown, table: OptionTable): Record<string, unknown> {
  const values = raw as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(table)
      .map(([key, option]) => [key, values[commanderOption(option).attributeName()]] as const)
      .filter(([, value]) => value !== undefined),
  );
}

/** Values as a command line has them. */
export const wordsOf = (table: OptionTable, values: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(values).flatMap(([key, value]) => {
    const one = table[key]!;
    return isSwitch(one) ? [flagOf(one)] : [flagOf(one), formatValue(one, value)];
  });

export function readOptions<O extends OptionTable>(raw: unknown, table: O): ValuesOf<O> {
  const defaults = Object.entries(table)
    .map(([key, option]) => [key, option.default] as const)
    .filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(defaults), ...givenOptions(raw, table) } as ValuesOf<O>;
}
