/** A detail is what a chart shows better. */
export type NoteKind = 'bad' | 'doubt' | 'plain' | 'detail';

export interface Note {
  readonly kind: NoteKind;
  readonly text: string;
  /** For readers that treat this remark differently. */
  readonly about?: 'noise' | 'verified';
}
