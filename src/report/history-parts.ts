/** What pages show of a history: words and numbers, nothing to work out. Browsers load this as well. */
export interface HistoryParts {
  readonly answer: string;
  readonly places: readonly {
    readonly name: string;
    readonly rows: readonly RowParts[];
    /** Rows without a change, where there are too many to show them. */
    readonly hidden: number;
  }[];
  readonly events: readonly EventParts[];
}

export interface RowParts {
  readonly id: string;
  readonly name: string;
  readonly runs: number;
  readonly latest: string;
  readonly usual: string;
  /** Speeds between 0 and 1, oldest first. */
  readonly trend: readonly number[];
  readonly remark: string;
  readonly worse: boolean;
}

export interface EventParts {
  readonly at: string;
  readonly place: string;
  readonly text: string;
  readonly changed: string;
  readonly rows: readonly string[];
  readonly worse: boolean;
  readonly files: readonly string[];
}
