/**
 * The loop of a model step's activity: it goes on into the steps that follow by itself, which saves an activity and a
 * workflow task for each, while nothing needs the workflow. This file holds what both sides of Temporal must agree on.
 * - The workflow offers to go on if it knows of nothing that comes before the next step. The activity accepts, before
 *   each step, only if the stop rules let it follow and the workflow has received nothing since. Then the workflow
 *   would have asked for exactly that step, with nothing in line that the store does not have.
 * - The steps have the ordinals from the activity's own on, which the workflow keeps free. So each has its own key in
 *   the store, whichever activity runs it, and another attempt finds how far an earlier one came.
 * - The step that ends the turn stores that end as well, by the same rules and under the same condition. The activity
 *   of a child then delivers its report, and ends the thread if it can receive no further message.
 * - The outcome is that of the last step, which the workflow judges like any other, with what it must know of those
 *   before. If the last one may have begun and its outcome is unknown, the workflow asks for it again under its
 *   ordinal: that is another attempt at it.
 */
import type { Session } from './session.ts';
import type {
  CommitStatusInput,
  CommitStatusOutcome,
  ModelStepInput,
  ModelStepOutcome,
  RunRef,
  StoredStep,
} from './step.ts';
import { evaluateStepEnd, toSession } from './stop.ts';

/** How far an activity may go on, and how to check that the workflow has received nothing since. */
export interface LoopOffer {
  /** The number of steps that it may make, its own included. */
  readonly steps: number;
  /** The ordinal under which it may store the end of the turn; the next one is for the end of the thread. */
  readonly restOrdinal: number;
  /** Length of the workflow's history once the activity is scheduled, provided nothing else is scheduled with it. */
  readonly historyLength: number;
  /** Set if the workflow may show meanwhile that the thread is running, which adds events (workflows/presence.ts). */
  readonly showsRunning?: true;
}

/** A model step; with `loop`, its activity may go on into the steps after it. */
export interface LoopInput extends ModelStepInput {
  readonly loop?: LoopOffer;
}

/** The steps of an activity before its last one; all are stored, with all their calls. */
export interface EarlierSteps {
  readonly count: number;
  /** The store's number of the last of them. */
  readonly afterStep: number;
  /** Pending rows of the store that they drained. */
  readonly swept: number;
  /** Rows that their calls have put in line. */
  readonly queued: number;
  readonly executionId: string;
  /** The session after them; absent for one AI side. */
  readonly session?: Session;
}

/** The last step was asked for, but its outcome is not known here; another attempt returns it. */
export interface UnknownStepOutcome {
  readonly kind: 'unknown';
}

export type LoopOutcome =
  | (ModelStepOutcome & { readonly earlier?: EarlierSteps })
  /** The end of the turn is stored, too. */
  | (StoredStep & { readonly earlier?: EarlierSteps } & StoredRest)
  | (UnknownStepOutcome & { readonly earlier: EarlierSteps });

/** What the activity has stored behind the last step of the turn. */
export interface StoredRest {
  /** The end of the turn. Its `reportDue` is absent if the report has been delivered. */
  readonly rest: CommitStatusOutcome;
  /** The end of the thread, of a child that can receive no further message. */
  readonly threadEnd?: CommitStatusOutcome;
}

/** The step after those, as the workflow would ask for it: with no items, since all that are in line are stored. */
export function toNextInput<Input extends Omit<ModelStepInput, keyof RunRef>>(
  { unprompted: _, waited: __, asked: ___, ...input }: Input,
  { count, afterStep, executionId, session }: EarlierSteps,
) {
  const none = { items: [], rejections: [] };
  return { ...input, ...none, ordinal: input.ordinal + count, afterStep, executionId, session };
}

/** What comes after a step. */
export type Following =
  /** Another step; `earlier` includes this one. */
  | { readonly kind: 'step'; readonly earlier: EarlierSteps }
  /** The end of the turn, as the workflow would store it. */
  | {
      readonly kind: 'rest';
      readonly rest: Pick<CommitStatusInput, 'status' | 'reason' | 'agent' | 'session'>;
    }
  /** What the workflow decides once it knows of this step. */
  | { readonly kind: 'workflow' };

const TO_WORKFLOW: Following = { kind: 'workflow' };

/** Judges a step as the workflow would. `asked` is the input of the activity, `before` are the steps before this one. */
export function judgeStep(
  asked: Pick<ModelStepInput, 'executionId' | 'agent' | 'session'>,
  outcome: ModelStepOutcome,
  before: EarlierSteps | undefined,
): Following {
  if (outcome.kind !== 'step' || outcome.exceeded) return TO_WORKFLOW;
  const { step, callCount, taken, swept, executionId, agent, ran = [] } = outcome;
  const calls = ran.flatMap((call) => (call.kind === 'done' ? [call] : []));
  if (calls.length !== callCount) return TO_WORKFLOW;
  const known = before ?? asked;
  const { verdict, session } = evaluateStepEnd(outcome, calls, {
    sideSteps: taken,
    session: toSession(known.session, outcome),
  });
  if (!verdict.goesOn) {
    const rest = { status: 'idle', reason: verdict.reason, agent: agent ?? asked.agent, session } as const;
    return { kind: 'rest', rest };
  }
  // The workflow shows which agent has the thread and which side acts, and settles what code has asked for.
  const changes =
    verdict.turn || agent !== undefined || outcome.directive || calls.some((call) => call.directive);
  if (changes || callCount === 0) return TO_WORKFLOW;
  const earlier = {
    count: (before?.count ?? 0) + 1,
    afterStep: step,
    swept: (before?.swept ?? 0) + swept,
    queued: calls.reduce((sum, { queued }) => sum + queued, before?.queued ?? 0),
    executionId: executionId ?? known.executionId,
    session,
  };
  return { kind: 'step', earlier };
}
