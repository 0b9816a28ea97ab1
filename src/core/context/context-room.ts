/** The room that a model's window has for the input of a request. */

/** The share of it that is used: estimates are not exact, and a request that is refused is sent twice. */
const SHARE = 0.95;

/** `window`: tokens of the window. `answer`: tokens of them that the answer may take; all of an unknown number are the input's. */
export function inputRoom(window: number, answer: number): number {
  return Math.floor(Math.max(0, window - (Number.isFinite(answer) ? answer : 0)) * SHARE);
}
