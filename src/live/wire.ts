import type { Chart } from '../report/chart.js';
import type { HistoryParts } from '../report/history-parts.js';
import type { ComparisonParts } from '../results/formats/comparison.js';
import type { Headline } from '../results/headline.js';
import type { Outcome, Row, RunFooter, RunHeader } from '../results/schema.js';

/** What the server says to the page. Types only: both sides share them, and browsers get nothing of it. */

export type RunState = Outcome | 'running' | 'unreadable';

export interface RunSummary {
  /** Names the run in addresses: its file's name without the ending. */
  readonly key: string;
  readonly state: RunState;
  readonly problem?: string;
  readonly header?: Omit<RunHeader, 'settings'>;
  readonly endedAt?: string;
  readonly rows: number;
  readonly headline?: Headline;
  readonly modifiedAt: string;
  /** Speed of the headline's row in the runs up to this one, oldest first, each between 0 and 1. */
  readonly trend?: readonly number[];
}

/** Of an event `runs`. */
export interface Listing {
  readonly folder: string;
  readonly problem?: string | undefined;
  /** Why the kernel does not tell of changes in the folder: they are then seen some seconds late. */
  readonly unwatched?: string | undefined;
  /** How many of the files that are not known yet are read, while they are. */
  readonly reading?: { readonly done: number; readonly of: number } | undefined;
  /** In the folder. */
  readonly total: number;
  /** How many newer ones come before `runs`. */
  readonly from: number;
  /** Newest first. */
  readonly runs: readonly RunSummary[];
}

export type WireLine =
  | ({ line: 'header' } & RunHeader)
  | ({ line: 'row' } & Row)
  | ({ line: 'footer' } & RunFooter);

/**
 * Of an event `lines`: lines of the run's file from one to another, null for what the page has no use for. Of a large
 * matrix, only the slowest pair of each block of ranks.
 */
export interface Lines {
  readonly from: number;
  /** The line after them. */
  readonly next: number;
  /** Rows that the file has so far. */
  readonly rows: number;
  readonly lines: readonly (WireLine | null)[];
}

/** Of an event `end`, after which nothing comes, and of `state`, after which lines may. */
export interface Standing {
  readonly state: RunState;
  readonly problem?: string | undefined;
}

/** Of `/api/history`. */
export type HistoryAnswer = HistoryParts & { readonly charts: readonly Chart[] };

/** Of `/api/compare`. */
export type ComparisonAnswer = ComparisonParts | { readonly problem: string };
