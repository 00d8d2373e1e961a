/** A reason to stop that the user can act on: what failed, what to do, and the end of the tool's own output. */
export class SetupFailure extends Error {
  constructor(message, { hint, output } = {}) {
    super(message);
    this.name = 'SetupFailure';
    this.hint = hint;
    this.output = output;
  }
}
