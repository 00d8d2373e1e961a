export interface Terminal {
  readonly width: number;
  readonly color: boolean;
  readonly unicode: boolean;
  /** Small drawings are for eyes: files and pipes get numbers alone. */
  readonly bars: boolean;
}

const widthWithoutTerminal = 120;
const narrowest = 40;

type Stream = Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>;

/** A stream as results or progress are printed on it; `NO_COLOR` wins over `FORCE_COLOR`. */
export function terminalOf(stream: Stream, env: NodeJS.ProcessEnv = process.env): Terminal {
  const terminal = stream.isTTY === true;
  const forced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '0';
  return {
    // A terminal that some launchers make says that it has no columns.
    width: Math.max(narrowest, stream.columns || Number(env.COLUMNS) || widthWithoutTerminal),
    color: !env.NO_COLOR && (forced || (terminal && env.TERM !== 'dumb')),
    unicode: speaksUnicode(env),
    bars: terminal,
  };
}

export const stdoutTerminal = (): Terminal => terminalOf(process.stdout);

const speaksUnicode = (env: NodeJS.ProcessEnv): boolean =>
  /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || 'utf-8');
