/**
 * Which calls of an answer may be under way at once (an extension of runtime §5.1, which has them run one after
 * another): neighbouring calls whose callees say `parallel`.
 * - The marks are stored with the answer: the workflow, the activity of a step and the store read the same ones,
 *   whatever the project says by then, and an answer without any has none.
 * - A call with a mark begins once every call before its group has ended; the first call behind a group begins once all
 *   of it has.
 * - Calls of a group begin in the returned order, at most LIMITS.parallelCalls at once. One that waits keeps its place
 *   among them.
 */
import { LIMITS } from '../value/limit.ts';

/** The indices that get a mark: only beside a neighbour, and only among the calls that the step's outcome names. */
export function markParallel(mayRunBeside: readonly boolean[]): readonly number[] {
  const named = mayRunBeside.slice(0, LIMITS.namedCalls);
  return named.flatMap((may, index) => (may && (named[index - 1] || named[index + 1]) ? [index] : []));
}

interface MarkedCall {
  readonly parallel?: true;
}

/** The index behind the last call that may be under way together with the one at `index`. */
export function endOfGroup(calls: readonly MarkedCall[], index: number): number {
  if (!calls[index]?.parallel) return index + 1;
  const end = calls.findIndex((call, other) => other > index && !call.parallel);
  return end === -1 ? calls.length : end;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * Runs the calls from `from` up to `to` beside each other, and returns their outcomes in order. None begins after one
 * whose outcome `ends` the answer, or that has thrown; then the list ends with the last that has begun. The error of the
 * first call that threw is thrown once none is under way.
 */
export async function runBeside<Outcome>(
  { from, to }: Range,
  run: (index: number) => Promise<Outcome>,
  ends: (outcome: Outcome) => boolean,
): Promise<Outcome[]> {
  const begun: Promise<Outcome>[] = [];
  let over = false;
  const lane = async () => {
    while (!over && from + begun.length < to) {
      const call = run(from + begun.length);
      begun.push(call);
      if (await call.then(ends, () => true)) over = true;
    }
  };
  await Promise.all(Array.from({ length: Math.min(LIMITS.parallelCalls, to - from) }, lane));
  return Promise.all(begun);
}
