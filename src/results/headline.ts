/** The best row of a run: what a list shows of it. */
export interface Headline {
  readonly gbps?: number;
  readonly mops?: number;
  readonly column: string;
  readonly bytes: number | null;
}
