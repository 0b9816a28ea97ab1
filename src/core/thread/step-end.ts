/**
 * Decides how a step ends, from its activities' outcomes: combines stop rules (stop.ts) and session (session.ts). Pure.
 */
import type { FlowDirective } from '../author/thread-execution.ts';
import { advanceSession, NEW_SESSION, type Session, type SideSteps } from './session.ts';
import type { StoredStep } from './step.ts';
import { evaluateStop, type StopVerdict } from './stop.ts';

/** A call of a step, once it has its result. */
export interface CallEnd {
  readonly name: string;
  readonly succeeded: boolean;
  readonly directive?: FlowDirective;
}

/** Progress of the turn, this step included. */
interface TurnProgress {
  readonly sideSteps: SideSteps;
  /** Absent for one AI side. */
  readonly session?: Session | null;
}

/** What ends with the step, and the session after it. */
export interface StepEnd {
  readonly verdict: StopVerdict;
  readonly session?: Session;
}

export function evaluateStepEnd(
  { rules, text, answered, side = 'a', directive, moreInput }: StoredStep,
  calls: readonly CallEnd[],
  { sideSteps, session }: TurnProgress,
): StepEnd {
  const verdict = evaluateStop({
    rules,
    side,
    text,
    answered,
    calls,
    sideSteps,
    moreInput,
    turns: (session ?? NEW_SESSION).turns,
    directive: calls.findLast((call) => call.directive)?.directive ?? directive,
  });
  return session ? { verdict, session: advanceSession(session, side, verdict) } : { verdict };
}

/** The session in which the step was made. After a reset, the store may know of turns that this run has not seen. */
export function toSession(known: Session | null | undefined, { side, turns }: StoredStep): Session | null {
  if (!side) return known ?? null;
  const session = { ...(known ?? NEW_SESSION), side };
  return turns === undefined ? session : { ...session, turns };
}
