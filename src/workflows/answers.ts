/**
 * Answers of waits that signals and updates bring: read within bounds, then stored concurrently with the loop, which may
 * be waiting for one of them (wait-watch.ts, A8).
 * - An answer that does not count is reported: to an update as its verdict, for a signal as an `item.rejected`.
 */
import { ApplicationFailure, condition } from '@temporalio/workflow';
import type { Refusal } from '../core/thread/item.ts';
import type { WaitAnswerOutcome } from '../core/thread/step.ts';
import { LIMITS } from '../core/value/limit.ts';
import { parseWaitAnswer } from '../core/wait/answer.ts';
import type { GivenAnswer, WaitVerdict } from '../core/wait/wait.ts';
import type { BoundActivities } from './activities.ts';
import { type Letter, readLetter } from './letter.ts';
import type { WaitWatch } from './wait-watch.ts';

type ReadAnswer =
  /** `given` is absent if the payload only announces an answer that is in the store. */
  | { readonly ok: true; readonly id: string; readonly given?: GivenAnswer; readonly refusal?: undefined }
  | { readonly ok: false; readonly refusal: Refusal };

const ID_CHARS = 128;

export function readAnswer(letter: Letter): ReadAnswer {
  const read = readLetter(letter, LIMITS.payloadBytes);
  if (!read.ok) return { ok: false, refusal: read.refusal };
  const { id, answer, fingerprint } = (read.value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof id !== 'string' || id === '' || id.length > ID_CHARS)
    return refuse('"id" must be the id of a wait');
  if (fingerprint !== undefined && fingerprint !== null && typeof fingerprint !== 'string')
    return refuse('"fingerprint" must be a text');
  if (answer === undefined || answer === null) return { ok: true, id };
  const parsed = parseWaitAnswer(answer);
  if (!parsed.ok) return refuse(parsed.reason);
  return { ok: true, id, given: { answer: parsed.value, fingerprint: fingerprint || undefined } };
}

function refuse(reason: string): ReadAnswer {
  return { ok: false, refusal: { code: 'InvalidMessage', reason } };
}

/** The part of a thread's or a task's run that is needed to receive answers. */
export interface AnsweredRun {
  readonly waits: WaitWatch;
  readonly refusals: { add(refusal: Refusal): void };
}

/** Handles the signal, which returns nothing: an invalid answer becomes a refusal. */
export function handleAnswerSignal(run: AnsweredRun, letter: Letter): void {
  const read = readAnswer(letter);
  if (!read.ok) run.refusals.add(read.refusal);
  else if (read.given) submitAnswer(run, read.id, read.given);
  else run.waits.receive(read.id);
}

function submitAnswer({ waits, refusals }: AnsweredRun, id: string, given: GivenAnswer): void {
  const judged = (outcome: WaitAnswerOutcome) => {
    const refusal = refusalOf(id, outcome);
    if (refusal) refusals.add(refusal);
  };
  waits.bring({ id, ...given, judged });
}

/** Handles the update: resolves with the verdict once the answer is stored, or does not count. */
export async function handleAnswerUpdate(
  run: Pick<AnsweredRun, 'waits'>,
  letter: Letter,
): Promise<WaitVerdict> {
  const read = readAnswer(letter);
  if (!read.ok) throw ApplicationFailure.nonRetryable(read.refusal.reason, read.refusal.code);
  const { id, given } = read;
  if (!given) throw ApplicationFailure.nonRetryable('the update needs an "answer"', 'InvalidMessage');
  let outcome: WaitAnswerOutcome | undefined;
  run.waits.bring({
    id,
    ...given,
    judged: (judged) => {
      outcome = judged;
    },
  });
  await condition(() => outcome !== undefined);
  const judged = outcome as unknown as WaitAnswerOutcome;
  if (judged.outcome === 'misfit') throw ApplicationFailure.nonRetryable(judged.reason, 'InvalidMessage');
  return judged;
}

/** The part of a thread's or a task's run that is needed to store answers. */
interface StoringRun {
  readonly waits: WaitWatch;
  readonly phase: { readonly kind: string };
  readonly activities: Pick<BoundActivities, 'answerWait'>;
}

/** Runs until the workflow run ends. */
export async function runAnswerLoop(run: StoringRun): Promise<void> {
  const { waits } = run;
  for (;;) {
    await condition(() => waits.hasBrought && run.phase.kind !== 'opening');
    for (const { judged, ...given } of waits.take()) {
      const outcome = await run.activities.answerWait(given, `answer of ${given.id}`);
      waits.stored();
      // Whatever the verdict: an unnecessary check is harmless, and makes up for a lost signal.
      waits.receive(given.id);
      judged(outcome);
    }
  }
}

/** Undefined if the answer counts, or the same answer was counted before. */
function refusalOf(id: string, outcome: WaitAnswerOutcome): Refusal | undefined {
  if (outcome.outcome === 'taken' || outcome.outcome === 'duplicate') return undefined;
  const why = outcome.outcome === 'misfit' ? outcome.reason : OUTCOMES[outcome.outcome];
  return {
    code: 'InvalidMessage',
    reason: `the answer of the wait ${JSON.stringify(id)} does not count: ${why}`,
  };
}

const OUTCOMES = {
  already_answered: 'another answer came first',
  stale: 'something else would be done now than was shown',
  expired: 'its time was up',
  closed: 'nobody waits for it any more',
  unknown: 'there is no such wait',
} as const;
