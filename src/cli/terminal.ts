/** What the terminal can show. */
export interface Terminal {
  readonly width: number;
  readonly color: boolean;
  readonly unicode: boolean;
}

const widthWithoutTerminal = 120;
const narrowest = 40;

/** stdout, as results are printed on it. */
export function stdoutTerminal(env: NodeJS.ProcessEnv = process.env): Terminal {
  const terminal = process.stdout.isTTY === true;
  return {
    // A terminal that some launchers make says that it has no columns.
    width: Math.max(
      narrowest,
      process.stdout.columns || Number(env.COLUMNS) || widthWithoutTerminal,
    ),
    color: terminal && !env.NO_COLOR && env.TERM !== 'dumb',
    unicode: speaksUnicode(env),
  };
}

export const speaksUnicode = (env: NodeJS.ProcessEnv): boolean =>
  /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || 'utf-8');
