/** How a model's window is shared between the input of a request and its answer. */

/** The share of the input's room that is used: estimates are not exact, and a request that is refused is sent twice. */
const SHARE = 0.95;

/** Tokens that the answer may have: one that might take most of the window gets a quarter of it. */
export function answerRoom(window: number, answer: number): number {
  return Number.isFinite(answer) && answer > window / 2 ? Math.floor(window / 4) : answer;
}

/** `answer`: tokens of the window that the answer may take; if their number is unknown, all are the input's. */
export function inputRoom(window: number, answer: number): number {
  const reserved = Number.isFinite(answer) ? answerRoom(window, answer) : 0;
  return Math.floor((window - reserved) * SHARE);
}
