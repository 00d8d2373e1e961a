type Labels = Readonly<Record<string, string | number | null | undefined>>;

/** A gauge of Prometheus with its samples. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly labels?: Labels;
  readonly value: number | null | undefined;
}

/**
 * Prometheus' text format, as the textfile collector of its node exporter reads it. Families without a value are left
 * out. Prometheus refuses two samples with the same labels: of those the last stays.
 */
export const expositionText = (families: readonly Family[]): string =>
  families.map(familyText).join('');

function familyText({ name, help, samples }: Family): string {
  const lines = new Map<string, number>();
  for (const { labels = {}, value } of samples) {
    if (value != null && Number.isFinite(value)) lines.set(labelsText(labels), value);
  }
  if (lines.size === 0) return '';
  const head = `# HELP ${name} ${help.replace(/\\/g, '\\\\').replace(/\n/g, '\\n')}\n# TYPE ${name} gauge\n`;
  return head + [...lines].map(([labels, value]) => `${name}${labels} ${value}\n`).join('');
}

function labelsText(labels: Labels): string {
  const pairs = Object.entries(labels)
    .filter(([, value]) => value != null)
    .map(([label, value]) => `${label}="${escaped(String(value))}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escaped = (text: string): string =>
  text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');

/** Base units, as Prometheus asks for them. */
export const inSeconds = (nanoseconds: number | null | undefined): number | undefined =>
  nanoseconds == null ? undefined : Number((nanoseconds / 1e9).toPrecision(9));
export const inBytesPerSecond = (gbps: number | null | undefined): number | undefined =>
  gbps == null ? undefined : Math.round((gbps * 1e9) / 8);
export const asRatio = (percent: number | null | undefined): number | undefined =>
  percent == null ? undefined : Number((percent / 100).toPrecision(9));
export const inUnixSeconds = (at: string | Date): number =>
  Math.round(new Date(at).getTime() / 1000);
